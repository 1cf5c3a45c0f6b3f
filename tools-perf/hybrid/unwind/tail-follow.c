// SPDX-License-Identifier: GPL-2.0
/*
 * Going on where a sample ends, by what its thread was seen to be in before.
 */
#include <linux/kernel.h>
#include "tail.h"

/* Are all of @some among the callers of @entries, in order? */
static bool holds(const struct hybrid_tail_entry *entries, unsigned int nr,
		  const struct hybrid_frame *some, unsigned int nr_some)
{
	unsigned int i, found = 0;

	for (i = 0; i < nr && found < nr_some; i++) {
		if (entries[i].caller.ret == some[found].ret)
			found++;
	}
	return found == nr_some;
}

static struct hybrid_object *object_of(struct hybrid_unwinder *unwinder,
				       struct hybrid_space *space, u64 ip)
{
	struct hybrid_object *object;
	bool mapped;

	hybrid_unwind_row(unwinder, space, ip, &mapped, &object);
	return object;
}

/*
 * Does the last frame begin the thread? That is code of the C library, called by
 * nothing but the outermost frame and itself, which has called into another object:
 * a function of the program, of a coroutine too, has callers in its own.
 */
static bool is_start(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		     const struct hybrid_tail_entry *outer, unsigned int nr)
{
	const struct hybrid_frame *last = &u->frames[u->nr - 1];
	struct hybrid_object *object = object_of(unwinder, u->space, last->ip);
	unsigned int i;

	if (!object || object_of(unwinder, u->space, last[-1].ip) == object)
		return false;
	for (i = 0; i + 1 < nr; i++) {
		if (object_of(unwinder, u->space, outer[i].caller.ip) != object)
			return false;
	}
	return nr > 0;
}

/*
 * How the thread began, if the last frame is of that: it runs once in a thread. @nr: out: number of
 * frames; 0: the last frame is not.
 */
static const struct hybrid_tail_entry *find_start(struct hybrid_unwinder *unwinder,
						  struct hybrid_unwind *u,
						  const struct hybrid_tail *tail, unsigned int *nr)
{
	struct hybrid_frame *callee = &u->frames[u->nr - 2], *caller = &u->frames[u->nr - 1];
	const struct hybrid_tail_entry *entries;
	u64 cfa[] = { callee->cfa, caller->cfa };

	entries = hybrid_tail_root(tail, callee, caller, nr);
	if (is_start(unwinder, u, entries, *nr))
		return entries;
	*nr = 0;
	callee->cfa = cfa[0];
	caller->cfa = cfa[1];
	return NULL;
}

bool hybrid_tail_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			struct hybrid_tail *tail)
{
	const struct hybrid_tail_entry *entries;
	unsigned int last = u->nr - 1, nr, i;
	bool complete, sure;

	while (last > 0 && !u->frames[last - 1].cfa)
		last--;
	if (!last)
		return false;
	entries = find_start(unwinder, u, tail, &nr);
	complete = nr > 0;
	sure = complete && u->sure == u->nr;
	if (!complete) {
		entries = hybrid_tail_join(tail, &u->frames[last - 1], &u->frames[last],
					   &nr, &complete);
		if (!nr || !holds(entries, nr, &u->frames[last + 1], u->nr - 1 - last))
			return false;
		u->nr = last + 1;
		u->sure = min(u->sure, u->nr);
	}
	for (i = 0; i < nr; i++) {
		if (u->nr == u->max_frames)
			return false;
		u->frames[u->nr++] = entries[i].caller;
		u->sure += sure;
	}
	return complete;
}
