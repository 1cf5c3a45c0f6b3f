/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_HIDE_EVALUATOR_H
#define __PERF_HYBRID_HIDE_EVALUATOR_H

#include <linux/compiler.h>

struct machine;
struct perf_sample;

#ifdef HAVE_HYBRID_SUPPORT

/**
 * hybrid__hide_evaluator - leave native frames that interpret functions out of a callchain
 * @sample: is about to be resolved; gets a callchain of its own if a frame is left out
 * @machine: has the mappings of its process
 *
 * A native frame that is followed by functions of an interpreted language, which it runs, is one of
 * the interpreter's evaluator. If the sample was taken in it, the sample is of the innermost of
 * these functions then. Native frames of other code stay.
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid__hide_evaluator(struct perf_sample *sample, struct machine *machine);
#else
static inline int hybrid__hide_evaluator(struct perf_sample *sample __maybe_unused,
					 struct machine *machine __maybe_unused)
{
	return 0;
}
#endif

#endif /* __PERF_HYBRID_HIDE_EVALUATOR_H */
