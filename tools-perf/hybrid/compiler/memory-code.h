/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MEMORY_CODE_H
#define __PERF_HYBRID_MEMORY_CODE_H

#include "compiler.h"

#define HYBRID_MEMORY_CODE_BITS	12

/**
 * struct hybrid_memory_code - what a store has of code that no file has
 * @known: what it was given, or has asked for, by a hash; others may have taken the place since
 */
struct hybrid_memory_code {
	struct {
		struct hybrid_walk_code_key	key;
		bool				is_given;
	} known[1 << HYBRID_MEMORY_CODE_BITS];
};

/**
 * hybrid_memory_code_sample - give a store the rules of a sample's frames
 * @known: what the store was given
 * @ops: its functions
 * @store: for @ops
 * @unwinder: caches
 * @u: the sample, unwound from a copy of its stack
 * @stopped: the frame at which the store's walk ended, which it is given anew; @u->nr or more:
 *	none
 *
 * Of those that lie in memory which no file backs, and whose callers are shown; and of those
 * at which walks end again, though a file is mapped there, if the page is the process's own: it
 * has a copy of the file's code in its place, as behind mremap(), which no record tells of. What is
 * compiled as a program runs is of one process, and new code takes the place of old: a rule is
 * of one address, and the store looks at the code there each time. What samples do not meet
 * costs nothing, however much a program compiles.
 */
void hybrid_memory_code_sample(struct hybrid_memory_code *known,
			       const struct hybrid_store_ops *ops, void *store,
			       struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			       unsigned int stopped);

#endif /* __PERF_HYBRID_MEMORY_CODE_H */
