// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/types.h>
#include "name-text.h"

/* Bytes of the sequence that a byte begins, by its first bits; 0: it begins none. */
static unsigned int sequence(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Is it written longer than it need be, half of a pair, or larger than Unicode has? */
static bool is_character(u32 code, unsigned int size)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* C0, DEL, C1, the separators of lines and paragraphs, and what changes the direction. */
static bool is_control(u32 code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

unsigned int hybrid_name_shown(const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	unsigned int size = sequence(*s), i;
	u32 code;

	if (!size)
		return 0;
	code = size == 1 ? *s : *s & (0xff >> (size + 1));
	/* A 0 is no byte of a sequence. */
	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	return is_character(code, size) && !is_control(code) ? size : 0;
}

size_t hybrid_name_text(char *out, size_t room, const char *name)
{
	const char *s = *name ? name : "?";
	unsigned int size;
	size_t at = 0;

	while (*s) {
		size = hybrid_name_shown(s);
		/* Room for \xHH and the 0. */
		if (room - at < 5)
			break;
		if (size) {
			memcpy(out + at, s, size);
			at += size;
			s += size;
		} else {
			at += sprintf(out + at, "\\x%02x", (unsigned char)*s++);
		}
	}
	out[at] = 0;
	return at;
}
