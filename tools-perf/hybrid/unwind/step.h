/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_STEP_H
#define __PERF_HYBRID_STEP_H

#include "walk.h"

/*
 * Steps from the last frame of a walk to its caller. Each returns HYBRID_STOP_NR where there
 * is one, which hybrid_unwind() then makes the last frame.
 */

/**
 * hybrid_step_rule - leave the last frame by a rule
 * @w: under way
 * @rule: of kind HYBRID_RULE_CFA, HYBRID_RULE_DEREF or HYBRID_RULE_SAVED_SP
 * @caller: out
 */
enum hybrid_stop hybrid_step_rule(struct hybrid_walk *w, const struct hybrid_rule *rule,
				  struct hybrid_caller *caller);

/**
 * hybrid_step_sigreturn - go on at what a signal interrupted
 * @u: the sample; sp is at the struct ucontext of the kernel's signal frame, as the
 *	handler's return took what stands before that in struct rt_sigframe
 * @caller: out
 */
enum hybrid_stop hybrid_step_sigreturn(struct hybrid_unwind *u, struct hybrid_caller *caller);

/**
 * hybrid_step_code - leave the last frame by what its code tells
 * @w: under way
 * @row: of the frame, its rule is HYBRID_RULE_NONE; keeps what is found; NULL: none
 * @caller: out
 *
 * Believed where it leads to behind a call that may lead here, or to what a signal
 * interrupted.
 *
 * Return: HYBRID_STOP_NO_CFI where the code does not tell.
 */
enum hybrid_stop hybrid_step_code(struct hybrid_walk *w, struct hybrid_row *row,
				  struct hybrid_caller *caller);

/**
 * hybrid_step_runtime - leave the last frame by what a runtime tells of the code it has made
 * @w: under way
 * @caller: out
 *
 * Believed if a call stands before the return address, or the runtime has made the code there.
 *
 * Return: HYBRID_STOP_NO_CFI if no runtime tells.
 */
enum hybrid_stop hybrid_step_runtime(struct hybrid_walk *w, struct hybrid_caller *caller);

/**
 * hybrid_step_frame_pointer - leave the last frame by its frame pointer
 * @w: under way; @guess is set where nothing confirms the step
 * @caller: out
 *
 * Return: HYBRID_STOP_NO_CFI where the register need not be a frame pointer.
 */
enum hybrid_stop hybrid_step_frame_pointer(struct hybrid_walk *w,
					   struct hybrid_caller *caller);

/**
 * hybrid_step_outermost - leave the last frame for the outermost one
 * @w: under way
 * @caller: out
 *
 * For functions without CFI that never return, so that no path of their code shows a frame: musl's
 * callers of main() and of a thread's function, which pass the result to exit() or pthread_exit().
 * The first word above sp that may be a return address is their caller's, if a process or a thread
 * begins in that code, and if no other return address is above it.
 *
 * Return: HYBRID_STOP_NO_CFI if the first one is another, or none is near.
 */
enum hybrid_stop hybrid_step_outermost(struct hybrid_walk *w, struct hybrid_caller *caller);

/* Did the call before @ret lead to the last frame? */
enum hybrid_reach hybrid_step_reaches(const struct hybrid_walk *w, u64 ret);

/* Does a call stand before @ret? */
bool hybrid_step_is_return(const struct hybrid_walk *w, u64 ret);

/* The return address @ret that stands at @at, as it was before a return probe replaced it. */
u64 hybrid_step_true_return(const struct hybrid_walk *w, u64 at, u64 ret);

#endif /* __PERF_HYBRID_STEP_H */
