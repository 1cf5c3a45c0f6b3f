// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of compiled methods and stubs: of one size, as x86_64.ad, c1_MacroAssembler_x86.cpp and
 * macroAssembler_x86.cpp make and leave them.
 */
#include <string.h>
#include <linux/kernel.h>
#include "method-rule.h"
#include "rule-forms.h"

/* Bytes that are looked at in front of an address: add, pop, compare, jump. */
#define BEHIND	32

/* And of what makes a frame. */
#define MAX_PROLOGUE	512

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
	u32 bytes = frame_size - JAVA_SAVED;
	size_t at = without_poll(code, end);

	if (bytes && added_before(code, end, bytes)) {
		*rule = java_rule_of(JAVA_SAVED, HYBRID_BP_AT_CFA);
		return true;
	}
	if ((at && code[at - 1] == 0x5d && (!bytes || added_before(code, at - 1, bytes))) ||
	    is_leave(code, at)) {
		*rule = java_rule_of(JAVA_WORD, HYBRID_BP_SAME);
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
	u32 bytes = frame_size - JAVA_SAVED;
	size_t i, sub, made;

	for (i = 0; i < size; i++) {
		found->push = i;
		sub = changes_sp(code + i, size - i, 0xec, frame_size - JAVA_WORD);
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
		*rule = java_rule_of(JAVA_WORD, HYBRID_BP_SAME);
	else if (at < prologue.done)
		*rule = java_rule_of(JAVA_SAVED, HYBRID_BP_AT_CFA);
	else if (!prologue.has_push)
		*rule = java_rule_of(blob->frame_size, HYBRID_BP_SAME);
	else
		*rule = java_rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
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
		*rule = java_rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
	return true;
}

bool java_method_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc, bool innermost,
		      struct hybrid_rule *rule)
{
	if (blob->frame_size < JAVA_SAVED)
		return false;
	if (innermost)
		return blob->frame_complete >= 0 && innermost_rule(vm, blob, pc, rule);
	*rule = java_rule_of(blob->frame_size, HYBRID_BP_AT_CFA);
	return true;
}

/* Words that a method pushes for a stub, and pops behind the call, at most. */
#define MAX_PUSHED	4

/*
 * How many words at @pc are popped that the frame does not count. The first compiler pushes two for
 * a stub: emit_typecheck_helper() in c1_LIRAssembler_x86.cpp. pop %rbp ends a frame.
 */
unsigned int java_pushed_words(struct java_vm *vm, u64 pc)
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
