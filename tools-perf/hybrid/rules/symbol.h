/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SYMBOL_H
#define __PERF_HYBRID_SYMBOL_H

#include "object.h"

/**
 * hybrid_object_symbol - the address of a symbol
 * @object: open, of 64 bits
 * @name: of it
 *
 * Looked for in .dynsym, by .gnu.hash if the file has it, and in .symtab. Tables or names of more
 * than 16 MiB are left out: who reads the rings reads them. Node.js 24 has 12 MiB of names.
 * If the hash table does not have it, @name has less than 64 bytes, and it is looked for at the
 * first 16 places of the names that end with it.
 *
 * Return: as the ELF file numbers them; 0 where it has none.
 */
u64 hybrid_object_symbol(const struct hybrid_object *object, const char *name);

/*
 * The same of what .gnu.hash has alone, which takes microseconds: the other symbols of Node.js take
 * some ms.
 */
u64 hybrid_object_exported(const struct hybrid_object *object, const char *name);

/**
 * hybrid_object_symbols - the addresses of many symbols
 * @object: open, of 64 bits
 * @prefix: that all of @names have in front of them
 * @names: of the symbols, without @prefix
 * @values: out: as hybrid_object_symbol() returns them
 * @nr: number of @names
 *
 * Of .dynsym: by .gnu.hash, or if there is none, by all of it, if its names are not more than
 * 16 MiB.
 */
void hybrid_object_symbols(const struct hybrid_object *object, const char *prefix,
			   const char *const *names, u64 *values, unsigned int nr);

#define HYBRID_OWN_SYMBOLS	8

/**
 * hybrid_object_own_symbols - the addresses of symbols that a file does not export
 * @object: open
 * @names: of the symbols, of less than 64 bytes
 * @values: out: as hybrid_object_symbol() returns them
 * @nr: number of @names, HYBRID_OWN_SYMBOLS at most
 *
 * Reads .symtab and its names once for all of them, in some ms for Node.js, with the bounds of
 * hybrid_object_symbol().
 */
void hybrid_object_own_symbols(const struct hybrid_object *object, const char *const *names,
			       u64 *values, unsigned int nr);

/**
 * hybrid_object_constant - the value of a constant, as the file has it
 * @object: open, of 64 bits
 * @name: its symbol
 * @out: out
 * @size: bytes of it
 *
 * Return: false if there is no such symbol, or it is not of constant data.
 */
bool hybrid_object_constant(const struct hybrid_object *object, const char *name, void *out,
			    size_t size);

/* Does constant data of the file have a string that ends as @text? Of less than 64 bytes. */
bool hybrid_object_has_text(const struct hybrid_object *object, const char *text);

/**
 * hybrid_object_bytes - code or data, as the file has it
 * @object: open, of 64 bits
 * @vaddr: as the ELF file numbers addresses
 * @out: out
 * @size: bytes, all in one section
 *
 * Relocations are not applied.
 *
 * Return: false if the file does not have it: memory that is 0 at first is not in the file.
 */
bool hybrid_object_bytes(const struct hybrid_object *object, u64 vaddr, void *out, size_t size);

#endif /* __PERF_HYBRID_SYMBOL_H */
