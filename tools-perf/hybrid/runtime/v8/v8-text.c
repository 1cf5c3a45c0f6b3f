// SPDX-License-Identifier: GPL-2.0
/*
 * Strings of V8.
 */
#include <linux/kernel.h>
#include "../utf8.h"
#include "v8-text.h"

#define MAX_DEPTH	8
#define CHUNK		4096

/**
 * struct reading - of a string
 * @heap: of the process
 * @skip: characters that are left out at its beginning
 * @left: characters that are still to be read
 * @take: is given them
 * @arg: for @take
 * @parts: strings that were looked at
 * @ended: no more are needed
 */
struct reading {
	const struct v8_heap	*heap;
	u32			 skip;
	u32			 left;
	v8_chars		*take;
	void			*arg;
	unsigned int		 parts;
	bool			 ended;
};

/* Strings that one is made of, at most. */
#define MAX_PARTS	256

static bool read_chars(struct reading *r, u64 at, u32 nr, u32 width)
{
	u8 chars[CHUNK];
	u32 some;

	at += (u64)r->skip * width;
	nr = r->skip < nr ? min(nr - r->skip, r->left) : 0;
	r->skip = 0;
	while (nr && !r->ended) {
		some = min(nr, CHUNK / width);
		if (hybrid_process_memory_read(r->heap->pm, at, chars, some * width))
			return false;
		r->ended = !r->take(r->arg, chars, some, width);
		at += some * width;
		nr -= some;
		r->left -= some;
	}
	return true;
}

static bool read_string(struct reading *r, u64 word, unsigned int depth);

/* The part that a string has of its parent, but for what is left out. Another string may follow. */
static bool read_slice(struct reading *r, u64 string, u32 length, unsigned int depth)
{
	const struct v8_layout *layout = r->heap->layout;
	u64 offset = v8_word(r->heap, string + layout->sliced_offset);
	u32 after = r->left - min(r->left, length - r->skip);
	bool is_read;

	if (!v8_is_smi(offset) || v8_smi(offset) < 0)
		return false;
	r->left -= after;
	r->skip += v8_smi(offset);
	is_read = read_string(r, v8_word(r->heap, string + layout->sliced_parent), depth + 1);
	r->skip = 0;
	r->left += after;
	return is_read;
}

static bool read_string(struct reading *r, u64 word, unsigned int depth)
{
	const struct v8_layout *layout = r->heap->layout;
	u32 length, width;
	u64 string;
	u16 type;

	if (r->ended || !r->left)
		return true;
	string = v8_object(r->heap, word, &type);
	if (!string || type >= layout->first_nonstring || depth > MAX_DEPTH ||
	    r->parts++ > MAX_PARTS)
		return false;
	length = v8_u32(r->heap, string + layout->string_length);
	if (r->skip >= length) {
		r->skip -= length;
		return true;
	}
	width = type & layout->one_byte ? 1 : 2;
	switch (type & V8_STRING_KIND) {
	case V8_STRING_SEQ:
		return read_chars(r, string + layout->string_chars, length, width);
	case V8_STRING_EXTERNAL:
		return read_chars(r, v8_word(r->heap, string + layout->external_resource +
					     V8_EXTERNAL_CHARS), length, width);
	case V8_STRING_CONS:
		return read_string(r, v8_word(r->heap, string + layout->cons_first), depth + 1) &&
		       read_string(r, v8_word(r->heap, string + layout->cons_second), depth + 1);
	case V8_STRING_SLICED:
		return read_slice(r, string, length, depth);
	case V8_STRING_THIN:
		return read_string(r, v8_word(r->heap, string + layout->thin_actual), depth + 1);
	default:
		return false;
	}
}

bool v8_string__each(const struct v8_heap *heap, u64 word, u32 max, v8_chars *take, void *arg)
{
	struct reading r = { .heap = heap, .left = max, .take = take, .arg = arg };

	return read_string(&r, word, 0);
}

bool v8_text__put(void *arg, const void *chars, u32 nr, u32 width)
{
	struct v8_text *text = arg;
	u32 i, c, put;

	for (i = 0; i < nr; i++) {
		c = width == 1 ? ((const u8 *)chars)[i] : ((const u16 *)chars)[i];
		if (!c)
			continue;
		put = hybrid_utf8_put(text->out + text->at, V8_TEXT - 1 - text->at, c);
		if (!put)
			return false;
		text->at += put;
	}
	return true;
}

bool v8_string__text(const struct v8_heap *heap, u64 word, char *out)
{
	struct v8_text text = { .out = out };
	bool is_read = v8_string__each(heap, word, V8_TEXT, v8_text__put, &text);

	out[text.at] = 0;
	return is_read;
}
