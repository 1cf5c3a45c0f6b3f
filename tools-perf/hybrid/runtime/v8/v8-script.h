/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_SCRIPT_H
#define __PERF_HYBRID_V8_SCRIPT_H

#include "v8-lines.h"
#include "v8-told.h"

#define V8_SCRIPTS	64

/**
 * struct v8_script - what is known of a source file
 * @addr: of V8's Script; 0: there is none, or it was not read from the process
 * @name: the word with its name, and
 * @source: with its text: both show that it is the same one
 * @length: characters of its text
 * @lines: of that; empty: not known
 * @file: its name in UTF-8; empty: it has none
 */
struct v8_script {
	u64	addr;
	u64	name;
	u64	source;
	u32	length;
	struct v8_lines lines;
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

/**
 * v8_script__told - the script of a function that BPF has read
 * @scripts: of the process
 * @pm: the process, which may be gone
 * @file: as v8_source__lines() has it
 * @told: the function
 *
 * One of that name and length may have been read from the process; else see v8_source__lines().
 *
 * Return: as v8_script__get(); NULL if it has no name.
 */
const struct v8_script *v8_script__told(struct v8_scripts *scripts,
					struct hybrid_process_memory *pm,
					const struct hybrid_mapping *file,
					const struct v8_told *told);

void v8_scripts__exit(struct v8_scripts *scripts);

#endif /* __PERF_HYBRID_V8_SCRIPT_H */
