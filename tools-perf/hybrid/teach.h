/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TEACH_H
#define __PERF_HYBRID_TEACH_H

struct evlist;
struct hybrid_bpf;
struct hybrid_compiler;
struct hybrid_objects;

/**
 * struct hybrid_teaching - what walks the stacks of samples by rules, and what it is taught by
 * @store: /dev/perf_hybrid, -1: there is none
 * @bpf: the BPF program where there is no @store; NULL: there is none
 * @compiler: what fills @store, or @bpf's table; NULL: there is none
 */
struct hybrid_teaching {
	int			 store;
	struct hybrid_bpf	*bpf;
	struct hybrid_compiler	*compiler;
};

/**
 * hybrid_teaching__attach - have the kernel, or BPF, walk by rules
 * @teaching: out
 * @evlist: events, open, their rings mapped; hybrid_record__ask_kernel() has seen them
 */
void hybrid_teaching__attach(struct hybrid_teaching *teaching, struct evlist *evlist);

/**
 * hybrid_teaching__start - teach what samples meet
 * @teaching: attached; without a store and without BPF there is nobody to teach
 * @objects: that the samples' spaces map
 */
void hybrid_teaching__start(struct hybrid_teaching *teaching, struct hybrid_objects *objects);

/* The compiler is stopped before the objects go, and deleted behind them: it has files open. */
void hybrid_teaching__exit(struct hybrid_teaching *teaching);

#endif /* __PERF_HYBRID_TEACH_H */
