/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KERNEL_WALK_H
#define __PERF_HYBRID_KERNEL_WALK_H

#include <stdbool.h>

struct hybrid_kernel_chain;
struct hybrid_unwind;
struct hybrid_unwinder;

/**
 * hybrid_kernel_walk_frames - the frames of a sample that the kernel has walked by rules
 * @unwinder: caches
 * @u: the sample, without a dump; comes out as from hybrid_unwind()
 * @chain: callchain of the sample, hybrid_kernel_chain_is_whole()
 * @confirmed: the walk has looked for a call before each return address; else the chain
 *	ends before the first that none stands before
 *
 * The kernel gives return addresses: which of them a signal's return is, and
 * what it interrupted, the rows tell. Where the frames stand on the stack is not
 * known, as such a sample has no registers: no later one is joined to it.
 */
void hybrid_kernel_walk_frames(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			       const struct hybrid_kernel_chain *chain, bool confirmed);

#endif /* __PERF_HYBRID_KERNEL_WALK_H */
