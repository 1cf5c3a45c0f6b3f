/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_FAKE_STORE_H
#define __HYBRID_TEST_FAKE_STORE_H

#include <linux/perf_event.h>
#include "scene.h"
#include "worker.h"

#define MAX_LOADED	64

/* What the kernel says of a walk: see PERF_UNWIND_END_*. */
#define ASK(frames)	(PERF_UNWIND_END_NO_RULE | (frames) << 16)
#define BY_CODE		(PERF_UNWIND_INNERMOST_CODE << 8)

/**
 * struct store - what would be the kernel's
 * @loaded: what came, rows and rules left out
 * @nr: of @loaded
 * @forgotten: how often all was
 * @err: what to answer, @errs times
 * @errs: times
 * @watched: an offset in a file
 * @rule: that the last update had for it
 */
struct store {
	struct perf_unwind_load	loaded[MAX_LOADED];
	unsigned int			nr;
	unsigned int			forgotten;
	int				err;
	unsigned int			errs;
	u32				watched;
	struct perf_unwind_rule		rule;
};

/* A store that is none of the kernel's; who loads it; the sample that shows what. */
extern struct store store;
extern struct hybrid_store_ops store_ops;
extern struct hybrid_compiler *compiler;
extern struct scene sample;

/* Functions whose samples make their object hot, the last of them. */
extern const char * const store_labels[HYBRID_HOT_SAMPLES];

void store_begin(void);
void store_end(void);

/* Makes @sample a sample at @ip, whose caller is not known. */
void store_scene(u64 ip);

/* leaf() called from the label @name, and nothing known of that one's caller. */
void store_sample(const char *name, u64 info);

/* A sample of leaf() whose dump ends within the frame of its caller. Return: frames up to there. */
unsigned int store_short_dump(void);

/* A put_interpreter() of @store_ops that takes all and keeps nothing. */
int store_put_nothing(void *arg, const struct hybrid_pinned_file *file,
		      const struct hybrid_walk_interpreter *interpreter);

/* Loads all that is due, as a thread does otherwise. */
void store_work(void);

/* Where a label of the sample's objects stands in its file. */
u32 store_offset(const char *label);
bool store_has(const struct perf_unwind_load *update, const char *label);
bool store_knows(const char *label);

#endif /* __HYBRID_TEST_FAKE_STORE_H */
