/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_CHAINS_H
#define __PERF_HYBRID_V8_CHAINS_H

#include "../name-chain.h"

#define V8_CHAINS_BITS	11

/* Words that are kept of a chain: a longer one is named frame by frame each time. */
#define V8_CHAIN_WORDS	1024

/**
 * struct v8_chain - how a chain was named
 * @hash: of all that must be the same
 * @named_at: when, in ns
 * @gen: of the process's space when a walk with it was known to be complete; 0: never
 * @nr_callers: addresses of @words: the chain but its first frame
 * @nr_functions: words of @words behind them: the functions, but that of the first frame
 * @nr_named: words of @words behind them: what was made of @nr_callers
 * @words: see above; owned
 */
struct v8_chain {
	u64	hash;
	u64	named_at;
	u64	gen;
	u32	nr_callers;
	u32	nr_functions;
	u32	nr_named;
	u64	*words;
};

/**
 * struct v8_chains - chains of a process that were named
 * @known: by their hash
 */
struct v8_chains {
	struct v8_chain	known[1 << V8_CHAINS_BITS];
};

/**
 * v8_chains__put - name a chain but its first frame as it was named before
 * @chains: of the process
 * @c: the chain; its first frame is named
 * @at: index of the first function that is not that frame's
 *
 * The functions' words tell where their frames are. They are taken for the same for a second, as by
 * v8_functions__get().
 *
 * Return: false if the chain is not known, or is unseen and was not complete in that state of the
 * space; or if there is no room.
 */
bool v8_chains__put(struct v8_chains *chains, struct hybrid_named_chain *c, unsigned int at);

/* Keep how a chain was named; @at as above. */
void v8_chains__keep(struct v8_chains *chains, const struct hybrid_named_chain *c,
		     unsigned int at);

void v8_chains__exit(struct v8_chains *chains);

#endif /* __PERF_HYBRID_V8_CHAINS_H */
