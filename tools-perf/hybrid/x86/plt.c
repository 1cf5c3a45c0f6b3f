// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <gelf.h>
#include "../rules/relocation.h"
#include "plt.h"

/* Relocations of a file that are looked at; more than any has for functions. */
#define MAX_RELOCATIONS	65536

static enum hybrid_plt symbol_target(const struct hybrid_object *object, const GElf_Shdr *shdr,
				     size_t symbol, u64 *target)
{
	Elf_Data *data = hybrid_object_section(object, shdr->sh_link);
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
	GElf_Shdr section;
	GElf_Rela rela;

	if (!hybrid_relocation_find(object, slot, MAX_RELOCATIONS, &rela, &section) ||
	    (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
	     GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT))
		return HYBRID_PLT_UNKNOWN;
	return symbol_target(object, &section, GELF_R_SYM(rela.r_info), target);
}
