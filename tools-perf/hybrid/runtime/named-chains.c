// SPDX-License-Identifier: GPL-2.0
/*
 * Chains that were named: most samples have one that another sample had.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../rules/clock.h"
#include "named-chains.h"

/* How long functions of an interpreter are taken for the same, in ns. */
#define CHECK_AFTER	1000000000ULL

/* Words that are mixed side by side: none of them waits for the one before. */
#define LANES		4

void hybrid_named_chains__exit(struct hybrid_named_chains *chains)
{
	unsigned int i;

	for (i = 0; chains->sets && i < HYBRID_CHAINS_WAYS << HYBRID_CHAINS_BITS; i++)
		free(chains->sets[i / HYBRID_CHAINS_WAYS][i % HYBRID_CHAINS_WAYS].words);
	free(chains->sets);
	chains->sets = NULL;
}

struct hybrid_chain_key hybrid_chain_key(const struct hybrid_named_chain *c, u64 tag,
					 const void *functions, u32 nr_functions)
{
	return (struct hybrid_chain_key) {
		.tag = tag, .callers = c->chain + c->user + 1, .nr_callers = c->nr - c->user - 1,
		.functions = functions, .nr_functions = nr_functions,
	};
}

static u64 mix_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Words that need not be aligned. */
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

static u64 hash_of(const struct hybrid_chain_key *key)
{
	return mix(mix(key->tag ^ key->nr_callers, key->callers, key->nr_callers),
		   key->functions, key->nr_functions);
}

static bool is_same(const struct hybrid_kept_chain *chain, const struct hybrid_chain_key *key,
		    u64 hash)
{
	return chain->words && chain->hash == hash && chain->tag == key->tag &&
	       chain->nr_callers == key->nr_callers &&
	       chain->nr_functions == key->nr_functions &&
	       !memcmp(chain->words, key->callers, key->nr_callers * sizeof(u64)) &&
	       (!key->nr_functions || !memcmp(chain->words + key->nr_callers, key->functions,
					      key->nr_functions * sizeof(u64)));
}

/* The chain if it is there; else the place for it. */
static struct hybrid_kept_chain *place_of(struct hybrid_named_chains *chains,
					  const struct hybrid_chain_key *key, u64 hash)
{
	struct hybrid_kept_chain *set = chains->sets[hash_64(hash, HYBRID_CHAINS_BITS)];
	struct hybrid_kept_chain *oldest = set;
	unsigned int i;

	for (i = 0; i < HYBRID_CHAINS_WAYS; i++) {
		if (is_same(&set[i], key, hash))
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

struct hybrid_kept_chain *hybrid_named_chains__find_old(struct hybrid_named_chains *chains,
							const struct hybrid_named_chain *c,
							const struct hybrid_chain_key *key,
							bool *is_old)
{
	u64 hash = hash_of(key);
	struct hybrid_kept_chain *chain;

	if (!chains->sets)
		return NULL;
	chain = place_of(chains, key, hash);
	if (!is_same(chain, key, hash))
		return NULL;
	chain->used = ++chains->clock;
	*is_old = chain->named_at &&
		  hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) - chain->named_at >= CHECK_AFTER;
	return c->is_unseen && (!c->gen || chain->gen != c->gen) ? NULL : chain;
}

struct hybrid_kept_chain *hybrid_named_chains__find(struct hybrid_named_chains *chains,
						    const struct hybrid_named_chain *c,
						    const struct hybrid_chain_key *key)
{
	bool is_old;
	struct hybrid_kept_chain *chain = hybrid_named_chains__find_old(chains, c, key, &is_old);

	return chain && !is_old ? chain : NULL;
}

void hybrid_named_chains__renew(struct hybrid_kept_chain *chain)
{
	chain->named_at = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
}

const u64 *hybrid_kept_chain_named(const struct hybrid_kept_chain *chain)
{
	return chain->words + chain->nr_callers + chain->nr_functions;
}

bool hybrid_named_chains__put(struct hybrid_kept_chain *chain, struct hybrid_named_chain *c)
{
	if (chain->nr_named > c->max - c->nr_out)
		return false;
	memcpy(c->out + c->nr_out, hybrid_kept_chain_named(chain), chain->nr_named * sizeof(u64));
	c->nr_out += chain->nr_named;
	if (c->gen)
		chain->gen = c->gen;
	return true;
}

static bool make_room(struct hybrid_kept_chain *chain, u32 nr)
{
	u64 *larger;

	if (nr <= chain->room)
		return true;
	larger = realloc(chain->words, nr * sizeof(*larger));
	if (!larger)
		return false;
	chain->words = larger;
	chain->room = nr;
	return true;
}

/* The place of a chain with room for all its words; NULL if memory is short. */
static struct hybrid_kept_chain *make_place(struct hybrid_named_chains *chains,
					    const struct hybrid_chain_key *key, u64 hash, u32 nr)
{
	struct hybrid_kept_chain *chain;

	if (!chains->sets)
		chains->sets = calloc(1 << HYBRID_CHAINS_BITS, sizeof(*chains->sets));
	chain = chains->sets ? place_of(chains, key, hash) : NULL;
	return chain && make_room(chain, nr) ? chain : NULL;
}

struct hybrid_kept_chain *hybrid_named_chains__keep(struct hybrid_named_chains *chains,
						    const struct hybrid_named_chain *c,
						    const struct hybrid_chain_key *key)
{
	u32 nr_named = c->nr_out - c->rest;
	u64 nr = (u64)key->nr_callers + key->nr_functions + nr_named, hash = hash_of(key), *words;
	struct hybrid_kept_chain *chain;

	chain = nr <= HYBRID_CHAIN_WORDS ? make_place(chains, key, hash, max_t(u32, nr, 1)) : NULL;
	if (!chain)
		return NULL;
	words = chain->words;
	memcpy(words, key->callers, key->nr_callers * sizeof(u64));
	if (key->nr_functions)
		memcpy(words + key->nr_callers, key->functions, key->nr_functions * sizeof(u64));
	memcpy(words + key->nr_callers + key->nr_functions, c->out + c->rest,
	       nr_named * sizeof(u64));
	*chain = (struct hybrid_kept_chain) {
		.tag = key->tag, .hash = hash, .used = ++chains->clock, .gen = c->gen,
		.named_at = key->nr_functions ? hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) : 0,
		.nr_callers = key->nr_callers, .nr_functions = key->nr_functions,
		.nr_named = nr_named, .room = chain->room, .words = words,
	};
	return chain;
}
