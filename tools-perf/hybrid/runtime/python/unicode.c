// SPDX-License-Identifier: GPL-2.0
/*
 * Strings of CPython.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../utf8.h"
#include "unicode.h"

#define MAX_CHARS	(PYTHON_TEXT - 1)

static u32 char_at(const u8 *bytes, unsigned int i, unsigned int width)
{
	u32 c = 0;

	/* The machine's order, which is that of x86. */
	memcpy(&c, bytes + i * width, width);
	/* No more than Unicode has. */
	return c < 0x110000 ? c : '?';
}

bool python_text(struct hybrid_process_memory *pm, const struct python_layout *layout, u64 addr,
		 char *out)
{
	u8 bytes[4 * MAX_CHARS];
	unsigned int width, i, nr, at = 0;
	bool is_compact, is_ascii;
	u64 length;
	u32 state, c;

	if (!addr || hybrid_process_memory_read(pm, addr + layout->state, &state, sizeof(state)) ||
	    hybrid_process_memory_read(pm, addr + layout->length, &length, sizeof(length)))
		return false;
	width = state >> layout->kind & 7;
	is_compact = state >> (layout->kind + 3) & 1;
	is_ascii = state >> (layout->kind + 4) & 1;
	if (!is_compact || !length || (width != 1 && width != 2 && width != 4) ||
	    (is_ascii && width != 1))
		return false;
	length = min_t(u64, length, MAX_CHARS);
	if (hybrid_process_memory_read(pm, addr + (is_ascii ? layout->ascii : layout->text), bytes,
				       length * width))
		return false;
	for (i = 0; i < length; i++) {
		c = char_at(bytes, i, width);
		nr = c ? hybrid_utf8_put(out + at, PYTHON_TEXT - 1 - at, c) : 0;
		if (c && !nr)
			break;
		at += nr;
	}
	out[at] = 0;
	return at;
}
