// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "tail.h"

/* Where a thread starts, at most: libc's two functions, and what called them. */
#define ROOT_FRAMES	3

static int reserve(struct hybrid_tail *tail, unsigned int nr)
{
	struct hybrid_tail_entry *room, *spare;

	if (nr <= tail->alloc)
		return 0;
	nr = nr * 2;
	room = malloc(nr * sizeof(*room));
	spare = malloc(nr * sizeof(*spare));
	if (!room || !spare) {
		free(room);
		free(spare);
		return -1;
	}
	if (tail->nr)
		memcpy(&room[nr - tail->nr], tail->entries, tail->nr * sizeof(*room));
	free(tail->room);
	free(tail->spare);
	tail->room = room;
	tail->spare = spare;
	tail->entries = &room[nr - tail->nr];
	tail->alloc = nr;
	return 0;
}

/* Index of the first entry with a CFA above @cfa. */
static unsigned int first_above(const struct hybrid_tail *tail, u64 cfa)
{
	unsigned int low = 0, high = tail->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (tail->entries[mid].cfa <= cfa)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Calls, among @frames, whose place is known and rises; signal handlers on a
 * stack of their own end it. Returns how many, and which frame the last one is, in @last.
 */
static unsigned int count_calls(const struct hybrid_frame *frames, unsigned int nr,
				unsigned int *last)
{
	unsigned int i, calls = 0;
	u64 cfa = 0;

	*last = 0;
	for (i = 0; i + 1 < nr; i++) {
		if (!frames[i].cfa)
			continue;
		if (frames[i].cfa <= cfa)
			break;
		cfa = frames[i].cfa;
		*last = i;
		calls++;
	}
	return calls;
}

static bool same_entry(const struct hybrid_tail_entry *a, const struct hybrid_tail_entry *b)
{
	return a->cfa == b->cfa && a->caller.ret == b->caller.ret;
}

/* How many entries, from the outermost on, @calls up to that of @frame would be made again. */
static unsigned int count_same(const struct hybrid_tail *tail, const struct hybrid_frame *frame,
			       unsigned int calls)
{
	const struct hybrid_tail_entry *entry;
	unsigned int same;
	bool linked;

	/* Before the first one there is no memory either. */
	if (!tail->nr)
		return 0;
	entry = tail->entries + tail->nr;
	calls = min(calls, tail->nr);
	for (same = 0; same < calls; same++, frame--) {
		entry--;
		linked = frame[1].cfa > frame->cfa;
		if (!frame->cfa || entry->cfa != frame->cfa ||
		    entry->caller.ret != frame[1].ret || entry->caller.ip != frame[1].ip ||
		    entry->caller.cfa != frame[1].cfa)
			break;
		if (same && entry->linked != linked)
			break;
	}
	return same;
}

/* Whatever was seen of it before. */
static void see_anew(const struct hybrid_tail *tail, struct hybrid_tail_entry *entry)
{
	entry->since = tail->history.now;
	entry->seen = 0;
}

/*
 * Puts @calls in front of the last @same entries, which stay; @next: they come next. One
 * that was there before is still the same.
 */
static void store_calls(struct hybrid_tail *tail, const struct hybrid_frame *frames,
			unsigned int calls, unsigned int same, bool next)
{
	unsigned int nr_old = tail->nr - same;
	const struct hybrid_tail_entry *old = tail->spare, *end = old + nr_old;
	const struct hybrid_tail_entry *outer = NULL;
	struct hybrid_tail_entry *new, *kept = tail->entries + nr_old;

	/* With the first that stays: one of @old may be linked to it. */
	if (tail->nr)
		memcpy(tail->spare, tail->entries, (nr_old + !!same) * sizeof(*old));
	tail->entries = kept - calls;
	tail->nr = calls + same;
	for (new = tail->entries; new < kept; frames++) {
		if (!frames->cfa)
			continue;
		while (old < end && old->cfa < frames->cfa)
			old++;
		*new = (struct hybrid_tail_entry) {
			.cfa	= frames->cfa,
			.caller	= frames[1],
			.linked	= frames[1].cfa > frames->cfa,
			.since	= tail->history.now,
		};
		/* The same call, but by another caller: it is none that was seen before. */
		if (outer && !same_entry(outer, new))
			see_anew(tail, &new[-1]);
		outer = NULL;
		if (old < end && same_entry(old, new)) {
			new->since = old->since;
			new->seen = old->seen;
			outer = old->linked ? old + 1 : NULL;
		}
		new++;
	}
	if (outer && next && !same_entry(outer, kept))
		see_anew(tail, &new[-1]);
}

static struct hybrid_call call_of(const struct hybrid_tail_entry *entry)
{
	return (struct hybrid_call){ .cfa = entry->cfa, .ret = entry->caller.ret };
}

/* What the caller of entry @i is in; nothing: it is the outermost frame. */
static struct hybrid_call outer_call(const struct hybrid_tail *tail, unsigned int i)
{
	static const struct hybrid_call none;

	return i + 1 < tail->nr ? call_of(&tail->entries[i + 1]) : none;
}

/* Does entry @i tell what its caller was in? */
static bool is_shown(const struct hybrid_tail *tail, unsigned int i)
{
	return tail->entries[i].linked || (i + 1 == tail->nr && tail->rooted);
}

/* What the first @calls entries show. */
static void learn_trust(struct hybrid_tail *tail, unsigned int calls)
{
	struct hybrid_call call, outer;
	unsigned int i;

	for (i = 0; i < calls; i++) {
		if (!is_shown(tail, i))
			continue;
		call = call_of(&tail->entries[i]);
		outer = outer_call(tail, i);
		hybrid_call_history_learn(&tail->history, &call, &outer,
					  tail->entries[i].since == tail->history.now);
	}
}

/*
 * The outermost call that was seen now, @last, may have been seen before: does what
 * was above it then still go with it?
 */
static bool still_linked(const struct hybrid_tail_entry *entry,
			 const struct hybrid_tail_entry *last)
{
	return entry->linked && entry->cfa == last->cfa && entry->caller.ret == last->caller.ret &&
	       (!last->caller.cfa || last->caller.cfa == entry->caller.cfa);
}

/* Its entry is the last of @calls; what is above it was not seen now. */
static void keep_link(struct hybrid_tail *tail, unsigned int calls,
		      const struct hybrid_tail_entry *before)
{
	struct hybrid_tail_entry *last = &tail->entries[calls - 1];

	last->linked = still_linked(before, last);
	if (last->linked)
		last->caller.cfa = before->caller.cfa;
}

void hybrid_tail_learn(struct hybrid_tail *tail, const struct hybrid_frame *frames,
		       unsigned int nr, bool complete)
{
	unsigned int calls, new, shown, i, same, from, last;
	struct hybrid_tail_entry before = {};

	tail->history.now++;
	calls = count_calls(frames, nr, &last);
	if (!calls)
		return;
	if (complete) {
		same = count_same(tail, &frames[last], calls);
		new = calls - same;
		shown = calls;
	} else {
		from = first_above(tail, frames[last].cfa);
		same = tail->nr - from;
		new = calls;
		shown = calls - 1;
		if (from)
			before = tail->entries[from - 1];
	}
	if (reserve(tail, new + same))
		return;
	store_calls(tail, frames, new, same, complete && same);
	if (complete)
		tail->rooted = last + 2 == nr;
	else if (!same)
		tail->rooted = false;
	tail->entries[calls - 1].linked = false;
	for (i = 0; i < shown; i++)
		tail->entries[i].seen += is_shown(tail, i);
	if (tail->watched)
		learn_trust(tail, shown);
	if (!complete)
		keep_link(tail, calls, &before);
}

/* From now on: what is known so far was seen now. */
static void watch(struct hybrid_tail *tail)
{
	if (tail->watched)
		return;
	tail->watched = true;
	learn_trust(tail, tail->nr);
}

static bool is_trusted(const struct hybrid_tail *tail, unsigned int i)
{
	struct hybrid_call call = call_of(&tail->entries[i]), outer = outer_call(tail, i);

	return hybrid_call_history_holds(&tail->history, &call, &outer, tail->entries[i].since,
					 tail->entries[i].seen);
}

/* The entries behind @i, up to the last one that may be followed. */
static const struct hybrid_tail_entry *follow(const struct hybrid_tail *tail, unsigned int i,
					      unsigned int *nr, bool *complete)
{
	unsigned int last = i;

	while (is_trusted(tail, last) && tail->entries[last].linked)
		last++;
	*nr = last - i;
	*complete = is_trusted(tail, last) && last + 1 == tail->nr && tail->rooted;
	return &tail->entries[i + 1];
}

const struct hybrid_tail_entry *hybrid_tail_join(struct hybrid_tail *tail,
						 const struct hybrid_frame *callee,
						 struct hybrid_frame *caller,
						 unsigned int *nr, bool *complete)
{
	unsigned int i = first_above(tail, callee->cfa);
	const struct hybrid_tail_entry *entry;

	*nr = 0;
	*complete = false;
	watch(tail);
	if (!i)
		return NULL;
	entry = &tail->entries[i - 1];
	if (entry->cfa != callee->cfa || entry->caller.ret != caller->ret)
		return NULL;
	if (caller->cfa && caller->cfa != entry->caller.cfa)
		return NULL;
	caller->cfa = entry->caller.cfa;
	return follow(tail, i - 1, nr, complete);
}

const struct hybrid_tail_entry *hybrid_tail_root(const struct hybrid_tail *tail,
						 struct hybrid_frame *callee,
						 struct hybrid_frame *caller,
						 unsigned int *nr)
{
	const struct hybrid_tail_entry *entry;
	unsigned int i, at = 0, found = 0;

	*nr = 0;
	for (i = 0; i < tail->nr; i++) {
		if (tail->entries[i].caller.ret == caller->ret) {
			found++;
			at = i;
		}
	}
	if (found != 1 || tail->nr - at > ROOT_FRAMES)
		return NULL;
	entry = &tail->entries[at];
	if (callee->cfa && callee->cfa != entry->cfa)
		return NULL;
	for (i = at; i + 1 < tail->nr; i++) {
		if (!tail->entries[i].linked)
			return NULL;
	}
	if (!tail->rooted)
		return NULL;
	callee->cfa = entry->cfa;
	caller->cfa = entry->caller.cfa;
	*nr = tail->nr - 1 - at;
	return entry + 1;
}

void hybrid_tail_exit(struct hybrid_tail *tail)
{
	free(tail->room);
	free(tail->spare);
	hybrid_call_history_exit(&tail->history);
	memset(tail, 0, sizeof(*tail));
}
