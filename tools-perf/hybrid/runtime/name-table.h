/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAME_TABLE_H
#define __PERF_HYBRID_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Slots that one search looks at. Nobody can choose names of one hash, but chance may. */
#define HYBRID_NAME_PROBES	1024

struct hybrid_name_slot {
	u32	hash;
	u32	number;
};

/**
 * struct hybrid_name_table - finds numbers by a hash; all 0 is an empty table
 * @slots: open addressing; number 0: free
 * @size: number of @slots, 0 or a power of 2
 * @nr: how many are not free
 */
struct hybrid_name_table {
	struct hybrid_name_slot	*slots;
	u32			 size;
	u32			 nr;
};

/**
 * hybrid_name_table__find - a number by its hash
 * @table: to look in
 * @hash: of what is looked for, by hybrid_hash_bytes()
 * @same: does a number stand for what is looked for?
 * @arg: for @same
 *
 * Return: the number; 0 if there is none within HYBRID_NAME_PROBES slots.
 */
u32 hybrid_name_table__find(const struct hybrid_name_table *table, u32 hash,
			    bool (*same)(u32 number, const void *arg), const void *arg);

/**
 * hybrid_name_table__add - a number that hybrid_name_table__find() has not found
 * @table: to add it to
 * @hash: of what it stands for
 * @number: not 0
 *
 * Return: 0; -ENOMEM; -ENOSPC if so many have the same hash that finding it would take long.
 */
int hybrid_name_table__add(struct hybrid_name_table *table, u32 hash, u32 number);

void hybrid_name_table__exit(struct hybrid_name_table *table);

#endif /* __PERF_HYBRID_NAME_TABLE_H */
