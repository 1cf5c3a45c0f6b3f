/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KEY_TABLE_H
#define __PERF_HYBRID_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct hybrid_key_table - what is known of things that a process or a file chooses, by a key
 * @entries: open addressing; each begins with its key, 64 bits, and 0 is none; owned
 * @size: of an entry in bytes; the caller sets it, and the next two if it wants; all else is 0 at
 *	first
 * @most_bits: binary logarithm of the number of @entries at most; 0: HYBRID_KEY_TABLE_BITS
 * @drop: frees what an entry owns, when it leaves the table; NULL: it owns nothing
 * @bits: binary logarithm of the number of @entries; 0: there are none
 * @nr: entries with a key
 */
struct hybrid_key_table {
	u8		*entries;
	size_t		 size;
	unsigned int	 most_bits;
	void		 (*drop)(void *entry);
	unsigned int	 bits;
	u32		 nr;
};

/* Entries of one table, as a binary logarithm. */
#define HYBRID_KEY_TABLE_BITS	16

/* Entries that one search looks at: nobody can choose keys of one place, but chance may. */
#define HYBRID_KEY_TABLE_PROBES	1024U

/**
 * hybrid_key_table__find - the entry of a key
 * @table: to look in
 * @key: of the entry
 *
 * Return: valid until the next hybrid_key_table__put(); NULL if there is none, or @key is 0.
 */
void *hybrid_key_table__find(const struct hybrid_key_table *table, u64 key);

/**
 * hybrid_key_table__put - add an entry, or replace that of the same key
 * @table: to add it to. If three quarters of the most entries are used, all are dropped first
 * @entry: begins with its key; copied
 *
 * Return: as hybrid_key_table__find(); NULL if memory is short, or the key is 0: the caller has
 * what @entry owns.
 */
void *hybrid_key_table__put(struct hybrid_key_table *table, const void *entry);

/**
 * hybrid_key_table__copy - begin with the entries of another table
 * @table: empty; it stays so if memory is short
 * @from: what it is a copy of; its entries own nothing
 */
void hybrid_key_table__copy(struct hybrid_key_table *table, const struct hybrid_key_table *from);

/**
 * hybrid_key_table__number - the number of a key
 * @table: nothing but hybrid_key_table__put_number() has added to it
 * @key: of the number
 *
 * Return: 0 if there is none.
 */
u32 hybrid_key_table__number(const struct hybrid_key_table *table, u64 key);

/**
 * hybrid_key_table__put_number - give a key a number, or another one
 * @table: to add it to; @size and @most_bits are set here
 * @most_bits: of @table
 * @key: not 0
 * @number: not 0
 *
 * Return: false if memory is short.
 */
bool hybrid_key_table__put_number(struct hybrid_key_table *table, unsigned int most_bits, u64 key,
				  u32 number);

void hybrid_key_table__exit(struct hybrid_key_table *table);

#endif /* __PERF_HYBRID_KEY_TABLE_H */
