// SPDX-License-Identifier: GPL-2.0
/*
 * Source files, as V8 has them in objects of the type Script: src/objects/script.h.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "v8-script.h"

/* Of a source: characters that are read, and lines. */
#define MAX_SOURCE	(4U << 20)
#define MAX_LINES	65536U

/**
 * struct lines - of a source that is read
 * @ends: see struct v8_script
 * @nr: number of @ends
 * @room: for @ends
 * @at: index of the next character
 */
struct lines {
	u32	*ends;
	u32	 nr;
	u32	 room;
	u32	 at;
};

static bool put_end(struct lines *lines, u32 at)
{
	u32 room = lines->room ? 2 * lines->room : 256, *more;

	if (lines->nr == MAX_LINES)
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

static bool find_ends(void *arg, const void *chars, u32 nr, u32 width)
{
	struct lines *lines = arg;
	u32 i, c;

	for (i = 0; i < nr; i++) {
		c = width == 1 ? ((const u8 *)chars)[i] : ((const u16 *)chars)[i];
		if (c == '\n' && !put_end(lines, lines->at + i))
			return false;
	}
	lines->at += nr;
	return true;
}

static void forget(struct v8_script *script)
{
	free(script->ends);
	memset(script, 0, sizeof(*script));
}

static bool read_script(struct v8_script *script, const struct v8_heap *heap, u64 addr)
{
	struct lines lines = { .nr = 0 };

	forget(script);
	script->name = v8_word(heap, addr + heap->layout->script_name);
	script->source = v8_word(heap, addr + heap->layout->script_source);
	if (!script->source)
		return false;
	/* Of eval() it is undefined. */
	if (!v8_string__text(heap, script->name, script->file))
		script->file[0] = 0;
	v8_string__each(heap, script->source, MAX_SOURCE, find_ends, &lines);
	/* The last line may have no end. */
	put_end(&lines, lines.at);
	script->ends = lines.ends;
	script->nr_ends = lines.nr;
	script->addr = addr;
	return true;
}

const struct v8_script *v8_script__get(struct v8_scripts *scripts, const struct v8_heap *heap,
				       u64 addr)
{
	struct v8_script *script;
	unsigned int i;

	for (i = 0; i < V8_SCRIPTS; i++) {
		script = &scripts->known[i];
		if (script->addr == addr && addr &&
		    script->name == v8_word(heap, addr + heap->layout->script_name) &&
		    script->source == v8_word(heap, addr + heap->layout->script_source))
			return script;
	}
	script = &scripts->known[scripts->next++ % V8_SCRIPTS];
	return read_script(script, heap, addr) ? script : NULL;
}

u32 v8_script__line(const struct v8_script *script, s32 position)
{
	u32 low = 0, high = script->nr_ends, middle;

	if (position < 0)
		return 0;
	while (low < high) {
		middle = (low + high) / 2;
		if (script->ends[middle] < (u32)position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < script->nr_ends ? low + 1 : 0;
}

void v8_scripts__exit(struct v8_scripts *scripts)
{
	unsigned int i;

	for (i = 0; i < V8_SCRIPTS; i++)
		forget(&scripts->known[i]);
}
