// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a store the rules of JIT code by blocks of 64 bytes.
 */
#include <errno.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "code-blocks.h"

static struct hybrid_known_block *entry_of(struct hybrid_code_blocks *known,
					   const struct hybrid_walk_code_key *key)
{
	return &known->entries[hash_64(key->ip + key->space, HYBRID_CODE_BLOCK_BITS)];
}

/* The bits of @begins, which is from @start on, that are of a block. */
static u64 bits_of(const u64 *begins, u64 start, u64 block)
{
	u64 bits = 0;
	unsigned int i;

	for (i = 0; i < HYBRID_WALK_CODE_BLOCK; i++) {
		u64 at = block + i - start;

		if (at < HYBRID_AROUND * 2 && begins[at / 64] >> at % 64 & 1)
			bits |= 1ULL << i;
	}
	return bits;
}

/* Does the code of what the store has of the block stand there still? */
static bool still_holds(const struct hybrid_known_block *entry, struct hybrid_unwinder *unwinder,
			const struct hybrid_unwind *u)
{
	struct hybrid_code_proof proof = {
		.start = entry->key.ip - entry->block.proof.before,
		.words = entry->block.proof.words,
	};

	return hybrid_memory_prove(unwinder->memory, u->space, u->pid, u->abi, &proof) &&
	       proof.hash == entry->block.proof.hash;
}

/* Makes it one of both. Returns false if that is too much code. */
static bool add_proof(struct hybrid_code_proof *proof, u64 start, u64 end)
{
	u64 to = proof->start + proof->words * sizeof(u64);

	if (proof->words)
		hybrid_code_proof_of(proof, min(start, proof->start), max(end, to));
	else
		hybrid_code_proof_of(proof, start, end);
	return proof->words <= HYBRID_CODE_WORDS;
}

/*
 * What the store has of a block with the same code and rule stays, and is joined with what is new.
 * @proof: of what is new. @asked: what the store has is not enough.
 */
static int put_block(struct hybrid_known_block *entry, const struct hybrid_store_ops *ops,
		     void *store, struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		     const struct hybrid_walk_code_key *key, struct hybrid_walk_block *block,
		     const struct hybrid_code_proof *proof, bool asked)
{
	struct hybrid_walk_proof *old = &entry->block.proof;
	struct hybrid_code_proof all = *proof, joined;
	u64 start = entry->key.ip - old->before;
	bool is_known = entry->key.ip == key->ip && entry->key.space == key->space &&
			entry->block.row == block->row && still_holds(entry, unwinder, u);
	int err;

	if (is_known && !asked && !(block->begins & ~entry->block.begins))
		return 0;
	if (!add_proof(&all, key->ip, key->ip + HYBRID_WALK_CODE_BLOCK))
		return -E2BIG;
	joined = all;
	if (is_known && add_proof(&joined, start, start + old->words * sizeof(u64))) {
		block->begins |= entry->block.begins;
		all = joined;
	}
	if (!hybrid_memory_prove(unwinder->memory, u->space, u->pid, u->abi, &all))
		return -EFAULT;
	block->proof = hybrid_walk_proof(&all, key->ip);
	err = ops->put_block(store, key, block);
	if (!err)
		*entry = (struct hybrid_known_block) { .key = *key, .block = *block };
	return err;
}

bool hybrid_code_blocks_put(struct hybrid_code_blocks *known, const struct hybrid_store_ops *ops,
			    void *store, struct hybrid_unwinder *unwinder,
			    const struct hybrid_unwind *u, u64 ip, u64 row,
			    const struct hybrid_code_proof *proof)
{
	const u64 mask = HYBRID_WALK_CODE_BLOCK - 1;
	struct hybrid_walk_code_key key = { .space = u->walker_space };
	u64 begins[2 * HYBRID_AROUND / 64];
	struct hybrid_walk_block block;
	bool put = false, is_own;

	if (!ops->put_block ||
	    !hybrid_memory_around(unwinder->memory, u->space, u->pid, u->abi, ip, begins))
		return false;
	for (key.ip = (ip - HYBRID_AROUND) & ~mask; key.ip < ip + HYBRID_AROUND;
	     key.ip += HYBRID_WALK_CODE_BLOCK) {
		is_own = ip - key.ip <= mask;
		block.row = row;
		block.begins = bits_of(begins, ip - HYBRID_AROUND, key.ip);
		if (block.begins &&
		    !put_block(entry_of(known, &key), ops, store, unwinder, u, &key, &block,
			       proof, is_own))
			put |= is_own;
	}
	return put;
}
