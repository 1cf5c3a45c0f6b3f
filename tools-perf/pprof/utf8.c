// SPDX-License-Identifier: GPL-2.0
#include <linux/types.h>
#include "utf8.h"

/* Bytes of the character that begins here, or 0 where none does. */
static unsigned int character(const unsigned char *s)
{
	unsigned int size, i;
	u32 code;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] < 0xe0)
		size = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		size = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		size = 4;
	else
		return 0;
	code = s[0] & (0xff >> (size + 1));
	/* The string's end is no such byte. */
	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	/* Written longer than it need be, half of a pair, or behind the last. */
	if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) ||
	    (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		return 0;
	return size;
}

void utf8_repair(char *str)
{
	unsigned int size;

	while (*str) {
		size = character((const unsigned char *)str);
		if (!size) {
			*str = '?';
			size = 1;
		}
		str += size;
	}
}
