// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <gelf.h>
#include "plt.h"

/* Relocations of a file that are looked at; more than any has for functions. */
#define MAX_RELOCATIONS	65536

static enum hybrid_plt symbol_target(const struct hybrid_object *object, const GElf_Shdr *shdr,
				     size_t symbol, u64 *target)
{
	Elf_Scn *scn = elf_getscn(object->elf, shdr->sh_link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Sym sym;

	if (!data || !gelf_getsym(data, symbol, &sym))
		return HYBRID_PLT_UNKNOWN;
	if (sym.st_shndx == SHN_UNDEF)
		return HYBRID_PLT_ELSEWHERE;
	/* What an IFUNC leads to is known when the program runs. */
	if (GELF_ST_TYPE(sym.st_info) != STT_FUNC)
		return HYBRID_PLT_UNKNOWN;
	*target = sym.st_value;
	return HYBRID_PLT_HERE;
}

enum hybrid_plt hybrid_plt_target(const struct hybrid_object *object, u64 slot, u64 *target)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	GElf_Rela rela;
	size_t i, nr;

	while ((scn = elf_nextscn(object->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA || !shdr.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		nr = data ? data->d_size / shdr.sh_entsize : 0;
		for (i = 0; i < nr && i < MAX_RELOCATIONS; i++) {
			if (!gelf_getrela(data, i, &rela) || rela.r_offset != slot)
				continue;
			if (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
			    GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT)
				return HYBRID_PLT_UNKNOWN;
			return symbol_target(object, &shdr, GELF_R_SYM(rela.r_info), target);
		}
	}
	return HYBRID_PLT_UNKNOWN;
}
