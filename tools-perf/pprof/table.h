/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_TABLE_H
#define __PERF_PPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Byte strings, each once, with the numbers 0, 1, 2... in the order in which they
 * came. They stand in rows one behind the other, as there may be millions: an
 * allocation and a pointer for each would be more than the strings.
 */
struct pprof_table {
	char	*rows;
	size_t	 used;			/* bytes of rows */
	size_t	 size;
	size_t	 key_size;
	size_t	 data_size;
	u32	*starts;		/* of rows whose size differs, in units of 8 bytes */
	u32	 nr;
	u32	 max;
	u32	*slots;			/* number + 1, or 0 */
	u32	 nr_slots;		/* a power of two */
};

/**
 * pprof_table__init - an empty table
 * @table: to be one
 * @key_size: bytes of a key, or 0 where each has a size of its own
 * @data_size: bytes behind each key of that size; they begin as zeros
 */
void pprof_table__init(struct pprof_table *table, size_t key_size, size_t data_size);

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

/* Where the bytes of a number are, until the next one is put there. */
void *pprof_table__key(const struct pprof_table *table, u32 number);

/* Where the data of a number is, 8-byte aligned, as long. */
void *pprof_table__data(const struct pprof_table *table, u32 number);

#endif /* __PERF_PPROF_TABLE_H */
