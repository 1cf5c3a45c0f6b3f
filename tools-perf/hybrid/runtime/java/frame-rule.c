// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of HotSpot's code: compiled methods and stubs have frames of one size, as x86_64.ad,
 * c1_MacroAssembler_x86.cpp and macroAssembler_x86.cpp make and leave them, the interpreter has
 * its own.
 */
#include <string.h>
#include <linux/kernel.h>
#include "frame-rule.h"

#define WORD	8

/* Bytes that are looked at in front of an address: add, pop, compare, jump. */
#define BEHIND	32

/* And of what makes a frame. */
#define MAX_PROLOGUE	512

/* From where the stub that methods call before they begin makes its frame, to its calls. */
#define MAX_ENTRY_BARRIER	256

/* And of an adapter. */
#define MAX_ADAPTER	2048

/* The ABI's frame pointer and return address. */
#define SAVED	(2 * WORD)

#define R13	13
#define RBX	3

static struct hybrid_rule rule_of(s32 cfa_off, enum hybrid_rule_bp bp)
{
	return (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = bp, .cfa_off = cfa_off,
		.ra_off = -WORD, .bp_off = -SAVED,
	};
}

static u32 immediate(const u8 *code, size_t size)
{
	u32 value;

	if (size == 1)
		return *(const s8 *)code;
	memcpy(&value, code, sizeof(value));
	return value;
}

/* Is there "add" or "sub" of @bytes and %rsp? Returns its size. @op: 0xc4 or 0xec. */
static size_t changes_sp(const u8 *code, size_t size, u8 op, u32 bytes)
{
	if (size >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == op &&
	    immediate(code + 3, 1) == bytes)
		return 4;
	if (size >= 7 && code[0] == 0x48 && code[1] == 0x81 && code[2] == op &&
	    immediate(code + 3, 4) == bytes)
		return 7;
	return 0;
}

/* Does the code before @end add @bytes to %rsp? */
static bool added_before(const u8 *code, size_t end, u32 bytes)
{
	return (end >= 4 && changes_sp(code + end - 4, 4, 0xc4, bytes) == 4) ||
	       (end >= 7 && changes_sp(code + end - 7, 7, 0xc4, bytes) == 7);
}

/*
 * What may stand between the end of a frame and the return: a look at the safepoint's word.
 * cmp disp(%r15),%rsp; ja. Or until JDK 15 mov disp(%r15),%r10; test %eax,(%r10).
 */
static size_t without_poll(const u8 *code, size_t end)
{
	if (end >= 6 && code[end - 6] == 0x0f && code[end - 5] == 0x87)
		end -= 6;
	if (end >= 7 && code[end - 7] == 0x49 && code[end - 6] == 0x3b && code[end - 5] == 0xa7)
		return end - 7;
	if (end >= 4 && code[end - 4] == 0x49 && code[end - 3] == 0x3b && code[end - 2] == 0x67)
		return end - 4;
	if (end >= 3 && code[end - 3] == 0x41 && code[end - 2] == 0x85 && code[end - 1] == 0x02)
		end -= 3;
	if (end >= 7 && code[end - 7] == 0x4d && code[end - 6] == 0x8b && code[end - 5] == 0x97)
		return end - 7;
	return end;
}

/*
 * Does "leave" end at @end? SharedRuntime::generate_native_wrapper() has it alone, after
 * movl $0,disp(%rcx). The last byte of mov %ecx,%r9d and of many more is the same.
 */
static bool is_leave(const u8 *code, size_t end)
{
	static const u8 leave[] = { 0, 0, 0, 0, 0xc9 };

	return end >= sizeof(leave) && !memcmp(code + end - sizeof(leave), leave, sizeof(leave));
}

/* Was the frame left before the end of @code, in part or whole? */
static bool is_left(const u8 *code, size_t end, u32 frame_size, struct hybrid_rule *rule)
{
	u32 bytes = frame_size - SAVED;
	size_t at = without_poll(code, end);

	if (bytes && added_before(code, end, bytes)) {
		*rule = rule_of(SAVED, HYBRID_BP_AT_CFA);
		return true;
	}
	if ((at && code[at - 1] == 0x5d && (!bytes || added_before(code, at - 1, bytes))) ||
	    is_leave(code, at)) {
		*rule = rule_of(WORD, HYBRID_BP_SAME);
		return true;
	}
	return false;
}

/**
 * struct prologue - where a frame is made, as offsets in the code that was looked at
 * @push: of push %rbp, or where that is missing of sub
 * @done: behind what changes sp
 * @has_push: bp is saved by a push, else by a mov behind sub
 */
struct prologue {
	size_t	push;
	size_t	done;
	bool	has_push;
};

/*
 * "push %rbp; sub $SIZE,%rsp", with mov %rsp,%rbp between them in wrappers; or without the push
 * "sub $SIZE,%rsp; mov %rbp,disp(%rsp)". Where nothing is to be subtracted push stands alone.
 */
static bool find_prologue(const u8 *code, size_t size, u32 frame_size, struct prologue *found)
{
	u32 bytes = frame_size - SAVED;
	size_t i, sub, made;

	for (i = 0; i < size; i++) {
		found->push = i;
		sub = changes_sp(code + i, size - i, 0xec, frame_size - WORD);
		if (sub) {
			found->has_push = false;
			found->done = i + sub;
			return true;
		}
		if (code[i] != 0x55)
			continue;
		found->has_push = true;
		made = i + 1;
		if (size - made >= 3 && code[made] == 0x48 &&
		    ((code[made + 1] == 0x8b && code[made + 2] == 0xec) ||
		     (code[made + 1] == 0x89 && code[made + 2] == 0xe5)))
			made += 3;
		sub = bytes ? changes_sp(code + made, size - made, 0xec, bytes) : 0;
		found->done = made + sub;
		if (sub || !bytes)
			return true;
	}
	return false;
}

/* The frame at @pc, which may be in front of the end of the prologue that begins at @start. */
static bool in_prologue(struct java_vm *vm, const struct java_blob *blob, u64 start, u64 end,
			u64 pc, struct hybrid_rule *rule)
{
	struct prologue prologue;
	u8 code[MAX_PROLOGUE];
	size_t size = min_t(u64, end - start, sizeof(code)), at = pc - start;

	if (java_vm__read(vm, start, code, size) ||
	    !find_prologue(code, size, blob->frame_size, &prologue))
		return false;
	if (at <= prologue.push)
		*rule = rule_of(WORD, HYBRID_BP_SAME);
	else if (at < prologue.done)
		*rule = rule_of(SAVED, HYBRID_BP_AT_CFA);
	else if (!prologue.has_push)
		*rule = rule_of(blob->frame_size, HYBRID_BP_SAME);
	else
		*rule = rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
	return true;
}

/* Loops that were compiled while they ran are entered behind the method's beginning. */
#define OSR_PROLOGUE	64

static bool innermost_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc,
			   struct hybrid_rule *rule)
{
	u64 complete = blob->code + max(blob->frame_complete, 0);
	u64 start = max(blob->code, pc - BEHIND);
	u8 code[BEHIND];

	if (pc < complete)
		return in_prologue(vm, blob, blob->code, min(complete, blob->end), pc, rule);
	if (blob->osr_entry && blob->osr_entry < blob->end && pc >= blob->osr_entry &&
	    pc < blob->osr_entry + OSR_PROLOGUE &&
	    in_prologue(vm, blob, blob->osr_entry,
			min(blob->osr_entry + OSR_PROLOGUE, blob->end), pc, rule) &&
	    rule->cfa_off != (s32)blob->frame_size)
		return true;
	if (java_vm__read(vm, start, code, pc - start))
		return false;
	if (!is_left(code, pc - start, blob->frame_size, rule))
		*rule = rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
	return true;
}

static bool method_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc, bool innermost,
			struct hybrid_rule *rule)
{
	if (blob->frame_size < SAVED)
		return false;
	if (innermost)
		return blob->frame_complete >= 0 && innermost_rule(vm, blob, pc, rule);
	*rule = rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
	return true;
}

/* Words that a method pushes for a stub, and pops behind the call, at most. */
#define MAX_PUSHED	4

/*
 * How many words at @pc are popped that the frame does not count. The first compiler pushes two for
 * a stub: emit_typecheck_helper() in c1_LIRAssembler_x86.cpp. pop %rbp ends a frame.
 */
static unsigned int pushed_words(struct java_vm *vm, u64 pc)
{
	unsigned int at = 0, nr = 0;
	u8 code[2 * MAX_PUSHED];

	if (java_vm__read(vm, pc, code, sizeof(code)))
		return 0;
	while (nr < MAX_PUSHED) {
		at += code[at] == 0x41;
		if ((code[at] & 0xf8) != 0x58 || code[at] == 0x5d)
			break;
		at++;
		nr++;
	}
	return nr;
}

/* Of a caller whose sp a register has. @ra: from sp to the return address. */
static bool by_register(const struct hybrid_unwind *u, unsigned int reg, s32 ra,
			enum hybrid_rule_bp bp, struct hybrid_rule *rule)
{
	u64 cfa = u->regs.value[reg], depth = cfa - u->regs.value[u->abi->sp];

	if (!(u->regs.known & (1U << reg)) || depth > INT32_MAX || depth % WORD)
		return false;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_REG + reg, .bp = bp,
		.ra_off = ra - (s32)depth, .bp_off = -(s32)depth,
	};
	return true;
}

/* The last instruction in @code that takes room from the stack; -1: there is none. */
static ssize_t last_sub(const u8 *code, size_t size)
{
	ssize_t i;

	for (i = (ssize_t)size - 7; i >= 0; i--) {
		if (code[i] == 0x48 && (code[i + 1] == 0x83 || code[i + 1] == 0x81) &&
		    code[i + 2] == 0xec)
			return i;
	}
	return -1;
}

/*
 * SharedRuntime::gen_i2c_adapter() and gen_c2i_adapter(): the return address is at sp, but where
 * the second one, at its end, makes room for the interpreter's arguments. From then on r13 has
 * the caller's sp. Around that %rax has the return address:
 * pop %rax; mov %rsp,%r13; sub $SIZE,%rsp; mov %rax,(%rsp), or since JDK 20
 * lea 8(%rsp),%r13; pop %rax; sub $SIZE,%rsp; push %rax
 */
static bool adapter_rule(struct java_vm *vm, const struct java_blob *blob,
			 const struct hybrid_unwind *u, u64 pc, struct hybrid_rule *rule)
{
	u8 code[MAX_ADAPTER];
	size_t size = min_t(u64, blob->end - blob->code, sizeof(code)), at = pc - blob->code;
	ssize_t sub, pop, done;

	if (java_vm__read(vm, blob->code, code, size))
		return false;
	sub = last_sub(code, size);
	if (sub < 4)
		return false;
	pop = code[sub - 1] == 0x58 ? sub - 1 : sub - 4;
	done = sub + (code[sub + 1] == 0x83 ? 4 : 7);
	if (code[pop] != 0x58 || done + 4 > (ssize_t)size)
		return false;
	done += code[done] == 0x50 ? 1 : 4;
	if ((ssize_t)at >= done)
		return by_register(u, R13, 0, HYBRID_BP_SAME, rule);
	*rule = rule_of(WORD, HYBRID_BP_SAME);
	return (ssize_t)at <= pop;
}

/*
 * MethodHandles::generate_method_handle_interpreter_entry(): the return address is at sp, r13 has
 * the caller's sp. Where an argument goes, %rax has the return address:
 * pop %rax; pop %rbx; push %rax
 */
static bool handles_rule(struct java_vm *vm, const struct hybrid_unwind *u, u64 pc,
			 struct hybrid_rule *rule)
{
	u8 code[3];

	if (java_vm__read(vm, pc - 2, code, sizeof(code)) ||
	    (code[1] == 0x58 && code[2] == 0x5b) || (code[0] == 0x58 && code[1] == 0x5b))
		return false;
	return by_register(u, R13, 0, HYBRID_BP_SAME, rule);
}

/* A call of an interpreted method: the frame is not made, or not whole. */
static bool entry_rule(struct java_vm *vm, const struct java_method_entry *entry,
		       const struct hybrid_unwind *u, u64 pc, struct hybrid_rule *rule)
{
	u8 code[MAX_PROLOGUE];
	size_t size = entry->enter - entry->start, i;

	if (pc > entry->enter)
		return by_register(u, R13, WORD, HYBRID_BP_AT_CFA, rule);
	if (size > sizeof(code) || !size || java_vm__read(vm, entry->start, code, size))
		return false;
	/* Between pop %rax and push %rax the return address is in that register. */
	for (i = size; i && code[i - 1] != 0x58; i--)
		;
	if (!i || code[size - 1] != 0x50 || (pc >= entry->start + i && pc < entry->enter))
		return false;
	return by_register(u, R13, 0, HYBRID_BP_SAME, rule);
}

/*
 * At the end of InterpreterMacroAssembler::remove_activation(): leave; pop %REG; mov %rbx,%rsp.
 * @known: out: only the first of them has run, and @rule is valid.
 */
static bool is_leaving(struct java_vm *vm, const struct hybrid_unwind *u, u64 pc, bool *known,
		       struct hybrid_rule *rule)
{
	static const u8 back[] = { 1, 2, 3, 5, 6 };
	u8 code[9];
	unsigned int i, pop;

	*known = false;
	for (i = 0; i < ARRAY_SIZE(back); i++) {
		if (java_vm__read(vm, pc - back[i], code, sizeof(code)) || code[0] != 0xc9)
			continue;
		pop = code[1] == 0x41 ? 2 : 1;
		if ((code[pop] & 0xf8) != 0x58 || code[pop + 1] != 0x48 ||
		    !((code[pop + 2] == 0x8b && code[pop + 3] == 0xe3) ||
		      (code[pop + 2] == 0x89 && code[pop + 3] == 0xdc)))
			continue;
		*known = back[i] == 1 && by_register(u, RBX, 0, HYBRID_BP_SAME, rule);
		return true;
	}
	return false;
}

/*
 * frame::interpreter_frame_method_offset and interpreter_frame_bcp_offset in frame_x86.hpp of JDK
 * 17 to 25, in bytes. The tables don't have them.
 */
#define METHOD	(3 * WORD)
#define BCP	(-8 * WORD)

static bool saved_sp_rule(struct java_vm *vm, struct hybrid_rule *rule)
{
	s64 sender = -1;

	java_vm__constant(vm, "frame::interpreter_frame_sender_sp_offset", &sender);
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_SAVED_SP, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_BP,
		.cfa_off = sender * WORD, .ra_off = WORD, .deref_off = METHOD, .bp_off = BCP,
	};
	return sender < 0 && sender >= -16;
}

/* push %rbp; mov %rsp,%rbp; push %r13: from then on the frame has its caller's sp. */
#define ENTER	6

static bool interpreter_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
			     const struct hybrid_unwind *u, u64 pc, bool innermost,
			     struct hybrid_rule *rule)
{
	const struct java_method_entry *entry;
	bool known;

	/* The registers are those of the innermost frame alone. */
	if (innermost) {
		entry = java_interpreter__entry(interpreter, pc);
		if (entry && !entry->enter)
			return false;
		if (entry && pc < entry->enter + ENTER)
			return entry_rule(vm, entry, u, pc, rule);
		if (is_leaving(vm, u, pc, &known, rule))
			return known;
	}
	return saved_sp_rule(vm, rule);
}

/*
 * StubGenerator::generate_method_entry_barrier(), which methods call before they begin: the frame
 * has a word between the return address and the caller's bp.
 * push $-1; push %rbp; mov %rsp,%rbp; push %rdi; lea 24(%rsp),%rdi; and the registers
 */
static bool entry_barrier_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc,
			       struct hybrid_rule *rule)
{
	static const u8 begin[] = {
		0xff, 0x55, 0x48, 0x8b, 0xec, 0x57, 0x48, 0x8d, 0x7c, 0x24, 0x18,
	};
	u64 start = max(blob->code, pc - MAX_ENTRY_BARRIER);
	u8 code[MAX_ENTRY_BARRIER];

	if (pc - start > sizeof(code) || java_vm__read(vm, start, code, pc - start) ||
	    !memmem(code, pc - start, begin, sizeof(begin)))
		return false;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_CFA,
		.cfa_off = 3 * WORD, .ra_off = -WORD, .bp_off = -3 * WORD,
	};
	return true;
}

bool java_frame_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
		     const struct java_blob *blob, const struct hybrid_unwind *u,
		     unsigned int at, struct hybrid_rule *rule)
{
	const struct hybrid_frame *frame = &u->frames[at];
	u64 pc = frame->ret;
	bool innermost = !at || frame->ip == pc;

	switch (blob->kind) {
	case JAVA_BLOB_METHOD:
		if (!method_rule(vm, blob, pc, innermost, rule))
			return false;
		/* A stub that calls has a frame, and is called without such words. */
		if (!innermost && at == 1)
			rule->cfa_off += WORD * pushed_words(vm, pc);
		return true;
	case JAVA_BLOB_INTERPRETER:
		return interpreter_rule(vm, interpreter, u, pc, innermost, rule);
	case JAVA_BLOB_STUB:
		return !innermost && method_rule(vm, blob, pc, false, rule);
	case JAVA_BLOB_ADAPTER:
		return innermost && adapter_rule(vm, blob, u, pc, rule);
	case JAVA_BLOB_HANDLES:
		return innermost && handles_rule(vm, u, pc, rule);
	case JAVA_BLOB_VTABLE:
		*rule = rule_of(WORD, HYBRID_BP_SAME);
		return innermost;
	default:
		return !innermost && entry_barrier_rule(vm, blob, pc, rule);
	}
}

/* Between the entries of methods. */
static bool interpreter_range(const struct java_interpreter *interpreter, u64 pc,
			      struct hybrid_runtime_range *range)
{
	unsigned int i;

	for (i = 0; i < interpreter->nr; i++) {
		const struct java_method_entry *entry = &interpreter->entries[i];
		u64 end = entry->enter ? entry->enter + ENTER : entry->end;

		if (pc >= entry->start && pc < end)
			return false;
		if (end <= pc)
			range->start = max(range->start, end);
		else
			range->end = min(range->end, entry->start);
	}
	return true;
}

bool java_frame_range(struct java_vm *vm, const struct java_interpreter *interpreter,
		      const struct java_blob *blob, u64 pc, struct hybrid_runtime_range *range)
{
	*range = (struct hybrid_runtime_range) { .start = blob->code, .end = blob->end };
	return blob->kind == JAVA_BLOB_INTERPRETER && interpreter_range(interpreter, pc, range) &&
	       saved_sp_rule(vm, &range->rule) && pc >= range->start && pc < range->end;
}

bool java_frame_is_walked(const struct java_blob *blob, bool innermost)
{
	switch (blob->kind) {
	case JAVA_BLOB_METHOD:
		return blob->frame_size >= SAVED && (!innermost || blob->frame_complete >= 0);
	case JAVA_BLOB_STUB:
		return !innermost && blob->frame_size >= SAVED;
	case JAVA_BLOB_VTABLE:
		return innermost;
	default:
		return false;
	}
}
