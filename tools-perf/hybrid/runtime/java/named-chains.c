// SPDX-License-Identifier: GPL-2.0
/*
 * Chains of a JVM that were named: most samples have one that another sample had.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "named-chains.h"

/* How long methods of the interpreter are taken for the same, in ns. */
#define CHECK_AFTER	1000000000ULL

void java_chains__exit(struct java_chains *chains)
{
	unsigned int i;

	for (i = 0; i < JAVA_CHAINS_WAYS << JAVA_CHAINS_BITS; i++)
		free(chains->sets[i / JAVA_CHAINS_WAYS][i % JAVA_CHAINS_WAYS].words);
}

static const u64 *callers_of(const struct hybrid_named_chain *c, u32 *nr)
{
	*nr = c->nr - c->user - 1;
	return c->chain + c->user + 1;
}

/* The words of a chain, @nr of them, need not be aligned. */
static u64 mix(u64 hash, const void *words, u32 nr)
{
	u64 word;
	u32 i;

	for (i = 0; i < nr; i++) {
		memcpy(&word, words + i * sizeof(word), sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static u64 hash_of(const struct hybrid_named_chain *c)
{
	const u64 *callers;
	u32 nr;

	callers = callers_of(c, &nr);
	return mix(mix(c->code_hash, callers, nr), c->walked, 2 * c->nr_walked);
}

static bool is_same(const struct java_chain *chain, const struct hybrid_named_chain *c, u64 hash)
{
	const u64 *callers;
	u32 nr;

	callers = callers_of(c, &nr);
	return chain->hash == hash && chain->code_hash == c->code_hash && chain->nr_callers == nr &&
	       chain->nr_functions == 2 * c->nr_walked &&
	       !memcmp(chain->words, callers, nr * sizeof(u64)) &&
	       (!c->nr_walked || !memcmp(chain->words + nr, c->walked,
					 chain->nr_functions * sizeof(u64)));
}

/* The chain if it is there; else the place for it. */
static struct java_chain *place_of(struct java_chains *chains, const struct hybrid_named_chain *c,
				   u64 hash)
{
	struct java_chain *set = chains->sets[hash_64(hash, JAVA_CHAINS_BITS)], *oldest = set;
	unsigned int i;

	for (i = 0; i < JAVA_CHAINS_WAYS; i++) {
		if (is_same(&set[i], c, hash))
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

struct java_chain *java_chains__find(struct java_chains *chains,
				     const struct hybrid_named_chain *c)
{
	u64 hash = hash_of(c);
	struct java_chain *chain = place_of(chains, c, hash);

	if (!chain->words || !is_same(chain, c, hash))
		return NULL;
	chain->used = ++chains->clock;
	if (chain->named_at &&
	    hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) - chain->named_at >= CHECK_AFTER)
		return NULL;
	return chain;
}

static bool make_room(struct java_chain *chain, u32 nr)
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

void java_chains__keep(struct java_chains *chains, const struct hybrid_named_chain *c,
		       const struct java_blob_id *first)
{
	u32 nr_functions = 2 * c->nr_walked, nr_named = c->nr_out - c->rest, nr;
	u64 hash = hash_of(c), *words, nr_words;
	struct java_chain *chain;
	const u64 *callers;

	callers = callers_of(c, &nr);
	nr_words = (u64)nr + nr_functions + nr_named;
	if (nr_words > JAVA_CHAIN_WORDS)
		return;
	chain = place_of(chains, c, hash);
	if (!make_room(chain, max_t(u32, nr_words, 1)))
		return;
	words = chain->words;
	memcpy(words, callers, nr * sizeof(u64));
	if (nr_functions)
		memcpy(words + nr, c->walked, nr_functions * sizeof(u64));
	memcpy(words + nr + nr_functions, c->out + c->rest, nr_named * sizeof(u64));
	chain->code_hash = c->code_hash;
	chain->hash = hash;
	chain->used = ++chains->clock;
	chain->named_at = nr_functions ? hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) : 0;
	chain->gen = c->gen;
	chain->first = *first;
	chain->nr_callers = nr;
	chain->nr_functions = nr_functions;
	chain->nr_named = nr_named;
}
