// SPDX-License-Identifier: GPL-2.0
/*
 * Relocations of files that are made: what they say of words and of PLT entries.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf-made.h"
#include "plt.h"
#include "relocation.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

#define TEXT		0x10000
#define DATA		0x20000
#define SLOT		0x20010
#define FUNCTION	0x10040

#define MAX_RELOCATIONS	65536

/**
 * struct file - what differs
 * @rela: relocations
 * @nr: number of @rela
 * @type: of their section
 * @entsize: of their section
 * @link: index of the section of symbols; 0: the one that there is
 * @symbol: number 1
 * @before: sections with a relocation of another word that come first
 */
static struct {
	Elf64_Rela	*rela;
	unsigned int	nr;
	u32		type;
	u64		entsize;
	u32		link;
	Elf64_Sym	symbol;
	unsigned int	before;
} file;

static u8 text[256], data[8192];
static Elf64_Rela one;

static void begin(u64 at, u32 symbol, u32 type, s64 addend)
{
	one = (Elf64_Rela) { at, ELF64_R_INFO(symbol, type), addend };
	memset(&file, 0, sizeof(file));
	memset(text, 0xcc, sizeof(text));
	memset(data, 0, sizeof(data));
	file.rela = &one;
	file.nr = 1;
	file.type = SHT_RELA;
	file.entsize = sizeof(one);
	file.symbol = (Elf64_Sym) { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
				    .st_value = FUNCTION };
}

static struct hybrid_object *open_file(void)
{
	static const Elf64_Rela other = { DATA, ELF64_R_INFO(0, R_X86_64_RELATIVE), 1 };
	const Elf64_Sym symbols[2] = { [1] = file.symbol };
	struct elf_made elf;
	unsigned int symtab, i;

	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	elf_made_loaded(&elf, ".data", SHF_WRITE, DATA, data, sizeof(data));
	symtab = elf_made_section(&elf, ".dynsym",
				  (Elf64_Shdr) { .sh_type = SHT_DYNSYM,
						 .sh_entsize = sizeof(*symbols) },
				  symbols, sizeof(symbols));
	for (i = 0; i < file.before; i++)
		elf_made_section(&elf, ".rela.dyn",
				 (Elf64_Shdr) { .sh_type = SHT_RELA, .sh_entsize = sizeof(other) },
				 &other, sizeof(other));
	elf_made_section(&elf, ".rela.plt",
			 (Elf64_Shdr) { .sh_type = file.type, .sh_entsize = file.entsize,
					.sh_link = file.link ?: symtab },
			 file.rela, file.nr * sizeof(*file.rela));
	return elf_made_object(&elf);
}

static void expect(int line, enum hybrid_plt want)
{
	struct hybrid_object *object = open_file();
	u64 target = 0;

	tap_same(hybrid_plt_target(object, SLOT, &target), want, __FILE__, line, "PLT");
	tap_same(target, want == HYBRID_PLT_HERE ? FUNCTION : 0, __FILE__, line, "target");
	elf_made_close(object);
}

#define EXPECT(want) expect(__LINE__, want)

static void targets(void)
{
	unsigned int type;

	/* Those that the linker has for functions, and no others. */
	for (type = 0; type < 40; type++) {
		begin(SLOT, 1, type, 0);
		EXPECT(type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ? HYBRID_PLT_HERE :
									HYBRID_PLT_UNKNOWN);
	}
	for (type = 0; type < 16; type++) {
		begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
		file.symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
		EXPECT(type == STT_FUNC ? HYBRID_PLT_HERE : HYBRID_PLT_UNKNOWN);
		file.symbol.st_shndx = SHN_UNDEF;
		EXPECT(HYBRID_PLT_ELSEWHERE);
	}
}

static void no_target(void)
{
	/* No symbol of that number, no section of symbols, one beyond those that there are. */
	begin(SLOT, 2, R_X86_64_JUMP_SLOT, 0);
	EXPECT(HYBRID_PLT_UNKNOWN);
	begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
	file.link = 100;
	EXPECT(HYBRID_PLT_UNKNOWN);
	/* Another slot; relocations without an addend, or of no size. */
	begin(SLOT + 8, 1, R_X86_64_JUMP_SLOT, 0);
	EXPECT(HYBRID_PLT_UNKNOWN);
	begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
	file.type = SHT_REL;
	EXPECT(HYBRID_PLT_UNKNOWN);
	begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
	file.entsize = 0;
	EXPECT(HYBRID_PLT_UNKNOWN);
}

static void many(void)
{
	unsigned int at;

	for (at = MAX_RELOCATIONS - 1; at <= MAX_RELOCATIONS; at++) {
		begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
		file.nr = at + 1;
		file.rela = calloc(file.nr, sizeof(one));
		file.rela[at] = one;
		EXPECT(at < MAX_RELOCATIONS ? HYBRID_PLT_HERE : HYBRID_PLT_UNKNOWN);
		free(file.rela);
	}
}

/* call entry; ...; entry: jmp *SLOT(%rip) */
static void put_call(void)
{
	s32 slot = SLOT - (TEXT + 0x26);

	memcpy(text, "\xe8\x1b\x00\x00\x00", 5);
	memcpy(text + 0x20, "\xff\x25", 2);
	memcpy(text + 0x22, &slot, sizeof(slot));
	/* The function, and another one. */
	memcpy(text + 0x40, "\x90\x90\xc3", 3);
	memcpy(text + 0x50, "\x90\x90\xc3", 3);
}

static enum hybrid_reach reach(u64 callee)
{
	struct hybrid_object *object = open_file();
	enum hybrid_reach found = hybrid_code_reaches(code_of(object), TEXT + 5, callee);

	elf_made_close(object);
	return found;
}

static void calls(void)
{
	begin(SLOT, 1, R_X86_64_JUMP_SLOT, 0);
	put_call();
	same(reach(FUNCTION + 1), HYBRID_REACH_THERE);
	/* The function may jump to one that it was given. */
	same(reach(TEXT + 0x51), HYBRID_REACH_ELSEWHERE);
	same(reach(TEXT + 0x20), HYBRID_REACH_THERE);
	/* The callee is in another file: this function may be, too, by the same name. */
	same(reach(0), HYBRID_REACH_INDIRECT);
	file.symbol.st_shndx = SHN_UNDEF;
	same(reach(FUNCTION + 1), HYBRID_REACH_ELSEWHERE);
	same(reach(0), HYBRID_REACH_INDIRECT);
	file.nr = 0;
	same(reach(FUNCTION + 1), HYBRID_REACH_INDIRECT);
	/* What returns from a signal: mov $15,%rax; syscall. No call is before it. */
	memcpy(text, "\xcc\xcc\xcc\xcc\xcc\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 14);
	same(reach(FUNCTION + 1), HYBRID_REACH_THERE);
	memcpy(text + 5, "\x90", 1);
	same(reach(FUNCTION + 1), HYBRID_REACH_NOT);
}

/* The word at an address, as the loader leaves it. */
static void word_at(int line, u64 vaddr, bool has, u64 want)
{
	struct hybrid_object *object = open_file();
	u64 word = 0;

	tap_same(hybrid_relocation_word(object, vaddr, 10, &word), has, __FILE__, line, "found");
	if (has)
		tap_same(word, want, __FILE__, line, "word");
	elf_made_close(object);
}

#define WORD(vaddr, has, want) word_at(__LINE__, vaddr, has, want)

static void words(void)
{
	u64 number = 0x1234;

	begin(SLOT, 0, R_X86_64_RELATIVE, 0x4321);
	memcpy(data, &number, 8);
	memcpy(data + 4096, &number, 8);
	memcpy(data + sizeof(data) - 8, &number, 8);
	WORD(DATA, true, 0x1234);
	WORD(DATA + 4096, true, 0x1234);
	WORD(DATA + sizeof(data) - 8, true, 0x1234);
	WORD(DATA + sizeof(data), false, 0);
	WORD(DATA - 8, false, 0);
	WORD(DATA + 4, false, 0);
	/* The file has 0. */
	WORD(SLOT, true, 0x4321);
	WORD(SLOT + 8, false, 0);
	/* What is there counts. */
	memcpy(data + 0x10, &number, 8);
	WORD(SLOT, true, 0x1234);
	/* The address of another file's symbol. */
	begin(SLOT, 1, R_X86_64_64, 0x4321);
	WORD(SLOT, false, 0);
	begin(SLOT, 1, R_X86_64_GLOB_DAT, 0x4321);
	WORD(SLOT, false, 0);
}

/* No more relocations than are asked for. */
static void bounded_words(void)
{
	Elf64_Rela rela[11] = {};
	unsigned int i;

	for (i = 8; i < 11; i++) {
		begin(SLOT, 0, R_X86_64_RELATIVE, 0x4321);
		memset(rela, 0, sizeof(rela));
		rela[i] = one;
		file.rela = rela;
		file.nr = ARRAY_SIZE(rela);
		WORD(SLOT, i < 10, 0x4321);
	}
}

/* The first four sections with relocations are looked at. */
static void bounded_sections(void)
{
	unsigned int before;

	for (before = 0; before < 6; before++) {
		begin(SLOT, 0, R_X86_64_RELATIVE, 0x4321);
		file.before = before;
		WORD(SLOT, before < 4, 0x4321);
	}
}

/* A segment that is at odd places of the file, or that the file does not have. */
static void odd_segments(void)
{
	static const struct {
		u64	addr;
		u64	offset;
		u64	size;
		u64	at;
		bool	has;
	} odd[] = {
		{ 0x30000, 0x3000, 16, 0x30000, true }, { 0x30000, 0x3000, 16, 0x30008, true },
		{ 0x30000, 0x3000, 16, 0x30010, false }, { 0x30000, 0x3004, 16, 0x30000, false },
		{ 0x30004, 0x3004, 16, 0x30008, true }, { 0x30000, 0x100000, 16, 0x30000, false },
		{ 0x30000, 0x3ff8, 16, 0x30000, true }, { 0x30000, 0x3ff8, 16, 0x30008, true },
	};
	struct hybrid_object *object;
	struct elf_made elf;
	unsigned int i;
	u64 word;

	memset(data, 0x5a, sizeof(data));
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		elf_made_begin(&elf);
		elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, "\xc3", 1);
		elf_made_section(&elf, ".data",
				 (Elf64_Shdr) { .sh_type = SHT_PROGBITS, .sh_offset = 0x3000 },
				 data, sizeof(data));
		elf.segments[elf.nr_segments++] = (Elf64_Phdr) {
			.p_type = PT_LOAD, .p_offset = odd[i].offset, .p_vaddr = odd[i].addr,
			.p_filesz = odd[i].size, .p_memsz = odd[i].size,
		};
		object = elf_made_object(&elf);
		word = 0;
		same(hybrid_relocation_word(object, odd[i].at, 10, &word), odd[i].has);
		same(word, odd[i].has ? 0x5a5a5a5a5a5a5a5aULL : 0);
		elf_made_close(object);
	}
}

/* The file ends within the word. */
static void end_of_file(void)
{
	struct hybrid_object *object;
	struct elf_made elf;
	u64 word, size, at;

	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, "\xc3", 1);
	elf.segments[elf.nr_segments++] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_vaddr = 0x100000, .p_filesz = 0x100000,
		.p_memsz = 0x100000,
	};
	object = elf_made_object(&elf);
	size = lseek(object->fd, 0, SEEK_END);
	at = size & ~7ULL;
	same(pwrite(object->fd, "0123456789abcdef", 15, at), 15);
	same(hybrid_relocation_word(object, 0x100000 + at, 10, &word), true);
	same(hybrid_relocation_word(object, 0x100000 + at + 8, 10, &word), false);
	elf_made_close(object);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "plt: where entries lead",			targets },
		{ "plt: entries that lead nowhere",		no_target },
		{ "plt: many relocations",			many },
		{ "plt: calls by it",				calls },
		{ "relocation: words",				words },
		{ "relocation: no more than is asked for",	bounded_words },
		{ "relocation: no more sections than four",	bounded_sections },
		{ "relocation: odd segments",			odd_segments },
		{ "relocation: the end of the file",		end_of_file },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
