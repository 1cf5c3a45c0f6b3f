// SPDX-License-Identifier: GPL-2.0
/* Walks in the kernel through addresses that are known from walks before them. */
#include <string.h>
#include <linux/kernel.h>
#include "../rules/rows.h"
#include "called.h"
#include "known-walk.h"
#include "walk.h"

bool hybrid_known_walk_first(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			     u64 ip)
{
	const struct hybrid_cache_entry *entry = hybrid_cache_find(unwinder, space->gen, ip);

	return entry && entry->is_known_first;
}

/* Addresses that one memcmp() compares: most walks have all in common but the innermost few. */
#define AT_ONCE	8U

/* How many of the outermost addresses are those of the walk before. */
static unsigned int count_same(const struct hybrid_last_walk *last, u64 gen, const u64 *ips,
			       unsigned int nr)
{
	const u64 *end = last->ips + HYBRID_LAST_WALK;
	unsigned int left = last->gen == gen ? min(nr, last->nr) : 0;
	const u64 *at = ips + nr;

	for (; left >= AT_ONCE; left -= AT_ONCE) {
		if (memcmp(at - AT_ONCE, end - AT_ONCE, AT_ONCE * sizeof(*at)) != 0)
			break;
		at -= AT_ONCE;
		end -= AT_ONCE;
	}
	for (; left && at[-1] == end[-1]; left--, at--, end--)
		;
	return ips + nr - at;
}

static void keep_walk(struct hybrid_last_walk *last, u64 gen, const u64 *ips, unsigned int nr,
		      unsigned int same)
{
	if (nr > HYBRID_LAST_WALK) {
		last->nr = 0;
		return;
	}
	memcpy(last->ips + HYBRID_LAST_WALK - nr, ips, (nr - same) * sizeof(*ips));
	last->gen = gen;
	last->nr = nr;
}

bool hybrid_known_walk(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
		       const u64 *ips, unsigned int nr, u64 *out)
{
	const struct hybrid_cache_entry *entry, *inner;
	unsigned int i, same, checked;

	if (nr < 2)
		return false;
	inner = hybrid_cache_find(unwinder, space->gen, ips[0]);
	if (!inner || !inner->is_known_first)
		return false;
	out[0] = ips[0];
	same = count_same(&unwinder->last_walk, space->gen, ips, nr);
	/* The first of these, too: it may have another callee now. */
	checked = min(nr - same + 1, nr);
	for (i = 1; i < checked; i++, inner = entry) {
		out[i] = ips[i] - 1;
		entry = hybrid_cache_find(unwinder, space->gen, out[i]);
		if (!entry || !entry->is_known_caller ||
		    (inner->called_by != ips[i] &&
		     !hybrid_is_called_pair(unwinder, space, out[i - 1], ips[i])))
			return false;
	}
	if (!same && !inner->is_known_last)
		return false;
	for (; i < nr; i++)
		out[i] = ips[i] - 1;
	keep_walk(&unwinder->last_walk, space->gen, ips, nr, same);
	return true;
}

/* Does the entry tell all of a frame there? */
static bool is_plain(const struct hybrid_cache_entry *entry)
{
	const struct hybrid_row *row = entry->row;

	if (!entry->object)
		return !row;
	return entry->object->state == HYBRID_OBJECT_READY && entry->object->is_settled && row &&
	       !row->rule.signal && row->rule.kind != HYBRID_RULE_NONE;
}

/* Of an outermost frame by another rule, what it has called counts, too. */
static bool is_outermost(const struct hybrid_cache_entry *entry)
{
	return entry->row && entry->row->rule.kind == HYBRID_RULE_OUTERMOST;
}

/* Of two addresses of a long walk that have one place in the cache it has the second. */
static struct hybrid_cache_entry *entry_of(struct hybrid_unwinder *unwinder,
					   struct hybrid_space *space, u64 ip)
{
	struct hybrid_cache_entry *entry = hybrid_cache_find(unwinder, space->gen, ip);
	struct hybrid_object *object;
	bool mapped;

	if (entry)
		return entry;
	hybrid_unwind_row(unwinder, space, ip, &mapped, &object);
	return hybrid_cache_find(unwinder, space->gen, ip);
}

void hybrid_known_walk_learn(struct hybrid_unwinder *unwinder, struct hybrid_space *space,
			     const u64 *ips, unsigned int nr, const u64 *frames)
{
	bool is_known = nr > 1 && !unwinder->is_call_unsure;
	struct hybrid_cache_entry *entry;
	unsigned int i;

	/* The innermost ones last: these are what the next walk looks up. */
	for (i = nr; i-- > 0;) {
		entry = entry_of(unwinder, space, frames[i]);
		if (!entry || !is_plain(entry)) {
			is_known = false;
			continue;
		}
		if (!i && frames[i] == ips[i])
			entry->is_known_first = true;
		else if (i && frames[i] == ips[i] - 1)
			entry->is_known_caller = true;
		else
			is_known = false;
		if (i + 1 < nr)
			continue;
		is_known &= is_outermost(entry);
		entry->is_known_last |= i && is_outermost(entry);
	}
	if (is_known)
		keep_walk(&unwinder->last_walk, space->gen, ips, nr, 0);
}
