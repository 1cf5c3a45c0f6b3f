/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RULE_TABLE_H
#define __PERF_HYBRID_RULE_TABLE_H

#include <linux/perf_unwind_rules.h>
#include "../bpf_skel/hybrid_walk.h"

/* Of one object, at most: of 512 MiB of its file. */
#define HYBRID_TABLE_BLOCKS	(4 * HYBRID_WALK_CHUNK_WORDS)

/* A kind of rule: what was loaded before stays. */
#define HYBRID_TABLE_KEEP	255

/**
 * struct hybrid_table - rules in memory that a BPF program reads at the same time
 *
 * See hybrid_walk.h for how it is laid out.
 *
 * @chunks: those that there are, by their numbers
 * @first: of the half of them that is in use
 * @nr_chunks: from @first on
 * @max_chunks: that many of them, at most; half of all at most
 * @used: words of the last one
 * @objects: all
 * @more: makes a chunk: cleared, and readable by the program; or a negative errno
 * @less: takes one back; when it returns no walk reads it
 * @arg: for @more
 */
struct hybrid_table {
	u64		*chunks[HYBRID_WALK_CHUNKS];
	unsigned int	 first;
	unsigned int	 nr_chunks;
	unsigned int	 max_chunks;
	u32		 used;
	struct hybrid_walk_object *objects;
	int (*more)(void *arg, unsigned int number, u64 **words);
	void (*less)(void *arg, unsigned int number, u64 *words);
	void		*arg;
};

/**
 * hybrid_table_load - put the rows of one update in the place of what was there
 * @table: one thread's
 * @object: index of its head, below HYBRID_WALK_OBJECTS
 * @load: see there; what the table can't say is PERF_UNWIND_UNKNOWN in it; a rule may be
 *	HYBRID_TABLE_KEEP
 *
 * Return: 0; -ENOSPC where there is no more room; -EFBIG, an object that is too
 * large; or what @table->more() returned.
 */
int hybrid_table_load(struct hybrid_table *table, u32 object,
		      const struct perf_unwind_load *load);

/* A rule as a row at offset 0; of kind PERF_UNWIND_UNKNOWN where a row can't say it. */
u64 hybrid_table_row(const struct perf_unwind_rule *rule);

/* Words that the rows of an object take. */
u64 hybrid_table_size(const struct hybrid_table *table, u32 object);

/* Makes the first chunk, which may take 10 ms. Else it is made when it is needed. */
void hybrid_table_begin(struct hybrid_table *table);

/**
 * hybrid_table_compact - move all objects that have a head to the other half of the chunks
 * @table: one thread's
 *
 * One for which there is no room has no head then. Walks find what they need before and
 * after; hybrid_table_give_back() ends it.
 */
void hybrid_table_compact(struct hybrid_table *table);

/* After hybrid_table_compact(): the chunks that nothing is in any more. */
void hybrid_table_give_back(struct hybrid_table *table);

/* The row of an offset in an object, as the program finds it; 0 for none. */
u64 hybrid_table_find(const struct hybrid_table *table, u32 object, u64 offset);

#endif /* __PERF_HYBRID_RULE_TABLE_H */
