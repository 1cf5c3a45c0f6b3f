/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_SCRIPT_H
#define __PERF_HYBRID_V8_SCRIPT_H

#include "v8-heap.h"
#include "v8-text.h"

#define V8_SCRIPTS	16

/**
 * struct v8_script - what is known of a source file
 * @addr: of V8's Script; 0: none
 * @name: the word with its name, and
 * @source: with its text: both show that it is the same one
 * @ends: for each line, the index of the character that ends it; owned
 * @nr_ends: number of @ends
 * @file: its name in UTF-8; empty: it has none
 */
struct v8_script {
	u64	addr;
	u64	name;
	u64	source;
	u32	*ends;
	u32	nr_ends;
	char	file[V8_TEXT];
};

/**
 * struct v8_scripts - source files of a process
 * @known: those that were asked for last
 * @next: of @known, to be replaced
 */
struct v8_scripts {
	struct v8_script	known[V8_SCRIPTS];
	unsigned int		next;
};

/**
 * v8_script__get - what a script is
 * @scripts: of the process
 * @heap: of the process
 * @addr: of an object of that type
 *
 * Return: valid until the next call; NULL if it can't be read.
 */
const struct v8_script *v8_script__get(struct v8_scripts *scripts, const struct v8_heap *heap,
				       u64 addr);

/* The line, from 1 on, of a character; 0: unknown. */
u32 v8_script__line(const struct v8_script *script, s32 position);

void v8_scripts__exit(struct v8_scripts *scripts);

#endif /* __PERF_HYBRID_V8_SCRIPT_H */
