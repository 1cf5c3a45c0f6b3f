/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ELF_IMAGE_H
#define __PERF_HYBRID_ELF_IMAGE_H

#include <stddef.h>
#include <gelf.h>
#include <linux/types.h>

struct hybrid_file_user;

/**
 * struct hybrid_elf_image - the memory that an Elf reads
 * @user: whose share it is; NULL: nobody's
 * @charged: bytes of memory that were taken for it
 * @size: bytes of all of this
 * @bytes: an ELF file
 */
struct hybrid_elf_image {
	struct hybrid_file_user	*user;
	u64			 charged;
	u64			 size;
	u8			 bytes[] __attribute__((aligned(16)));
};

/**
 * struct hybrid_elf_form - sizes and offsets in an ELF file of a class
 * @word: bytes of an offset
 * @ehdr: bytes of the ELF header
 * @phdr: of a program header
 * @shdr: of a section header
 * @e_phoff: where that field is
 * @e_shoff: the same
 * @e_numbers: of e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx, of two bytes each
 * @sh_offset: in a section header
 */
struct hybrid_elf_form {
	u8	word;
	u8	ehdr;
	u8	phdr;
	u8	shdr;
	u8	e_phoff;
	u8	e_shoff;
	u8	e_numbers;
	u8	sh_offset;
};

/* By e_ident; NULL: not of this machine's byte order, or no ELF file. */
const struct hybrid_elf_form *hybrid_elf_form(const u8 *ident);

/* @data: bytes of memory that are taken now; more may be, of what is read. NULL with errno. */
struct hybrid_elf_image *hybrid_elf_image_new(struct hybrid_file_user *user, u64 size, u64 data);
void hybrid_elf_image_free(struct hybrid_elf_image *image);

/* The Elf of an image, which is freed with it, or if there is none. */
Elf *hybrid_elf_of_image(struct hybrid_elf_image *image);

#endif /* __PERF_HYBRID_ELF_IMAGE_H */
