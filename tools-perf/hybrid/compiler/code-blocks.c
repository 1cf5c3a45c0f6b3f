// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a store the rules of JIT code by blocks of 64 bytes.
 */
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../x86/frame-around.h"
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

/* What the store has of a block with the same code and rule stays. @asked: it has not enough. */
static int put_block(struct hybrid_known_block *entry, const struct hybrid_store_ops *ops,
		     void *store, const struct hybrid_walk_code_key *key,
		     struct hybrid_walk_block *block, bool asked)
{
	bool is_known = entry->key.ip == key->ip && entry->key.space == key->space &&
			entry->block.row == block->row &&
			!memcmp(entry->block.code, block->code, sizeof(block->code));
	int err;

	if (is_known && !asked && !(block->begins & ~entry->block.begins))
		return 0;
	if (is_known)
		block->begins |= entry->block.begins;
	err = ops->put_block(store, key, block);
	if (!err)
		*entry = (struct hybrid_known_block) { .key = *key, .block = *block };
	return err;
}

bool hybrid_code_blocks_put(struct hybrid_code_blocks *known, const struct hybrid_store_ops *ops,
			    void *store, struct hybrid_unwinder *unwinder,
			    const struct hybrid_unwind *u, u64 ip, u64 row)
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
		    !hybrid_memory_code(unwinder->memory, u->space, u->pid, u->abi, key.ip,
					block.code, sizeof(block.code)) &&
		    !put_block(entry_of(known, &key), ops, store, &key, &block, is_own))
			put |= is_own;
	}
	return put;
}
