/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_FUNCTION_H
#define __PERF_HYBRID_V8_FUNCTION_H

#include "../../rules/key-table.h"
#include "../names.h"
#include "v8-script.h"

/**
 * struct v8_function - what is known of a function
 * @addr: of V8's SharedFunctionInfo; 0: none
 * @words: what it has, which shows that it is still the same one
 * @mark: as BPF has it
 * @checked: when @words were compared with the process, in ns
 * @is_told: BPF has read its name, and the process could not be read; the lines of its bytecode are
 *	not known
 * @tries: how often it was looked for in the process since
 * @function: see hybrid_names__function()
 * @first: line that it begins in, and
 * @nr: number of its lines: it has a place for each
 * @lines: the lines of its bytecode, by offset; owned
 * @nr_lines: number of @lines
 */
struct v8_function {
	u64			 addr;
	u64			 words[2];
	u32			 mark;
	u64			 checked;
	bool			 is_told;
	u8			 tries;
	u64			 function;
	u32			 first;
	u32			 nr;
	struct hybrid_name_line	*lines;
	u32			 nr_lines;
};

/**
 * struct v8_functions - the functions of a process
 * @heap: of the process
 * @scripts: that they are from
 * @quota: what was added to the names
 * @known: struct v8_function by address; owned
 */
struct v8_functions {
	struct v8_heap			heap;
	struct v8_scripts		scripts;
	struct hybrid_names_quota	quota;
	struct hybrid_key_table		known;
};

/* Is it still looked for in the process? Then it may have other lines soon: no chain is kept. */
bool v8_function__may_change(const struct v8_function *function);

/**
 * v8_functions__get - what a frame runs
 * @functions: of the process
 * @names: that the function is added to
 * @function: as struct hybrid_walk_function has it
 * @position: the same
 *
 * The memory may be another object's since the sample. That shows by the mark. What was known to be
 * there, with this mark, is taken then: V8 has moved it. What only BPF has read is looked for in
 * the process again, until it is found there, for a second.
 *
 * Return: valid until the next call; NULL if it can't be read, or is another one.
 */
const struct v8_function *v8_functions__get(struct v8_functions *functions,
					    struct hybrid_names *names, u64 function, u64 position);

/* The same, of an object that is there now: @addr is that of a SharedFunctionInfo. */
const struct v8_function *v8_functions__at(struct v8_functions *functions,
					   struct hybrid_names *names, u64 addr);

/**
 * v8_functions__text - take what BPF has read of a function
 * @functions: of the process
 * @names: that the function is added to
 * @file: mapping of V8's code, its object open; NULL: not known
 * @text: struct hybrid_walk_text, which need not be aligned, or be true
 * @size: of @text, in bytes
 *
 * It is read from the process, as that has the lines of its bytecode, too, if it is there still.
 */
void v8_functions__text(struct v8_functions *functions, struct hybrid_names *names,
			const struct hybrid_mapping *file, const void *text, size_t size);

/* The address of a frame at @place in the bytecode of @function, which was got. */
u64 v8_function__ip(const struct v8_function *function, u32 place);

/* The address of a frame whose function can't be read; 0: no room. */
u64 v8_functions__unknown(struct v8_functions *functions, struct hybrid_names *names);

/* The same, of a frame that is in the code of a regular expression. */
u64 v8_functions__regexp(struct v8_functions *functions, struct hybrid_names *names);

void v8_functions__exit(struct v8_functions *functions);

#endif /* __PERF_HYBRID_V8_FUNCTION_H */
