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

/* Bytes of a character; 0: they are not stored behind the string's head. */
static unsigned int width_of(const struct python_layout *layout, u32 state)
{
	unsigned int width = state >> layout->kind & 7;
	bool is_compact = state >> (layout->kind + 3) & 1;
	bool is_ascii = state >> (layout->kind + 4) & 1;

	if (!is_compact || (width != 1 && width != 2 && width != 4) || (is_ascii && width != 1))
		return 0;
	return width;
}

bool python_decode(const struct python_layout *layout, u32 state, const u8 *bytes, size_t size,
		   char *out)
{
	unsigned int width = width_of(layout, state), i, nr, at = 0;
	u32 c;

	for (i = 0; width && i < size / width; i++) {
		c = char_at(bytes, i, width);
		nr = c ? hybrid_utf8_put(out + at, PYTHON_TEXT - 1 - at, c) : 0;
		if (c && !nr)
			break;
		at += nr;
	}
	out[at] = 0;
	return width && (at || !size);
}

bool python_text(struct hybrid_process_memory *pm, const struct python_layout *layout, u64 addr,
		 char *out)
{
	u8 bytes[4 * MAX_CHARS];
	bool is_ascii;
	u64 length;
	u32 state;

	if (!addr || hybrid_process_memory_read(pm, addr + layout->state, &state, sizeof(state)) ||
	    hybrid_process_memory_read(pm, addr + layout->length, &length, sizeof(length)))
		return false;
	is_ascii = state >> (layout->kind + 4) & 1;
	length = min_t(u64, length, MAX_CHARS) * width_of(layout, state);
	return !hybrid_process_memory_read(pm, addr + (is_ascii ? layout->ascii : layout->text),
					   bytes, length) &&
	       python_decode(layout, state, bytes, length, out);
}
