// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <linux/kernel.h>
#include "../rules/keyed-hash.h"
#include "call-history.h"

/* Calls of a thread, as a binary logarithm: three quarters of them have room. */
#define MAX_BITS	13

/*
 * Samples of the thread before a call is believed that it was not seen outside of, and
 * how many of these must have shown what its caller was in: a function that a loop calls
 * again and again is seldom seen outside of, but of its callers others are seen by then.
 * And how often else a call must have been the same. Each contradiction, and each time
 * all was forgotten, doubles the first and the last.
 */
#define SAMPLES		32
#define SEEN		8U
#define TIMES		16U
#define MAX_DOUBLED	16

/**
 * struct known_call - a call, and what its caller was in
 * @key: of @call
 * @call: the call
 * @outer: the call that its caller was in when it was last seen
 * @since: the sample of the thread that first showed @outer
 * @times: how often the thread came to be in it since
 * @contradicted: how often @outer was another than before
 */
struct known_call {
	u64			key;
	struct hybrid_call	call;
	struct hybrid_call	outer;
	u64			since;
	unsigned int		times;
	unsigned int		contradicted;
};

static bool same_call(const struct hybrid_call *a, const struct hybrid_call *b)
{
	return a->cfa == b->cfa && a->ret == b->ret;
}

static u64 key_of_call(const struct hybrid_call *call)
{
	return hybrid_hash_bytes(0, call, sizeof(*call)) ?: 1;
}

static struct known_call *find_call(const struct hybrid_call_history *history,
				    const struct hybrid_call *call)
{
	struct known_call *known = hybrid_key_table__find(&history->calls, key_of_call(call));

	return known && same_call(&known->call, call) ? known : NULL;
}

/* A table that can't grow is begun anew. NULL if memory is short. */
static struct known_call *add_call(struct hybrid_call_history *history,
				   const struct hybrid_call *call)
{
	const struct known_call new = {
		.key = key_of_call(call), .call = *call, .since = history->now,
	};
	u32 nr = history->calls.nr;
	struct known_call *known;

	history->calls.size = sizeof(new);
	history->calls.most_bits = MAX_BITS;
	known = hybrid_key_table__put(&history->calls, &new);
	history->restarts += history->calls.nr < nr;
	return known;
}

void hybrid_call_history_learn(struct hybrid_call_history *history, const struct hybrid_call *call,
			       const struct hybrid_call *outer, bool again)
{
	struct known_call *known = call->ret ? find_call(history, call) : NULL;

	if (!known) {
		known = call->ret ? add_call(history, call) : NULL;
		if (!known)
			return;
	} else if (!same_call(&known->outer, outer)) {
		known->contradicted++;
		known->since = history->now;
		known->times = 0;
	}
	known->times += again;
	known->outer = *outer;
}

bool hybrid_call_history_holds(const struct hybrid_call_history *history,
			       const struct hybrid_call *call, const struct hybrid_call *outer,
			       u64 since, unsigned int seen)
{
	const struct known_call *known = find_call(history, call);
	unsigned int doubled;

	if (!known || !same_call(&known->outer, outer))
		return false;
	doubled = min(known->contradicted + history->restarts, (unsigned int)MAX_DOUBLED);
	if (known->times >= TIMES << doubled)
		return true;
	return seen >= SEEN && history->now - max(since, known->since) >= (u64)SAMPLES << doubled;
}

void hybrid_call_history_exit(struct hybrid_call_history *history)
{
	hybrid_key_table__exit(&history->calls);
	memset(history, 0, sizeof(*history));
}
