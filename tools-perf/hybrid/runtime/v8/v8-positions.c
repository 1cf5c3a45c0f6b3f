// SPDX-License-Identifier: GPL-2.0
/*
 * V8's tables of source positions.
 */
#include "v8-positions.h"

/* src/base/vlq.h: seven bits a byte, the lowest first; the lowest of all is the sign. */
static bool read_number(struct v8_position *position, s64 *number)
{
	unsigned int shift = 0;
	u64 value = 0;
	u8 byte;

	do {
		if (position->at >= position->size || shift > 63)
			return false;
		byte = position->bytes[position->at++];
		value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*number = (s64)(value >> 1) ^ -(s64)(value & 1);
	return true;
}

void v8_position__begin(struct v8_position *position, const u8 *bytes, size_t size)
{
	/* kFunctionEntryBytecodeOffset is -1. */
	*position = (struct v8_position) { .bytes = bytes, .size = size, .code = -1 };
}

bool v8_position__next(struct v8_position *position)
{
	s64 code, source;

	if (!read_number(position, &code) || !read_number(position, &source))
		return false;
	/* The sign says what kind of position it is. */
	position->code = (u64)position->code + (code < 0 ? ~code : code);
	position->source = (u64)position->source + source;
	return true;
}
