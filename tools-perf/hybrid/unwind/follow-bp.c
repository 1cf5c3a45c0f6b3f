// SPDX-License-Identifier: GPL-2.0
/*
 * Going on where a dump ends, by frame pointers.
 */
#include <string.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "called.h"
#include "follow-bp.h"

bool hybrid_is_bp_frame(const struct hybrid_unwind *u, const struct hybrid_rule *rule)
{
	if (rule->kind == HYBRID_RULE_NONE)
		return true;
	return rule->kind == HYBRID_RULE_CFA && rule->base == HYBRID_BASE_BP &&
	       rule->cfa_off == 2 * u->abi->word;
}

u64 hybrid_caller_ip(struct hybrid_unwinder *unwinder, struct hybrid_space *space, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, space, ret - 1, &mapped, &object);
	return row && row->rule.signal ? ret : ret - 1;
}

static void push(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret, bool sure)
{
	u->frames[u->nr++] = (struct hybrid_frame) {
		.ip	= hybrid_caller_ip(unwinder, u->space, ret),
		.ret	= ret,
	};
	u->sure += sure;
}

/* The last frame is V8's, and has called: any call may have led there through V8's builtins. */
static bool add_to_framed(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret)
{
	struct hybrid_object *object;
	bool sure = u->sure == u->nr;

	push(unwinder, u, ret, sure);
	if (hybrid_called_frame(unwinder, u, u->nr - 1, false, &object))
		return true;
	u->nr--;
	u->sure -= sure;
	return false;
}

bool hybrid_add_caller(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret,
		       bool by_cfi)
{
	u64 callee = u->frames[u->nr - 1].ip;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, callee);
	bool sure = u->sure == u->nr;

	if (u->nr == u->max_frames)
		return false;
	if (u->nr > 1 && mapping && hybrid_space_is_framed(u->space, mapping, callee))
		return add_to_framed(unwinder, u, ret);
	switch (hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, callee)) {
	case HYBRID_REACH_NOT:
	case HYBRID_REACH_ELSEWHERE:
	case HYBRID_REACH_FAR:
		return false;
	case HYBRID_REACH_MAYBE:
		sure = false;
		break;
	case HYBRID_REACH_INDIRECT:
		sure = sure && (by_cfi || !mapping || !mapping->object);
		break;
	case HYBRID_REACH_THERE:
	default:
		break;
	}
	push(unwinder, u, ret, sure);
	return true;
}

/* Link @i: bp of a frame, and its return address. Returns false if the pair is a function. */
static bool link_at(const struct hybrid_links *links, unsigned int i, u64 *bp, u64 *ret)
{
	u64 words[2];

	memcpy(words, links->words + 2 * i, sizeof(words));
	*bp = words[0] & HYBRID_WALK_FUNCTION_ADDR;
	*ret = words[1];
	return HYBRID_WALK_IS_NATIVE_LINK(words[0]);
}

/* Which link has this bp? @links->nr: none. */
static unsigned int find_link(const struct hybrid_links *links, u64 of)
{
	unsigned int i;
	u64 bp, ret;

	for (i = 0; i < links->nr; i++) {
		if (link_at(links, i, &bp, &ret) && bp == of)
			break;
	}
	return i;
}

bool hybrid_follow_links(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			 const struct hybrid_links *links)
{
	bool mapped, by_cfi = u->rule.kind != HYBRID_RULE_NONE;
	struct hybrid_object *object;
	struct hybrid_row *row;
	unsigned int i;
	u64 bp, ret;

	if (!links->words || !u->bp_known || !hybrid_is_bp_frame(u, &u->rule))
		return false;
	for (i = find_link(links, u->bp); i < links->nr; i++) {
		if (!link_at(links, i, &bp, &ret))
			continue;
		row = hybrid_unwind_row(unwinder, u->space, ret - 1, &mapped, &object);
		if (!mapped || !hybrid_add_caller(unwinder, u, ret, by_cfi))
			return false;
		u->frames[u->nr - 2].cfa = bp + 2 * u->abi->word;
		by_cfi = row && row->rule.kind != HYBRID_RULE_NONE;
		u->failed_in = object;
		if (row && row->rule.kind == HYBRID_RULE_OUTERMOST)
			return true;
		if (row && !hybrid_is_bp_frame(u, &row->rule))
			return false;
	}
	return false;
}
