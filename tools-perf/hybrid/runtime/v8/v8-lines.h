/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_LINES_H
#define __PERF_HYBRID_V8_LINES_H

#include <stdbool.h>
#include <linux/types.h>

/* Of a source: characters that are read, and lines. */
#define V8_MAX_SOURCE	(4U << 20)
#define V8_MAX_LINES	65536U

/**
 * struct v8_lines - the lines of a source
 * @ends: for each line, the index of the character that ends it; owned
 * @nr: number of @ends
 * @room: for @ends
 * @length: characters that were read
 */
struct v8_lines {
	u32	*ends;
	u32	 nr;
	u32	 room;
	u32	 length;
};

/* As v8_chars(), @arg is a struct v8_lines: the next characters of the source. */
bool v8_lines__put(void *arg, const void *chars, u32 nr, u32 width);

/* The source ends: its last line may have no end. */
void v8_lines__end(struct v8_lines *lines);

/* The line, from 1 on, of a character; 0: unknown. */
u32 v8_lines__find(const struct v8_lines *lines, s32 position);

void v8_lines__free(struct v8_lines *lines);

#endif /* __PERF_HYBRID_V8_LINES_H */
