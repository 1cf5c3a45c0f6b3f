/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ARCH_H
#define __PERF_HYBRID_ARCH_H

#include <stdbool.h>
#include "rule.h"

struct hybrid_object;
struct hybrid_regs;
struct hybrid_regs_map;
struct hybrid_row;

/* Bytes of the longest instruction. */
#define HYBRID_MAX_INSN		15

/* A page: no read of code goes beyond the end of one. */
#define HYBRID_PAGE		4096

/**
 * struct hybrid_code - a piece of code that can be read, of a file or of a process
 * @read: copies @len bytes at @addr to @dst. Returns 0, or anything else if a byte can't be read.
 *	Is never called for bytes of two pages
 * @word: bytes of an address
 * @any_bp: a rule is of use even if it does not say where the caller's bp is
 * @object: whose code it is, with its addresses; NULL: of none
 * @page: address of the page that was read last
 * @offset: of that in the file
 * @is_read: there is one
 */
struct hybrid_code {
	int			  (*read)(void *code, unsigned long addr, void *dst,
					  unsigned int len);
	u8			    word;
	bool			    any_bp;
	const struct hybrid_object *object;
	u64			    page;
	u64			    offset;
	bool			    is_read;
};

/* The code of a file that is open. Addresses are as its ELF file numbers them. */
struct hybrid_code hybrid_object_code(const struct hybrid_object *object);

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

/* What a visitor says of a way through code. */
enum hybrid_flow_step {
	HYBRID_FLOW_ON,		/* this way goes on */
	HYBRID_FLOW_END,	/* it ends here */
	HYBRID_FLOW_FOUND,	/* and so do all */
};

/* What instructions do with the way. */
enum hybrid_way {
	HYBRID_WAY_ON,
	HYBRID_WAY_JUMP,
	HYBRID_WAY_BRANCH,	/* a jump on a condition */
	HYBRID_WAY_CALL,
};

/**
 * struct hybrid_follow - the ways that code can take without a further call
 * @near: what begins nearest before it is followed first
 * @max_insns: instructions that may be decoded
 * @visit: is given each instruction: @addr, the address @next behind it, and where it leads @to
 * @arg: for @visit
 */
struct hybrid_follow {
	u64			near;
	unsigned int		max_insns;
	enum hybrid_flow_step	(*visit)(void *arg, enum hybrid_way way, u64 addr, u64 next,
					 u64 to);
	void			*arg;
};

/**
 * struct hybrid_run_stack - the stack as it was when the code began to run
 * @read: a word of 8 bytes at an address; returns 0, or -1 if it is not known
 * @arg: for @read
 * @start: its first address: at this one and above it, all that is known is stack
 * @end: behind its last one
 */
struct hybrid_run_stack {
	int	(*read)(void *arg, u64 addr, u64 *value);
	void	*arg;
	u64	start;
	u64	end;
};

/**
 * struct hybrid_run_end - a function that was run to its return
 * @ret: where it returns to
 * @sp: behind the return
 * @bp: there
 * @bp_known: @bp is known
 * @makes_frame: the function makes the frame of its caller, at @bp
 */
struct hybrid_run_end {
	u64	ret;
	u64	sp;
	u64	bp;
	bool	bp_known;
	bool	makes_frame;
};

/* Bytes of code on each side of an address that @around looks at. */
#define HYBRID_AROUND		256

/**
 * struct hybrid_arch - what code says of its stack
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
 * @jump: where an instruction jumps to, 0 if to no place that is known; and the address behind it,
 *	0 if it is no instruction
 * @returns: does code do nothing but return to the caller? By few instructions, and calls nothing
 *	if no condition holds: that the stack was overwritten
 * @follow: follow the ways from an address on. Has the visitor found what it looks for?
 * @around: the instructions near @ip to which straight code leads without a change of bp, which
 *	points to the frame there: a bit for each byte from @ip - HYBRID_AROUND on at which one
 *	begins
 * @run_on: run a function on, from a sampled instruction to its return, with what registers and the
 *	stack hold; false if no way comes to a return whose address is known
 * @map_regs: how to read a sample's registers, of which perf_event_attr's sample_regs_user is the
 *	mask
 *
 * Everything that depends on a processor's instructions stands behind this: what an architecture
 * is has a folder of its own, and no other includes headers of that.
 */
struct hybrid_arch {
	u64 (*entry_size)(struct hybrid_object *object);
	void (*complete_row)(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row);
	bool (*rule)(struct hybrid_code *code, u64 ip, struct hybrid_rule *rule);
	bool (*rule_run)(struct hybrid_code *code, u64 ip, struct hybrid_rule *rule, u64 *end,
			 unsigned int *took);
	unsigned int (*rules)(struct hybrid_code *code, u64 first,
			      struct hybrid_code_rules *rules);
	bool (*is_return)(struct hybrid_code *code, u64 ip);
	bool (*calls_with_result)(struct hybrid_code *code, u64 ip);
	bool (*is_uprobe)(struct hybrid_code *code, u64 ip, u64 *left);
	enum hybrid_reach (*leads)(struct hybrid_code *code, u64 ret, u64 callee);
	u64 (*sets_sp)(struct hybrid_code *code, u64 start, u64 end);
	bool (*leaves_stack)(struct hybrid_code *code, u64 start, u64 end);
	bool (*saves_bp)(struct hybrid_code *code, u64 start, u64 end, s32 off);
	u64 (*call_target)(struct hybrid_code *code, u64 ret);
	u64 (*call_site)(struct hybrid_code *code, u64 start, u64 end, u64 target,
			 u64 given);
	enum hybrid_effect (*after)(struct hybrid_code *code, u64 ip, u64 *next);
	u64 (*jump)(struct hybrid_code *code, u64 ip, u64 *next);
	bool (*returns)(struct hybrid_code *code, u64 ip);
	bool (*follow)(struct hybrid_code *code, const struct hybrid_follow *follow, u64 from);
	void (*around)(struct hybrid_code *code, u64 ip, u64 begins[2 * HYBRID_AROUND / 64]);
	bool (*run_on)(struct hybrid_code *code, u64 ip, const struct hybrid_regs *regs,
		       const struct hybrid_run_stack *stack, struct hybrid_run_end *end);
	void (*map_regs)(struct hybrid_regs_map *map, u64 mask, const struct hybrid_abi *abi);
};

/* The ABIs of the machine, of programs of 64 bits and of 32. */
extern const struct hybrid_abi hybrid_abi_64;
extern const struct hybrid_abi hybrid_abi_32;

/* A hybrid_abi_fn: EM_X86_64 and EM_386. Each folder of an architecture has one. */
const struct hybrid_abi *hybrid_x86_abi(unsigned int machine);

#endif /* __PERF_HYBRID_ARCH_H */
