/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SYNTHETIC_FRAME_H
#define __PERF_HYBRID_SYNTHETIC_FRAME_H

#include <linux/types.h>

/*
 * Synthetic frames of a callchain: unpatched tools display frames but ignore flags.
 * Their addresses are in pages that no process maps (vm.mmap_min_addr). The file maps
 * these pages in each process that has such chains.
 */
enum hybrid_synthetic {
	HYBRID_SYNTHETIC_CUT_OFF,	/* last frame: the callers of the one inside are unknown */
	HYBRID_SYNTHETIC_GUESSED,	/* the callers outside are likely, but not proved */
	HYBRID_NR_SYNTHETIC,
};

#define HYBRID_SYNTHETIC_START	0x1000ULL
#define HYBRID_SYNTHETIC_SIZE	0x1000ULL

/* Address of the first byte of a synthetic frame's page. */
static inline u64 hybrid_synthetic_start(enum hybrid_synthetic mark)
{
	return HYBRID_SYNTHETIC_START + mark * HYBRID_SYNTHETIC_SIZE;
}

/*
 * The address that stands in a callchain. It is in the middle of the page because tools
 * subtract 1 from a return address.
 */
static inline u64 hybrid_synthetic_ip(enum hybrid_synthetic mark)
{
	return hybrid_synthetic_start(mark) + HYBRID_SYNTHETIC_SIZE / 2;
}

#endif /* __PERF_HYBRID_SYNTHETIC_FRAME_H */
