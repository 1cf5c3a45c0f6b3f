/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __BPF_TEST_CLOCK_H
#define __BPF_TEST_CLOCK_H

#include <time.h>

/* In seconds: the programs of these tests run for a time. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#endif /* __BPF_TEST_CLOCK_H */
