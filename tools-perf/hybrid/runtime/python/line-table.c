// SPDX-License-Identifier: GPL-2.0
/*
 * Line tables of CPython.
 */
#include <stdbool.h>
#include "line-table.h"

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

unsigned int python_lines(const u8 *bytes, size_t size, u32 first, struct hybrid_name_line *lines,
			  unsigned int max)
{
	struct reader r = { .bytes = bytes, .size = size };
	u32 line = first, index = 0, delta;
	unsigned int nr = 0, kind;
	u8 head;

	while (r.at < r.size && nr < max) {
		head = r.bytes[r.at++];
		kind = head >> 3 & 15;
		if (!(head & 0x80) || !read_delta(&r, kind, &delta))
			break;
		line += delta;
		if (kind != NONE && (!nr || lines[nr - 1].line != line)) {
			lines[nr].index = index;
			lines[nr++].line = line;
		}
		index += (head & 7) + 1;
	}
	return nr;
}
