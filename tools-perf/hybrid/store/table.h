/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TABLE_H
#define __PERF_HYBRID_TABLE_H

#include <linux/perf_hybrid.h>
#include "../bpf_skel/hybrid_walk.h"

/* Of one object, at most: of 512 MiB of its file. */
#define HYBRID_TABLE_BLOCKS	(4 * HYBRID_WALK_CHUNK_WORDS)

/**
 * struct hybrid_table - rules in memory that a BPF program reads at the same time
 *
 * See hybrid_walk.h for how it is laid out.
 *
 * @chunks: those that there are
 * @nr_chunks: of @chunks
 * @used: words of the last of @chunks
 * @heads: of all objects
 * @more: makes a chunk: cleared, and readable by the program; or a negative errno
 * @arg: for @more
 */
struct hybrid_table {
	u64		*chunks[HYBRID_WALK_CHUNKS];
	unsigned int	 nr_chunks;
	u32		 used;
	u64		*heads;
	int (*more)(void *arg, unsigned int number, u64 **words);
	void		*arg;
};

/**
 * hybrid_table_teach - put the rows of one lesson in the place of what was there
 * @table: one thread's
 * @object: index of its head, below HYBRID_WALK_OBJECTS
 * @teach: see there; what the table can't say is PERF_HYBRID_ASK in it
 *
 * Return: 0; -ENOSPC where there is no more room; -EFBIG, an object that is too
 * large; or what @table->more() returned.
 */
int hybrid_table_teach(struct hybrid_table *table, u32 object,
		       const struct perf_hybrid_teach *teach);

/* The row of an offset in an object, as the program finds it; 0 for none. */
u64 hybrid_table_find(const struct hybrid_table *table, u32 object, u64 offset);

#endif /* __PERF_HYBRID_TABLE_H */
