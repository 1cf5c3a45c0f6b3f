// SPDX-License-Identifier: GPL-2.0
#include "utf8.h"

unsigned int hybrid_utf8_put(char *out, unsigned int room, u32 c)
{
	unsigned int nr = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	if (nr > room)
		return 0;
	if (nr == 1) {
		*out = c;
		return 1;
	}
	for (i = nr - 1; i; i--) {
		out[i] = 0x80 | (c & 0x3f);
		c >>= 6;
	}
	out[0] = (0xf00 >> nr) | c;
	return nr;
}
