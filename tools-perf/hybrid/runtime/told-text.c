// SPDX-License-Identifier: GPL-2.0
/*
 * What BPF has read of a function of Perl, PHP or Ruby when it met it first.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "told-text.h"

bool hybrid_told_text_read(struct hybrid_told_text *told, const void *raw, size_t size)
{
	size_t at = offsetof(struct hybrid_walk_text, bytes), length;
	struct hybrid_walk_text text;
	unsigned int i;

	if (size < at)
		return false;
	memcpy(&text, raw, at);
	memset(told, 0, sizeof(*told));
	told->function = text.function;
	told->named = text.type;
	told->label = text.size;
	told->line = text.line;
	told->size = text.states[0];
	told->is_own = text.states[1];
	for (i = 0; i < HYBRID_TOLD_PIECES; i++) {
		if (text.sizes[i] > size - at)
			return false;
		length = strnlen((const char *)raw + at, text.sizes[i]);
		memcpy(told->pieces[i], (const char *)raw + at,
		       min_t(size_t, length, HYBRID_TOLD_TEXT - 1));
		at += text.sizes[i];
	}
	return true;
}
