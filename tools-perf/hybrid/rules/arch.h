/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ARCH_H
#define __PERF_HYBRID_ARCH_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_code_rules;
struct hybrid_object;
struct hybrid_row;
struct hybrid_rule;

/* Did the call before a return address lead to what runs? */
enum hybrid_reach {
	HYBRID_REACH_NOT,	/* there is no call, or its target can't come there */
	HYBRID_REACH_ELSEWHERE,	/* a PLT's target can't, unless it jumps to a callback */
	HYBRID_REACH_FAR,	/* its target does not come there soon, or by a jump table */
	HYBRID_REACH_MAYBE,	/* the code can't be read */
	HYBRID_REACH_INDIRECT,	/* a call through a register, a pointer or a PLT */
	HYBRID_REACH_THERE,	/* its target comes there without a further call */
};

/* Where the rule stands that holds once an instruction has run. */
enum hybrid_effect {
	HYBRID_EFFECT_SAME,	/* with it: a jump, which leaves the stack alone */
	HYBRID_EFFECT_NEXT,	/* with the next instruction */
	HYBRID_EFFECT_CALL,	/* with it, once the return address is taken away */
	HYBRID_EFFECT_RETURN,	/* with the caller, wherever that is */
};

/**
 * struct hybrid_arch - what the code of an object says of its stack
 * @entry_size: how many bytes from its entry on have no caller; 0: unknown
 * @complete_row: put into a row what CFI leaves out there or is known to get wrong, and
 *	end the row where that ends
 * @rule: the rule of code without CFI; false where it is not known
 * @rule_run: the same, with where the straight code ends that it is for, or the instruction,
 *	and how much of the budget of an analysis that took
 * @rules: the rules of code without CFI that begins with functions of which the first one is at an
 *	address or behind it; how much of that budget it took
 * @is_return: does a call stand before an address?
 * @calls_with_result: is a call's result the argument of the next call? By its return address
 * @is_uprobe: may an optimized uprobe be before an address? How many bytes of the stack it
 *	leaves alone below sp before it calls the kernel's code
 * @leads: did the call before a return address lead to a callee? 0: it is in another
 *	file
 * @sets_sp: the first instruction of [start, end) that sets sp to what is not some bytes
 *	from what it was, or can't be read; @end: none
 * @leaves_stack: may the function in [start, end) go to another stack?
 * @saves_bp: does the function in [start, end) begin by saving bp @off bytes above its sp?
 * @call_target: where the call before a return address leads, where that is a direct one;
 *	0: unknown
 * @call_site: the return address of the only direct call to a target in [start, end), or
 *	of several the only one that is given a function or what points to it; 0:
 *	there is none, or more than one
 * @after: what an instruction leaves, and the address behind it
 *
 * Everything that depends on a processor's instructions stands behind this. The object
 * is open, and addresses are as its ELF file numbers them.
 */
struct hybrid_arch {
	u64 (*entry_size)(struct hybrid_object *object);
	void (*complete_row)(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row);
	bool (*rule)(const struct hybrid_object *object, u64 vaddr, struct hybrid_rule *rule);
	bool (*rule_run)(const struct hybrid_object *object, u64 vaddr, struct hybrid_rule *rule,
			 u64 *end, unsigned int *took);
	unsigned int (*rules)(const struct hybrid_object *object, u64 first,
			      struct hybrid_code_rules *rules);
	bool (*is_return)(const struct hybrid_object *object, u64 vaddr);
	bool (*calls_with_result)(const struct hybrid_object *object, u64 vaddr);
	bool (*is_uprobe)(const struct hybrid_object *object, u64 vaddr, u64 *left);
	enum hybrid_reach (*leads)(const struct hybrid_object *object, u64 ret, u64 callee);
	u64 (*sets_sp)(const struct hybrid_object *object, u64 start, u64 end);
	bool (*leaves_stack)(const struct hybrid_object *object, u64 start, u64 end);
	bool (*saves_bp)(const struct hybrid_object *object, u64 start, u64 end, s32 off);
	u64 (*call_target)(const struct hybrid_object *object, u64 ret);
	u64 (*call_site)(const struct hybrid_object *object, u64 start, u64 end, u64 target,
			 u64 given);
	enum hybrid_effect (*after)(const struct hybrid_object *object, u64 vaddr, u64 *next);
};

#endif /* __PERF_HYBRID_ARCH_H */
