// SPDX-License-Identifier: GPL-2.0
/*
 * Chains that were named: most samples have one that another sample had.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "v8-chains.h"

/* ns */
#define CHECK_AFTER	1000000000ULL

#define FUNCTION_WORDS	2

/* Words that are mixed side by side: none of them waits for the one before. */
#define LANES		4

/**
 * struct key - what must be the same
 * @callers: addresses of the chain behind its first frame
 * @nr_callers: number of them
 * @functions: words of the functions; need not be aligned
 * @nr_functions: number of them
 */
struct key {
	const u64	*callers;
	u32		 nr_callers;
	const void	*functions;
	u32		 nr_functions;
};

static struct key key_of(const struct hybrid_named_chain *c, unsigned int at)
{
	return (struct key) {
		.callers = c->chain + c->user + 1,
		.nr_callers = c->nr - c->user - 1,
		.functions = c->functions + (size_t)FUNCTION_WORDS * at * sizeof(u64),
		.nr_functions = FUNCTION_WORDS * (c->nr_functions - at),
	};
}

static u64 mix_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static u64 mix(u64 hash, const void *words, u32 nr)
{
	u64 lanes[LANES] = { 1, 2, 3, 4 }, word[LANES];
	u32 i, lane;

	for (i = 0; i + LANES <= nr; i += LANES) {
		memcpy(word, words + i * sizeof(*word), sizeof(word));
		for (lane = 0; lane < LANES; lane++)
			lanes[lane] = mix_word(lanes[lane], word[lane]);
	}
	for (; i < nr; i++) {
		memcpy(word, words + i * sizeof(*word), sizeof(*word));
		hash = mix_word(hash, *word);
	}
	for (lane = 0; lane < LANES; lane++)
		hash = mix_word(hash, lanes[lane]);
	return hash;
}

static u64 hash_of(const struct key *key)
{
	return mix(mix(key->nr_callers, key->callers, key->nr_callers), key->functions,
		   key->nr_functions);
}

static bool is_same(const struct v8_chain *chain, const struct key *key, u64 hash)
{
	return chain->words && chain->hash == hash && chain->nr_callers == key->nr_callers &&
	       chain->nr_functions == key->nr_functions &&
	       !memcmp(chain->words, key->callers, key->nr_callers * sizeof(u64)) &&
	       !memcmp(chain->words + key->nr_callers, key->functions,
		       key->nr_functions * sizeof(u64));
}

bool v8_chains__put(struct v8_chains *chains, struct hybrid_named_chain *c, unsigned int at)
{
	struct key key = key_of(c, at);
	u64 hash = hash_of(&key);
	struct v8_chain *chain = &chains->known[hash_64(hash, V8_CHAINS_BITS)];

	if (!is_same(chain, &key, hash) || chain->nr_named > c->max - c->nr_out ||
	    hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) - chain->named_at >= CHECK_AFTER ||
	    (c->is_unseen && (!c->gen || chain->gen != c->gen)))
		return false;
	memcpy(c->out + c->nr_out, chain->words + chain->nr_callers + chain->nr_functions,
	       chain->nr_named * sizeof(u64));
	c->nr_out += chain->nr_named;
	if (c->gen)
		chain->gen = c->gen;
	return true;
}

void v8_chains__keep(struct v8_chains *chains, const struct hybrid_named_chain *c,
		     unsigned int at)
{
	struct key key = key_of(c, at);
	u64 hash = hash_of(&key);
	struct v8_chain *chain = &chains->known[hash_64(hash, V8_CHAINS_BITS)];
	u32 nr_named = c->nr_out - c->rest;
	u64 nr = (u64)key.nr_callers + key.nr_functions + nr_named, *words;

	if (!nr || nr > V8_CHAIN_WORDS)
		return;
	words = realloc(chain->words, nr * sizeof(*words));
	if (!words)
		return;
	memcpy(words, key.callers, key.nr_callers * sizeof(u64));
	memcpy(words + key.nr_callers, key.functions, key.nr_functions * sizeof(u64));
	memcpy(words + key.nr_callers + key.nr_functions, c->out + c->rest,
	       nr_named * sizeof(u64));
	*chain = (struct v8_chain) {
		.hash = hash, .named_at = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE),
		.nr_callers = key.nr_callers, .nr_functions = key.nr_functions,
		.nr_named = nr_named, .words = words, .gen = c->gen,
	};
}

void v8_chains__exit(struct v8_chains *chains)
{
	unsigned int i;

	for (i = 0; i < 1 << V8_CHAINS_BITS; i++)
		free(chains->known[i].words);
}
