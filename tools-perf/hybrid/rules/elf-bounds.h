/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ELF_BOUNDS_H
#define __PERF_HYBRID_ELF_BOUNDS_H

#include <stdbool.h>
#include <gelf.h>
#include <linux/types.h>
#include "file-budget.h"

/*
 * A file may have holes: its size, and that of each section, is whatever its owner likes. libelf
 * and libdw would read what a file says of itself, as a whole. So they get no descriptor: perf
 * reads what they need, within the bounds of this file and the share of the file's user, and gives
 * them that as a file in memory.
 */

/**
 * hybrid_elf_begin - the headers of a file
 * @fd: any file; may be negative
 * @user: whose share it is; NULL: there is no bound
 *
 * The Elf has ELF header, program headers, section headers and names of sections. Offsets in these
 * headers are the file's, but for those of the headers and of the names. It has no data of other
 * sections: hybrid_elf_part() reads them.
 *
 * Return: to be given to hybrid_elf_end(). NULL if the file can't be read, if it has more headers
 * or names than any program, or if the user is over his share (errno is EDQUOT then).
 */
Elf *hybrid_elf_begin(int fd, struct hybrid_file_user *user);

/**
 * struct hybrid_elf_places - where a file has its headers
 * @offset: of program headers, section headers, names of sections
 * @size: bytes of each; 0: there are none
 */
struct hybrid_elf_places {
	u64	offset[3];
	u64	size[3];
};

/* Return: 0; -1 if hybrid_elf_begin() of the file would fail. */
int hybrid_elf_places(int fd, struct hybrid_elf_places *places);

/**
 * hybrid_elf_part - some sections of a file, as a file of their own
 * @fd: the file
 * @user: as for hybrid_elf_begin()
 * @elf: its headers
 * @sections: indices in @elf, HYBRID_ELF_SECTIONS at most
 * @nr: number of @sections
 *
 * Section @sections[i] is section i + 1 of the part; its sh_link is 0. A section that is compressed
 * is unpacked. One of .zdebug_* has the name .debug_*.
 *
 * Return: as hybrid_elf_begin(). NULL, too, if a section is larger than that of any program,
 * unpacked or not.
 */
Elf *hybrid_elf_part(int fd, struct hybrid_file_user *user, Elf *elf, const size_t *sections,
		     unsigned int nr);

#define HYBRID_ELF_SECTIONS	4

/**
 * hybrid_elf_cfi - .eh_frame_hdr and .eh_frame of a file, as a file of their own
 *
 * By the section headers, or if there is no .eh_frame among them, by PT_GNU_EH_FRAME.
 *
 * Return: as hybrid_elf_part(); NULL if the file has no .eh_frame.
 */
Elf *hybrid_elf_cfi(int fd, struct hybrid_file_user *user, Elf *elf);

/* @elf: of one of these functions; may be NULL. */
void hybrid_elf_end(Elf *elf);

/* libdw has so many bytes for each byte of FDEs that it keeps: 100 for one of 20. */
#define HYBRID_LIBDW_FACTOR	5

/**
 * hybrid_elf_charge - take memory for what a library makes of a part
 * @elf: from one of these functions
 * @size: bytes; given back by hybrid_elf_end()
 *
 * Return: false if the user has no more of it.
 */
bool hybrid_elf_charge(Elf *elf, u64 size);

/**
 * hybrid_elf_find - a section by its name
 * @elf: headers
 * @name: of the section, which has data in the file
 * @shdr: out: its header
 *
 * Return: its index; 0: there is none.
 */
size_t hybrid_elf_find(Elf *elf, const char *name, GElf_Shdr *shdr);

/**
 * hybrid_elf_next_segment - the next segment of a type
 * @elf: headers; may be NULL
 * @type: PT_*
 * @i: number of the first segment to look at; out: of the one behind what was found
 * @phdr: out: its header
 *
 * Return: false if there is none.
 */
bool hybrid_elf_next_segment(Elf *elf, u32 type, size_t *i, GElf_Phdr *phdr);

/* Finds the loaded segment that has the byte at @vaddr in the file. */
bool hybrid_elf_segment_of(Elf *elf, u64 vaddr, GElf_Phdr *phdr);

/**
 * hybrid_elf_name - the name of a section
 * @elf: that it is of, from hybrid_elf_begin()
 * @shdr: its header
 *
 * Return: NULL where it has none.
 */
const char *hybrid_elf_name(Elf *elf, const GElf_Shdr *shdr);

#endif /* __PERF_HYBRID_ELF_BOUNDS_H */
