// SPDX-License-Identifier: GPL-2.0
/*
 * Samples that came without a dump: the kernel has walked their stack by the
 * rules that it was taught.
 */
#include <string.h>
#include <linux/perf_event.h>
#include "../rules/rows.h"
#include "taught.h"
#include "unwind.h"

bool hybrid_chain_info(const u64 *chain, unsigned int nr, u64 *info)
{
	unsigned int i;

	*info = 0;
	for (i = 0; i + 1 < nr; i++) {
		if (chain[i] != PERF_CONTEXT_USER_HYBRID)
			continue;
		*info = chain[i + 1];
		return true;
	}
	return false;
}

bool hybrid_is_taught(const u64 *chain, unsigned int nr)
{
	u64 info;

	return hybrid_chain_info(chain, nr, &info) &&
	       PERF_HYBRID_INFO_END(info) == PERF_HYBRID_END_OUTERMOST;
}

static const u64 *user_chain(const u64 *chain, unsigned int *nr)
{
	unsigned int i, first = 0;

	while (first < *nr && chain[first++] != PERF_CONTEXT_USER)
		;
	for (i = first; i < *nr && chain[i] < (u64)PERF_CONTEXT_MAX; i++)
		;
	*nr = i - first;
	return chain + first;
}

/*
 * Does a signal's trampoline end before the sampled address? Its system call may be its
 * last instruction.
 */
static bool is_behind_signal(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ip)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, u->space, ip - 1, &mapped, &object);
	return row && row->rule.signal;
}

void hybrid_taught(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		   const u64 *chain, unsigned int nr)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool exact = true, mapped;
	unsigned int i;

	chain = user_chain(chain, &nr);
	u->nr = 0;
	u->stop = HYBRID_STOP_OUTERMOST;
	u->failed_in = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	for (i = 0; i < nr; i++) {
		struct hybrid_frame frame = { .ip = chain[i] - !exact, .ret = chain[i] };

		if (u->nr == u->max_frames) {
			u->stop = HYBRID_STOP_LIMIT;
			break;
		}
		row = hybrid_unwind_row(unwinder, u->space, frame.ip, &mapped, &object);
		exact = row && row->rule.signal;
		if (exact)
			frame.ip = frame.ret;
		if (!i && row && row->rule.kind == HYBRID_RULE_NONE &&
		    is_behind_signal(unwinder, u, frame.ip)) {
			frame.ip--;
			exact = true;
		}
		u->frames[u->nr++] = frame;
	}
	u->sure = u->nr;
}

/* Behind the last instruction of a segment there is no code to be asked about. */
static bool is_behind_call(const struct hybrid_mapping *mapping, u64 ret)
{
	u64 vaddr;

	return !mapping->object || mapping->object->state != HYBRID_OBJECT_READY ||
	       !hybrid_object_vaddr(mapping->object, ret - mapping->start + mapping->pgoff,
				    &vaddr) ||
	       hybrid_object_is_return(mapping, ret);
}

/*
 * Go's scheduler makes the outermost frame of a goroutine by hand: its return address is
 * that of runtime.goexit() and one byte, behind an instruction that does nothing.
 */
static bool is_made_up(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		       const struct hybrid_mapping *mapping, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;
	u64 vaddr;

	row = hybrid_unwind_row(unwinder, u->space, ret - 1, &mapped, &object);
	return row && row->rule.kind == HYBRID_RULE_OUTERMOST &&
	       hybrid_object_vaddr(mapping->object, ret - 1 - mapping->start + mapping->pgoff,
				   &vaddr) &&
	       vaddr == row->start;
}

void hybrid_taught_confirm(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	const struct hybrid_mapping *mapping;
	unsigned int i;

	for (i = 1; i < u->nr; i++) {
		const struct hybrid_frame *frame = &u->frames[i];

		/* That of a signal's handler, and what the signal interrupted. */
		if (frame->ip == frame->ret)
			continue;
		mapping = hybrid_space_find(u->space, frame->ret);
		if (!mapping || is_behind_call(mapping, frame->ret))
			continue;
		if (i + 1 == u->nr && is_made_up(unwinder, u, mapping, frame->ret))
			continue;
		u->failed_in = mapping->object;
		u->stop = HYBRID_STOP_BAD_FRAME;
		u->nr = i;
		u->sure = i;
		return;
	}
}
