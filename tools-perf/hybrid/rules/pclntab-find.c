// SPDX-License-Identifier: GPL-2.0
/*
 * Where a Go program has its table of functions. The linker always writes one, as the
 * runtime walks stacks by it: "-ldflags=-s -w" and strip leave it.
 *
 * What is in it, by version:
 *   Go 1.18, 1.19	src/runtime/symtab.go (type pcHeader), magic 0xfffffff0
 *   Go 1.20 and later	the same, magic 0xfffffff1; src/internal/abi/symtab.go
 *			(Go118PCLnTabMagic, Go120PCLnTabMagic)
 *   Go 1.26 and later	the same, but for the text address: it is in struct moduledata
 *			alone, which has a section of its own from then on
 * Older tables have other offsets, and no text address; they are not read.
 */
#include <gelf.h>
#include <string.h>
#include <linux/kernel.h>
#include "elf-bounds.h"
#include "object.h"
#include "pclntab.h"
#include "relocation.h"

#define MAGIC_1_18	0xfffffff0U
#define MAGIC_1_20	0xfffffff1U

/* No program has so many functions, nor so much that is not code. */
#define MAX_FUNCTIONS	0x1000000
#define MAX_SCAN	(256ULL << 20)
/* Relocations that are looked at for the table's text address. */
#define MAX_RELOCATIONS	0x100000

/* Offsets in struct _func of its flags: 1.20 has the function's line before them. */
#define FLAG_AT_1_18	37
#define FLAG_AT_1_20	41

/* type pcHeader of src/runtime/symtab.go, with words of 8 bytes. */
struct pc_header {
	u32	magic;
	u8	pad[2];
	u8	quantum;
	u8	word;
	u64	nr_functions;
	u64	nr_files;
	u64	text;
	u64	names;
	u64	units;
	u64	files;
	u64	pctab;
	u64	functab;
};

#define TEXT_AT		24

/* Offsets in struct moduledata of src/runtime/symtab.go, the first of them 0. */
#define MODULE_FIRST	160
#define MODULE_LAST	168
#define MODULE_TEXT	176

static bool is_header(const struct pc_header *header)
{
	return (header->magic == MAGIC_1_18 || header->magic == MAGIC_1_20) &&
	       !header->pad[0] && !header->pad[1] && header->quantum == 1 && header->word == 8;
}

bool hybrid_pclntab_read(const struct hybrid_object *object, u64 at, void *dst, unsigned int size)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	const struct hybrid_page *page;
	unsigned int part;
	u64 from;

	if (at > tab->size || size > tab->size - at)
		return false;
	for (; size; size -= part, at += part, dst += part) {
		from = (tab->at + at) % HYBRID_PAGE;
		part = min_t(u64, size, HYBRID_PAGE - from);
		page = hybrid_page_read(object, tab->at + at - from);
		if (!page || page->nr < from + part)
			return false;
		memcpy(dst, page->bytes + from, part);
	}
	return true;
}

/* What a linker other than Go's leaves to be put there when the program is loaded is found, too. */
static bool read_loaded(const struct hybrid_object *object, u64 vaddr, u64 *value)
{
	return hybrid_relocation_word(object, vaddr, MAX_RELOCATIONS, value);
}

static bool has_name(const struct hybrid_object *object, const GElf_Shdr *shdr, const char *name)
{
	const char *own = hybrid_elf_name(object->elf, shdr);

	return own && !strcmp(own, name);
}

/*
 * The text address by struct moduledata, which must be about the table at @vaddr: it has
 * its address, and those of the first function and of the last one's end, as the table.
 */
static bool find_text(const struct hybrid_object *object, u64 vaddr, u64 *text)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	u64 table, first, last;
	Elf_Scn *scn = NULL;
	u32 start, end;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) && has_name(object, &shdr, ".go.module"))
			break;
	}
	return scn && read_loaded(object, shdr.sh_addr, &table) && table == vaddr &&
	       read_loaded(object, shdr.sh_addr + MODULE_FIRST, &first) &&
	       read_loaded(object, shdr.sh_addr + MODULE_LAST, &last) &&
	       read_loaded(object, shdr.sh_addr + MODULE_TEXT, text) &&
	       hybrid_pclntab_read(object, tab->functab, &start, sizeof(start)) &&
	       hybrid_pclntab_read(object, tab->functab + tab->nr * 8ULL, &end, sizeof(end)) &&
	       first == *text + start && last == *text + end;
}

/* All that is read behind this is checked against the table's size, and the file's. */
static bool use_header(struct hybrid_object *object, const struct pc_header *header, u64 vaddr)
{
	struct hybrid_pclntab *tab = &object->pclntab;
	u64 text = header->text, offset;

	tab->names = header->names;
	tab->pctab = header->pctab;
	tab->functab = header->functab;
	tab->flag_at = header->magic == MAGIC_1_18 ? FLAG_AT_1_18 : FLAG_AT_1_20;
	if (!header->nr_functions || header->nr_functions > MAX_FUNCTIONS ||
	    tab->names >= tab->size || tab->pctab >= tab->size || tab->functab >= tab->size ||
	    header->nr_functions * 8 + 4 > tab->size - tab->functab)
		return false;
	tab->nr = header->nr_functions;
	if ((!text && !read_loaded(object, vaddr + TEXT_AT, &text) &&
	     !find_text(object, vaddr, &text)) || !hybrid_object_offset(object, text, &offset)) {
		tab->nr = 0;
		return false;
	}
	tab->text = text;
	return true;
}

/* Is there a table at @offset of the file, in @size bytes that begin at @vaddr? */
static bool try_table(struct hybrid_object *object, u64 offset, u64 size, u64 vaddr)
{
	struct pc_header header;

	object->pclntab.at = offset;
	object->pclntab.size = size;
	return hybrid_pclntab_read(object, 0, &header, sizeof(header)) && is_header(&header) &&
	       use_header(object, &header, vaddr);
}

/*
 * Go's linker gives it a section of its own (src/cmd/link/internal/ld/data.go); where
 * another one makes a PIE of it, the section is part of .data.rel.ro.
 */
static bool find_section(struct hybrid_object *object, bool *is_go)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		if (has_name(object, &shdr, ".go.buildinfo") ||
		    has_name(object, &shdr, ".note.go.buildid"))
			*is_go = true;
		if ((has_name(object, &shdr, ".gopclntab") ||
		     has_name(object, &shdr, ".data.rel.ro.gopclntab")) &&
		    try_table(object, shdr.sh_offset, shdr.sh_size, shdr.sh_addr))
			return true;
	}
	return false;
}

/* Headers stand at multiples of 32 bytes. */
static bool scan_segment(struct hybrid_object *object, const GElf_Phdr *phdr, u64 *left)
{
	u64 at = (32 - phdr->p_vaddr % 32) % 32, from;
	const struct hybrid_page *page;
	u32 magic;

	for (; at < phdr->p_filesz && *left; at += 32, *left -= min_t(u64, *left, 32)) {
		from = (phdr->p_offset + at) % HYBRID_PAGE;
		page = hybrid_page_read(object, phdr->p_offset + at - from);
		if (!page)
			return false;
		memcpy(&magic, page->bytes + min_t(u64, from, HYBRID_PAGE - 4), sizeof(magic));
		if ((magic == MAGIC_1_18 || magic == MAGIC_1_20) &&
		    try_table(object, phdr->p_offset + at, phdr->p_filesz - at,
			      phdr->p_vaddr + at))
			return true;
	}
	return false;
}

static bool scan_segments(struct hybrid_object *object)
{
	u64 left = MAX_SCAN;
	GElf_Phdr phdr;
	size_t i = 0;

	while (hybrid_elf_next_segment(object->elf, PT_LOAD, &i, &phdr)) {
		if (!(phdr.p_flags & PF_X) && phdr.p_offset + phdr.p_filesz >= phdr.p_offset &&
		    scan_segment(object, &phdr, &left))
			return true;
	}
	return false;
}

bool hybrid_pclntab_find(struct hybrid_object *object)
{
	struct hybrid_pclntab *tab = &object->pclntab;
	bool is_go = false;

	if (tab->tried)
		return tab->nr;
	tab->tried = true;
	if (object->cfi.abi->word == 8 && !find_section(object, &is_go) && is_go)
		scan_segments(object);
	return tab->nr;
}
