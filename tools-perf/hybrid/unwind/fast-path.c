// SPDX-License-Identifier: GPL-2.0
/*
 * The steps that nearly all are, without what only others need: each costs a quarter of
 * what it does in unwind.c.
 */
#include "uretprobe.h"
#include "walk.h"

/* The rule of an address whose row is in the cache, if a plain step can go by it. */
static const struct hybrid_cache_entry *plain_entry(struct hybrid_unwinder *unwinder, u64 gen,
						    u64 ip)
{
	const struct hybrid_cache_entry *entry = hybrid_cache_at(unwinder, gen, ip);

	if (entry->ip != ip || entry->gen != gen || !entry->row ||
	    entry->row->rule.kind != HYBRID_RULE_CFA || entry->row->rule.signal)
		return NULL;
	return entry;
}

/* What a register is in the caller, as step_rule() has it. */
static void restore_bp(const struct hybrid_unwind *u, const struct hybrid_rule *rule, u64 cfa,
		       u64 *bp, bool *bp_known)
{
	if (rule->bp == HYBRID_BP_SAME)
		return;
	*bp_known = rule->bp != HYBRID_BP_UNDEFINED &&
		    !hybrid_unwind_read(u, (rule->bp == HYBRID_BP_AT_CFA ? cfa : *bp) +
					rule->bp_off, 8, bp);
}

struct hybrid_object *hybrid_walk_fast(struct hybrid_walk *w)
{
	struct hybrid_unwind *u = w->u;
	struct hybrid_frame *frame = &u->frames[u->nr - 1];
	const struct hybrid_frame *last = &u->frames[u->max_frames - 1];
	const struct hybrid_frame *from = frame;
	const struct hybrid_cache_entry *entry, *left = NULL;
	u64 sp = u->sp, bp = u->bp, gen = u->space->gen, cfa, ret;
	bool bp_known = u->bp_known;

	while (frame < last && (entry = plain_entry(w->unwinder, gen, frame->ip))) {
		const struct hybrid_rule *rule = &entry->row->rule;

		if (rule->base == HYBRID_BASE_BP && !bp_known)
			break;
		cfa = (rule->base == HYBRID_BASE_BP ? bp : sp) + rule->cfa_off;
		if (cfa <= sp || hybrid_unwind_read(u, cfa + rule->ra_off, 8, &ret) || !ret ||
		    hybrid_uretprobe_is_trampoline(ret))
			break;
		restore_bp(u, rule, cfa, &bp, &bp_known);
		sp = cfa;
		frame->cfa = cfa;
		*++frame = (struct hybrid_frame) { .ip = ret - 1, .ret = ret };
		left = entry;
	}
	if (!left)
		return NULL;
	u->nr += frame - from;
	u->sure += w->guessed ? 0 : frame - from;
	u->sp = sp;
	u->bp = bp;
	u->bp_known = bp_known;
	u->rule = left->row->rule;
	w->by_bp = false;
	w->framed = false;
	return left->object;
}
