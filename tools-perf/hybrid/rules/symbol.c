// SPDX-License-Identifier: GPL-2.0
/*
 * One symbol of a file, without what libelf would keep of all of them: nearly all files
 * do not have it, and their names tell.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "symbol.h"
#include "symbol-hash.h"

#define MAX_NAMES	(16ULL << 20)
#define MAX_SYMBOLS	(16ULL << 20)

#define CHUNK		65536
#define MAX_NAME	64

/* Longer names may end with the one that is looked for: of those so many are tried. */
#define MAX_TRIES	16

/* The same of several names that are looked for at once. */
#define MAX_PLACES	32

/* At which byte of a section of names one is, from @at on, or -1. */
static s64 find_name(int fd, const GElf_Shdr *names, const char *name, u64 at)
{
	size_t len = strlen(name) + 1;
	char buffer[CHUNK];
	ssize_t got;
	char *found;

	if (names->sh_size > MAX_NAMES || len > MAX_NAME)
		return -1;
	while (at < names->sh_size) {
		got = pread(fd, buffer, min_t(u64, sizeof(buffer), names->sh_size - at),
			    names->sh_offset + at);
		if (got <= 0)
			return -1;
		found = memmem(buffer, got, name, len);
		if (found)
			return at + (found - buffer);
		if (got < CHUNK)
			return -1;
		/* It may begin in this chunk and end in the next one. */
		at += got - len;
	}
	return -1;
}

/* The value of the symbol whose name stands there; 0: none. */
static u64 find_value(int fd, const GElf_Shdr *symbols, u64 name)
{
	Elf64_Sym buffer[CHUNK / sizeof(Elf64_Sym)];
	ssize_t got;
	size_t i;
	u64 at;

	if (symbols->sh_size > MAX_SYMBOLS)
		return 0;
	for (at = 0; at < symbols->sh_size; at += got) {
		got = pread(fd, buffer, min_t(u64, sizeof(buffer), symbols->sh_size - at),
			    symbols->sh_offset + at);
		if (got < (ssize_t)sizeof(*buffer))
			return 0;
		got -= got % sizeof(*buffer);
		for (i = 0; i < got / sizeof(*buffer); i++) {
			if (buffer[i].st_name == name && buffer[i].st_shndx != SHN_UNDEF)
				return buffer[i].st_value;
		}
	}
	return 0;
}

/* The value of a symbol, by the section of symbols and that of their names; 0: none. */
static u64 find_symbol(int fd, const GElf_Shdr *symbols, const GElf_Shdr *names, const char *name)
{
	unsigned int tries;
	u64 value = 0;
	s64 at = -1;

	for (tries = 0; tries < MAX_TRIES && !value; tries++) {
		at = find_name(fd, names, name, at + 1);
		if (at < 0)
			return 0;
		value = find_value(fd, symbols, at);
	}
	return value;
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
		value = find_symbol(object->fd, &symbols, &names, name);
	}
	return value;
}

/* All of a section, with a byte of 0 behind it; NULL if it is too large, or can't be read. */
static void *read_section(int fd, const GElf_Shdr *section, u64 most)
{
	char *data = section->sh_size <= most ? calloc(1, section->sh_size + 1) : NULL;

	if (data && pread(fd, data, section->sh_size, section->sh_offset) !=
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
		symbols = read_section(object->fd, &section, MAX_SYMBOLS);
		name = read_section(object->fd, &text, MAX_NAMES);
		if (symbols && name)
			find_values(symbols, section.sh_size / sizeof(Elf64_Sym), name,
				    text.sh_size, prefix, names, values, nr);
		free(symbols);
		free(name);
	}
}

/**
 * struct places - where names stand in a section, be it as the end of longer ones
 * @at: offset of one
 * @name: which name it is
 * @nr: number of them
 */
struct places {
	u64		at[MAX_PLACES];
	u8		name[MAX_PLACES];
	unsigned int	nr;
};

/* Adds all places of name @number in a part of the section that begins at @from. */
static void add_places(struct places *places, unsigned int number, const char *name,
		       const char *part, size_t size, u64 from)
{
	const char *found = part, *end = part + size;
	size_t len = strlen(name) + 1;
	unsigned int i;
	u64 at;

	while ((found = memmem(found, end - found, name, len))) {
		at = from + (found - part);
		/* The part before this one may have had it, too. */
		for (i = 0; i < places->nr && places->at[i] != at; i++)
			;
		if (i == MAX_PLACES)
			return;
		if (i == places->nr) {
			places->at[i] = at;
			places->name[i] = number;
			places->nr++;
		}
		found += len;
	}
}

static void find_places(int fd, const GElf_Shdr *section, const char *const *names,
			unsigned int nr, struct places *places)
{
	char buffer[CHUNK];
	unsigned int i;
	ssize_t got;
	u64 from = 0;

	while (from < section->sh_size) {
		got = pread(fd, buffer, min_t(u64, sizeof(buffer), section->sh_size - from),
			    section->sh_offset + from);
		for (i = 0; got > 0 && i < nr; i++)
			add_places(places, i, names[i], buffer, got, from);
		if (got < CHUNK)
			return;
		/* A name may begin in this part and end in the next one. */
		from += got - MAX_NAME;
	}
}

static void find_at(int fd, const GElf_Shdr *section, const struct places *places, u64 *values)
{
	Elf64_Sym buffer[CHUNK / sizeof(Elf64_Sym)];
	u64 from, number;
	unsigned int i;
	ssize_t got;

	for (from = 0; from < section->sh_size; from += number * sizeof(*buffer)) {
		got = pread(fd, buffer, min_t(u64, sizeof(buffer), section->sh_size - from),
			    section->sh_offset + from);
		if (got < (ssize_t)sizeof(*buffer))
			return;
		for (number = 0; number < got / sizeof(*buffer); number++) {
			for (i = 0; i < places->nr; i++) {
				if (buffer[number].st_name == places->at[i] &&
				    buffer[number].st_shndx != SHN_UNDEF)
					values[places->name[i]] = buffer[number].st_value;
			}
		}
	}
}

void hybrid_object_own_symbols(const struct hybrid_object *object, const char *const *names,
			       u64 *values, unsigned int nr)
{
	struct places places = { .nr = 0 };
	GElf_Shdr symbols, text;
	Elf_Scn *scn = NULL;

	memset(values, 0, nr * sizeof(*values));
	while (object->cfi.abi->word == 8 && nr <= HYBRID_OWN_SYMBOLS &&
	       (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &symbols) || symbols.sh_type != SHT_SYMTAB ||
		    symbols.sh_size > MAX_SYMBOLS ||
		    !gelf_getshdr(elf_getscn(object->elf, symbols.sh_link), &text) ||
		    text.sh_type != SHT_STRTAB || text.sh_size > MAX_NAMES)
			continue;
		find_places(object->fd, &text, names, nr, &places);
		find_at(object->fd, &symbols, &places, values);
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
			return pread(object->fd, out, size, section.sh_offset + at) ==
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
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while (object->elf && (scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &section) && is_constant(&section) &&
		    find_name(object->fd, &section, text, 0) >= 0)
			return true;
	}
	return false;
}
