/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMED_CHAINS_H
#define __PERF_HYBRID_NAMED_CHAINS_H

#include "../name-chain.h"
#include "frame-name.h"

#define JAVA_CHAINS_BITS	10
#define JAVA_CHAINS_WAYS	4

/* Words that are kept of a chain: a longer one is named frame by frame each time. */
#define JAVA_CHAIN_WORDS	1024

/**
 * struct java_chain - how a chain was named
 * @code_hash: of the blobs that it came through, as the BPF program has found them
 * @hash: of all that must be the same
 * @used: by the clock of struct java_chains
 * @named_at: when, in ns; 0: it runs nothing of the interpreter, so that it stays true
 * @gen: of the space in which it was complete last; 0: none
 * @first: the blob of its first frame; its @addr is 0 if @code_hash does not cover that
 * @nr_callers: addresses of @words: the chain but its first frame
 * @nr_functions: words of @words behind them, of the interpreter's frames
 * @nr_named: words of @words behind them: what was made of @nr_callers
 * @room: of @words
 * @words: see above
 */
struct java_chain {
	u64			code_hash;
	u64			hash;
	u64			used;
	u64			named_at;
	u64			gen;
	struct java_blob_id	first;
	u32			nr_callers;
	u32			nr_functions;
	u32			nr_named;
	u32			room;
	u64			*words;
};

/**
 * struct java_chains - chains of a JVM that were named
 * @clock: counts chains
 * @sets: by a hash; of those that share a set the one that was used longest ago goes
 */
struct java_chains {
	u64			clock;
	struct java_chain	sets[1 << JAVA_CHAINS_BITS][JAVA_CHAINS_WAYS];
};

void java_chains__exit(struct java_chains *chains);

/**
 * java_chains__find - how was a chain named before?
 * @chains: of the JVM
 * @c: the chain
 *
 * Two chains with the same hash came through the same blobs. Where the blobs, all callers and what
 * the interpreter runs are the same, the names are. The first frame may be at another address of
 * its blob. Methods of the interpreter are taken for the same for a second, as by
 * java_methods__get().
 *
 * Return: valid until the next java_chains__keep(); NULL if it was not.
 */
struct java_chain *java_chains__find(struct java_chains *chains,
				     const struct hybrid_named_chain *c);

/* Returns the chain's callers, with the functions that they stand for; @nr: number of them. */
static inline const u64 *java_chain_named(const struct java_chain *chain, u32 *nr)
{
	*nr = chain->nr_named;
	return chain->words + chain->nr_callers + chain->nr_functions;
}

/**
 * java_chains__keep - keep how a chain was named
 * @chains: of the JVM
 * @c: the chain
 * @first: the blob of its first frame, see struct java_chain
 */
void java_chains__keep(struct java_chains *chains, const struct hybrid_named_chain *c,
		       const struct java_blob_id *first);

#endif /* __PERF_HYBRID_NAMED_CHAINS_H */
