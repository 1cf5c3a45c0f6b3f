// SPDX-License-Identifier: GPL-2.0
/* The names of a runtime's functions as an ELF file. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include "names-file.h"
#include "names-line.h"
#include "names-private.h"

#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID	3
#endif

enum {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_TEXT,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_ABBREV,
	SECTION_INFO,
	SECTION_ARANGES,
	SECTION_LINE,
	SECTION_SHSTRTAB,
	NR_SECTIONS,
};

enum {
	SEGMENT_HEADERS,
	SEGMENT_NOTE,
	SEGMENT_TEXT,
	NR_SEGMENTS,
};

#define PAGE		0x1000

/* "GNU" and the build-id. */
#define NOTE_SIZE	(sizeof(Elf64_Nhdr) + 4 + HYBRID_NAMES_BUILD_ID)
#define NOTE_OFFSET	(sizeof(Elf64_Ehdr) + NR_SEGMENTS * sizeof(Elf64_Phdr))

static void put_note(const struct hybrid_names *names, FILE *file)
{
	const Elf64_Nhdr note = {
		.n_namesz	= 4,
		.n_descsz	= HYBRID_NAMES_BUILD_ID,
		.n_type		= NT_GNU_BUILD_ID,
	};

	fwrite(&note, sizeof(note), 1, file);
	fwrite("GNU", 4, 1, file);
	fwrite(names->build_id, sizeof(names->build_id), 1, file);
}

/* st_name is 0 for the first symbol: the table of names begins with an empty one. */
static void put_symbols(const struct hybrid_names *names, FILE *file)
{
	Elf64_Sym symbol = {};
	u32 i;

	fwrite(&symbol, sizeof(symbol), 1, file);
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	symbol.st_shndx = SECTION_TEXT;
	for (i = 0; i < names->nr; i++) {
		symbol.st_name = names->entries[i].name + 1;
		symbol.st_value = HYBRID_NAMES_OFFSET + names->entries[i].start;
		symbol.st_size = 2 * (u64)names->entries[i].size;
		fwrite(&symbol, sizeof(symbol), 1, file);
	}
}

static void put_strings(const struct hybrid_names *names, FILE *file)
{
	fputc(0, file);
	if (names->text_size)
		fwrite(names->text, names->text_size, 1, file);
}

static void put_section_names(const struct hybrid_names *names, FILE *file);

/* The sections: what is in the file for them, and their headers. */
static const struct section {
	const char	*name;
	void		(*put)(const struct hybrid_names *names, FILE *file);
	Elf64_Shdr	 header;
} sections[NR_SECTIONS] = {
	[SECTION_NULL] = { "" },
	[SECTION_NOTE] = { ".note.gnu.build-id", put_note, {
		.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 4,
	} },
	[SECTION_TEXT] = { ".text", NULL, {
		.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = HYBRID_NAMES_OFFSET, .sh_offset = HYBRID_NAMES_OFFSET,
		.sh_size = HYBRID_NAMES_SIZE, .sh_addralign = 16,
	} },
	[SECTION_SYMTAB] = { ".symtab", put_symbols, {
		.sh_type = SHT_SYMTAB, .sh_link = SECTION_STRTAB, .sh_info = 1,
		.sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym),
	} },
	[SECTION_STRTAB] = { ".strtab", put_strings, {
		.sh_type = SHT_STRTAB, .sh_addralign = 1,
	} },
	[SECTION_ABBREV] = { ".debug_abbrev", hybrid_names__debug_abbrev, {
		.sh_type = SHT_PROGBITS, .sh_addralign = 1,
	} },
	[SECTION_INFO] = { ".debug_info", hybrid_names__debug_info, {
		.sh_type = SHT_PROGBITS, .sh_addralign = 1,
	} },
	[SECTION_ARANGES] = { ".debug_aranges", hybrid_names__debug_aranges, {
		.sh_type = SHT_PROGBITS, .sh_addralign = 16,
	} },
	[SECTION_LINE] = { ".debug_line", hybrid_names__debug_line, {
		.sh_type = SHT_PROGBITS, .sh_addralign = 1,
	} },
	[SECTION_SHSTRTAB] = { ".shstrtab", put_section_names, {
		.sh_type = SHT_STRTAB, .sh_addralign = 1,
	} },
};

static void put_section_names(const struct hybrid_names *names __maybe_unused, FILE *file)
{
	unsigned int i;

	for (i = 0; i < NR_SECTIONS; i++)
		fwrite(sections[i].name, strlen(sections[i].name) + 1, 1, file);
}

static void align(FILE *file, u64 to)
{
	while (ftell(file) % to)
		fputc(0, file);
}

/* Other sections than the note stand where .text would be if it had bytes: behind a hole. */
static void put_sections(const struct hybrid_names *names, FILE *file, Elf64_Shdr *headers)
{
	u32 name = 0, i;

	for (i = 0; i < NR_SECTIONS; i++) {
		headers[i] = sections[i].header;
		headers[i].sh_name = name;
		name += strlen(sections[i].name) + 1;
		if (i == SECTION_TEXT)
			fseek(file, HYBRID_NAMES_OFFSET, SEEK_SET);
		if (!sections[i].put)
			continue;
		align(file, headers[i].sh_addralign);
		headers[i].sh_offset = ftell(file);
		sections[i].put(names, file);
		headers[i].sh_size = ftell(file) - headers[i].sh_offset;
	}
	headers[SECTION_NOTE].sh_addr = headers[SECTION_NOTE].sh_offset;
}

static void put_headers(FILE *file, u64 sections_at)
{
	const Elf64_Ehdr header = {
		.e_ident	= {
			ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB, [EI_VERSION] = EV_CURRENT,
		},
		.e_type		= ET_DYN,
		.e_machine	= EM_X86_64,
		.e_version	= EV_CURRENT,
		.e_phoff	= sizeof(header),
		.e_shoff	= sections_at,
		.e_ehsize	= sizeof(header),
		.e_phentsize	= sizeof(Elf64_Phdr),
		.e_phnum	= NR_SEGMENTS,
		.e_shentsize	= sizeof(Elf64_Shdr),
		.e_shnum	= NR_SECTIONS,
		.e_shstrndx	= SECTION_SHSTRTAB,
	};
	const Elf64_Phdr segments[NR_SEGMENTS] = {
		[SEGMENT_HEADERS] = {
			.p_type = PT_LOAD, .p_flags = PF_R, .p_align = PAGE,
			.p_filesz = NOTE_OFFSET + NOTE_SIZE, .p_memsz = NOTE_OFFSET + NOTE_SIZE,
		},
		[SEGMENT_NOTE] = {
			.p_type = PT_NOTE, .p_flags = PF_R, .p_align = 4,
			.p_offset = NOTE_OFFSET, .p_vaddr = NOTE_OFFSET, .p_paddr = NOTE_OFFSET,
			.p_filesz = NOTE_SIZE, .p_memsz = NOTE_SIZE,
		},
		[SEGMENT_TEXT] = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE,
			.p_offset = HYBRID_NAMES_OFFSET, .p_vaddr = HYBRID_NAMES_OFFSET,
			.p_paddr = HYBRID_NAMES_OFFSET, .p_memsz = HYBRID_NAMES_SIZE,
		},
	};

	rewind(file);
	fwrite(&header, sizeof(header), 1, file);
	fwrite(segments, sizeof(segments), 1, file);
}

int hybrid_names__file(const struct hybrid_names *names, FILE *file)
{
	Elf64_Shdr headers[NR_SECTIONS];
	u64 at;

	if (fseek(file, NOTE_OFFSET, SEEK_SET))
		return -EIO;
	put_sections(names, file, headers);
	align(file, sizeof(u64));
	at = ftell(file);
	fwrite(headers, sizeof(headers), 1, file);
	put_headers(file, at);
	return fflush(file) || ferror(file) ? -EIO : 0;
}
