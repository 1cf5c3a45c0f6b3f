// SPDX-License-Identifier: GPL-2.0
#include "relocation.h"

bool hybrid_relocation_find(const struct hybrid_object *object, u64 vaddr, size_t max,
			    GElf_Rela *rela, GElf_Shdr *section)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	size_t i, nr;

	while ((scn = elf_nextscn(object->elf, scn))) {
		if (!gelf_getshdr(scn, section) || section->sh_type != SHT_RELA ||
		    !section->sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		nr = data ? data->d_size / section->sh_entsize : 0;
		for (i = 0; i < nr && i < max; i++) {
			if (gelf_getrela(data, i, rela) && rela->r_offset == vaddr)
				return true;
		}
	}
	return false;
}
