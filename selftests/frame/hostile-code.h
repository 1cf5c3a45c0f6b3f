/* SPDX-License-Identifier: GPL-2.0 */
/* Code that is made to have a long search: pieces that are repeated, and changed at random. */
#ifndef __SELFTESTS_FRAME_HOSTILE_CODE_H
#define __SELFTESTS_FRAME_HOSTILE_CODE_H

#include <stdbool.h>
#include <linux/types.h>

/* Where the code is. */
#define CODE		0x400000UL

#define TILE_MAX	12

/**
 * enum piece_kind - what a piece of code is
 * @BYTES:	an instruction that does not jump
 * @JUMP:	one that ends with an offset of 32 bits to another piece
 * @SHORT:	one that ends with an offset of 8 bits
 * @TABLE:	a jump by a table, which leads to the next piece
 * @PAGE_END:	a jump to the next piece, which is near the end of a page
 * @NR_KINDS:	number of kinds
 */
enum piece_kind {
	BYTES,
	JUMP,
	SHORT,
	TABLE,
	PAGE_END,
	NR_KINDS,
};

/**
 * struct piece - a piece of code
 * @kind:	enum piece_kind
 * @len:	length in bytes
 * @bytes:	what it is, without the offset
 * @to:		where it jumps to, in pieces; PAGE_END: so many bytes before the end of the page
 */
struct piece {
	u8	kind;
	u8	len;
	u8	bytes[18];
	s8	to;
};

/**
 * struct tile - code that is repeated
 * @piece:	pieces
 * @nr:		how many
 * @missing:	0, or one of so many pages can't be read
 * @is_64bit:	64-bit code
 */
struct tile {
	struct piece	piece[TILE_MAX];
	u8		nr;
	u8		missing;
	bool		is_64bit;
};

/**
 * struct hostile_code - the code that a search reads
 * @seed:	of all random numbers
 * @reads:	reads that were made since the caller cleared it
 * @failed:	reads that failed since then
 */
struct hostile_code {
	unsigned int	seed;
	unsigned long	reads;
	unsigned long	failed;
};

extern struct hostile_code hostile;

/* Returns a random number below @n. */
unsigned int hostile_below(unsigned int n);

/* Makes a random tile. */
void hostile_make_tile(struct tile *tile);

/* Changes one thing of a tile at random. */
void hostile_change(struct tile *tile);

/* Writes the tile from CODE on, again and again. */
void hostile_put_tile(struct tile *tile);

/* The read of struct x86_frame_mem. */
int hostile_read(void *ctx, unsigned long addr, void *dst, unsigned int len);

/* Prints the tile, on a line of its own. */
void hostile_print_tile(const struct tile *tile);

#endif /* __SELFTESTS_FRAME_HOSTILE_CODE_H */
