/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_TEXT_H
#define __PERF_HYBRID_V8_TEXT_H

#include <stdbool.h>
#include "v8-heap.h"

/* Bytes of a name, its end included. What is longer is cut off. */
#define V8_TEXT		HYBRID_V8_TEXT

/**
 * v8_chars - takes characters of a string, in their order
 * @arg: the caller's
 * @chars: the next ones
 * @nr: number of them
 * @width: bytes of each, 1 (Latin-1) or 2 (UTF-16)
 *
 * Return: false if no more are needed.
 */
typedef bool v8_chars(void *arg, const void *chars, u32 nr, u32 width);

/**
 * v8_string__each - read a string
 * @heap: of the process
 * @word: refers to it
 * @max: how many characters are read at most
 * @take: is given them
 * @arg: for @take
 *
 * Strings may consist of others (src/objects/string.h). Those that are nested deeper than 8, or in
 * circles, end there.
 *
 * Return: false if it is no string, or can't be read.
 */
bool v8_string__each(const struct v8_heap *heap, u64 word, u32 max, v8_chars *take, void *arg);

/**
 * struct v8_text - characters that become UTF-8
 * @out: room for V8_TEXT bytes
 * @at: bytes of @out that have something; the caller ends it with one of 0
 */
struct v8_text {
	char	*out;
	u32	 at;
};

/* As v8_chars(), @arg is a struct v8_text. Characters of 0 are left out. */
bool v8_text__put(void *arg, const void *chars, u32 nr, u32 width);

/**
 * v8_string__text - a string in UTF-8
 * @heap: of the process
 * @word: refers to it
 * @out: room for V8_TEXT bytes; characters of 0 are left out
 *
 * Return: as v8_string__each(); an empty one is true.
 */
bool v8_string__text(const struct v8_heap *heap, u64 word, char *out);

#endif /* __PERF_HYBRID_V8_TEXT_H */
