/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KNOWN_WALK_H
#define __PERF_HYBRID_KNOWN_WALK_H

#include "unwind.h"

/**
 * hybrid_known_walk - the frames of a walk in the kernel, by what earlier walks have shown
 * @unwinder: caches
 * @space: of the process
 * @ips: the sampled address, and the return addresses up to the outermost frame's
 * @nr: number of @ips
 * @out: room for @nr; the address of each frame, as struct hybrid_frame has it
 *
 * Most samples lead through addresses that samples before them led through. What
 * hybrid_kernel_walk_frames() and hybrid_merge() look at is the same then: that a call
 * stands before each return address, and that none is a signal's.
 *
 * Return: false if an address, or its place in the chain, is not known.
 */
bool hybrid_known_walk(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
		       const u64 *ips, unsigned int nr, u64 *out);

/* Did hybrid_known_walk_learn() meet an address as a sampled one, in that state of the space? */
bool hybrid_known_walk_first(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			     u64 ip);

/**
 * hybrid_known_walk_learn - remember the addresses of a walk
 * @unwinder: caches
 * @space: of the process
 * @ips: as above, of a sample that hybrid_merge() found to be complete
 * @nr: number of @ips
 * @frames: the address of each frame
 *
 * An address is not remembered if more than itself decides: it is a signal's, or in code
 * without CFI.
 */
void hybrid_known_walk_learn(struct hybrid_unwinder *unwinder, struct hybrid_space *space,
			     const u64 *ips, unsigned int nr, const u64 *frames);

#endif /* __PERF_HYBRID_KNOWN_WALK_H */
