// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "elf-bounds.h"
#include "pages.h"
#include "relocation.h"

/* With relocations: linkers write two, and three with RELR. */
#define MAX_SECTIONS	4

bool hybrid_relocation_find(const struct hybrid_object *object, u64 vaddr, size_t max,
			    GElf_Rela *rela, GElf_Shdr *section)
{
	unsigned int nr_sections = 0;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	size_t i, nr;

	while ((scn = elf_nextscn(object->elf, scn)) && nr_sections < MAX_SECTIONS) {
		if (!gelf_getshdr(scn, section) || section->sh_type != SHT_RELA ||
		    !section->sh_entsize)
			continue;
		nr_sections++;
		data = hybrid_object_section(object, elf_ndxscn(scn));
		nr = data ? data->d_size / section->sh_entsize : 0;
		for (i = 0; i < nr && i < max; i++) {
			if (gelf_getrela(data, i, rela) && rela->r_offset == vaddr)
				return true;
		}
	}
	return false;
}

static bool find_offset(const struct hybrid_object *object, u64 vaddr, u64 *offset)
{
	GElf_Phdr phdr;

	if (!hybrid_elf_segment_of(object->elf, vaddr, &phdr))
		return false;
	*offset = vaddr - phdr.p_vaddr + phdr.p_offset;
	return true;
}

bool hybrid_relocation_word(const struct hybrid_object *object, u64 vaddr, size_t max, u64 *word)
{
	const struct hybrid_page *page;
	GElf_Shdr section;
	GElf_Rela rela;
	u64 offset;

	if (vaddr % sizeof(*word) || !find_offset(object, vaddr, &offset) ||
	    offset % sizeof(*word))
		return false;
	page = hybrid_page_read(object, offset - offset % HYBRID_PAGE);
	if (!page || page->nr < offset % HYBRID_PAGE + sizeof(*word))
		return false;
	memcpy(word, page->bytes + offset % HYBRID_PAGE, sizeof(*word));
	if (*word)
		return true;
	if (!hybrid_relocation_find(object, vaddr, max, &rela, &section) ||
	    GELF_R_TYPE(rela.r_info) != R_X86_64_RELATIVE)
		return false;
	*word = rela.r_addend;
	return true;
}
