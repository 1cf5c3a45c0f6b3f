// SPDX-License-Identifier: GPL-2.0
/*
 * One symbol of a file, without what libelf would keep of all of them: nearly all files
 * do not have it, and their names tell.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "symbol.h"
#include "symbol-hash.h"

#define MAX_NAMES	(16ULL << 20)
#define MAX_SYMBOLS	(16ULL << 20)

#define CHUNK		65536
#define MAX_NAME	64

/* Longer names may end with the one that is looked for: so many places are tried of each name. */
#define MAX_PLACES	16

/**
 * struct places - where names stand in a section, be it as the end of longer ones
 * @at: offsets, by name
 * @nr: number of them, by name
 */
struct places {
	u64		at[HYBRID_OWN_SYMBOLS][MAX_PLACES];
	unsigned int	nr[HYBRID_OWN_SYMBOLS];
};

/* Adds the places of name @number, @most at most, in a part of the section that begins at @from. */
static void add_places(struct places *places, unsigned int number, unsigned int most,
		       const char *name, const char *part, size_t size, u64 from)
{
	const char *found = part, *end = part + size;
	unsigned int *nr = &places->nr[number];
	size_t len = strlen(name) + 1;
	u64 at;

	while (len <= MAX_NAME && *nr < most && (found = memmem(found, end - found, name, len))) {
		at = from + (found - part);
		/* The part before this one may have had it, too. */
		if (!*nr || places->at[number][*nr - 1] < at)
			places->at[number][(*nr)++] = at;
		found += len;
	}
}

/* Finds names in a section that is not too large; @most: places of each, MAX_PLACES at most. */
static void find_places(const struct hybrid_object *object, const GElf_Shdr *section,
			const char *const *names, unsigned int nr, unsigned int most,
			struct places *places)
{
	bool is_full = false;
	char buffer[CHUNK];
	unsigned int i;
	ssize_t got;
	u64 from;

	memset(places->nr, 0, sizeof(places->nr));
	if (section->sh_size > MAX_NAMES)
		return;
	/* A name may begin in a part and end in the next one. */
	for (from = 0; from < section->sh_size && !is_full; from += CHUNK - MAX_NAME) {
		got = hybrid_object_read(object, buffer,
					 min_t(u64, sizeof(buffer), section->sh_size - from),
					 section->sh_offset + from);
		if (got <= 0)
			return;
		is_full = true;
		for (i = 0; i < nr; i++) {
			add_places(places, i, most, names[i], buffer, got, from);
			is_full &= places->nr[i] == most;
		}
		if (got < CHUNK)
			return;
	}
}

/* Sets @values, by name, to that of the first symbol whose name stands at one of its places. */
static void take_value(const Elf64_Sym *symbol, const struct places *places, u64 *values,
		       unsigned int nr)
{
	unsigned int i, place;

	for (i = 0; i < nr; i++) {
		for (place = 0; place < places->nr[i] && !values[i]; place++) {
			if (symbol->st_name == places->at[i][place])
				values[i] = symbol->st_value;
		}
	}
}

/* Are there no names that have a place and no value? */
static bool are_found(const struct places *places, const u64 *values, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && (values[i] || !places->nr[i]); i++)
		;
	return i == nr;
}

/* The values of symbols, by the section of symbols and that of their names; @values are 0. */
static void find_symbols(const struct hybrid_object *object, const GElf_Shdr *symbols,
			 const GElf_Shdr *text, const char *const *names, u64 *values,
			 unsigned int nr)
{
	Elf64_Sym buffer[CHUNK / sizeof(Elf64_Sym)];
	struct places places;
	ssize_t got;
	size_t i;
	u64 from;

	if (symbols->sh_size > MAX_SYMBOLS)
		return;
	find_places(object, text, names, nr, MAX_PLACES, &places);
	for (from = 0; from < symbols->sh_size && !are_found(&places, values, nr); from += got) {
		got = hybrid_object_read(object, buffer,
					 min_t(u64, sizeof(buffer), symbols->sh_size - from),
					 symbols->sh_offset + from);
		if (got < (ssize_t)sizeof(*buffer))
			return;
		got -= got % sizeof(*buffer);
		for (i = 0; i < got / sizeof(*buffer); i++) {
			if (buffer[i].st_shndx != SHN_UNDEF)
				take_value(&buffer[i], &places, values, nr);
		}
	}
}

u64 hybrid_object_exported(const struct hybrid_object *object, const char *name)
{
	struct hybrid_symbol_hash table;

	return object->cfi.abi->word == 8 && hybrid_symbol_hash_open(&table, object) ?
		hybrid_symbol_hash_find(&table, name) : 0;
}

u64 hybrid_object_symbol(const struct hybrid_object *object, const char *name)
{
	struct hybrid_symbol_hash table;
	GElf_Shdr symbols, names;
	Elf_Scn *scn = NULL;
	u64 value = 0;
	bool hashed;

	if (object->cfi.abi->word != 8)
		return 0;
	hashed = hybrid_symbol_hash_open(&table, object);
	if (hashed)
		value = hybrid_symbol_hash_find(&table, name);
	while (!value && (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &symbols) ||
		    (symbols.sh_type != SHT_SYMTAB &&
		     (symbols.sh_type != SHT_DYNSYM || hashed)) ||
		    !gelf_getshdr(elf_getscn(object->elf, symbols.sh_link), &names) ||
		    names.sh_type != SHT_STRTAB)
			continue;
		find_symbols(object, &symbols, &names, &name, &value, 1);
	}
	return value;
}

/* All of a section, with a byte of 0 behind it; NULL if it is too large, or can't be read. */
static void *read_section(const struct hybrid_object *object, const GElf_Shdr *section, u64 most)
{
	char *data = section->sh_size <= most ? calloc(1, section->sh_size + 1) : NULL;

	if (data && hybrid_object_read(object, data, section->sh_size, section->sh_offset) !=
	    (ssize_t)section->sh_size) {
		free(data);
		return NULL;
	}
	return data;
}

static void find_values(const Elf64_Sym *symbols, u64 nr_symbols, const char *text, u64 size,
			const char *prefix, const char *const *names, u64 *values, unsigned int nr)
{
	size_t len = strlen(prefix);
	unsigned int i;
	u64 at;

	for (at = 0; at < nr_symbols; at++) {
		if (symbols[at].st_name >= size || symbols[at].st_shndx == SHN_UNDEF ||
		    strncmp(text + symbols[at].st_name, prefix, len))
			continue;
		for (i = 0; i < nr; i++) {
			if (!strcmp(text + symbols[at].st_name + len, names[i]))
				values[i] = symbols[at].st_value;
		}
	}
}

static void find_hashed(const struct hybrid_symbol_hash *table, const char *prefix,
			const char *const *names, u64 *values, unsigned int nr)
{
	char name[HYBRID_HASHED_NAME];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, names[i]);
		values[i] = hybrid_symbol_hash_find(table, name);
	}
}

void hybrid_object_symbols(const struct hybrid_object *object, const char *prefix,
			   const char *const *names, u64 *values, unsigned int nr)
{
	struct hybrid_symbol_hash table;
	GElf_Shdr section, text;
	Elf_Scn *scn = NULL;
	void *symbols, *name;

	memset(values, 0, nr * sizeof(*values));
	if (object->cfi.abi->word != 8)
		return;
	if (hybrid_symbol_hash_open(&table, object)) {
		find_hashed(&table, prefix, names, values, nr);
		return;
	}
	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_DYNSYM ||
		    !gelf_getshdr(elf_getscn(object->elf, section.sh_link), &text) ||
		    text.sh_type != SHT_STRTAB)
			continue;
		symbols = read_section(object, &section, MAX_SYMBOLS);
		name = read_section(object, &text, MAX_NAMES);
		if (symbols && name)
			find_values(symbols, section.sh_size / sizeof(Elf64_Sym), name,
				    text.sh_size, prefix, names, values, nr);
		free(symbols);
		free(name);
	}
}

void hybrid_object_own_symbols(const struct hybrid_object *object, const char *const *names,
			       u64 *values, unsigned int nr)
{
	GElf_Shdr symbols, text;
	Elf_Scn *scn = NULL;

	memset(values, 0, nr * sizeof(*values));
	while (object->cfi.abi->word == 8 && nr <= HYBRID_OWN_SYMBOLS &&
	       (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &symbols) || symbols.sh_type != SHT_SYMTAB ||
		    !gelf_getshdr(elf_getscn(object->elf, symbols.sh_link), &text) ||
		    text.sh_type != SHT_STRTAB)
			continue;
		find_symbols(object, &symbols, &text, names, values, nr);
		return;
	}
}

/* What the file has of the program's memory. */
static bool is_loaded(const GElf_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_ALLOC;
}

/* The same, if it is data that nobody writes to. */
static bool is_constant(const GElf_Shdr *section)
{
	return is_loaded(section) && !(section->sh_flags & (SHF_WRITE | SHF_EXECINSTR));
}

static bool read_bytes(const struct hybrid_object *object, u64 vaddr, void *out, size_t size,
		       bool (*is_right)(const GElf_Shdr *section))
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;
	u64 at;

	while (object->elf && vaddr && (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &section) || !is_right(&section))
			continue;
		at = vaddr - section.sh_addr;
		if (at < section.sh_size && section.sh_size - at >= size)
			return hybrid_object_read(object, out, size, section.sh_offset + at) ==
			       (ssize_t)size;
	}
	return false;
}

bool hybrid_object_bytes(const struct hybrid_object *object, u64 vaddr, void *out, size_t size)
{
	return read_bytes(object, vaddr, out, size, is_loaded);
}

bool hybrid_object_constant(const struct hybrid_object *object, const char *name, void *out,
			    size_t size)
{
	u64 vaddr = object->elf ? hybrid_object_symbol(object, name) : 0;

	return read_bytes(object, vaddr, out, size, is_constant);
}

bool hybrid_object_has_text(const struct hybrid_object *object, const char *text)
{
	struct places places;
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while (object->elf && (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &section) || !is_constant(&section))
			continue;
		find_places(object, &section, &text, 1, 1, &places);
		if (places.nr[0])
			return true;
	}
	return false;
}
