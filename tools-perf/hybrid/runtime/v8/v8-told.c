// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of V8 that BPF has read: bpf_skel/v8-object.h says what their records have.
 */
#include <string.h>
#include <linux/kernel.h>
#include "v8-told.h"

/* A string that came in parts. A part that is longer than what there is ends it. */
static void read_parts(const u8 *bytes, size_t size, char *out)
{
	u16 head, chars[HYBRID_V8_PIECE / sizeof(u16)];
	struct v8_text text = { .out = out };
	u32 part, width;

	while (size > sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		part = HYBRID_V8_PART_SIZE(head);
		width = HYBRID_V8_PART_WIDTH(head);
		bytes += sizeof(head);
		size -= sizeof(head);
		if (!part || part > size || part > sizeof(chars))
			break;
		/* They need not be aligned. */
		memcpy(chars, bytes, part);
		if (!v8_text__put(&text, chars, part / width, width))
			break;
		bytes += part;
		size -= part;
	}
	out[text.at] = 0;
}

bool v8_told__read(struct v8_told *told, const void *raw, size_t size)
{
	size_t at = offsetof(struct hybrid_walk_text, bytes);
	const u8 *bytes = raw;
	struct hybrid_walk_text text;

	if (size < at)
		return false;
	memcpy(&text, raw, at);
	if (text.sizes[0] != sizeof(told->source) ||
	    (size_t)text.sizes[0] + text.sizes[1] + text.sizes[2] > size - at)
		return false;
	memset(told, 0, sizeof(*told));
	told->addr = text.function & HYBRID_WALK_FUNCTION_ADDR;
	told->words[0] = text.type;
	told->words[1] = text.size;
	told->mark = text.states[1];
	told->scope.start = text.line;
	told->scope.end = text.states[0];
	memcpy(&told->source, bytes + at, sizeof(told->source));
	at += sizeof(told->source);
	read_parts(bytes + at, text.sizes[1], told->scope.name);
	read_parts(bytes + at + text.sizes[1], text.sizes[2], told->file);
	return told->addr;
}
