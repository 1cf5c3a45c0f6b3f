// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of CRuby: strings and arrays.
 */
#include <string.h>
#include <linux/kernel.h>
#include "ruby-object.h"

/* Of an object's first word, include/ruby/internal/fl_type.h and core/rarray.h, rstring.h. */
#define TYPE		0x1f
#define IMEMO		0x1a
#define IMEMO_TYPE	0xf000
#define STRING_APART	0x2000
#define ARRAY_INSIDE	0x2000
#define LENGTH_AT	14
#define STRING_LENGTH	0x1f
#define ARRAY_LENGTH_AT	15
#define ARRAY_LENGTH	0x7f

#define INSIDE		16

bool ruby_is_type(u64 flags, enum ruby_type type)
{
	u64 mask = (type & TYPE) == IMEMO ? TYPE | IMEMO_TYPE : TYPE;

	return (flags & mask) == type;
}

bool ruby_is(struct hybrid_process_memory *pm, u64 addr, enum ruby_type type)
{
	return addr && !(addr & 7) && ruby_is_type(hybrid_process_word(pm, addr), type);
}

bool ruby_text(struct hybrid_process_memory *pm, const struct ruby_layout *layout, u64 addr,
	       char *out)
{
	u64 words[4], length, from = addr + INSIDE;

	if (!addr || addr & 7 || hybrid_process_memory_read(pm, addr, words, sizeof(words)) ||
	    !ruby_is_type(words[0], RUBY_STRING))
		return false;
	length = words[2];
	if (words[0] & STRING_APART)
		from = words[3];
	else if (layout->has_length)
		from += sizeof(u64);
	else
		length = words[0] >> LENGTH_AT & STRING_LENGTH;
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
	from = addr + INSIDE;
	if (!(flags & ARRAY_INSIDE)) {
		length = hybrid_process_word(pm, addr + 16);
		from = hybrid_process_word(pm, addr + 32);
	}
	return i < length && from ? hybrid_process_word(pm, from + i * sizeof(u64)) : 0;
}
