/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CALL_HISTORY_H
#define __PERF_HYBRID_CALL_HISTORY_H

#include <stdbool.h>
#include "../rules/key-table.h"

/**
 * struct hybrid_call - a call that a thread was seen to be in
 * @cfa: of the frame that was called
 * @ret: the return address, in the caller
 */
struct hybrid_call {
	u64	cfa;
	u64	ret;
};

/**
 * struct hybrid_call_history - which calls of a thread tell what the caller is in
 *
 * A function that has several callers may run on frames of equal size: the same
 * return address stands at the same place, and what is above it differs. So what
 * was seen above a call is believed only where the thread is in it for many samples
 * and was not seen outside of it since, or where it was the same each of many times
 * that the thread came to be in the call. Each contradiction doubles how many.
 *
 * @calls: what is known of each
 * @restarts: how often all was forgotten, as there was no more room
 * @now: counts the thread's samples
 */
struct hybrid_call_history {
	struct hybrid_key_table	calls;
	unsigned int		restarts;
	u64			now;
};

/**
 * hybrid_call_history_learn - a sample showed what a caller was in
 * @history: of the thread
 * @call: the call
 * @outer: the call that the caller was in; all zero: it is the outermost frame
 * @again: the thread came to be in @call since the last sample that showed it
 */
void hybrid_call_history_learn(struct hybrid_call_history *history, const struct hybrid_call *call,
			       const struct hybrid_call *outer, bool again);

/**
 * hybrid_call_history_holds - may a caller be taken to be in what it was seen in?
 * @history: of the thread
 * @call: the call
 * @outer: what the caller was seen in, as in hybrid_call_history_learn()
 * @since: the thread's sample from which on it was not seen outside of @call
 * @seen: how many samples have shown it in @call and in @outer since then
 */
bool hybrid_call_history_holds(const struct hybrid_call_history *history,
			       const struct hybrid_call *call, const struct hybrid_call *outer,
			       u64 since, unsigned int seen);

void hybrid_call_history_exit(struct hybrid_call_history *history);

#endif /* __PERF_HYBRID_CALL_HISTORY_H */
