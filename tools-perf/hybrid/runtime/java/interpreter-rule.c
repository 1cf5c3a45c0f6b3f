// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of HotSpot's interpreter.
 */
#include <linux/kernel.h>
#include "interpreter-rule.h"
#include "rule-forms.h"

/* Bytes of a method's entry that are looked at. */
#define MAX_ENTRY	512

#define RBX	3

/* push %rbp; mov %rsp,%rbp; push %r13: from then on the frame has its caller's sp. */
#define ENTER	6

/* A call of an interpreted method: the frame is not made, or not whole. */
static bool entry_rule(struct java_vm *vm, const struct java_method_entry *entry,
		       const struct hybrid_unwind *u, u64 pc, struct hybrid_rule *rule)
{
	u8 code[MAX_ENTRY];
	size_t size = entry->enter - entry->start, i;

	if (pc > entry->enter)
		return java_rule_by_register(u, JAVA_R13, JAVA_WORD, HYBRID_BP_AT_CFA, rule);
	if (size > sizeof(code) || !size || java_vm__read(vm, entry->start, code, size))
		return false;
	/* Between pop %rax and push %rax the return address is in that register. */
	for (i = size; i && code[i - 1] != 0x58; i--)
		;
	if (!i || code[size - 1] != 0x50 || (pc >= entry->start + i && pc < entry->enter))
		return false;
	return java_rule_by_register(u, JAVA_R13, 0, HYBRID_BP_SAME, rule);
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
		*known = back[i] == 1 && java_rule_by_register(u, RBX, 0, HYBRID_BP_SAME, rule);
		return true;
	}
	return false;
}

/*
 * frame::interpreter_frame_method_offset and interpreter_frame_bcp_offset in frame_x86.hpp of JDK
 * 17 to 25, in bytes. The tables don't have them.
 */
#define METHOD	(3 * JAVA_WORD)
#define BCP	(-8 * JAVA_WORD)

bool java_saved_sp_rule(struct java_vm *vm, struct hybrid_rule *rule)
{
	s64 sender = -1;

	java_vm__constant(vm, "frame::interpreter_frame_sender_sp_offset", &sender);
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_SAVED_SP, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_BP,
		.cfa_off = sender * JAVA_WORD, .ra_off = JAVA_WORD,
		.deref_off = METHOD, .bp_off = BCP,
	};
	return sender < 0 && sender >= -16;
}

bool java_interpreter_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
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
	return java_saved_sp_rule(vm, rule);
}

/* Between the entries of methods. */
bool java_interpreter_range(const struct java_interpreter *interpreter, u64 pc,
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
