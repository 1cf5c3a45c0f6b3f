// SPDX-License-Identifier: GPL-2.0
/*
 * What compilers, libc and Go's runtime do with the stack and do not say in their CFI,
 * known by the bytes of the code.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../rules/object.h"
#include "code.h"
#include "entry.h"
#include "refine-row.h"

/* Bytes of a row from which on it is taken for one of assembler, which may be wrong. */
#define LONG_ROW	4096

/* Bytes of a row around an address in which a switch of stacks is looked for. */
#define MAX_SWITCH	256

static bool byte_at(struct hybrid_object *object, u64 vaddr, u8 *byte)
{
	const struct hybrid_page *page;
	u64 offset, at;

	if (!hybrid_object_offset(object, vaddr, &offset))
		return false;
	at = offset % HYBRID_PAGE;
	page = hybrid_page_read(object, offset - at);
	if (!page || at >= page->nr)
		return false;
	*byte = page->bytes[at];
	return true;
}

static bool is_code(struct hybrid_object *object, u64 vaddr, const u8 *want, unsigned int len)
{
	unsigned int i;
	u8 byte;

	for (i = 0; i < len; i++) {
		if (!byte_at(object, vaddr + i, &byte) || byte != want[i])
			return false;
	}
	return true;
}

/* Of the code before an address: as many bytes as are looked at of it. */
#define BEFORE	8

/*
 * What cannot be read is 0, which is none of what is looked for. Each row asks this, and the
 * bytes are mostly in one page.
 */
static void code_before(struct hybrid_object *object, u64 vaddr, u8 *bytes)
{
	const struct hybrid_page *page;
	u64 offset, last, at;
	unsigned int i;

	if (hybrid_object_offset(object, vaddr - BEFORE, &offset) &&
	    hybrid_object_offset(object, vaddr - 1, &last) && last - offset == BEFORE - 1 &&
	    offset / HYBRID_PAGE == last / HYBRID_PAGE) {
		at = offset % HYBRID_PAGE;
		page = hybrid_page_read(object, offset - at);
		if (page && at + BEFORE <= page->nr) {
			memcpy(bytes, page->bytes + at, BEFORE);
			return;
		}
	}
	for (i = 0; i < BEFORE; i++) {
		if (!byte_at(object, vaddr - BEFORE + i, &bytes[i]))
			bytes[i] = 0;
	}
}

/* Does a pop of a general register, or a leave, end where the row begins? */
static bool begins_behind_pop(const u8 *before)
{
	u8 last = before[BEFORE - 1];

	return last == 0xc9 || (last >= 0x58 && last <= 0x5f);
}

static bool ends_with(const u8 *end, const u8 *want, unsigned int len)
{
	return !memcmp(end - len, want, len);
}

/*
 * gcc leaves a frame that it has realigned by pop %rbp; lea -8(%r10),%rsp; ret, or by
 * pop %rbp; lea -16(%r13),%rsp; pop %r13; ret, in 32-bit code by pop %ebp;
 * lea -4(%ecx),%esp; ret. The length of the lea that ends at @end behind such a pop, 0
 * for none.
 */
static u64 realigned_exit(const struct hybrid_object *object, const u8 *end)
{
	static const u8 exit_64[] = { 0x5d, 0x49, 0x8d, 0x62, 0xf8 };
	static const u8 exit_r13[] = { 0x5d, 0x49, 0x8d, 0x65, 0xf0 };
	static const u8 exit_32[] = { 0x5d, 0x8d, 0x61, 0xfc };

	if (object->cfi.abi->word != 8)
		return ends_with(end, exit_32, sizeof(exit_32)) ? sizeof(exit_32) - 1 : 0;
	return ends_with(end, exit_64, sizeof(exit_64)) ||
	       ends_with(end, exit_r13, sizeof(exit_r13)) ? sizeof(exit_64) - 1 : 0;
}

/* Behind the pop of r13: the CFI still has rbp in the frame that was left. */
static bool realigned_popped(const struct hybrid_object *object, const u8 *end)
{
	static const u8 pop_r13[] = { 0x41, 0x5d };

	return object->cfi.abi->word == 8 && ends_with(end, pop_r13, sizeof(pop_r13)) &&
	       realigned_exit(object, end - sizeof(pop_r13));
}

/* The lea becomes a row of its own; from it on all registers are the caller's. */
static void leave_realigned(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row,
			    const u8 *before)
{
	u8 bytes[BEFORE];
	u64 lea;

	code_before(object, row->end, bytes);
	lea = row->end - realigned_exit(object, bytes + BEFORE);
	if (lea < row->end && lea > row->start) {
		if (vaddr < lea) {
			row->end = lea;
			return;
		}
		row->start = lea;
		hybrid_row_restored(row);
	} else if (realigned_exit(object, before + BEFORE) ||
		   realigned_popped(object, before + BEFORE)) {
		hybrid_row_restored(row);
	}
}

/*
 * makecontext() makes the start of __start_context() a return address: no call
 * stands before it, mostly no CFI, and what CFI has to say of it is wrong. It
 * begins by leaving the stack for another context's (mov %rbx,%rsp).
 */
static bool is_context_start(struct hybrid_object *object, u64 vaddr)
{
	static const u8 leaves_stack[] = { 0x48, 0x89, 0xdc };
	struct hybrid_code code = hybrid_object_code(object);

	return code.word == 8 && is_code(object, vaddr, leaves_stack, sizeof(leaves_stack)) &&
	       !hybrid_code_is_return(&code, vaddr);
}

/*
 * Does clone() of musl call the function that a thread runs here? The argument is all that is on
 * the new stack, and the thread ends with what the function returns: xor %ebp,%ebp; pop %rdi;
 * call *%r9; mov %eax,%edi; xor %eax,%eax; mov $SYS_exit,%al; syscall
 * (src/thread/x86_64/clone.s).
 */
static bool is_thread_start(struct hybrid_object *object, u64 ret)
{
	static const u8 code[] = { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1,
				   0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };

	return object->cfi.abi->word == 8 && ret >= 6 &&
	       is_code(object, ret - 6, code, sizeof(code));
}

/**
 * struct stack_switch - code of Go's runtime that runs on another stack than its caller
 * @code: bytes
 * @len: of @code
 * @any: offsets in @code of four bytes that may be others; 0: none
 * @from: offset in @code of the first instruction on the other stack
 * @to: and behind the last
 * @rule: of these
 */
struct stack_switch {
	u8			code[28];
	u8			len;
	u8			any[2];
	u8			from;
	u8			to;
	struct hybrid_rule	rule;
};

/*
 * The CFI of these says nothing of the switch: chains went on with words that others
 * had left there. The caller of asmcgocall() and systemstack() waits for them, and the
 * frame pointer is still its own (src/runtime/asm_amd64.s); that of morestack() up to
 * Go 1.20, too. Nothing waits for mcall(): its goroutine has stopped, and may run elsewhere
 * by now. Go's own walk ends there (src/runtime/traceback.go, topofstack()).
 * What asmcgocall() has called
 * takes the goroutine, and how deep its stack was, from the stack that it switched to;
 * or, where it was on that stack already, only its own sp.
 */
static const struct stack_switch stack_switches[] = {
	{	/* asmcgocall(): call *%rax; mov 0x30(%rsp),%rdi; mov 0x8(%rdi),%rsi; ... */
		.code	= { 0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08,
			    0x48, 0x2b, 0x74, 0x24, 0x28 },
		.len	= 16,
		.to	= 2,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME,
			    .deref_off = HYBRID_SWITCH_DEPTH, .cfa_off = 0x28 },
	}, {	/* asmcgocall(): call *%rax; mov 0x28(%rsp),%rsi; mov %rsi,%rsp */
		.code	= { 0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4 },
		.len	= 10,
		.to	= 2,
		.rule	= { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
			    .cfa_off = 0x28, .deref_off = 8, .ra_off = -8 },
	}, {	/* The same with mov $N,%rcx, of where the goroutine is, behind the call: in PIEs */
		.code	= { 0xff, 0xd0, 0x48, 0xc7, 0xc1, 0, 0, 0, 0, 0x48, 0x8b, 0x7c, 0x24, 0x30,
			    0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28 },
		.len	= 23,
		.any	= { 5 },
		.to	= 2,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME,
			    .deref_off = HYBRID_SWITCH_DEPTH, .cfa_off = 0x28 },
	}, {	/* Of later Go: call; mov 0x8(%rsp),%rdi; mov 0x8(%rdi),%rsi; sub (%rsp),%rsi */
		.code	= { 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x7c, 0x24, 0x08, 0x48, 0x8b, 0x77, 0x08,
			    0x48, 0x2b, 0x34, 0x24 },
		.len	= 18,
		.any	= { 1 },
		.to	= 5,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME,
			    .deref_off = HYBRID_SWITCH_DEPTH },
	}, {	/* The same in PIEs */
		.code	= { 0xe8, 0, 0, 0, 0, 0x48, 0xc7, 0xc1, 0, 0, 0, 0, 0x48, 0x8b, 0x7c, 0x24,
			    0x08, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x34, 0x24 },
		.len	= 25,
		.any	= { 1, 8 },
		.to	= 5,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME,
			    .deref_off = HYBRID_SWITCH_DEPTH },
	}, {	/* Of later Go, without a switch: call; mov (%rsp),%rsi; mov %rsi,%rsp */
		.code	= { 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x34, 0x24, 0x48, 0x89, 0xf4 },
		.len	= 12,
		.any	= { 1 },
		.to	= 5,
		.rule	= { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_SP,
			    .bp = HYBRID_BP_AT_CFA, .bp_off = -16, .deref_off = 16,
			    .ra_off = -8 },
	}, {	/* mcall(): push %rax; mov (%rdx),%r12; call *%r12; pop %rax */
		.code	= { 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4, 0x58 },
		.len	= 8,
		.to	= 8,
		.rule	= { .kind = HYBRID_RULE_OUTERMOST },
	}, {	/* Of later Go: a nop behind the call */
		.code	= { 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4, 0x90, 0x58 },
		.len	= 9,
		.to	= 9,
		.rule	= { .kind = HYBRID_RULE_OUTERMOST },
	}, {	/* morestack(): mov 0x38(%rbx),%rsp; call newstack(), which does not return */
		.code	= { 0x48, 0x8b, 0x63, 0x38, 0xe8 },
		.len	= 5,
		.from	= 4,
		.to	= 9,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME,
			    .deref_off = HYBRID_SWITCH_GROWS },
	}, {	/* Of later Go: mov 0x38(%rbx),%rsp; mov 0x68(%rbx),%rbp; call newstack() */
		.code	= { 0x48, 0x8b, 0x63, 0x38, 0x48, 0x8b, 0x6b, 0x68, 0xe8 },
		.len	= 9,
		.from	= 4,
		.to	= 13,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_UNDEFINED },
	}, {	/* Of Go 1.26: mov 0x38(%rbx),%rsp; mov $0,%ebp; call newstack() */
		.code	= { 0x48, 0x8b, 0x63, 0x38, 0xbd, 0, 0, 0, 0, 0xe8 },
		.len	= 10,
		.from	= 4,
		.to	= 14,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_UNDEFINED },
	}, {	/* systemstack(): mov %rbx,%rsp; mov %rdi,%rdx; mov (%rdi),%rdi; call *%rdi */
		.code	= { 0x48, 0x89, 0xdc, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff, 0xd7 },
		.len	= 11,
		.from	= 3,
		.to	= 11,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME },
	}, {	/* systemstack() of later Go: mov 0x38(%rdx),%rsp; the same */
		.code	= { 0x48, 0x8b, 0x62, 0x38, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff,
			    0xd7 },
		.len	= 12,
		.from	= 4,
		.to	= 12,
		.rule	= { .kind = HYBRID_RULE_SWITCHED, .bp = HYBRID_BP_SAME },
	},
};

/* What is on the other stack becomes a row of its own. */
static void split_row(struct hybrid_row *row, u64 vaddr, u64 from, u64 to,
		      const struct hybrid_rule *rule)
{
	if (vaddr < from) {
		row->end = min(row->end, from);
	} else if (vaddr >= to) {
		row->start = max(row->start, to);
	} else {
		row->start = max(row->start, from);
		row->end = min(row->end, to);
		row->rule = *rule;
	}
}

static bool is_switch(struct hybrid_object *object, u64 at, const struct stack_switch *s)
{
	unsigned int i;
	u8 byte;

	for (i = 0; i < s->len; i++) {
		if ((s->any[0] && i - s->any[0] < 4) || (s->any[1] && i - s->any[1] < 4))
			continue;
		if (!byte_at(object, at + i, &byte) || byte != s->code[i])
			return false;
	}
	return true;
}

static void leave_switched(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	u64 at = max(row->start, vaddr < MAX_SWITCH ? 0 : vaddr - MAX_SWITCH);
	u64 end = min(row->end, vaddr + MAX_SWITCH);
	const struct stack_switch *s;
	unsigned int i;

	/* The row may begin, or end, within the code. */
	at -= min_t(u64, at, sizeof(s->code));
	for (; at < end; at++) {
		for (i = 0; i < ARRAY_SIZE(stack_switches); i++) {
			s = &stack_switches[i];
			if (is_switch(object, at, s))
				split_row(row, vaddr, at + s->from, at + s->to, &s->rule);
		}
	}
}

/*
 * A function of Go's, before 1.21, makes its frame and then saves the frame pointer in it:
 * where the row begins with that, the register is still the caller's.
 */
static void save_bp(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	u8 save[8] = { 0x48, 0x89, 0x6c, 0x24 };	/* mov %rbp,N(%rsp) */
	s32 at = row->rule.cfa_off + row->rule.bp_off;
	u64 len = at == (s8)at ? 5 : 8;

	if (len == 8)
		save[2] = 0xac;
	memcpy(save + 4, &at, len - 4);
	if (row->rule.bp != HYBRID_BP_AT_CFA || row->end - row->start <= len ||
	    !is_code(object, row->start, save, len))
		return;
	if (vaddr < row->start + len) {
		row->end = row->start + len;
		row->rule.bp = HYBRID_BP_SAME;
		row->rule.bp_off = 0;
	} else {
		row->start += len;
	}
}

/*
 * All of LuaJIT's interpreter has one row. It is wrong where the code pushes registers, as when it
 * leaves compiled code. The return address that it reads there may be 0, which ends a chain.
 *
 * Compilers begin a new row when a prologue moves sp, so that the first row of their functions is
 * short. Their other long rows are not checked: to decode that code takes longer than all else
 * that perf does for a row.
 */
static void leave_moved(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	struct hybrid_code code = hybrid_object_code(object);
	u64 word = code.word, from, to;

	if (!row->begins || row->end - row->start < LONG_ROW ||
	    row->rule.base != HYBRID_BASE_SP || word != 8)
		return;
	if (hybrid_code_sp_is_moved(&code, row->start, vaddr, row->end, row->rule.cfa_off - word,
				    &from, &to))
		row->rule = (struct hybrid_rule) { .kind = HYBRID_RULE_NONE };
	row->start = from;
	row->end = to;
}

/* Code without CFI at which a stack is known to end. */
static void complete_root(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	/* The byte before it is asked for: the return address is its name. */
	if (vaddr - object->entry < hybrid_entry_size(object) ||
	    is_thread_start(object, vaddr + 1)) {
		row->rule.kind = HYBRID_RULE_OUTERMOST;
	} else if (is_context_start(object, vaddr + 1)) {
		row->rule.kind = HYBRID_RULE_OUTERMOST;
		row->rule.signal = true;
	}
}

void hybrid_refine_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	u64 start = row->start;
	u8 before[BEFORE];

	code_before(object, start, before);
	if (row->rule.kind == HYBRID_RULE_NONE)
		complete_root(object, vaddr, row);
	if (row->rule.kind == HYBRID_RULE_CFA)
		leave_moved(object, vaddr, row);
	if (row->rule.kind != HYBRID_RULE_NONE)
		leave_realigned(object, vaddr, row, before);
	/* Go's CFI is all in .debug_frame; its table tells nothing behind a switch. */
	if (hybrid_pclntab_find(object) ? row->rule.kind <= HYBRID_RULE_CFA :
	    object->cfi.debug && row->rule.kind == HYBRID_RULE_CFA)
		leave_switched(object, vaddr, row);
	if (hybrid_pclntab_find(object) && row->rule.kind == HYBRID_RULE_CFA)
		save_bp(object, vaddr, row);
	if (row->start != start)
		code_before(object, row->start, before);
	if (begins_behind_pop(before))
		hybrid_row_popped(&object->cfi, row);
}
