/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_INSN_H
#define __PERF_HYBRID_RUN_INSN_H

#include "run-state.h"

struct insn;

enum hybrid_run_step {
	HYBRID_RUN_NEXT,	/* goes on behind the instruction */
	HYBRID_RUN_JUMP,	/* goes on at the target */
	HYBRID_RUN_BRANCH,	/* at either: the condition is not known */
	HYBRID_RUN_CALL,	/* calls */
	HYBRID_RUN_RETURN,	/* returns: sp is at the return address */
	HYBRID_RUN_LEAVE,	/* jumps to an address in a register or in memory */
	HYBRID_RUN_DEAD,	/* does not go on, or nobody knows where */
};

/**
 * hybrid_run_insn - do what an instruction of 64-bit code does
 * @state: before it; behind it afterwards
 * @insn: decoded
 * @target: out: where a jump leads
 *
 * What it sets to a value that does not follow from what is known is not known afterwards. A store
 * to an address that is not known is one to the heap, unless a part of the address is a place in
 * the stack.
 *
 * Return: how the way goes on.
 */
enum hybrid_run_step hybrid_run_insn(struct hybrid_run_state *state, struct insn *insn,
				     u64 *target);

#endif /* __PERF_HYBRID_RUN_INSN_H */
