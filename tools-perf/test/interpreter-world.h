/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_INTERPRETER_WORLD_H
#define __HYBRID_TEST_INTERPRETER_WORLD_H

#include "name-chain.h"
#include "own-memory.h"
#include "runtime.h"

/* Bytes of code that the process has made. */
#define MADE	0x20000ULL

/**
 * struct interpreter_world - a process that runs an interpreter, which is the test's own
 * @file: of the interpreter, which is loaded
 * @bias: what is added to its addresses
 * @language: enum hybrid_language
 * @runtimes: what perf knows of the process
 * @namer: of the process
 * @names: of its functions
 * @made: an address in code that the process has made
 */
struct interpreter_world {
	const char		*file;
	u64			 bias;
	enum hybrid_language	 language;
	struct hybrid_runtimes	*runtimes;
	struct hybrid_namer	*namer;
	struct hybrid_names	*names;
	u64			 made;
};

extern struct interpreter_world interp;

/* @symbol: that the file exports */
void interpreter_begin(const char *file, const char *symbol, enum hybrid_language language);
void interpreter_end(void);

/* The address of a label of the file. */
u64 interpreter_at(const char *label);

/* Who names the frames of a process, which may be a copy of another one. */
struct hybrid_namer *interpreter_namer(pid_t pid, pid_t parent);

/* A walk of one frame of the process. */
struct hybrid_unwind interpreter_walk(struct hybrid_frame *frame);

/* Memory for code that the process has made; before interpreter_begin(). @kind: MAP_SHARED ... */
u64 interpreter_make_code(int kind);

/* The process has a mapping of it, and @made is in it. */
void interpreter_map_code(u64 start);

/**
 * interpreter_name - name the frames of a chain
 * @frames: with @ret, and maybe more; the innermost first
 * @nr: number of @frames
 * @functions: what they run, as struct hybrid_walk_function has it
 * @nr_functions: number of @functions, each two words
 *
 * Return: a character for each frame: the upper case letter in its name; '?': it has none; '.': a
 * native frame.
 */
const char *interpreter_name(struct hybrid_frame *frames, unsigned int nr, const u64 *functions,
			     unsigned int nr_functions);

/* The same of frames at labels of the file, with a space after each; "made": in @made. */
const char *interpreter_name_labels(const char *labels, const u64 *functions,
				    unsigned int nr_functions);

#define same_chain(functions, expected, labels)						\
	same_text(interpreter_name_labels(labels, functions, ARRAY_SIZE(functions) / 2), expected)

/**
 * interpreter_is_told - what perf tells BPF of the interpreter
 * @ip: of a frame in its code
 * @interpreter: out
 *
 * A walk that comes through its code shows the same as the file alone, once.
 *
 * Return: the mapping of its code.
 */
const struct hybrid_mapping *interpreter_is_told(u64 ip,
						 struct hybrid_walk_interpreter *interpreter);

#endif /* __HYBRID_TEST_INTERPRETER_WORLD_H */
