// SPDX-License-Identifier: GPL-2.0
/*
 * Hash tables of files that are made, with each of their fields at its bound.
 */
#include <string.h>
#include "elf-made.h"
#include "symbol.h"
#include "symbol-hash.h"
#include "tap.h"

#define MAX_SYMBOLS	6000
#define VALUE(i)	(0x1000000 + (i))

/* As symbol-hash.c looks at them. */
#define MAX_CHAIN	4096

/**
 * struct table - a hash table, its symbols, and their names
 * @buckets: number of buckets
 * @first: index of the first symbol that is in the table
 * @blooms: words of the Bloom filter
 * @symbols: with an empty one first
 * @nr: number of @symbols
 * @chains: what the table has of each of them
 * @index: for each bucket its first symbol
 * @names: the section
 * @size: of @names
 * @less: bytes that the file says it has less of table, symbols and names
 * @types: of the sections of symbols and names
 */
static struct {
	u32		buckets;
	u32		first;
	u32		blooms;
	Elf64_Sym	symbols[MAX_SYMBOLS];
	unsigned int	nr;
	u32		chains[MAX_SYMBOLS];
	u32		index[8];
	char		names[4096];
	size_t		size;
	unsigned int	less[3];
	u32		types[2];
} table;

/* Bernstein's, as the psABI of GNU has it. */
static u32 hash_of(const char *name)
{
	u32 hash = 5381;

	while (*name)
		hash = (hash << 5) + hash + (u8)*name++;
	return hash;
}

static void begin(u32 buckets, u32 first, u32 blooms)
{
	memset(&table, 0, sizeof(table));
	table.buckets = buckets;
	table.first = first;
	table.blooms = blooms;
	table.nr = first;
	table.size = 1;
	table.types[0] = SHT_DYNSYM;
	table.types[1] = SHT_STRTAB;
}

static void add(const char *name, u64 value)
{
	Elf64_Sym *symbol = &table.symbols[table.nr++];

	symbol->st_name = table.size;
	symbol->st_shndx = 1;
	symbol->st_value = value;
	strcpy(table.names + table.size, name);
	table.size += strlen(name) + 1;
}

/* Each bucket has its symbols one after the other: so they are to be added. */
static void link_chains(void)
{
	unsigned int i, bucket;
	u32 hash;

	for (i = table.nr; i-- > table.first;) {
		hash = hash_of(table.names + table.symbols[i].st_name);
		bucket = hash % table.buckets;
		table.chains[i] = (hash & ~1U) | !table.index[bucket];
		table.index[bucket] = i;
	}
}

static struct hybrid_object *open_table(void)
{
	const u32 head[] = { table.buckets, table.first, table.blooms, 6 };
	unsigned int names, symbols, size = sizeof(head);
	u8 bytes[sizeof(head) + 64 + sizeof(table.index) + sizeof(table.chains)] = {};
	struct elf_made elf;

	memcpy(bytes, head, sizeof(head));
	size += table.blooms * 8;
	memcpy(bytes + size, table.index, table.buckets * 4);
	size += table.buckets * 4;
	memcpy(bytes + size, table.chains + table.first, (table.nr - table.first) * 4);
	size += (table.nr - table.first) * 4;
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, 0x10000, "\xc3", 1);
	names = elf_made_section(&elf, ".dynstr",
				 (Elf64_Shdr) { .sh_type = table.types[1],
						.sh_size = table.size - table.less[2] },
				 table.names, table.size);
	symbols = elf_made_section(&elf, ".dynsym",
				   (Elf64_Shdr) { .sh_type = table.types[0], .sh_link = names,
						  .sh_entsize = sizeof(Elf64_Sym),
						  .sh_size = table.nr * sizeof(Elf64_Sym) -
							     table.less[1] },
				   table.symbols, table.nr * sizeof(Elf64_Sym));
	elf_made_section(&elf, ".gnu.hash",
			 (Elf64_Shdr) { .sh_type = SHT_GNU_HASH, .sh_link = symbols,
					.sh_size = size - table.less[0] }, bytes, size);
	return elf_made_object(&elf);
}

static void expect(int line, const char *name, u64 value)
{
	struct hybrid_object *object = open_table();

	tap_same(hybrid_object_exported(object, name), value, __FILE__, line, name);
	elf_made_close(object);
}

#define EXPECT(name, value) expect(__LINE__, name, value)

/* All sizes of its parts, in which all symbols are found, and no others. */
static void shapes(void)
{
	static const char *const names[] = { "a", "b", "c", "abc", "spam", "eggs" };
	unsigned int buckets, first, blooms, bucket, i;

	for (i = 0; i < 6 * 3 * 3; i++) {
		buckets = 1 + i % 6;
		first = 1 + i / 6 % 3;
		blooms = i / 18;
		begin(buckets, first, blooms);
		for (bucket = 0; bucket < buckets; bucket++) {
			for (unsigned int n = 0; n < ARRAY_SIZE(names); n++) {
				if (hash_of(names[n]) % buckets == bucket)
					add(names[n], VALUE(n));
			}
		}
		link_chains();
		for (unsigned int n = 0; n < ARRAY_SIZE(names); n++)
			EXPECT(names[n], VALUE(n));
		EXPECT("d", 0);
		EXPECT("", 0);
		EXPECT("spa", 0);
		EXPECT("pam", 0);
	}
}

/* A name that has another one's hash: "b\x01" and "a\x22" differ by 33 and -33. */
static void equal_hashes(void)
{
	begin(1, 1, 1);
	add("b\x01", VALUE(1));
	add("a\x22", VALUE(2));
	link_chains();
	same(hash_of("b\x01"), hash_of("a\x22"));
	EXPECT("b\x01", VALUE(1));
	EXPECT("a\x22", VALUE(2));
	/* Not defined: another one of the name may be. */
	table.symbols[1].st_shndx = SHN_UNDEF;
	EXPECT("b\x01", 0);
	EXPECT("a\x22", VALUE(2));
}

/* So many symbols of a bucket are looked at. */
static void long_chain(void)
{
	unsigned int nr;

	for (nr = MAX_CHAIN - 1; nr <= MAX_CHAIN + 1; nr++) {
		begin(1, 1, 1);
		table.nr += nr - 1;
		add("last", VALUE(1));
		table.chains[table.nr - 1] = hash_of("last") | 1;
		table.index[0] = 1;
		EXPECT("last", nr > MAX_CHAIN ? 0 : VALUE(1));
	}
}

/* The chain ends at the one that says so. */
static void end_of_chain(void)
{
	begin(1, 1, 1);
	add("one", VALUE(1));
	add("two", VALUE(2));
	link_chains();
	EXPECT("two", VALUE(2));
	table.chains[1] |= 1;
	EXPECT("two", 0);
	EXPECT("one", VALUE(1));
	/* A bucket that is empty, or begins before the table's first symbol. */
	table.index[0] = 0;
	EXPECT("one", 0);
	table.first = 2;
	table.chains[2] = hash_of("two") | 1;
	table.index[0] = 1;
	EXPECT("two", 0);
	table.index[0] = 2;
	EXPECT("two", VALUE(2));
}

/* Table, symbols and names that end where the last symbol does, and one byte before that. */
static void ends(void)
{
	unsigned int which;

	for (which = 0; which < 3; which++) {
		begin(1, 1, 1);
		add("one", VALUE(1));
		add("two", VALUE(2));
		link_chains();
		EXPECT("two", VALUE(2));
		table.less[which] = 1;
		EXPECT("one", VALUE(1));
		EXPECT("two", 0);
	}
	/* Names that begin at their section's end, or behind it. */
	for (which = 0; which < 3; which++) {
		begin(1, 1, 1);
		add("one", VALUE(1));
		link_chains();
		table.symbols[1].st_name = table.size - 1 + which;
		EXPECT("one", 0);
		EXPECT("", 0);
	}
	/* The head alone, and less than that. */
	begin(1, 1, 1);
	add("one", VALUE(1));
	link_chains();
	for (which = 1; which < 32; which++) {
		table.less[0] = which;
		EXPECT("one", 0);
	}
}

static void long_names(void)
{
	char name[HYBRID_HASHED_NAME + 1] = "";

	memset(name, 'n', HYBRID_HASHED_NAME);
	begin(1, 1, 1);
	add(name, VALUE(1));
	add(name + 1, VALUE(2));
	link_chains();
	EXPECT(name, 0);
	EXPECT(name + 1, VALUE(2));
}

/* What is no table: it has no buckets, is not of .dynsym, or that has no names. */
static void no_table(void)
{
	begin(1, 1, 1);
	add("one", VALUE(1));
	link_chains();
	table.types[0] = SHT_SYMTAB;
	EXPECT("one", 0);
	table.types[0] = SHT_DYNSYM;
	table.types[1] = SHT_PROGBITS;
	EXPECT("one", 0);
	table.types[1] = SHT_STRTAB;
	EXPECT("one", VALUE(1));
	table.buckets = 0;
	EXPECT("one", 0);
}

/* Other functions take a symbol of .dynsym from the table alone. */
static void by_name(void)
{
	static const char *const names[] = { "e", "wo", "nothing" };
	struct hybrid_object *object;
	u64 values[ARRAY_SIZE(names)];

	begin(1, 1, 1);
	add("two", VALUE(2));
	add("one", VALUE(1));
	link_chains();
	table.chains[1] |= 1;
	object = open_table();
	same(hybrid_object_symbol(object, "two"), VALUE(2));
	same(hybrid_object_symbol(object, "one"), 0);
	hybrid_object_symbols(object, "t", names, values, ARRAY_SIZE(names));
	same(values[0], 0);
	same(values[1], VALUE(2));
	same(values[2], 0);
	elf_made_close(object);
	/* Without it, from .dynsym. */
	table.buckets = 0;
	object = open_table();
	same(hybrid_object_symbol(object, "one"), VALUE(1));
	elf_made_close(object);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "hash: shapes of tables",		shapes },
		{ "hash: equal hashes",			equal_hashes },
		{ "hash: a long chain",			long_chain },
		{ "hash: the end of a chain",		end_of_chain },
		{ "hash: ends of sections",		ends },
		{ "hash: long names",			long_names },
		{ "hash: what is no table",		no_table },
		{ "hash: functions that use it",	by_name },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
