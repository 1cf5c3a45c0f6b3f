// SPDX-License-Identifier: GPL-2.0
/*
 * The code that a process begins with, of files that are made.
 */
#include <string.h>
#include <unistd.h>
#include "abi.h"
#include "elf-made.h"
#include "entry.h"
#include "tap.h"

#define TEXT	0x10000
#define AT	0x40

#define MAX_ENTRY	64

static u8 text[256];
/* What the section of symbols says that one of them takes. */
static u64 entsize = sizeof(Elf64_Sym);

struct symbol {
	u64	value;
	u8	type;
	u16	section;
};

static struct hybrid_object *open_entry(u64 entry, const struct symbol *symbol, u32 type)
{
	Elf64_Sym symbols[2] = {};
	struct elf_made elf;

	elf_made_begin(&elf);
	elf.header.e_entry = entry;
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	if (symbol) {
		symbols[1].st_value = symbol->value;
		symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, symbol->type);
		symbols[1].st_shndx = symbol->section;
		elf_made_section(&elf, ".symtab",
				 (Elf64_Shdr) { .sh_type = type, .sh_entsize = entsize },
				 symbols, sizeof(symbols));
	}
	return elf_made_object(&elf);
}

static u64 size_of(const char *bytes, unsigned int len, bool is_64)
{
	struct hybrid_object *object;
	u64 size;

	memset(text, 0x90, sizeof(text));
	memcpy(text + AT, bytes, len);
	object = open_entry(TEXT + AT, NULL, 0);
	object->cfi.abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32;
	size = hybrid_entry_size(object);
	/* The second time, too. */
	same(hybrid_entry_size(object), size);
	elf_made_close(object);
	return size;
}

#define SIZE(is_64, bytes)	size_of(bytes, sizeof(bytes) - 1, is_64)

/* How such code begins; hlt is behind each. */
static void beginnings(void)
{
	same(SIZE(true, "\x31\xed\xf4"), 3);
	same(SIZE(false, "\x31\xed\xf4"), 3);
	same(SIZE(true, "\x48\x31\xed\xf4"), 4);
	same(SIZE(false, "\x48\x31\xed\xf4"), 0);
	same(SIZE(true, "\x48\x89\xe7\xf4"), 4);
	same(SIZE(false, "\x48\x89\xe7\xf4"), 0);
	same(SIZE(false, "\x89\xe0\xf4"), 3);
	same(SIZE(true, "\x89\xe0\xf4"), 0);
	same(SIZE(true, "\xf3\x0f\x1e\xfa\x31\xed\xf4"), 7);
	same(SIZE(true, "\xf3\x0f\x1e\xfa\x48\x89\xe7\xf4"), 8);
	same(SIZE(true, "\xf3\x0f\x1e\xfa\x90\xf4"), 0);
	same(SIZE(true, "\x31\xdb\xf4"), 0);
	same(SIZE(true, "\x90\xf4"), 0);
}

/* Where it ends. */
static void ends(void)
{
	static const struct {
		const char	*bytes;
		unsigned int	len;
		u64		size;
	} of[] = {
		{ "\xeb\0", 2, 2 }, { "\xe9\0\0\0\0", 5, 5 },
		{ "\xc3", 1, 1 }, { "\xc2\0\0", 3, 3 }, { "\xf4", 1, 1 },
		{ "\xff\xe0", 2, 2 }, { "\xff\xf0\xf4", 3, 3 },
		{ "\x0f\x05", 2, 2 }, { "\x0f\x0b", 2, 2 }, { "\x0f\x34", 2, 2 },
		{ "\x0f\x1f\0\xf4", 4, 4 }, { "\x74\0\xf4", 3, 3 },
		/* A call; before mov %rax,%rdi; %r8, which is not rax; to memory; and back */
		{ "\xe8\0\0\0\0\x90\xf4", 7, 5 }, { "\xff\xd0\x90\xf4", 4, 2 },
		{ "\xe8\0\0\0\0\x48\x89\xc7\xf4", 9, 9 }, { "\xff\xd0\x89\xc7\xf4", 5, 5 },
		{ "\xe8\0\0\0\0\x4c\x89\xc7\xf4", 9, 5 }, { "\xe8\0\0\0\0\x89\x07\xf4", 8, 5 },
		{ "\xe8\0\0\0\0\x89\xcf\xf4", 8, 5 }, { "\xe8\0\0\0\0\x8b\xc7\xf4", 8, 5 },
		{ "\x48\x89\xc7\xf4", 4, 4 },
		{ "\xe8\0\0\0\0\x89\xc7\xe8\0\0\0\0\x90", 13, 12 },
		{ "\x62\x00", 2, 0 },
	};
	char code[32] = "\x31\xed";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		memcpy(code + 2, of[i].bytes, of[i].len);
		if (!same(size_of(code, of[i].len + 2, true), of[i].size + 2))
			printf("# code %u\n", i);
	}
}

/* It does not go on for ever. */
static void bounds(void)
{
	struct hybrid_object *object;
	unsigned int nr, i;
	char code[80];
	u64 offset;

	for (nr = MAX_ENTRY - 2; nr < MAX_ENTRY + 3; nr++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code, "\x31\xed", 2);
		code[nr - 1] = 0xf4;
		same(size_of(code, sizeof(code), true), min_t(unsigned int, nr, MAX_ENTRY));
	}
	/* The file ends there. */
	for (i = 1; i < 12; i++) {
		memset(text, 0x90, sizeof(text));
		memcpy(text + AT, "\x31\xed", 2);
		object = open_entry(TEXT + AT, NULL, 0);
		check(hybrid_object_offset(object, TEXT + AT, &offset));
		same(ftruncate(object->fd, offset + i), 0);
		same(hybrid_entry_size(object), i < 8 ? 0 : i);
		elf_made_close(object);
	}
	/* No code of the file is there. */
	object = open_entry(TEXT - 1, NULL, 0);
	same(hybrid_entry_size(object), 0);
	elf_made_close(object);
	object = open_entry(TEXT + sizeof(text), NULL, 0);
	same(hybrid_entry_size(object), 0);
	elf_made_close(object);
}

/* It ends before the next function. */
static void symbols(void)
{
	static const u32 types[] = { SHT_SYMTAB, SHT_DYNSYM, SHT_PROGBITS };
	struct hybrid_object *object;
	struct symbol symbol;
	unsigned int i, at;
	bool counts;

	memset(text, 0x90, sizeof(text));
	memcpy(text + AT, "\x31\xed", 2);
	text[AT + 31] = 0xf4;
	for (i = 0; i < 3 * 16 * 2; i++) {
		symbol.type = i / 3 % 16;
		symbol.section = i / 48 ? SHN_UNDEF : 1;
		counts = i % 3 < 2 && symbol.type == STT_FUNC && symbol.section;
		for (at = 0; at < 40; at += counts ? 1 : 9) {
			symbol.value = TEXT + AT + at;
			object = open_entry(TEXT + AT, &symbol, types[i % 3]);
			same(hybrid_entry_size(object), counts && at && at < 32 ? at : 32);
			elf_made_close(object);
		}
	}
}

/* Symbols of no size are none. */
static void no_symbols(void)
{
	const struct symbol symbol = { .value = TEXT + AT + 8, .type = STT_FUNC, .section = 1 };
	struct hybrid_object *object;

	memset(text, 0x90, sizeof(text));
	memcpy(text + AT, "\x31\xed", 2);
	text[AT + 31] = 0xf4;
	entsize = 0;
	object = open_entry(TEXT + AT, &symbol, SHT_SYMTAB);
	same(hybrid_entry_size(object), 32);
	elf_made_close(object);
	entsize = sizeof(Elf64_Sym);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "entry: how it begins",	beginnings },
		{ "entry: where it ends",	ends },
		{ "entry: bounds",		bounds },
		{ "entry: symbols behind it",	symbols },
		{ "entry: symbols of no size",	no_symbols },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
