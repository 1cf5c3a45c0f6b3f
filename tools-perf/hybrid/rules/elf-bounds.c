// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>
#include <linux/types.h>
#include "elf-bounds.h"

/* Chromium's .eh_frame has 30 MiB. */
#define MAX_SECTION	(128ULL << 20)
#define MAX_NAMES	(16ULL << 20)

/* Of where .eh_frame_hdr is in a program: nothing but read-only data is before it. */
#define MAX_CFI_OFFSET	0x40000000ULL

#define MAX_SECTIONS	0x100000

/* Does section 0 say how many there are, and is that too much? It does for segments, too. */
static bool has_many(int fd, const void *header)
{
	const Elf64_Ehdr *e64 = header;
	const Elf32_Ehdr *e32 = header;
	Elf64_Shdr shdr64;
	Elf32_Shdr shdr32;

	if (e64->e_ident[EI_CLASS] == ELFCLASS64)
		return (!e64->e_shnum || e64->e_phnum == PN_XNUM) && e64->e_shoff &&
		       pread(fd, &shdr64, sizeof(shdr64), e64->e_shoff) == sizeof(shdr64) &&
		       (shdr64.sh_size > MAX_SECTIONS || shdr64.sh_info > MAX_SECTIONS);
	return (!e32->e_shnum || e32->e_phnum == PN_XNUM) && e32->e_shoff &&
	       pread(fd, &shdr32, sizeof(shdr32), e32->e_shoff) == sizeof(shdr32) &&
	       (shdr32.sh_size > MAX_SECTIONS || shdr32.sh_info > MAX_SECTIONS);
}

/* libelf reads all names for the first of them that it is asked for, and libdw asks. */
static bool has_large_names(Elf *elf)
{
	GElf_Shdr names;
	size_t index;

	return !elf_getshdrstrndx(elf, &index) && gelf_getshdr(elf_getscn(elf, index), &names) &&
	       names.sh_size > MAX_NAMES;
}

Elf *hybrid_elf_begin(int fd)
{
	Elf64_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    !memcmp(header.e_ident, ELFMAG, SELFMAG) && has_many(fd, &header))
		return NULL;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && has_large_names(elf)) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

Elf_Data *hybrid_elf_data(Elf_Scn *scn)
{
	GElf_Shdr shdr;
	GElf_Chdr chdr;

	if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_size > MAX_SECTION)
		return NULL;
	if (shdr.sh_flags & SHF_COMPRESSED &&
	    (!gelf_getchdr(scn, &chdr) || chdr.ch_size > MAX_SECTION))
		return NULL;
	return elf_getdata(scn, NULL);
}

/* As GNU did it before ELF could say that a section is compressed. */
bool hybrid_elf_unpacks_large(Elf_Scn *scn)
{
	const Elf_Data *data = hybrid_elf_data(scn);
	u64 size = 0;
	size_t i;

	if (!data || !data->d_buf || data->d_size < 12)
		return true;
	for (i = 4; i < 12; i++)
		size = size << 8 | ((const u8 *)data->d_buf)[i];
	return size > MAX_SECTION;
}

const char *hybrid_elf_name(Elf *elf, const GElf_Shdr *shdr)
{
	size_t index;

	return elf_getshdrstrndx(elf, &index) ? NULL : elf_strptr(elf, index, shdr->sh_name);
}

bool hybrid_elf_has_large_cfi(Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Phdr phdr;
	GElf_Shdr shdr;
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		nr = 0;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_GNU_EH_FRAME &&
		    (phdr.p_filesz > MAX_SECTION || phdr.p_offset > MAX_CFI_OFFSET))
			return true;
	}
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &shdr) ? hybrid_elf_name(elf, &shdr) : NULL;
		if (name && !strcmp(name, ".eh_frame") && shdr.sh_size > MAX_SECTION)
			return true;
	}
	return false;
}
