/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_POSITIONS_H
#define __PERF_HYBRID_V8_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct v8_position - a place in a table of source positions
 * @bytes: the table
 * @size: number of @bytes
 * @at: of the next entry
 * @code: offset of the code that the entry begins at
 * @source: what stands there, src/codegen/source-position.h
 */
struct v8_position {
	const u8	*bytes;
	size_t		 size;
	size_t		 at;
	s64		 code;
	s64		 source;
};

/* Of @source: the character in the script, from 0 on; negative: none. */
static inline s32 v8_position_char(s64 source)
{
	return source & 1 ? -1 : (s32)(source >> 1 & 0x3fffffff) - 1;
}

/* And which of the inlined functions it is in; negative: none of them. */
static inline s32 v8_position_inlined(s64 source)
{
	return (s32)(source >> 31 & 0xffff) - 1;
}

void v8_position__begin(struct v8_position *position, const u8 *bytes, size_t size);

/**
 * v8_position__next - read the next entry
 * @position: begun
 *
 * src/codegen/source-position-table.cc: entries are differences, in base-128 with a sign.
 *
 * Return: false at the end of the table, or of what can be read as one.
 */
bool v8_position__next(struct v8_position *position);

#endif /* __PERF_HYBRID_V8_POSITIONS_H */
