/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_TABLE_H
#define __PERF_PPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct pprof_item {
	void	*key;
	u32	 size;
	u32	 hash;
};

struct pprof_chunk;

/*
 * Byte strings, each once, with the numbers 0, 1, 2... in the order in which they
 * came. Behind each there is room for data of a fixed size.
 */
struct pprof_table {
	struct pprof_item	*items;
	u32			 nr;
	u32			 max;
	u32			*slots;		/* number + 1, or 0 */
	u32			 nr_slots;	/* a power of two */
	size_t			 data_size;
	struct pprof_chunk	*chunk;		/* where items are put */
};

/**
 * pprof_table__init - an empty table
 * @table: to be one
 * @data_size: bytes behind each key; they begin as zeros
 */
void pprof_table__init(struct pprof_table *table, size_t data_size);

/* Frees all that it holds. */
void pprof_table__exit(struct pprof_table *table);

/**
 * pprof_table__number - the number of a byte string, which is put there if it is new
 * @table: for these
 * @key: the bytes; a structure must have no padding
 * @size: how many
 * @is_new: told whether it was new; may be NULL
 *
 * Return: the number, or -ENOMEM.
 */
int pprof_table__number(struct pprof_table *table, const void *key, size_t size, bool *is_new);

/* Where the bytes of a number are, 8-byte aligned; they never move. */
static inline void *pprof_table__key(const struct pprof_table *table, u32 number)
{
	return table->items[number].key;
}

/* Where the data of a number is. */
static inline void *pprof_table__data(const struct pprof_table *table, u32 number)
{
	const struct pprof_item *item = &table->items[number];

	return (char *)item->key + ((item->size + 7UL) & ~7UL);
}

#endif /* __PERF_PPROF_TABLE_H */
