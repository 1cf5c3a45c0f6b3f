// SPDX-License-Identifier: GPL-2.0
/*
 * Samples that came without a dump: the kernel has walked their stack by the
 * rules that were loaded.
 */
#include <string.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "called.h"
#include "kernel-chain.h"
#include "kernel-walk.h"
#include "unwind.h"
#include "walk.h"

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

/* Does what hybrid_called_frame() said of it hold as long as the mappings are the same? */
static bool is_lasting(const struct hybrid_cache_entry *entry)
{
	/* Of code that no file has it says the same always. */
	if (!entry->object)
		return !entry->row;
	return entry->row && entry->object->state == HYBRID_OBJECT_READY;
}

/*
 * Can frame @i of @u have called? Else the chain ends before it. The outermost one is asked more
 * (called.h): that is not remembered.
 */
static bool confirm(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, unsigned int i,
		    bool outermost)
{
	const struct hybrid_frame *frame = &u->frames[i];
	struct hybrid_cache_entry *entry;

	if (!hybrid_called_frame(unwinder, u, i, outermost, &u->failed_in)) {
		u->stop = HYBRID_STOP_BAD_FRAME;
		return false;
	}
	if (outermost || frame->ip == frame->ret)
		return true;
	entry = hybrid_cache_find(unwinder, u->space->gen, frame->ret - 1);
	if (entry && is_lasting(entry))
		entry->is_caller = true;
	return true;
}

/*
 * The frame that @ret is of, and its row; @first: the sampled address. Returns whether it is
 * exact.
 */
static bool make_frame(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret,
		       bool first, bool exact, struct hybrid_frame *frame,
		       const struct hybrid_row **of)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	*frame = (struct hybrid_frame) { .ip = ret - !exact, .ret = ret };
	row = hybrid_unwind_row(unwinder, u->space, frame->ip, &mapped, &object);
	*of = row;
	if (row && row->rule.signal) {
		frame->ip = ret;
		return true;
	}
	if (first && row && row->rule.kind == HYBRID_RULE_NONE &&
	    is_behind_signal(unwinder, u, frame->ip)) {
		frame->ip--;
		return true;
	}
	return false;
}

/*
 * Where no CFI has led from the last frame to @ret, its code has: that counts where the call
 * before @ret leads there.
 */
static bool leads(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		  const struct hybrid_row *row, const struct hybrid_frame *last, u64 ret)
{
	const struct hybrid_mapping *mapping;

	if (!row || row->rule.kind != HYBRID_RULE_NONE ||
	    hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, last->ip) >
	    HYBRID_REACH_ELSEWHERE)
		return true;
	mapping = hybrid_space_find(u->space, last->ip);
	u->failed_in = mapping ? mapping->object : NULL;
	u->stop = HYBRID_STOP_NO_CFI;
	return false;
}

/* The frames of interpreters among those of @u. */
static void put_functions(struct hybrid_unwind *u)
{
	const u64 mask = (1ULL << HYBRID_WALK_FUNCTION_BITS) - 1;
	unsigned int i;
	u64 words[2], at = 0;

	for (i = 0; i < u->nr_functions; i++) {
		memcpy(words, u->functions + i * sizeof(words), sizeof(words));
		at += words[0] >> HYBRID_WALK_FUNCTION_BITS;
		if (at >= u->nr)
			return;
		u->frames[at].function = (words[0] & mask) << 3;
		u->frames[at].position = words[1];
	}
}

void hybrid_kernel_walk_frames(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			       const struct hybrid_kernel_chain *chain, bool confirmed)
{
	const unsigned int nr = chain->nr_user;
	const struct hybrid_row *row = NULL;
	struct hybrid_cache_entry *entry;
	struct hybrid_frame *frame;
	bool exact = true;
	unsigned int i;

	u->stop = HYBRID_STOP_OUTERMOST;
	u->failed_in = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	for (i = 0; i < nr && i < u->max_frames; i++) {
		frame = &u->frames[i];
		/* What a signal interrupted has called nothing. */
		if (!confirmed && !exact && !leads(unwinder, u, row, &frame[-1], chain->user[i]))
			break;
		entry = exact || confirmed || i + 1 == nr ? NULL :
			hybrid_cache_find(unwinder, u->space->gen, chain->user[i] - 1);
		if (entry && entry->is_caller) {
			*frame = (struct hybrid_frame) { .ip = chain->user[i] - 1,
							 .ret = chain->user[i] };
			row = entry->row;
			continue;
		}
		exact = make_frame(unwinder, u, chain->user[i], !i, exact, frame, &row);
		if (i && !confirmed && !confirm(unwinder, u, i, i + 1 == nr))
			break;
	}
	if (i < nr && u->stop == HYBRID_STOP_OUTERMOST)
		u->stop = HYBRID_STOP_LIMIT;
	u->nr = i;
	u->sure = i;
	if (!confirmed)
		hybrid_cut_refuted(unwinder, u);
	put_functions(u);
}
