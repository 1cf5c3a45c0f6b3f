/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_CHANGED_ELF_H
#define __HYBRID_TEST_CHANGED_ELF_H

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "elf-file.h"
#include "tap.h"

/* One of the tests' ELF files in memory, whose headers a test changes before it writes the file. */
static u8 image[1 << 17];
static ssize_t size;

static inline void read_image(const char *name)
{
	int fd = open(elf_file_path(name), O_RDONLY);

	size = read(fd, image, sizeof(image));
	close(fd);
	check(size > 0 && size < (ssize_t)sizeof(image));
}

static inline Elf64_Ehdr *ehdr(void)
{
	return (Elf64_Ehdr *)image;
}

static inline Elf64_Shdr *shdr(unsigned int i)
{
	return (Elf64_Shdr *)(image + ehdr()->e_shoff) + i;
}

/* Number of the section; 0: there is none. */
static inline unsigned int section(const char *name)
{
	const char *names = (char *)image + shdr(ehdr()->e_shstrndx)->sh_offset;
	unsigned int i;

	for (i = ehdr()->e_shnum - 1; i && strcmp(names + shdr(i)->sh_name, name); i--)
		;
	return i;
}

#endif /* __HYBRID_TEST_CHANGED_ELF_H */
