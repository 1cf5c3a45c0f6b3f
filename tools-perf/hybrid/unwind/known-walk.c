// SPDX-License-Identifier: GPL-2.0
/* Walks in the kernel through addresses that are known from walks before them. */
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

bool hybrid_known_walk(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
		       const u64 *ips, unsigned int nr, u64 *out)
{
	const struct hybrid_cache_entry *entry, *inner;
	unsigned int i;

	if (nr < 2)
		return false;
	inner = hybrid_cache_find(unwinder, space->gen, ips[0]);
	if (!inner || !inner->is_known_first)
		return false;
	out[0] = ips[0];
	for (i = 1; i < nr; i++, inner = entry) {
		out[i] = ips[i] - 1;
		entry = hybrid_cache_find(unwinder, space->gen, out[i]);
		if (!entry || !entry->is_known_caller ||
		    (inner->called_by != ips[i] &&
		     !hybrid_is_called_pair(unwinder, space, out[i - 1], ips[i])))
			return false;
	}
	return inner->is_known_last;
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

void hybrid_known_walk_learn(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			     const u64 *ips, unsigned int nr, const u64 *frames)
{
	struct hybrid_cache_entry *entry;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		entry = hybrid_cache_find(unwinder, space->gen, frames[i]);
		if (!entry || !is_plain(entry))
			continue;
		if (!i && frames[i] == ips[i])
			entry->is_known_first = true;
		else if (i && frames[i] == ips[i] - 1)
			entry->is_known_caller = true;
		if (i && i + 1 == nr && is_outermost(entry))
			entry->is_known_last = true;
	}
}
