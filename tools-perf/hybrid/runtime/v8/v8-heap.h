/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_HEAP_H
#define __PERF_HYBRID_V8_HEAP_H

#include "v8-layout.h"

/**
 * struct v8_heap - the objects of a process that runs V8
 * @pm: its memory
 * @layout: of its V8
 *
 * Objects move and end while perf reads: nothing of them is believed but by its type.
 */
struct v8_heap {
	struct hybrid_process_memory	*pm;
	const struct v8_layout		*layout;
};

/* The word at an address; 0 if it can't be read. */
u64 v8_word(const struct v8_heap *heap, u64 addr);

/* The same, of 32 bits. */
u32 v8_u32(const struct v8_heap *heap, u64 addr);

/**
 * v8_object - the object that a word refers to
 * @heap: of the process
 * @word: a pointer to an object, with its tag
 * @type: out: its type, by V8's numbers
 *
 * Return: its address; 0 if the word is no such pointer, or nothing can be read there.
 */
u64 v8_object(const struct v8_heap *heap, u64 word, u16 *type);

/* Does a word refer to a map, as the first word of an object does? */
bool v8_is_map(const struct v8_heap *heap, u64 word);

/* include/v8-internal.h, SmiTagging<8>: a small integer is the upper half of a word. */
static inline bool v8_is_smi(u64 word)
{
	return !(u32)word;
}

static inline s32 v8_smi(u64 word)
{
	return (s64)word >> 32;
}

#endif /* __PERF_HYBRID_V8_HEAP_H */
