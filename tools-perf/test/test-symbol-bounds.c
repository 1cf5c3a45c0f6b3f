// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of files that are made: at each bound of a table, and one beyond it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "abi.h"
#include "elf-made.h"
#include "symbol.h"
#include "tap.h"

#define MIB		(1ULL << 20)

/* As symbol.c reads: names and symbols in parts, of which those of names overlap. */
#define CHUNK		65536
#define NAMES_STEP	(CHUNK - 64)
#define CHUNK_SYMBOLS	(CHUNK / sizeof(Elf64_Sym))

#define VALUE(i)	(0x1000000 + (i))

/**
 * struct table - symbols and their names
 * @symbols: one after the other
 * @nr: number of @symbols
 * @names: the section
 * @size: of @names
 * @symbols_size: what the file says of the size of @symbols; 0: as it is
 * @names_size: the same of @names
 */
struct table {
	Elf64_Sym	symbols[3 * CHUNK / sizeof(Elf64_Sym)];
	unsigned int	nr;
	char		names[4 * CHUNK];
	size_t		size;
	u64		symbols_size;
	u64		names_size;
};

static struct table table;

static void begin(void)
{
	memset(&table, 0, sizeof(table));
	table.nr = 1;
	table.size = 1;
}

static void add_at(unsigned int at, const char *name, u64 value)
{
	memcpy(table.names + at, name, strlen(name) + 1);
	table.size = max_t(size_t, table.size, at + strlen(name) + 1);
	table.symbols[table.nr++] = (Elf64_Sym) {
		.st_name = at, .st_shndx = 1, .st_value = value,
	};
}

static void add(const char *name, u64 value)
{
	add_at(table.size, name, value);
}

/* Names that nobody looks for, up to an offset. */
static void fill(size_t end)
{
	memset(table.names + table.size, '-', end - table.size);
	for (; table.size < end; table.size++) {
		if (table.size % 16 == 15 || table.size + 1 == end)
			table.names[table.size] = 0;
	}
}

/* Of one SHT_SYMTAB or SHT_DYNSYM. */
static void make(struct elf_made *elf, u32 type, u32 names_type)
{
	unsigned int names;

	elf_made_begin(elf);
	elf_made_loaded(elf, ".text", SHF_EXECINSTR, 0x10000, "\xc3", 1);
	names = elf_made_section(elf, ".names",
				 (Elf64_Shdr) { .sh_type = names_type,
						.sh_size = table.names_size },
				 table.names, table.size);
	elf_made_section(elf, ".symbols",
			 (Elf64_Shdr) { .sh_type = type, .sh_link = names,
					.sh_size = table.symbols_size,
					.sh_entsize = sizeof(Elf64_Sym) },
			 table.symbols, table.nr * sizeof(Elf64_Sym));
}

static struct hybrid_object *open_table(u32 type)
{
	struct elf_made elf;

	make(&elf, type, SHT_STRTAB);
	return elf_made_object(&elf);
}

/* The symbol by each of the functions that read such a table. */
static void expect(int line, const char *name, u64 value)
{
	static const u32 types[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct hybrid_object *object;
	unsigned int i;
	u64 found;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		object = open_table(types[i]);
		tap_same(hybrid_object_symbol(object, name), value, __FILE__, line, name);
		hybrid_object_own_symbols(object, &name, &found, 1);
		tap_same(found, types[i] == SHT_SYMTAB ? value : 0, __FILE__, line, name);
		elf_made_close(object);
	}
}

#define EXPECT(name, value) expect(__LINE__, name, value)

/* Wherever it stands, be it across the end of what is read at once. */
static void names_in_parts(void)
{
	char name[64];
	unsigned int part, i;
	size_t at;

	for (part = 1; part < 4; part++) {
		for (i = 0; i < 150; i += part == 1 ? 1 : 7) {
			at = part * NAMES_STEP - 72 + i;
			begin();
			fill(at);
			snprintf(name, sizeof(name), "symbol_%zu_of_a_long_name", at);
			add_at(at, name, VALUE(i));
			fill(at + 300);
			EXPECT(name, VALUE(i));
		}
	}
}

static void symbols_in_parts(void)
{
	static const unsigned int at[] = {
		1, CHUNK_SYMBOLS - 1, CHUNK_SYMBOLS, CHUNK_SYMBOLS + 1, 2 * CHUNK_SYMBOLS - 1,
		2 * CHUNK_SYMBOLS, 2 * CHUNK_SYMBOLS + 1, 3 * CHUNK_SYMBOLS - 1,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		begin();
		table.nr = at[i];
		add("symbol", VALUE(i));
		EXPECT("symbol", VALUE(i));
		/* The section ends before it, or within it. */
		table.symbols_size = at[i] * sizeof(Elf64_Sym);
		EXPECT("symbol", 0);
		table.symbols_size += sizeof(Elf64_Sym) - 1;
		EXPECT("symbol", 0);
	}
}

static void long_names(void)
{
	char name[65] = "";

	memset(name, 'n', 64);
	begin();
	add(name, VALUE(64));
	add(name + 1, VALUE(63));
	EXPECT(name, 0);
	EXPECT(name + 1, VALUE(63));
}

/* A name is looked for at the first 16 places where it stands. */
static void places(void)
{
	unsigned int nr, i;
	char name[32];

	for (nr = 14; nr < 18; nr++) {
		begin();
		for (i = 0; i < nr; i++) {
			snprintf(name, sizeof(name), "%c_many", 'a' + i);
			add(name, VALUE(i));
		}
		add("_many", VALUE(nr));
		EXPECT("_many", nr < 16 ? VALUE(nr) : 0);
		EXPECT("b_many", VALUE(1));
	}
}

/* What has more than 16 MiB is not read. */
static void sizes(void)
{
	begin();
	add("symbol", VALUE(1));
	table.names_size = 16 * MIB;
	EXPECT("symbol", VALUE(1));
	table.names_size++;
	EXPECT("symbol", 0);
	table.names_size = 0;
	table.symbols_size = 16 * MIB;
	EXPECT("symbol", VALUE(1));
	table.symbols_size++;
	EXPECT("symbol", 0);
	/* Names that end within what is looked for. */
	table.symbols_size = 0;
	table.names_size = table.size - 1;
	EXPECT("symbol", 0);
}

static void undefined(void)
{
	begin();
	add("symbol", VALUE(1));
	table.symbols[table.nr - 1].st_shndx = SHN_UNDEF;
	EXPECT("symbol", 0);
	add_at(1, "symbol", VALUE(2));
	EXPECT("symbol", VALUE(2));
	/* The first one counts. */
	add_at(1, "symbol", VALUE(3));
	EXPECT("symbol", VALUE(2));
}

/* The section of names is none, or there is none; sections of other kinds. */
static void no_names(void)
{
	static const u32 types[] = { SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB, SHT_DYNSYM };
	struct hybrid_object *object;
	const char *name = "symbol";
	struct elf_made elf;
	unsigned int i;
	bool found;
	u64 value;

	begin();
	add("symbol", VALUE(1));
	for (i = 0; i < 16; i++) {
		found = types[i % 4] != SHT_PROGBITS && types[i % 4] != SHT_STRTAB &&
			types[i / 4] == SHT_STRTAB;
		make(&elf, types[i % 4], types[i / 4]);
		object = elf_made_object(&elf);
		same(hybrid_object_symbol(object, "symbol"), found ? VALUE(1) : 0);
		hybrid_object_own_symbols(object, &name, &value, 1);
		same(value, found && types[i % 4] == SHT_SYMTAB ? VALUE(1) : 0);
		hybrid_object_symbols(object, "sym", (const char *const[]) { "bol" }, &value, 1);
		same(value, found && types[i % 4] == SHT_DYNSYM ? VALUE(1) : 0);
		elf_made_close(object);
	}
}

static void many_own(void)
{
	const char *names[HYBRID_OWN_SYMBOLS + 1];
	u64 values[ARRAY_SIZE(names)];
	char text[ARRAY_SIZE(names)][8];
	struct hybrid_object *object;
	unsigned int i, nr;

	begin();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text[i], sizeof(text[i]), "own_%u", i);
		names[i] = text[i];
		add(text[i], VALUE(i));
	}
	object = open_table(SHT_SYMTAB);
	for (nr = 1; nr <= ARRAY_SIZE(names); nr++) {
		memset(values, -1, sizeof(values));
		hybrid_object_own_symbols(object, names, values, nr);
		for (i = 0; i < nr; i++)
			same(values[i], nr <= HYBRID_OWN_SYMBOLS ? VALUE(i) : 0);
	}
	elf_made_close(object);
}

/* Many at once, by a prefix: the whole table is read. */
static void by_prefix(void)
{
	static const char *const names[] = { "one", "two", "three", "" };
	u64 values[ARRAY_SIZE(names)];
	struct hybrid_object *object;

	begin();
	add("p_one", VALUE(1));
	add("q_two", VALUE(2));
	add("p_three", VALUE(3));
	add("p_", VALUE(4));
	add("p_two", VALUE(5));
	table.symbols[table.nr - 1].st_shndx = SHN_UNDEF;
	/* Beyond the names; at their last byte, where no end is in the section. */
	table.symbols[table.nr++] = (Elf64_Sym) { .st_name = 1000, .st_shndx = 1, .st_value = 7 };
	fill(1000);
	object = open_table(SHT_DYNSYM);
	hybrid_object_symbols(object, "p_", names, values, ARRAY_SIZE(names));
	same(values[0], VALUE(1));
	same(values[1], 0);
	same(values[2], VALUE(3));
	same(values[3], VALUE(4));
	hybrid_object_symbols(object, "", (const char *const[]) { "q_two", "p_one" }, values, 2);
	same(values[0], VALUE(2));
	same(values[1], VALUE(1));
	elf_made_close(object);
	/* The last name has no end. */
	add_at(1000, "p_one", VALUE(8));
	table.names_size = 1005;
	object = open_table(SHT_DYNSYM);
	hybrid_object_symbols(object, "p_", names, values, 1);
	same(values[0], VALUE(8));
	elf_made_close(object);
}

/* A table of 16 MiB is read, one with a byte more is not. */
static void large_by_prefix(void)
{
	struct hybrid_object *object;
	struct elf_made elf;
	unsigned int i;
	u64 value;

	begin();
	add("p_one", VALUE(1));
	for (i = 0; i < 4; i++) {
		table.names_size = i < 2 ? 16 * MIB + i : 0;
		table.symbols_size = i < 2 ? 0 : 16 * MIB + i - 2;
		make(&elf, SHT_DYNSYM, SHT_STRTAB);
		elf_made_section(&elf, ".end", (Elf64_Shdr) { .sh_offset = 17 * MIB }, "", 1);
		object = elf_made_object(&elf);
		hybrid_object_symbols(object, "p_", (const char *const[]) { "one" }, &value, 1);
		same(value, i & 1 ? 0 : VALUE(1));
		elf_made_close(object);
	}
	/* The file ends before the section does. */
	table.symbols_size = 16 * MIB;
	object = open_table(SHT_DYNSYM);
	hybrid_object_symbols(object, "p_", (const char *const[]) { "one" }, &value, 1);
	same(value, 0);
	elf_made_close(object);
}

/* Bytes are read from what the file has of the program's memory. */
static void bytes_of_sections(void)
{
	static const u64 flags[] = { SHF_ALLOC, SHF_WRITE, SHF_EXECINSTR };
	static const u32 types[] = { SHT_PROGBITS, SHT_NOTE, SHT_NOBITS };
	struct hybrid_object *object;
	struct elf_made elf;
	unsigned int i, bit;
	bool loaded, constant;
	u8 out[16];

	for (i = 0; i < 8 * ARRAY_SIZE(types); i++) {
		Elf64_Shdr header = { .sh_type = types[i / 8], .sh_addr = 0x8000 };

		for (bit = 0; bit < 3; bit++)
			header.sh_flags |= i >> bit & 1 ? flags[bit] : 0;
		begin();
		add("constant", 0x8004);
		make(&elf, SHT_SYMTAB, SHT_STRTAB);
		elf_made_section(&elf, ".data", header, "0123456789abcdef", 16);
		object = elf_made_object(&elf);
		loaded = types[i / 8] == SHT_PROGBITS && i & 1;
		constant = loaded && !(i & 6);
		same(hybrid_object_bytes(object, 0x8004, out, 8), loaded);
		check(!loaded || !memcmp(out, "456789ab", 8));
		same(hybrid_object_constant(object, "constant", out, 12), constant);
		check(!hybrid_object_constant(object, "constant", out, 13));
		/* In names of 16 bytes there is the end of none. */
		check(!hybrid_object_has_text(object, "cdef"));
		elf_made_close(object);
	}
}

static void bytes_at_bounds(void)
{
	struct hybrid_object *object;
	struct elf_made elf;
	unsigned int i;
	u8 out[32];

	begin();
	make(&elf, SHT_SYMTAB, SHT_STRTAB);
	elf_made_section(&elf, ".rodata",
			 (Elf64_Shdr) { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
					.sh_addr = 0x8000 }, "0123456\0text\0", 14);
	/* It says that it has more than the file. */
	elf_made_section(&elf, ".more",
			 (Elf64_Shdr) { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
					.sh_addr = 0x9000, .sh_size = 1 << 30 }, "x", 1);
	object = elf_made_object(&elf);
	for (i = 0; i <= 16; i++) {
		same(hybrid_object_bytes(object, 0x8000 + i, out, 1), i < 14);
		same(hybrid_object_bytes(object, 0x8000, out, i), i <= 14);
		same(hybrid_object_bytes(object, 0x800a, out, i), i <= 4);
	}
	check(!hybrid_object_bytes(object, 0x7fff, out, 1));
	check(!hybrid_object_bytes(object, 0x7fff, out, 2));
	check(!hybrid_object_bytes(object, 0x9000 + (1 << 29), out, 8));
	check(hybrid_object_has_text(object, "text"));
	check(hybrid_object_has_text(object, "23456"));
	check(!hybrid_object_has_text(object, "0123"));
	elf_made_close(object);
}

/* 32-bit files have none that are looked for. */
static void of_32_bits(void)
{
	struct hybrid_object *object;
	const char *name = "symbol";
	u64 value;

	begin();
	add("symbol", VALUE(1));
	object = open_table(SHT_DYNSYM);
	same(hybrid_object_symbol(object, "symbol"), VALUE(1));
	object->cfi.abi = &hybrid_abi_32;
	same(hybrid_object_symbol(object, "symbol"), 0);
	same(hybrid_object_exported(object, "symbol"), 0);
	hybrid_object_own_symbols(object, &name, &value, 1);
	same(value, 0);
	hybrid_object_symbols(object, "", &name, &value, 1);
	same(value, 0);
	elf_made_close(object);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "symbol: names that are read in parts",	names_in_parts },
		{ "symbol: symbols that are read in parts",	symbols_in_parts },
		{ "symbol: long names",				long_names },
		{ "symbol: the ends of other names",		places },
		{ "symbol: large tables",			sizes },
		{ "symbol: undefined ones",			undefined },
		{ "symbol: kinds of sections",			no_names },
		{ "symbol: many that are not exported",		many_own },
		{ "symbol: many with a prefix",			by_prefix },
		{ "symbol: a large table with a prefix",	large_by_prefix },
		{ "symbol: bytes of sections",			bytes_of_sections },
		{ "symbol: bytes at the ends of sections",	bytes_at_bounds },
		{ "symbol: files of 32 bits",			of_32_bits },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
