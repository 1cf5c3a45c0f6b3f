/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_ELF_MADE_H
#define __HYBRID_TEST_ELF_MADE_H

#include <elf.h>
#include "object.h"

#define ELF_MADE_SECTIONS	24
#define ELF_MADE_SEGMENTS	20

/* Where the data of the first section is in the file. */
#define ELF_MADE_DATA		0x1000

/**
 * struct elf_made - an ELF file that a test makes, field by field
 * @header: what is not 0 stays as it is
 * @sections: the first one is empty, and the last one has their names
 * @segments: as the test has them
 * @nr_segments: number of @segments
 * @nr: number of @sections
 * @bytes: the file
 * @size: of @bytes
 * @room: bytes that @bytes has room for
 * @names: of the sections
 * @names_size: bytes of @names
 */
struct elf_made {
	Elf64_Ehdr	header;
	Elf64_Shdr	sections[ELF_MADE_SECTIONS];
	unsigned int	nr;
	Elf64_Phdr	segments[ELF_MADE_SEGMENTS];
	unsigned int	nr_segments;
	u8		*bytes;
	size_t		size;
	size_t		room;
	char		names[512];
	unsigned int	names_size;
};

/* An empty file of x86-64. */
void elf_made_begin(struct elf_made *elf);

/**
 * elf_made_section - add a section
 * @elf: the file
 * @name: of the section
 * @header: what is 0 of sh_offset and sh_size is set: behind what the file has, and @size
 * @data: its bytes; NULL: none are written
 * @size: of @data
 *
 * Return: its index.
 */
unsigned int elf_made_section(struct elf_made *elf, const char *name, Elf64_Shdr header,
			      const void *data, size_t size);

/* A section with code or data at an address, and the segment that has it. */
unsigned int elf_made_loaded(struct elf_made *elf, const char *name, u64 flags, u64 addr,
			     const void *data, size_t size);

/* The file, in memory: to be closed. @elf is empty afterwards. */
int elf_made_file(struct elf_made *elf);

/**
 * elf_made_open - open a file as an object
 * @fd: the file; the object's from now on
 *
 * Return: the object, to be given to elf_made_close(); NULL if it can't be one.
 */
struct hybrid_object *elf_made_open(int fd);

/* The file as an object; the program ends if it can't be one. */
struct hybrid_object *elf_made_object(struct elf_made *elf);

void elf_made_close(struct hybrid_object *object);

/* Code of an object, valid until the next call. */
struct hybrid_code *code_of(const struct hybrid_object *object);

#endif /* __HYBRID_TEST_ELF_MADE_H */
