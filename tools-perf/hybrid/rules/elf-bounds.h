/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ELF_BOUNDS_H
#define __PERF_HYBRID_ELF_BOUNDS_H

#include <stdbool.h>
#include <gelf.h>

/*
 * A file may have holes: its size, and that of each section, is whatever its owner likes. What
 * libelf reads it reads as a whole, to memory.
 */

/**
 * hybrid_elf_begin - elf_begin() for reading
 * @fd: any file; may be negative
 *
 * libelf has memory for each section header that the file says it has, and for all their names.
 *
 * Return: NULL where the file can't be read, or has more headers or names than any program.
 */
Elf *hybrid_elf_begin(int fd);

/**
 * hybrid_elf_data - elf_getdata() of a section
 * @scn: may be NULL
 *
 * Return: NULL where there is none, or it is larger than that of any program, unpacked or not.
 */
Elf_Data *hybrid_elf_data(Elf_Scn *scn);

/* Would a section .zdebug_* that is there have more bytes, unpacked, than any program's? */
bool hybrid_elf_unpacks_large(Elf_Scn *scn);

/**
 * hybrid_elf_name - the name of a section
 * @elf: that it is of, from hybrid_elf_begin()
 * @shdr: its header
 *
 * Return: NULL where it has none.
 */
const char *hybrid_elf_name(Elf *elf, const GElf_Shdr *shdr);

/* Would libdw, which takes .eh_frame to be all that is between it and its header, read much? */
bool hybrid_elf_has_large_cfi(Elf *elf);

#endif /* __PERF_HYBRID_ELF_BOUNDS_H */
