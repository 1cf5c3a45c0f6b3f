// SPDX-License-Identifier: GPL-2.0
/*
 * Samples that came without a dump: the kernel has walked their stack by the
 * rules that it was taught.
 */
#include <string.h>
#include <linux/perf_event.h>
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

/* The registers of a frame, as far as they are known without its stack. */
struct known {
	u64	sp;
	u64	bp;
	bool	sp_known;
	bool	bp_known;
};

/* Goes to the caller; returns the frame's CFA, 0 where it is not known. */
static u64 step(struct known *known, const struct hybrid_rule *rule)
{
	bool from_bp = rule->base == HYBRID_BASE_BP;
	u64 cfa = 0;

	if (rule->kind == HYBRID_RULE_CFA && (from_bp ? known->bp_known : known->sp_known))
		cfa = (from_bp ? known->bp : known->sp) + rule->cfa_off;
	known->sp = cfa;
	known->sp_known = cfa;
	if ((rule->kind != HYBRID_RULE_CFA && rule->kind != HYBRID_RULE_DEREF) ||
	    rule->bp != HYBRID_BP_SAME)
		known->bp_known = false;
	return cfa;
}

static void start(struct hybrid_unwind *u, struct known *known)
{
	const struct hybrid_abi *abi = u->abi;

	known->sp = u->regs.value[abi->sp];
	known->bp = u->regs.value[abi->bp];
	known->sp_known = u->regs.known & (1U << abi->sp);
	known->bp_known = u->regs.known & (1U << abi->bp);
	u->nr = 0;
	u->stop = HYBRID_STOP_OUTERMOST;
	u->culprit = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
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

void hybrid_taught(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		   const u64 *chain, unsigned int nr)
{
	static const struct hybrid_rule none;
	struct hybrid_object *object;
	struct hybrid_row *row;
	struct known known;
	bool exact = true, mapped;
	unsigned int i;

	chain = user_chain(chain, &nr);
	start(u, &known);
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
		frame.cfa = step(&known, row ? &row->rule : &none);
		u->frames[u->nr++] = frame;
	}
	u->sp = known.sp;
	u->bp = known.bp;
	u->bp_known = known.bp_known;
}
