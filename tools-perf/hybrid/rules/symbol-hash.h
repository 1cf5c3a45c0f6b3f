/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SYMBOL_HASH_H
#define __PERF_HYBRID_SYMBOL_HASH_H

#include <gelf.h>
#include "object.h"

/* A name that is looked for has less bytes. */
#define HYBRID_HASHED_NAME	128

/**
 * struct hybrid_symbol_hash - .gnu.hash of a file, which has the symbols of .dynsym
 * @object: that has it
 * @at: where the table begins in it
 * @size: bytes of the table
 * @symbols: section of the symbols
 * @names: section of their names
 * @head: the table's head: number of buckets, index of the first symbol that it has, number of
 *	words of the Bloom filter, and its shift
 */
struct hybrid_symbol_hash {
	const struct hybrid_object *object;
	u64		at;
	u64		size;
	GElf_Shdr	symbols;
	GElf_Shdr	names;
	u32		head[4];
};

/**
 * hybrid_symbol_hash_open - find the hash table of a file
 * @table: out; valid while @object is open
 * @object: open, of 64 bits
 *
 * Return: false if the file has none, or it can't be one.
 */
bool hybrid_symbol_hash_open(struct hybrid_symbol_hash *table, const struct hybrid_object *object);

/**
 * hybrid_symbol_hash_find - the address of an exported symbol
 * @table: opened
 * @name: of the symbol
 *
 * Return: as the ELF file numbers them; 0 if there is none.
 */
u64 hybrid_symbol_hash_find(const struct hybrid_symbol_hash *table, const char *name);

#endif /* __PERF_HYBRID_SYMBOL_HASH_H */
