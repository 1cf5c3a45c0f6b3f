// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of CRuby: strings and arrays.
 */
#include <string.h>
#include <linux/kernel.h>
#include "ruby-object.h"

/* include/ruby/internal/core/rarray.h: how many elements are in the object. */
#define ARRAY_LENGTH_AT	15
#define ARRAY_LENGTH	0x7f

bool ruby_is_type(u64 flags, enum ruby_type type)
{
	u64 mask = type > RUBY_TYPE_MASK ? RUBY_KIND_MASK : RUBY_TYPE_MASK;

	return (flags & mask) == type;
}

bool ruby_is(struct hybrid_process_memory *pm, u64 addr, enum ruby_type type)
{
	return addr && !(addr & 7) && ruby_is_type(hybrid_process_word(pm, addr), type);
}

bool ruby_text(struct hybrid_process_memory *pm, const struct ruby_layout *layout, u64 addr,
	       char *out)
{
	u64 words[RUBY_STRING_WORDS], length, from = addr + layout->walk.string_inside;

	if (!addr || addr & 7 || hybrid_process_memory_read(pm, addr, words, sizeof(words)) ||
	    !ruby_is_type(words[0], RUBY_STRING))
		return false;
	length = words[2];
	if (words[0] & RUBY_STRING_APART)
		from = words[3];
	else if (layout->walk.string_inside == RUBY_INSIDE)
		length = words[0] >> RUBY_STRING_LENGTH_AT & RUBY_STRING_LENGTH;
	length = min_t(u64, length, RUBY_TEXT - 1);
	if (!length || hybrid_process_memory_read(pm, from, out, length))
		return false;
	out[length] = 0;
	return *out;
}

u64 ruby_element(struct hybrid_process_memory *pm, u64 addr, u64 i)
{
	u64 flags, length, from;

	if (!ruby_is(pm, addr, RUBY_ARRAY))
		return 0;
	flags = hybrid_process_word(pm, addr);
	length = flags >> ARRAY_LENGTH_AT & ARRAY_LENGTH;
	from = addr + RUBY_INSIDE;
	if (!(flags & RUBY_ARRAY_INSIDE)) {
		length = hybrid_process_word(pm, addr + 16);
		from = hybrid_process_word(pm, addr + RUBY_ELEMENTS);
	}
	return i < length && from ? hybrid_process_word(pm, from + i * sizeof(u64)) : 0;
}
