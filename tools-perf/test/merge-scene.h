/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_MERGE_SCENE_H
#define __HYBRID_TEST_MERGE_SCENE_H

#include <linux/perf_event.h>
#include "merge.h"
#include "scene.h"

#define MERGE_MAX	512

#define USER	PERF_CONTEXT_USER

/* What a chain ends in that is not known to the outermost frame. */
#define CUT_OFF	hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF)
#define GUESSED	hybrid_synthetic_ip(HYBRID_SYNTHETIC_GUESSED)

/* The kernel's part of a chain is these three words. */
#define KERNEL	PERF_CONTEXT_KERNEL
#define IP_1	0xffffffff81000010
#define IP_2	0xffffffff81000020

/* One sample with the kernel's chain, and what is to come out. */
extern struct scene s;
extern struct hybrid_merge m;
extern struct hybrid_tail tail;
extern u64 chain[MERGE_MAX], out[MERGE_MAX];
extern unsigned int nr_chain;

/* The parts of @ips, until the next call. */
const struct hybrid_kernel_chain *kernel_chain(const u64 *ips, unsigned int nr);

void chain_start(const u64 *ips, unsigned int nr);
void chain_add(u64 ip);

/* leaf(), @nr times pushed(), outer(): nothing that the kernel can follow. */
void merge_pushed(unsigned int nr);

/*
 * @nr times bpframe() with a body of two words, then outer(); and what the
 * kernel makes of it.
 */
void merge_recurse(unsigned int nr);

/* Unwinds and merges, as perf does for each sample. */
enum hybrid_outcome merge(void);

/* What the kernel says of a walk that came to the outermost frame. */
#define OUTERMOST	(PERF_UNWIND_END_OUTERMOST | 3 << 16)

/* The kernel's chain of what was unwound, if it has walked that: return addresses as they are. */
void chain_of_walk(u64 info);

/* Takes the chain as one that the kernel has walked, without a dump; merges. */
enum hybrid_outcome merge_walk(void);

/* The frames of a walk to the outermost one, which has not looked at the code. */
void walk_chain(const u64 *ips, unsigned int nr);

/* Forgets what the thread was seen to be in, and the settings of @m. */
void merge_finish(void);

void merge_compare(const u64 *want, unsigned int nr, const char *file, int line);

/* The chain that merge_recurse(@nr) should end as. */
void merge_expect_recursion(unsigned int nr, int line);

#define merge_expect(...) do {							\
	const u64 want_[] = { __VA_ARGS__ };					\
	merge_compare(want_, ARRAY_SIZE(want_), __FILE__, __LINE__);		\
} while (0)

#endif /* __HYBRID_TEST_MERGE_SCENE_H */
