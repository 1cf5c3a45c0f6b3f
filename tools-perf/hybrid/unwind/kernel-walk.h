/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KERNEL_WALK_H
#define __PERF_HYBRID_KERNEL_WALK_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_unwind;
struct hybrid_unwinder;

/**
 * hybrid_chain_info - what the kernel says of its walk by rules
 * @chain: callchain of a sample as the kernel made it
 * @nr: number of @chain
 * @info: out: the word behind PERF_CONTEXT_USER_RULES, 0 where there is none
 *
 * Return: is there one?
 */
bool hybrid_chain_info(const u64 *chain, unsigned int nr, u64 *info);

/* Has the kernel found the outermost frame by rules, so that there is no dump? */
bool hybrid_is_kernel_walk(const u64 *chain, unsigned int nr);

/**
 * hybrid_kernel_walk_frames - the frames of a sample that the kernel has walked by rules
 * @unwinder: caches
 * @u: the sample, without a dump; comes out as from hybrid_unwind()
 * @chain: callchain of the sample, hybrid_is_kernel_walk()
 * @nr: number of @chain
 * @confirmed: the walk has looked for a call before each return address; else the chain
 *	ends before the first that none stands before
 *
 * The kernel gives return addresses: which of them a signal's return is, and
 * what it interrupted, the rows tell. Where the frames stand on the stack is not
 * known, as such a sample has no registers: no later one is joined to it.
 */
void hybrid_kernel_walk_frames(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			       const u64 *chain, unsigned int nr, bool confirmed);

#endif /* __PERF_HYBRID_KERNEL_WALK_H */
