/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUNTIME_H
#define __PERF_HYBRID_RUNTIME_H

#include "walk-interpreter.h"
#include "../unwind/unwind.h"
#include "name-chain.h"
#include "process-memory.h"

struct hybrid_runtimes;

#define HYBRID_UNREADABLE	2

/**
 * struct hybrid_runtime_ops - a language's runtime
 * @symbol: that the file of the runtime defines, and no other file does
 * @unreadable: what files of versions and implementations export that can't be read; the rest is
 *	NULL
 * @language: that it runs
 * @open: begin to read a process that has mapped such a file. @pm: its memory, not mapped yet;
 *	copied. @mapping: of the file's code, open. @bias: what is added to its addresses.
 *	Returns NULL if the process can't be read, or what it says is not as it should be
 * @fork: begin to read a process that is a copy of one that was opened; it may have ended. @pm: as
 *	for @open. NULL: it is opened as any other
 * @close: end that
 * @rule: how to leave frame @at of a walk, in memory that no file backs. @pass: a number that
 *	changes when what was read before may be old. Returns false if the runtime does not tell.
 *	NULL: it has no such code
 * @range: the range of code with one rule that the frame is in; as @rule
 * @program: what the names of such files begin with, those of libraries after "lib"
 * @function: a function that such a file exports; NULL: @symbol is one
 * @interpreter: where BPF finds the frames of its functions; all 0 before. @mapping: of the
 *	file's code. @bias: as for @open. @runtime: NULL: nothing can be read from the process yet;
 *	returns false if the file alone does not show it. NULL: it has none that BPF reads
 * @namer: names frames of the process, whose space is @space; valid until the next call
 */
struct hybrid_runtime_ops {
	const char	*symbol;
	const char	*unreadable[HYBRID_UNREADABLE];
	const char	*language;
	const char	*program;
	const char	*function;
	void *(*open)(const struct hybrid_process_memory *pm,
		      const struct hybrid_mapping *mapping, u64 bias);
	void *(*fork)(const void *parent, const struct hybrid_process_memory *pm);
	void (*close)(void *runtime);
	bool (*rule)(void *runtime, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		     struct hybrid_rule *rule);
	bool (*range)(void *runtime, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		      struct hybrid_runtime_range *range);
	bool (*interpreter)(void *runtime, const struct hybrid_mapping *mapping, u64 bias,
			    struct hybrid_walk_interpreter *interpreter);
	struct hybrid_namer *(*namer)(void *runtime, u64 pass, struct hybrid_space *space);
};

#define HYBRID_LANGUAGE(name, folder, ...) \
	extern const struct hybrid_runtime_ops hybrid_##folder##_ops;
#include "languages.h"

/**
 * hybrid_runtimes_new - what the runtimes of processes tell of their code
 * @objects: of the session
 * @memory: reads from processes
 *
 * Both are the caller's, and must stay longer.
 *
 * Return: to be given to hybrid_runtimes_delete(), or NULL if memory is short.
 */
struct hybrid_runtimes *hybrid_runtimes_new(struct hybrid_objects *objects,
					    struct hybrid_memory *memory);
void hybrid_runtimes_delete(struct hybrid_runtimes *runtimes);

/**
 * hybrid_runtimes_forget - look up again what is asked for from now on
 * @runtimes: may be NULL
 */
void hybrid_runtimes_forget(struct hybrid_runtimes *runtimes);

/* How many runtimes of processes were opened, since the beginning. */
u64 hybrid_runtimes_opened(const struct hybrid_runtimes *runtimes);

/**
 * hybrid_runtime_rule - how to leave a frame in code that a runtime has made
 * @runtimes: may be NULL
 * @u: the walk
 * @at: index of the frame
 * @rule: out
 *
 * For struct hybrid_unwinder. The runtime's data is memory of the process: it need not be true,
 * and is of now, not of the sample.
 *
 * Return: false if no runtime tells.
 */
bool hybrid_runtime_rule(void *runtimes, const struct hybrid_unwind *u, unsigned int at,
			 struct hybrid_rule *rule);

/* The range that the frame is in; as hybrid_runtime_rule(). */
bool hybrid_runtime_range(void *runtimes, const struct hybrid_unwind *u, unsigned int at,
			  struct hybrid_runtime_range *range);

/**
 * hybrid_runtime_interpreter - does a walk come through an interpreter that BPF is not told of?
 * @runtimes: may be NULL
 * @u: the walk
 * @interpreter: out: where it has its frames
 *
 * Of each file once.
 *
 * Return: the mapping of its code; NULL: it does not, or the process can't be read.
 */
const struct hybrid_mapping *
hybrid_runtime_interpreter(struct hybrid_runtimes *runtimes, const struct hybrid_unwind *u,
			   struct hybrid_walk_interpreter *interpreter);

/* Can a file with this path be an interpreter that the next function finds? */
bool hybrid_runtime_is_likely(const char *path);

/**
 * hybrid_runtime_file - is a file that a process has mapped an interpreter that BPF is not told of?
 * @runtimes: of the session
 * @mapping: of its code, open
 * @interpreter: out: where BPF finds its functions
 * @vaddr: out: a function of the file
 *
 * Return: false if it is none.
 */
bool hybrid_runtime_file(struct hybrid_runtimes *runtimes, const struct hybrid_mapping *mapping,
			 struct hybrid_walk_interpreter *interpreter, u64 *vaddr);

/* The language of a file that hybrid_runtime_interpreter() found, e.g. "Ruby". */
const char *hybrid_runtime_language(const struct hybrid_object *object);

/**
 * hybrid_runtimes_failed - processes with a runtime that could not be read
 * @runtimes: may be NULL
 * @pid: out: one of them
 *
 * As the process is gone, or its data is not as it should be.
 *
 * Return: how many.
 */
unsigned int hybrid_runtimes_failed(const struct hybrid_runtimes *runtimes, pid_t *pid);

/**
 * hybrid_runtime_namer - who names the frames of a process
 * @runtimes: may be NULL
 * @pid: the process
 * @parent: the process whose copy it is, without an exec since; 0: it is none
 * @space: its space
 * @language: whose functions BPF has read in the process, or HYBRID_NO_LANGUAGE
 *
 * Return: valid until the next call for this process and language; NULL if the process has no such
 * runtime, or if neither functions nor hybrid_runtime_rule() have met one in it.
 */
struct hybrid_namer *hybrid_runtime_namer(struct hybrid_runtimes *runtimes, pid_t pid,
					  pid_t parent, struct hybrid_space *space,
					  enum hybrid_language language);

#endif /* __PERF_HYBRID_RUNTIME_H */
