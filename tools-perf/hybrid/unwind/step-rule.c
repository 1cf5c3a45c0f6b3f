// SPDX-License-Identifier: GPL-2.0
/* A step that is known: by a rule, or out of a signal handler. */
#include "../bpf_skel/hybrid_walk.h"
#include "../bpf_skel/signal-frame.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "step.h"
#include "uretprobe.h"

/* Looked up as a frame is: so its mapping is there, if it can be. */
bool hybrid_step_is_return(const struct hybrid_walk *w, u64 ret)
{
	struct hybrid_object *object;
	bool mapped;

	hybrid_unwind_row(w->unwinder, w->u->space, ret - 1, &mapped, &object);
	return hybrid_is_after_call(w->unwinder, w->u, hybrid_space_find(w->u->space, ret), ret);
}

u64 hybrid_step_true_return(const struct hybrid_walk *w, u64 at, u64 ret)
{
	u64 was;

	if (!hybrid_uretprobe_is_trampoline(ret))
		return ret;
	was = hybrid_uretprobe_return(w->u, at, ret);
	return was != ret && hybrid_step_is_return(w, was) ? was : ret;
}

/* A register that is not followed from frame to frame; out: the CFA. */
static bool add_register(const struct hybrid_unwind *u, const struct hybrid_rule *rule, u64 *cfa)
{
	unsigned int reg = rule->base - HYBRID_BASE_REG;

	if (u->nr > 1 || reg >= u->abi->nr || !(u->regs.known & (1U << reg)))
		return false;
	*cfa = u->regs.value[reg] + rule->cfa_off;
	return true;
}

/* Where the interpreter of HotSpot has the address of the bytecode that it runs: r13. */
#define POSITION_REG	13

static enum hybrid_stop step_saved_sp(struct hybrid_walk *w, const struct hybrid_rule *rule,
				      struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	struct hybrid_frame *frame;
	u64 word = u->abi->word;

	if (!u->bp_known || u->bp < u->sp || u->bp % word)
		return HYBRID_STOP_BAD_FRAME;
	if (hybrid_walk_word(u, u->bp + rule->cfa_off, &caller->cfa) ||
	    hybrid_walk_word(u, u->bp + word, &caller->ip) ||
	    hybrid_walk_word(u, u->bp, &caller->bp))
		return hybrid_walk_unreadable(u, u->bp + word);
	if (caller->cfa < u->bp + 2 * word || caller->cfa - u->bp > HYBRID_WALK_LOCALS)
		return HYBRID_STOP_BAD_FRAME;
	/* They are of use where both can be read. */
	frame = &u->frames[u->nr - 1];
	if (hybrid_walk_word(u, u->bp - rule->deref_off, &frame->function) ||
	    hybrid_walk_word(u, u->bp + rule->bp_off, &frame->position))
		frame->function = 0;
	if (u->nr == 1 && u->regs.known & (1U << POSITION_REG))
		frame->position = u->regs.value[POSITION_REG];
	caller->ip = hybrid_step_true_return(w, u->bp + word, caller->ip);
	caller->bp_known = true;
	caller->exact = false;
	caller->framed = false;
	return HYBRID_STOP_NR;
}

enum hybrid_stop hybrid_step_rule(struct hybrid_walk *w, const struct hybrid_rule *rule,
				  struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u64 base = rule->base == HYBRID_BASE_BP ? u->bp : u->sp;
	u64 cfa = base + rule->cfa_off;

	if (rule->kind == HYBRID_RULE_SAVED_SP)
		return step_saved_sp(w, rule, caller);
	if (rule->base == HYBRID_BASE_BP && !u->bp_known)
		return HYBRID_STOP_BAD_FRAME;
	if (rule->base >= HYBRID_BASE_REG && !add_register(u, rule, &cfa))
		return HYBRID_STOP_BAD_FRAME;
	if (rule->kind == HYBRID_RULE_DEREF && hybrid_walk_read(w, cfa, u->abi->word, &cfa))
		return hybrid_walk_unreadable(u, cfa);
	cfa += rule->deref_off;
	caller->cfa = cfa;
	if (hybrid_walk_word(u, cfa + rule->ra_off, &caller->ip))
		return hybrid_walk_unreadable(u, cfa + rule->ra_off);
	caller->ip = hybrid_step_true_return(w, cfa + rule->ra_off, caller->ip);

	caller->bp = u->bp;
	caller->bp_known = u->bp_known;
	if (rule->bp == HYBRID_BP_AT_CFA)
		caller->bp_known = !hybrid_walk_word(u, cfa + rule->bp_off, &caller->bp);
	else if (rule->bp == HYBRID_BP_AT_BP)
		caller->bp_known = !hybrid_walk_word(u, u->bp + rule->bp_off, &caller->bp);
	else if (rule->bp == HYBRID_BP_UNDEFINED)
		caller->bp_known = false;
	caller->exact = rule->signal;
	caller->framed = false;
	return HYBRID_STOP_NR;
}

enum hybrid_stop hybrid_step_sigreturn(struct hybrid_unwind *u, struct hybrid_caller *caller)
{
	if (hybrid_walk_word(u, u->sp + HYBRID_UCONTEXT_BP, &caller->bp) ||
	    hybrid_walk_word(u, u->sp + HYBRID_UCONTEXT_SP, &caller->cfa) ||
	    hybrid_walk_word(u, u->sp + HYBRID_UCONTEXT_IP, &caller->ip))
		return hybrid_walk_unreadable(u, u->sp + HYBRID_UCONTEXT_BP);
	caller->bp_known = true;
	caller->exact = true;
	return HYBRID_STOP_NR;
}
