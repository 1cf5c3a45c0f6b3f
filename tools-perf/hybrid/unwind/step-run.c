// SPDX-License-Identifier: GPL-2.0
/*
 * A step from the sampled instruction by running its function on, for code without CFI whose
 * return address is in no place that a rule can say.
 */
#include <linux/kernel.h>
#include "../rules/rows.h"
#include "step.h"
#include "step-run.h"

#define WORD	8

static int read_stack(void *arg, u64 addr, u64 *value)
{
	return hybrid_unwind_read(arg, addr, WORD, value);
}

/* Runs the code of the sampled function, which is in a file. */
static bool run_on(struct hybrid_walk *w, const struct hybrid_mapping *mapping,
		   struct hybrid_run_end *end)
{
	struct hybrid_unwind *u = w->u;
	const struct hybrid_run_stack stack = {
		.read = read_stack, .arg = u, .start = u->sp, .end = u->dump_start + u->dump_size,
	};
	u64 ip = u->frames[0].ip, vaddr;
	struct hybrid_code code;

	if (!hybrid_object_use(mapping) ||
	    !hybrid_object_vaddr(mapping->object, ip - mapping->start + mapping->pgoff, &vaddr))
		return false;
	code = hybrid_object_code(mapping->object);
	return u->abi->arch->run_on(&code, vaddr, &u->regs, &stack, end) &&
	       hybrid_object_is_current(mapping->object);
}

/* Has a call before the return address led here? V8's builtins go to each other by jumps. */
static bool is_believed(struct hybrid_walk *w, bool framed, u64 ret)
{
	return framed ? hybrid_step_is_return(w, ret) :
			hybrid_step_reaches(w, ret) > HYBRID_REACH_ELSEWHERE;
}

enum hybrid_stop hybrid_step_run(struct hybrid_walk *w, bool framing,
				 struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, u->frames[0].ip);
	struct hybrid_run_end run = {};
	bool framed;

	if (u->nr > 1 || u->abi->word != WORD || !mapping || !mapping->object || u->overwritten)
		return HYBRID_STOP_NO_CFI;
	framed = hybrid_space_is_framed(u->space, mapping, u->frames[0].ip);
	if ((framing && !framed) || !run_on(w, mapping, &run) || (framing && !run.makes_frame) ||
	    run.ret == u->frames[0].ip || !is_believed(w, framed, run.ret))
		return HYBRID_STOP_NO_CFI;
	*caller = (struct hybrid_caller) {
		.cfa = run.sp, .ip = run.ret, .bp = run.bp, .bp_known = run.bp_known,
	};
	if (run.makes_frame) {
		caller->cfa = run.bp + WORD;
		caller->bp = u->bp;
		caller->bp_known = u->bp_known;
		w->unframed = true;
	}
	/* A return address in a register takes no room, and what is pushed until then may stay. */
	if (caller->cfa < u->sp)
		caller->cfa = u->sp;
	caller->takes_no_room = caller->cfa == u->sp;
	return HYBRID_STOP_NR;
}

enum hybrid_stop hybrid_step_unframed(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	static const struct hybrid_rule entry = {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
		.cfa_off = WORD, .ra_off = -WORD,
	};

	if (!w->unframed || w->u->nr != 2)
		return HYBRID_STOP_NO_CFI;
	hybrid_step_note_callee(w->u);
	return hybrid_step_rule(w, &entry, caller);
}
