/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_ON_H
#define __PERF_HYBRID_RUN_ON_H

#include "run-state.h"

struct x86_frame_mem;

/**
 * struct hybrid_run - a function that is run to its return
 * @mem: reads the code
 * @stack: what is known of the stack
 * @ip: address of the next instruction, as @mem numbers it
 * @regs: at @ip, by the processor's numbers
 * @ret: out: where the function returns to
 * @sp: out: sp behind the return
 * @bp: out: bp there
 * @sp_known: out: @sp is the caller's. Else a jump to another function ends this one, which may
 *	take more off the stack
 * @makes_frame: out: the function makes the frame of its caller, at @bp
 */
struct hybrid_run {
	const struct x86_frame_mem	*mem;
	struct hybrid_run_stack		 stack;
	u64				 ip;
	struct hybrid_run_value		 regs[HYBRID_RUN_REGS];

	u64				 ret;
	u64				 sp;
	struct hybrid_run_value		 bp;
	bool				 sp_known;
	bool				 makes_frame;
};

/**
 * hybrid_run_on - run a function on, from a sampled instruction to its return
 * @run: what goes in is set
 *
 * The instructions are done with what registers and the stack hold, for code of which no rule shows
 * where the return address is: code that keeps it in a register meanwhile, or copies it together
 * with the arguments, in a loop. If a condition is not known, both ways are tried. The heap is not
 * read. A call returns, with all registers but bp unknown, as V8's code takes arguments off the
 * stack. A jump to what is in a register or memory is one to another function, which returns to the
 * word at sp.
 *
 * Return: false if no way comes to a return whose address is known.
 */
bool hybrid_run_on(struct hybrid_run *run);

#endif /* __PERF_HYBRID_RUN_ON_H */
