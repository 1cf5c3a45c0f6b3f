/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_WALKER_H
#define __PERF_HYBRID_WALKER_H

#include <stdbool.h>

struct evlist;
struct hybrid_bpf;
struct hybrid_compiler;
struct hybrid_objects;
struct hybrid_walk_counts;
struct perf_unwind_stats;

/**
 * struct hybrid_walker - what walks user stacks in the kernel by compiled unwind rules
 * @store: a store of rules in the kernel (/dev/perf_unwind_rules), which a patched kernel walks
 *	by; -1: none
 * @bpf: the BPF program, if there is no @store; NULL: none
 * @compiler: fills @store, or @bpf's table, with rules; NULL: none
 *
 * Without both, perf unwinds every sample from its stack dump.
 */
struct hybrid_walker {
	int			 store;
	struct hybrid_bpf	*bpf;
	struct hybrid_compiler	*compiler;
};

/**
 * hybrid_walker__prepare - load what can walk the stacks of the events' samples
 * @evlist: the events, configured and not yet open
 *
 * A kernel without a walker is found out once the events are open.
 */
void hybrid_walker__prepare(struct evlist *evlist);

/**
 * hybrid_walker__serves_all - will the samples of all events be walked, but for some?
 * @evlist: the events, configured; hybrid_walker__prepare() has seen them
 *
 * Return: true if BPF walks for all events that evsel__has_hybrid_callchain().
 */
bool hybrid_walker__serves_all(struct evlist *evlist);

/**
 * hybrid_walker__attach - attach the walker to the events
 * @walker: out
 * @evlist: events, open, their rings mapped; hybrid_walker__prepare() has seen them
 *
 * Return: true if the kernel or BPF walks for any of the events.
 */
bool hybrid_walker__attach(struct hybrid_walker *walker, struct evlist *evlist);

/**
 * hybrid_walker__start - start the thread that compiles rules for what samples meet
 * @walker: attached; nothing is done if there is neither a store nor BPF
 * @objects: the objects that the samples' address spaces map
 */
void hybrid_walker__start(struct hybrid_walker *walker, struct hybrid_objects *objects);

static inline bool hybrid_walker__is_attached(const struct hybrid_walker *walker)
{
	return walker->store >= 0 || walker->bpf;
}

/* The kernel's walk looks for a call before each return address; that of BPF does not. */
static inline bool hybrid_walker__checks_calls(const struct hybrid_walker *walker)
{
	return !walker->bpf;
}

/**
 * hybrid_walker__stats - what the store or the table holds, and what became of samples
 * @walker: attached
 * @stats: out; may be NULL
 * @counts: out: what BPF counted; all 0 for a store
 */
void hybrid_walker__stats(const struct hybrid_walker *walker, struct perf_unwind_stats *stats,
			  struct hybrid_walk_counts *counts);

/**
 * hybrid_walker__print - with -v: what could not be compiled, and what BPF did
 * @walker: attached, its compiler stopped
 */
void hybrid_walker__print(const struct hybrid_walker *walker);

/* Ends all; the compiler has to be stopped before the objects go, and is deleted here. */
void hybrid_walker__exit(struct hybrid_walker *walker);

#endif /* __PERF_HYBRID_WALKER_H */
