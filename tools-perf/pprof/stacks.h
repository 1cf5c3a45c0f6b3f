/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_STACKS_H
#define __PERF_PPROF_STACKS_H

#include <linux/types.h>
#include "table.h"

struct evlist;
struct pprof_chain;
struct pprof_profile;

/* Whose sample it was, and what else it is labelled with. */
struct pprof_whose {
	u32	pid;
	u32	tid;
	u32	comm;		/* strings */
	u32	event;		/* index of its evsel */
	u32	cpu;
	u32	cgroup;		/* strings */
	u32	marks;
};

/* What a sample without a CPU, or of an event without it, has as cpu. */
#define PPROF_NO_CPU	(~0U)

/*
 * The samples of a profile: those that are alike are one. What stacks have in common
 * outside is there once.
 */
struct pprof_stacks {
	struct pprof_table	 frames;	/* a stack is the number of its innermost one */
	struct pprof_table	 whose;
	struct pprof_table	 samples;
	u32			*path;		/* frames of the last stack, the outermost first */
	u32			 path_nr;
	u32			 path_max;
	u32			 nr;		/* different stacks, once they are written */
};

void pprof_stacks__init(struct pprof_stacks *stacks);

void pprof_stacks__exit(struct pprof_stacks *stacks);

/**
 * pprof_stacks__add - count a sample
 * @stacks: where it is counted
 * @chain: its frames
 * @whose: the rest; its marks are filled in here
 * @period: of the event
 *
 * Return: 0 or -ENOMEM.
 */
int pprof_stacks__add(struct pprof_stacks *stacks, const struct pprof_chain *chain,
		      struct pprof_whose *whose, u64 period);

/**
 * pprof_stacks__write - write the samples, and the types of their values
 * @stacks: of all samples
 * @profile: that they are written to
 * @evlist: the events
 */
void pprof_stacks__write(struct pprof_stacks *stacks, struct pprof_profile *profile,
			 struct evlist *evlist);

/* What the values of an event are called; of clocks they are CPU time. */
const char *pprof_event_type(struct evsel *evsel);
const char *pprof_event_unit(const struct evsel *evsel);

#endif /* __PERF_PPROF_STACKS_H */
