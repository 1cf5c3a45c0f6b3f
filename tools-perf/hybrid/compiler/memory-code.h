/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MEMORY_CODE_H
#define __PERF_HYBRID_MEMORY_CODE_H

#include "code-blocks.h"

#define HYBRID_MEMORY_CODE_BITS	12

/**
 * struct hybrid_known_code - an address that perf has seen
 * @key: the address
 * @is_given: the store got its rule; false: a walk has ended there once
 */
struct hybrid_known_code {
	struct hybrid_walk_code_key	key;
	bool				is_given;
};

#define HYBRID_MEMORY_RANGE_BITS	10

/**
 * struct hybrid_known_range - code of a runtime that the store has a rule for
 * @space: of the process
 * @start: of the code
 */
struct hybrid_known_range {
	u64	space;
	u64	start;
};

#define HYBRID_MEMORY_COMPILED_BITS	6

/**
 * struct hybrid_memory_code - what a store has of code that is not in a file
 * @entries: by a hash of the key; a new key replaces the old one
 * @blocks: of JIT code with frame pointers
 * @ranges: by a hash of space and start; as @entries
 * @compiled: by a hash of the space; as @entries
 */
struct hybrid_memory_code {
	struct hybrid_known_code	entries[1 << HYBRID_MEMORY_CODE_BITS];
	struct hybrid_code_blocks	blocks;
	struct hybrid_known_range	ranges[1 << HYBRID_MEMORY_RANGE_BITS];
	struct hybrid_walk_compiled	compiled[1 << HYBRID_MEMORY_COMPILED_BITS];
};

/**
 * hybrid_memory_code_sample - give a store the rules of a sample's frames
 * @known: what the store was given
 * @ops: its functions
 * @store: for @ops
 * @unwinder: caches
 * @u: the sample, unwound from a stack dump
 * @stopped: the frame at which the store's walk ended; @u->nr or more: none
 *
 * Handles frames in anonymous memory whose callers are known, and frame @stopped if a file is
 * mapped there but the page is a copy, as after mremap(), for which the kernel writes no record.
 * JIT code belongs to one process and is rewritten often. So each rule is of one address, and
 * the store compares the code there at each use. Addresses without samples cost nothing.
 */
void hybrid_memory_code_sample(struct hybrid_memory_code *known,
			       const struct hybrid_store_ops *ops, void *store,
			       struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			       unsigned int stopped);

#endif /* __PERF_HYBRID_MEMORY_CODE_H */
