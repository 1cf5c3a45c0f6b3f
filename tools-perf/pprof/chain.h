/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_CHAIN_H
#define __PERF_PPROF_CHAIN_H

#include <stdbool.h>
#include <linux/types.h>

struct machine;
struct perf_env;
struct perf_sample;
struct pprof_profile;
struct thread;

/* The frames of a sample; kept for the next one, so that memory is taken once. */
struct pprof_chain {
	u32	*locations;
	u32	 nr;
	u32	 max;
	u32	 marks;		/* a bit for each enum hybrid_synthetic */
	int	 max_stack;	/* of samples that perf unwinds; 0: not asked for yet */
	s8	 has_calls;	/* user callers in the file are addresses of calls; -1: not known */
};

/**
 * pprof_chain__read - the locations of a sample, the innermost first
 * @chain: to be filled
 * @profile: where the locations are
 * @machine: that was sampled
 * @thread: that was sampled
 * @sample: any
 *
 * Return: 0 or a negative error.
 */
int pprof_chain__read(struct pprof_chain *chain, struct pprof_profile *profile,
		      struct machine *machine, struct thread *thread,
		      struct perf_sample *sample);

#endif /* __PERF_PPROF_CHAIN_H */
