/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMED_CHAINS_H
#define __PERF_HYBRID_NAMED_CHAINS_H

#include "name-chain.h"

/* Sets of chains, as a binary logarithm, and chains of a set. */
#define HYBRID_CHAINS_BITS	10
#define HYBRID_CHAINS_WAYS	4

/* Words that are kept of a chain: a longer one is named frame by frame each time. */
#define HYBRID_CHAIN_WORDS	1024

/*
 * Words that all processes keep: 128 MiB. After that each may have an equal part of them, so there
 * may be twice as many.
 */
#define HYBRID_CHAINS_ALL_WORDS	(16ULL << 20)

/* Words that a runtime may keep of the first frame. */
#define HYBRID_CHAIN_FIRST	4

/**
 * struct hybrid_chain_key - what decides the names of a chain's callers
 * @tag: of the runtime
 * @callers: addresses of the chain after its first frame
 * @nr_callers: number of @callers
 * @nr_functions: number of words of @functions
 * @functions: what BPF has written of the functions that the callers run; need not be aligned
 */
struct hybrid_chain_key {
	u64		 tag;
	const u64	*callers;
	u32		 nr_callers;
	u32		 nr_functions;
	const void	*functions;
};

/**
 * struct hybrid_kept_chain - how a chain was named
 * @tag: as struct hybrid_chain_key has it
 * @hash: of all that must be the same
 * @used: by the clock of struct hybrid_named_chains
 * @named_at: when, in ns; 0: it stays true: it has no functions of an interpreter, or their words
 *	identify them for good
 * @gen: of the process's space in which it was complete last; 0: none
 * @first: for the runtime; 0 at first
 * @nr_callers: addresses of @words: the chain but its first frame
 * @nr_functions: words of @words after these: the functions
 * @nr_named: words of @words after these: the addresses that the callers became
 * @room: of @words
 * @words: see above; owned
 */
struct hybrid_kept_chain {
	u64	tag;
	u64	hash;
	u64	used;
	u64	named_at;
	u64	gen;
	u64	first[HYBRID_CHAIN_FIRST];
	u32	nr_callers;
	u32	nr_functions;
	u32	nr_named;
	u32	room;
	u64	*words;
};

/**
 * struct hybrid_named_chains - chains of a process that were named; all 0 at first
 * @clock: counts chains
 * @nr_words: room of its chains
 * @hand: the place whose chain goes next, if there are too many words
 * @sets: by a hash; of those that share a set the one that was used longest ago goes; NULL: no
 *	chain is kept yet
 */
struct hybrid_named_chains {
	u64				clock;
	u64				nr_words;
	unsigned int			hand;
	struct hybrid_kept_chain	(*sets)[HYBRID_CHAINS_WAYS];
};

void hybrid_named_chains__exit(struct hybrid_named_chains *chains);

/**
 * hybrid_chain_key - a key of a chain's callers
 * @c: the chain; it has a user frame
 * @tag: of the runtime
 * @functions: what the callers run
 * @nr_functions: number of words of @functions
 */
struct hybrid_chain_key hybrid_chain_key(const struct hybrid_named_chain *c, u64 tag,
					 const void *functions, u32 nr_functions);

/**
 * hybrid_named_chains__find - how were the callers of a chain named before?
 * @chains: of the process
 * @c: the chain
 * @key: of it
 *
 * Functions of an interpreter are taken for the same for a second: after that the runtime has to
 * name them once more, and compares them with the process.
 *
 * Return: valid until the next hybrid_named_chains__keep(). NULL if the chain is not known, or is
 * unseen and was not complete in that state of the space.
 */
struct hybrid_kept_chain *hybrid_named_chains__find(struct hybrid_named_chains *chains,
						    const struct hybrid_named_chain *c,
						    const struct hybrid_chain_key *key);

/*
 * The same, or one that is old: @is_old is true if it serves only after the runtime has compared
 * its functions with the process, and hybrid_named_chains__renew().
 */
struct hybrid_kept_chain *hybrid_named_chains__find_old(struct hybrid_named_chains *chains,
							const struct hybrid_named_chain *c,
							const struct hybrid_chain_key *key,
							bool *is_old);
void hybrid_named_chains__renew(struct hybrid_kept_chain *chain);

/* What the chain's callers became: @nr_named words. */
const u64 *hybrid_kept_chain_named(const struct hybrid_kept_chain *chain);

/**
 * hybrid_named_chains__put - name the callers of a chain as they were named before
 * @chain: that was found
 * @c: the chain; its first frame is named
 *
 * Return: false if there is no room.
 */
bool hybrid_named_chains__put(struct hybrid_kept_chain *chain, struct hybrid_named_chain *c);

/**
 * hybrid_named_chains__keep - keep how the callers of a chain were named
 * @chains: of the process
 * @c: the chain
 * @key: of it
 *
 * If there are too many words, other chains of the process go first: one after the other, used or
 * not.
 *
 * Return: NULL if it is too long, or memory is short.
 */
struct hybrid_kept_chain *hybrid_named_chains__keep(struct hybrid_named_chains *chains,
						    const struct hybrid_named_chain *c,
						    const struct hybrid_chain_key *key);

#endif /* __PERF_HYBRID_NAMED_CHAINS_H */
