/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_STEP_RUN_H
#define __PERF_HYBRID_STEP_RUN_H

#include "walk.h"

/**
 * hybrid_step_run - leave the sampled function by running it on to its return
 * @w: under way; only the first frame is left so, as of others few registers are known
 * @framing: only if the function makes the frame of its caller, and is V8's: other steps lead to
 *	the caller, too, but then take the frame of the caller's caller for that of the caller
 * @caller: out
 *
 * Believed where it leads to behind a call that may lead here.
 *
 * Return: HYBRID_STOP_NO_CFI if that leads nowhere.
 */
enum hybrid_stop hybrid_step_run(struct hybrid_walk *w, bool framing,
				 struct hybrid_caller *caller);

/**
 * hybrid_step_unframed - leave a function whose frame the sampled one was to make
 * @w: under way
 * @caller: out
 *
 * Return: HYBRID_STOP_NO_CFI if the last frame is of no such function.
 */
enum hybrid_stop hybrid_step_unframed(struct hybrid_walk *w, struct hybrid_caller *caller);

/* DWARF's number of rdi. */
#define HYBRID_CALLEE_REG	5

/**
 * hybrid_step_note_callee - note the function of a frame that has not got it yet
 * @u: the sample; the last frame is in code that V8 has made, and may have no frame
 *
 * V8 passes a function to its code in rdi, src/codegen/x64/register-x64.h:
 * kJSFunctionRegister. Whether it is that is for the runtime to find out.
 */
static inline void hybrid_step_note_callee(struct hybrid_unwind *u)
{
	if (u->regs.known & (1U << HYBRID_CALLEE_REG))
		u->frames[u->nr - 1].function = u->regs.value[HYBRID_CALLEE_REG];
}

#endif /* __PERF_HYBRID_STEP_RUN_H */
