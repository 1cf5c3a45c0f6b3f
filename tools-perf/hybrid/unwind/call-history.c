// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../rules/keyed-hash.h"
#include "call-history.h"

#define FIRST_SIZE	64
#define MAX_SIZE	8192

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
 * struct hybrid_known_call - a call, and what its caller was in
 * @call: the call; a return address of 0: free
 * @outer: the call that its caller was in when it was last seen
 * @since: the sample of the thread that first showed @outer
 * @times: how often the thread came to be in it since
 * @contradicted: how often @outer was another than before
 */
struct hybrid_known_call {
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

/* The call's entry, or the free one where it would be; the table is never full. */
static struct hybrid_known_call *find(struct hybrid_known_call *calls, unsigned int size,
				      const struct hybrid_call *call)
{
	unsigned int at = hybrid_hash(hybrid_hash_bytes(0, &call->cfa, sizeof(call->cfa)) ^
				      call->ret, 32);

	while (calls[at & (size - 1)].call.ret && !same_call(&calls[at & (size - 1)].call, call))
		at++;
	return &calls[at & (size - 1)];
}

/* Makes room for one more. A table that can't grow is begun anew. */
static bool reserve(struct hybrid_call_history *history)
{
	unsigned int size = history->size ? history->size * 2 : FIRST_SIZE, i;
	struct hybrid_known_call *calls;

	if (history->nr < history->size / 4 * 3)
		return true;
	if (size > MAX_SIZE) {
		memset(history->calls, 0, history->size * sizeof(*history->calls));
		history->nr = 0;
		history->restarts++;
		return true;
	}
	calls = calloc(size, sizeof(*calls));
	if (!calls)
		return false;
	for (i = 0; i < history->size; i++) {
		if (history->calls[i].call.ret)
			*find(calls, size, &history->calls[i].call) = history->calls[i];
	}
	free(history->calls);
	history->calls = calls;
	history->size = size;
	return true;
}

void hybrid_call_history_learn(struct hybrid_call_history *history, const struct hybrid_call *call,
			       const struct hybrid_call *outer, bool again)
{
	struct hybrid_known_call *known;

	if (!call->ret || !reserve(history))
		return;
	known = find(history->calls, history->size, call);
	if (!known->call.ret) {
		history->nr++;
		known->call = *call;
		known->since = history->now;
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
	const struct hybrid_known_call *known;
	unsigned int doubled;

	if (!history->nr)
		return false;
	known = find(history->calls, history->size, call);
	if (!known->call.ret || !same_call(&known->outer, outer))
		return false;
	doubled = min(known->contradicted + history->restarts, (unsigned int)MAX_DOUBLED);
	if (known->times >= TIMES << doubled)
		return true;
	return seen >= SEEN && history->now - max(since, known->since) >= (u64)SAMPLES << doubled;
}

void hybrid_call_history_exit(struct hybrid_call_history *history)
{
	free(history->calls);
	memset(history, 0, sizeof(*history));
}
