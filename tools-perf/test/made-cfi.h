/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_MADE_CFI_H
#define __HYBRID_TEST_MADE_CFI_H

#include "elf-made.h"

/* Where the sections of a file are that is made. */
#define MADE_TEXT	0x10000
#define MADE_FRAMES	0x20000
#define MADE_HEADER	0x40000

#define MADE_FRAMES_SIZE	16384
#define MADE_FDES	64

/**
 * struct made_cfi - .eh_frame and its header, as a test has them made
 * @frames: the section
 * @size: of @frames
 * @entries: the header's table, in order of addresses
 * @nr: number of @entries
 * @cie: offset of the CIE that was made last
 * @encoding: of its FDEs
 * @head: the header's first bytes
 * @header_size: bytes of the header; 0: as many as it has
 * @table_nr: what the header says of @nr; 0: that
 */
struct made_cfi {
	u8		frames[MADE_FRAMES_SIZE];
	unsigned int	size;
	struct {
		s32	start;
		s32	fde;
	}		entries[MADE_FDES];
	unsigned int	nr;
	unsigned int	cie;
	u8		encoding;
	u8		head[8];
	unsigned int	header_size;
	u32		table_nr;
};

/* Bytes that are put together. */
struct made_bytes {
	u8		bytes[4096];
	unsigned int	nr;
};

void made_byte(struct made_bytes *to, u8 byte);
void made_word(struct made_bytes *to, u64 value, unsigned int size);
void made_uleb(struct made_bytes *to, u64 value);
void made_sleb(struct made_bytes *to, s64 value);

void made_cfi_begin(struct made_cfi *cfi);

/**
 * made_cie - add a CIE
 * @cfi: to it
 * @augmentation: letters
 * @data: of the augmentation, as the letters say; its length is put before it if they begin by z
 * @code: code alignment factor
 * @align: data alignment factor
 * @ra: column of the return address
 * @program: initial instructions
 */
void made_cie(struct made_cfi *cfi, const char *augmentation, const struct made_bytes *data,
	      u64 code, s64 align, u8 ra, const struct made_bytes *program);

/* The usual one: of addresses of 4 bytes from their place, with the CFA at rsp + 8. */
void made_usual_cie(struct made_cfi *cfi);

/**
 * made_fde - add an FDE of the last CIE
 * @cfi: to it
 * @start: its first address, as its bytes are to be
 * @size: of its code
 * @program: instructions
 *
 * It is in the header's table by @start.
 */
void made_fde(struct made_cfi *cfi, u64 start, u64 size, const struct made_bytes *program);

/* The file with it. */
struct hybrid_object *made_cfi_object(struct made_cfi *cfi);

#endif /* __HYBRID_TEST_MADE_CFI_H */
