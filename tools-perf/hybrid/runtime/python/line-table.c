// SPDX-License-Identifier: GPL-2.0
/*
 * Line tables of CPython.
 */
#include <stdbool.h>
#include "line-table.h"

/* Bytes of an instruction. */
#define UNIT	2

/* What an entry says: Include/cpython/code.h, _PyCodeLocationInfoKind. */
enum {
	ONE_LINE0	= 10,
	ONE_LINE2	= 12,
	NO_COLUMNS	= 13,
	LONG		= 14,
	NONE		= 15,
};

struct reader {
	const u8	*bytes;
	size_t		 size;
	size_t		 at;
};

/* Six bits a byte, the lowest first. */
static bool read_number(struct reader *r, u32 *number)
{
	unsigned int shift = 0;
	u8 byte;

	*number = 0;
	do {
		if (r->at >= r->size || shift > 30)
			return false;
		byte = r->bytes[r->at++];
		*number |= (u32)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return true;
}

/* The lowest bit is the sign. */
static bool read_signed(struct reader *r, u32 *number)
{
	if (!read_number(r, number))
		return false;
	*number = *number & 1 ? -(*number >> 1) : *number >> 1;
	return true;
}

static bool skip_numbers(struct reader *r, unsigned int nr)
{
	u32 number;

	while (nr--) {
		if (!read_number(r, &number))
			return false;
	}
	return true;
}

/* How many lines the entry is behind the one before; false: the table ends. */
static bool read_delta(struct reader *r, unsigned int kind, u32 *delta)
{
	*delta = 0;
	switch (kind) {
	case NONE:
		return true;
	case LONG:
		return read_signed(r, delta) && skip_numbers(r, 3);
	case NO_COLUMNS:
		return read_signed(r, delta);
	case ONE_LINE0 ... ONE_LINE2:
		*delta = kind - ONE_LINE0;
		r->at += 2;
		return r->at <= r->size;
	default:
		return r->at++ < r->size;
	}
}

/* Returns false if there is no room. */
static bool put(struct hybrid_name_line *lines, unsigned int *nr, unsigned int max, u32 index,
		u32 line)
{
	if (*nr && lines[*nr - 1].line == line)
		return true;
	if (*nr == max)
		return false;
	/* Of instructions that there are none of. */
	if (*nr && lines[*nr - 1].index == index)
		--*nr;
	lines[*nr].index = index;
	lines[(*nr)++].line = line;
	return true;
}

static unsigned int read_locations(struct reader *r, u32 line, struct hybrid_name_line *lines,
				   unsigned int max)
{
	unsigned int nr = 0, kind;
	u32 index = 0, delta;
	u8 head;

	while (r->at < r->size) {
		head = r->bytes[r->at++];
		kind = head >> 3 & 15;
		if (!(head & 0x80) || !read_delta(r, kind, &delta))
			break;
		line += delta;
		if (kind != NONE && !put(lines, &nr, max, index, line))
			break;
		index += (head & 7) + 1;
	}
	return nr;
}

/* Bytes of instructions, and lines further: first the lines, or -128: they have none. */
static unsigned int read_ranges(struct reader *r, u32 line, struct hybrid_name_line *lines,
				unsigned int max)
{
	unsigned int nr = 0;
	u32 at = 0;
	s8 delta;

	for (; r->at + 1 < r->size; r->at += 2) {
		delta = r->bytes[r->at + 1];
		line += delta == -128 ? 0 : delta;
		if (delta != -128 && !put(lines, &nr, max, at / UNIT, line))
			break;
		at += r->bytes[r->at];
	}
	return nr;
}

/* The same, but first the bytes. */
static unsigned int read_steps(struct reader *r, u32 line, struct hybrid_name_line *lines,
			       unsigned int max)
{
	unsigned int nr = 0;
	u32 at = 0;

	if (!put(lines, &nr, max, 0, line))
		return 0;
	for (; r->at + 1 < r->size; r->at += 2) {
		at += r->bytes[r->at];
		line += (s8)r->bytes[r->at + 1];
		if (!put(lines, &nr, max, at / UNIT, line))
			break;
	}
	return nr;
}

unsigned int python_lines(enum python_line_format kind, const u8 *bytes, size_t size, u32 first,
			  struct hybrid_name_line *lines, unsigned int max)
{
	struct reader r = { .bytes = bytes, .size = size };

	if (kind == PYTHON_LINES_RANGES)
		return read_ranges(&r, first, lines, max);
	if (kind == PYTHON_LINES_STEPS)
		return read_steps(&r, first, lines, max);
	return read_locations(&r, first, lines, max);
}
