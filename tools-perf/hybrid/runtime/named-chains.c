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

/* Chains of a process, at most; and how many go at once if there are too many words. */
#define NR_PLACES	(HYBRID_CHAINS_WAYS << HYBRID_CHAINS_BITS)
#define DROPPED		64

/* Of all processes: words, and those that keep any. Two sessions may be of two threads. */
static u64 all_words;
static u64 nr_users;

static void count_words(struct hybrid_named_chains *chains, s64 more)
{
	chains->nr_words += more;
	__atomic_add_fetch(&all_words, more, __ATOMIC_RELAXED);
}

static struct hybrid_kept_chain *place_at(struct hybrid_named_chains *chains, unsigned int i)
{
	return &chains->sets[i / HYBRID_CHAINS_WAYS][i % HYBRID_CHAINS_WAYS];
}

static void drop(struct hybrid_named_chains *chains, struct hybrid_kept_chain *chain)
{
	count_words(chains, -(s64)chain->room);
	free(chain->words);
	*chain = (struct hybrid_kept_chain) {};
}

void hybrid_named_chains__exit(struct hybrid_named_chains *chains)
{
	unsigned int i;

	if (!chains->sets)
		return;
	for (i = 0; i < NR_PLACES; i++)
		drop(chains, place_at(chains, i));
	__atomic_sub_fetch(&nr_users, 1, __ATOMIC_RELAXED);
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

/* Would there be too many words, and this process have more than its part of them? */
static bool is_over(const struct hybrid_named_chains *chains, u32 more)
{
	return __atomic_load_n(&all_words, __ATOMIC_RELAXED) + more > HYBRID_CHAINS_ALL_WORDS &&
	       (chains->nr_words + more) * __atomic_load_n(&nr_users, __ATOMIC_RELAXED) >
	       HYBRID_CHAINS_ALL_WORDS;
}

/* @chain: has none of the words that it had */
static bool make_room(struct hybrid_named_chains *chains, struct hybrid_kept_chain *chain, u32 nr)
{
	unsigned int i;

	if (nr <= chain->room && !is_over(chains, 0))
		return true;
	drop(chains, chain);
	for (i = 0; i < DROPPED && is_over(chains, nr); i++) {
		drop(chains, place_at(chains, chains->hand));
		chains->hand = (chains->hand + 1) % NR_PLACES;
	}
	chain->words = is_over(chains, nr) ? NULL : malloc(nr * sizeof(*chain->words));
	if (!chain->words)
		return false;
	chain->room = nr;
	count_words(chains, nr);
	return true;
}

static bool begin(struct hybrid_named_chains *chains)
{
	if (chains->sets)
		return true;
	chains->sets = calloc(1 << HYBRID_CHAINS_BITS, sizeof(*chains->sets));
	if (!chains->sets)
		return false;
	__atomic_add_fetch(&nr_users, 1, __ATOMIC_RELAXED);
	return true;
}

/* The place of a chain with room for all its words; NULL if memory is short. */
static struct hybrid_kept_chain *make_place(struct hybrid_named_chains *chains,
					    const struct hybrid_chain_key *key, u64 hash, u32 nr)
{
	struct hybrid_kept_chain *chain = begin(chains) ? place_of(chains, key, hash) : NULL;

	return chain && make_room(chains, chain, nr) ? chain : NULL;
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
