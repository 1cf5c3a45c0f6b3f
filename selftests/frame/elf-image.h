/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ELF_IMAGE_H
#define _ELF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <gelf.h>
#include <libelf.h>

#include <linux/types.h>

#include "../../kmod/frame/x86_frame.h"

/**
 * struct elf_image - an ELF file as it would lie in memory
 * @elf:	the file
 * @fd:		its descriptor
 * @is_64bit:	its class
 * @base:	lowest address of a loaded segment
 * @size:	bytes from there
 * @bytes:	those bytes
 */
struct elf_image {
	Elf		*elf;
	int		fd;
	bool		is_64bit;
	u64	base;
	u64	size;
	unsigned char	*bytes;
};

int elf_image_open(struct elf_image *image, const char *path);
void elf_image_close(struct elf_image *image);
u64 elf_image_address(const struct elf_image *image, u64 off);
Elf_Scn *elf_image_next_code(const struct elf_image *image, Elf_Scn *scn,
			     GElf_Shdr *shdr);
int elf_image_read(void *ctx, unsigned long addr, void *dst, unsigned int len);

#endif
