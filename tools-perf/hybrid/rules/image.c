// SPDX-License-Identifier: GPL-2.0
/*
 * ELF files that processes have in memory, of code that they have compiled.
 */
#include <gelf.h>
#include <string.h>
#include <linux/kernel.h>
#include "image.h"

static bool get(const void *image, u64 size, u64 offset, void *dst, u64 len)
{
	if (offset > size || size - offset < len)
		return false;
	memcpy(dst, image + offset, len);
	return true;
}

bool hybrid_image_is_relocatable(const void *image, u64 size)
{
	Elf64_Ehdr ehdr;

	return get(image, size, 0, &ehdr, sizeof(ehdr)) &&
	       !memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
	       ehdr.e_ident[EI_CLASS] == ELFCLASS64 && ehdr.e_type == ET_REL;
}

bool hybrid_image_eh_frame(void *image, u64 size, u64 *offset, u64 *addr, u64 *len)
{
	static const char want[] = ".eh_frame";
	char name[sizeof(want)];
	Elf64_Shdr shdr, names;
	Elf64_Ehdr ehdr;
	unsigned int i;
	u64 at;

	if (!get(image, size, 0, &ehdr, sizeof(ehdr)) ||
	    !get(image, size, ehdr.e_shoff + ehdr.e_shstrndx * sizeof(shdr), &names,
		 sizeof(names)))
		return false;
	for (i = 0; i < ehdr.e_shnum; i++) {
		at = ehdr.e_shoff + i * sizeof(shdr);
		if (!get(image, size, at, &shdr, sizeof(shdr)))
			return false;
		if (!get(image, size, names.sh_offset + shdr.sh_name, name, sizeof(name)) ||
		    memcmp(name, want, sizeof(want)))
			continue;
		if (!shdr.sh_addr || shdr.sh_offset > size || size - shdr.sh_offset < shdr.sh_size)
			return false;
		*offset = shdr.sh_offset;
		*addr = shdr.sh_addr;
		*len = shdr.sh_size;
		/* It may be SHT_X86_64_UNWIND. */
		shdr.sh_type = SHT_PROGBITS;
		memcpy(image + at, &shdr, sizeof(shdr));
		return true;
	}
	return false;
}

void hybrid_image_code(const struct hybrid_object *object, u64 *start, u64 *end)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	*start = ~0ULL;
	*end = 0;
	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    !shdr.sh_addr || shdr.sh_addr + shdr.sh_size < shdr.sh_addr)
			continue;
		*start = min_t(u64, *start, shdr.sh_addr);
		*end = max_t(u64, *end, shdr.sh_addr + shdr.sh_size);
	}
}
