// SPDX-License-Identifier: GPL-2.0
/* An ELF file as it would lie in memory, for the analysis to read. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf-image.h"

static int load(struct elf_image *image)
{
	u64 end = 0;
	size_t i, nr, size;
	GElf_Phdr phdr;
	char *raw;

	if (elf_getphdrnum(image->elf, &nr))
		return -1;
	image->base = UINT64_MAX;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(image->elf, i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		if (phdr.p_vaddr < image->base)
			image->base = phdr.p_vaddr;
		if (phdr.p_vaddr + phdr.p_filesz > end)
			end = phdr.p_vaddr + phdr.p_filesz;
	}
	raw = elf_rawfile(image->elf, &size);
	if (!raw || end <= image->base || end - image->base > 1UL << 31)
		return -1;
	image->size = end - image->base;
	image->bytes = calloc(1, image->size);
	if (!image->bytes)
		return -1;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(image->elf, i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		if (phdr.p_offset + phdr.p_filesz > size)
			return -1;
		memcpy(image->bytes + (phdr.p_vaddr - image->base),
		       raw + phdr.p_offset, phdr.p_filesz);
	}
	return 0;
}

int elf_image_open(struct elf_image *image, const char *path)
{
	memset(image, 0, sizeof(*image));
	elf_version(EV_CURRENT);
	image->fd = open(path, O_RDONLY);
	if (image->fd < 0)
		return -1;
	image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
	if (image->elf && elf_kind(image->elf) == ELF_K_ELF) {
		image->is_64bit = gelf_getclass(image->elf) == ELFCLASS64;
		if (!load(image))
			return 0;
	}
	elf_image_close(image);
	return -1;
}

void elf_image_close(struct elf_image *image)
{
	free(image->bytes);
	elf_end(image->elf);
	close(image->fd);
}

/**
 * elf_image_address - where an offset in the file lies in memory
 * @image:	the file
 * @off:	the offset
 *
 * Returns: the address, or the offset where no segment has it
 */
u64 elf_image_address(const struct elf_image *image, u64 off)
{
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(image->elf, &nr))
		return off;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(image->elf, i, &phdr) &&
		    phdr.p_type == PT_LOAD && off >= phdr.p_offset &&
		    off - phdr.p_offset < phdr.p_filesz)
			return phdr.p_vaddr + (off - phdr.p_offset);
	return off;
}

/* The section of code behind @scn, the first for NULL; NULL for no more. */
Elf_Scn *elf_image_next_code(const struct elf_image *image, Elf_Scn *scn,
			     GElf_Shdr *shdr)
{
	while ((scn = elf_nextscn(image->elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type != SHT_NOBITS &&
		    shdr->sh_flags & SHF_EXECINSTR)
			break;
	return scn;
}

int elf_image_read(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct elf_image *image = ctx;
	u64 off = addr - image->base;

	if (off >= image->size || image->size - off < len)
		return -1;
	memcpy(dst, image->bytes + off, len);
	return 0;
}
