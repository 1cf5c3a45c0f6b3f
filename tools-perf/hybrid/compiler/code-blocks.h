/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_BLOCKS_H
#define __PERF_HYBRID_CODE_BLOCKS_H

#include "compiler.h"

#define HYBRID_CODE_BLOCK_BITS	12

/**
 * struct hybrid_known_block - a block of code that a store was given
 * @key: its address
 * @block: what the store has of it
 */
struct hybrid_known_block {
	struct hybrid_walk_code_key	key;
	struct hybrid_walk_block	block;
};

/**
 * struct hybrid_code_blocks - the blocks that a store was given
 * @entries: by a hash of the key; a new key replaces the old one
 */
struct hybrid_code_blocks {
	struct hybrid_known_block	entries[1 << HYBRID_CODE_BLOCK_BITS];
};

/* The proof in the form of the store, which counts from the key's address @at. */
static inline struct hybrid_walk_proof hybrid_walk_proof(const struct hybrid_code_proof *proof,
							 u64 at)
{
	return (struct hybrid_walk_proof) {
		.hash = proof->hash, .before = at - proof->start, .words = proof->words,
	};
}

/**
 * hybrid_code_blocks_put - give a store the rule of an address and of the code around it
 * @known: what the store was given
 * @ops: its functions
 * @store: for @ops
 * @unwinder: caches
 * @u: the sample
 * @ip: of the next instruction, in memory that no file backs; the code shows that bp points to
 *	the frame there
 * @row: of such a frame
 * @proof: the code that shows it; without words: the code of the block does, as it is a runtime's
 *
 * The addresses that samples of JIT code have are nearly all new: a rule of one address would
 * serve few samples.
 *
 * Return: false if the store has no such blocks, or if the code can't be read.
 */
bool hybrid_code_blocks_put(struct hybrid_code_blocks *known, const struct hybrid_store_ops *ops,
			    void *store, struct hybrid_unwinder *unwinder,
			    const struct hybrid_unwind *u, u64 ip, u64 row,
			    const struct hybrid_code_proof *proof);

#endif /* __PERF_HYBRID_CODE_BLOCKS_H */
