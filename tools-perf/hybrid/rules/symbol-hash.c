// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols that a file exports, by its hash table, as ld.so finds them: sysdeps/generic/dl-hash.h
 * and elf/dl-lookup.c of glibc.
 */
#include <string.h>
#include "symbol-hash.h"

/* Symbols of one bucket of a hash table that are looked at. */
#define MAX_CHAIN	4096

static bool read_table(const struct hybrid_symbol_hash *table, u64 at, void *out, size_t size)
{
	return at <= table->size && size <= table->size - at &&
	       hybrid_object_read(table->object, out, size, table->at + at) == (ssize_t)size;
}

bool hybrid_symbol_hash_open(struct hybrid_symbol_hash *table, const struct hybrid_object *object)
{
	Elf_Scn *scn = NULL, *symbols;
	GElf_Shdr section;

	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &section) && section.sh_type == SHT_GNU_HASH)
			break;
	}
	symbols = scn ? elf_getscn(object->elf, section.sh_link) : NULL;
	if (!symbols || !gelf_getshdr(symbols, &table->symbols) ||
	    table->symbols.sh_type != SHT_DYNSYM ||
	    !gelf_getshdr(elf_getscn(object->elf, table->symbols.sh_link), &table->names) ||
	    table->names.sh_type != SHT_STRTAB)
		return false;
	table->object = object;
	table->at = section.sh_offset;
	table->size = section.sh_size;
	return read_table(table, 0, table->head, sizeof(table->head)) && table->head[0];
}

/* As ld.so's dl_new_hash(). */
static u32 hash_name(const char *name)
{
	u32 hash = 5381;

	while (*name)
		hash = hash * 33 + (u8)*name++;
	return hash;
}

/* The value of symbol @index, if it has the name. */
static u64 hashed_value(const struct hybrid_symbol_hash *table, u32 index, const char *name)
{
	size_t len = strlen(name) + 1;
	char text[HYBRID_HASHED_NAME];
	Elf64_Sym symbol;

	if ((index + 1ULL) * sizeof(symbol) > table->symbols.sh_size ||
	    hybrid_object_read(table->object, &symbol, sizeof(symbol), table->symbols.sh_offset +
			       (u64)index * sizeof(symbol)) != sizeof(symbol) ||
	    symbol.st_shndx == SHN_UNDEF || symbol.st_name >= table->names.sh_size ||
	    len > table->names.sh_size - symbol.st_name ||
	    hybrid_object_read(table->object, text, len,
			       table->names.sh_offset + symbol.st_name) != (ssize_t)len)
		return 0;
	return memcmp(text, name, len) ? 0 : symbol.st_value;
}

/* Each chain has the hashes of its symbols, the last one with its lowest bit set. */
u64 hybrid_symbol_hash_find(const struct hybrid_symbol_hash *table, const char *name)
{
	u64 chains = sizeof(table->head) + table->head[2] * 8ULL + table->head[0] * 4ULL, value;
	u32 hash = hash_name(name), index, found, i;

	if (strlen(name) >= HYBRID_HASHED_NAME ||
	    !read_table(table, chains - (table->head[0] - hash % table->head[0]) * 4ULL, &index,
			sizeof(index)) ||
	    index < table->head[1])
		return 0;
	for (i = 0; i < MAX_CHAIN; i++, index++) {
		if (!read_table(table, chains + (index - table->head[1]) * 4ULL, &found,
				sizeof(found)))
			return 0;
		value = (found ^ hash) >> 1 ? 0 : hashed_value(table, index, name);
		if (value || found & 1)
			return value;
	}
	return 0;
}
