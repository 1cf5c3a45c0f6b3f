/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CLOCK_H
#define __PERF_HYBRID_CLOCK_H

#include <time.h>
#include <linux/types.h>

/* What a clock shows, in ns: CLOCK_MONOTONIC, or the same with _COARSE, which is cheaper. */
static inline u64 hybrid_clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

#endif /* __PERF_HYBRID_CLOCK_H */
