// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "v8-lines.h"

#define FIRST_ROOM	256

static bool put_end(struct v8_lines *lines, u32 at)
{
	u32 room = lines->room ? 2 * lines->room : FIRST_ROOM, *more;

	if (lines->nr == V8_MAX_LINES)
		return false;
	if (lines->nr == lines->room) {
		more = realloc(lines->ends, room * sizeof(*more));
		if (!more)
			return false;
		lines->ends = more;
		lines->room = room;
	}
	lines->ends[lines->nr++] = at;
	return true;
}

bool v8_lines__put(void *arg, const void *chars, u32 nr, u32 width)
{
	struct v8_lines *lines = arg;
	u32 i, c;

	for (i = 0; i < nr; i++) {
		c = width == 1 ? ((const u8 *)chars)[i] : ((const u16 *)chars)[i];
		if (c == '\n' && !put_end(lines, lines->length + i))
			return false;
	}
	lines->length += nr;
	return true;
}

void v8_lines__end(struct v8_lines *lines)
{
	put_end(lines, lines->length);
}

u32 v8_lines__find(const struct v8_lines *lines, s32 position)
{
	u32 low = 0, high = lines->nr, middle;

	if (position < 0)
		return 0;
	while (low < high) {
		middle = (low + high) / 2;
		if (lines->ends[middle] < (u32)position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lines->nr ? low + 1 : 0;
}

void v8_lines__free(struct v8_lines *lines)
{
	free(lines->ends);
	memset(lines, 0, sizeof(*lines));
}
