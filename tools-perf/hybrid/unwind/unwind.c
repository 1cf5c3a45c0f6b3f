// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping from frame to frame over a copy of the stack.
 *
 * ip, sp and bp are followed by rule; a row that needs more registers has them
 * computed then, by running the frames since they were last known once more in
 * full. That is rare, and spares all other frames five loads each.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "called.h"
#include "fiber.h"
#include "step.h"
#include "step-run.h"
#include "uprobe.h"

/* How often a word there is asked for, about 1 us each. */
#define MAX_ASKED	16

/* By the rule that its row, or what the process has compiled, says. */
static enum hybrid_stop step_said(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	enum hybrid_stop stop;

	switch (u->rule.kind) {
	case HYBRID_RULE_OUTERMOST:
		return HYBRID_STOP_OUTERMOST;
	case HYBRID_RULE_SWITCHED:
		return HYBRID_STOP_BAD_FRAME;
	case HYBRID_RULE_CFA:
	case HYBRID_RULE_DEREF:
		return hybrid_step_rule(w, &u->rule, caller);
	case HYBRID_RULE_FULL:
		stop = hybrid_walk_full(w, &u->rule, caller);
		caller->ip = hybrid_step_true_return(w, caller->cfa - u->abi->word, caller->ip);
		return stop;
	default:
		return HYBRID_STOP_NO_CFI;
	}
}

/*
 * What a process says of code that it has compiled may be old, or not true of all of it:
 * QEMU has one row for all that it translates, of which what enters and leaves it is a
 * part. So the sampled instruction's own code is asked first, and a caller that was not
 * called from where it is said to be is none.
 */
static enum hybrid_stop step_made(struct hybrid_walk *w, struct hybrid_row *row,
				  struct hybrid_caller *caller)
{
	static const struct hybrid_rule none;
	struct hybrid_unwind *u = w->u;
	enum hybrid_stop stop;

	u->rule = none;
	if (u->nr == 1) {
		stop = hybrid_step_code(w, NULL, caller);
		if (stop == HYBRID_STOP_NR)
			return stop;
	}
	u->rule = row->rule;
	stop = step_said(w, caller);
	if (stop != HYBRID_STOP_NR || caller->exact || !caller->ip ||
	    hybrid_step_reaches(w, caller->ip) > HYBRID_REACH_ELSEWHERE)
		return stop;
	u->rule = none;
	return HYBRID_STOP_NO_CFI;
}

static enum hybrid_stop step_row(struct hybrid_walk *w, struct hybrid_row *row,
				 struct hybrid_caller *caller)
{
	static const struct hybrid_rule none;
	struct hybrid_unwind *u = w->u;
	enum hybrid_stop stop;

	u->rule = row ? row->rule : none;
	stop = w->made ? step_made(w, row, caller) : step_said(w, caller);
	if (u->rule.kind != HYBRID_RULE_NONE || stop != HYBRID_STOP_NO_CFI)
		return stop;
	stop = hybrid_step_uprobe(w, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_unframed(w, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_runtime(w, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_run(w, true, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_code(w, row, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_run(w, false, caller);
	if (stop == HYBRID_STOP_NO_CFI)
		stop = hybrid_step_outermost(w, caller);
	return stop == HYBRID_STOP_NO_CFI ? hybrid_step_frame_pointer(w, caller) : stop;
}

/*
 * A word from the process is newer than the sample, and must not make up a caller.
 * A function that moves its stack from round to round, as OpenSSL's, has it there
 * again soon.
 */
static enum hybrid_stop step(struct hybrid_walk *w, struct hybrid_row *row,
			     struct hybrid_caller *caller)
{
	enum hybrid_stop stop;
	unsigned int i;

	for (i = 0; i < MAX_ASKED; i++) {
		w->below = false;
		w->guess = false;
		stop = step_row(w, row, caller);
		if (!w->below)
			return stop;
		if (stop == HYBRID_STOP_NR && hybrid_step_is_return(w, caller->ip))
			return stop;
	}
	return HYBRID_STOP_BAD_FRAME;
}

/* Makes the caller the last frame. */
static enum hybrid_stop enter(struct hybrid_walk *w, const struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	bool full = u->rule.kind == HYBRID_RULE_FULL;
	u64 sp = full ? w->full.value[u->abi->sp] : caller->cfa;

	if (!caller->ip)
		return HYBRID_STOP_OUTERMOST;
	/*
	 * Stacks grow upwards to the caller; only a signal may have changed
	 * them. A return address kept in a register takes no room (vfork()).
	 */
	if (!u->rule.signal && (sp < u->sp || (sp == u->sp && !full && !caller->takes_no_room)))
		return HYBRID_STOP_BAD_FRAME;
	if (u->nr == u->max_frames)
		return HYBRID_STOP_LIMIT;
	w->guessed |= w->guess;
	u->sure += !w->guessed;
	u->frames[u->nr++] = (struct hybrid_frame) {
		.ip	= caller->ip - !caller->exact,
		.ret	= caller->ip,
	};
	u->sp = sp;
	u->bp = caller->bp;
	u->bp_known = caller->bp_known;
	w->by_bp = u->rule.kind == HYBRID_RULE_NONE;
	w->framed = w->by_bp && caller->framed;
	return HYBRID_STOP_NR;
}

static void start(struct hybrid_walk *w)
{
	struct hybrid_unwind *u = w->u;
	u64 ip = u->regs.value[u->abi->ip];

	w->full = u->regs;
	w->full_at = 0;
	w->by_bp = false;
	w->framed = false;
	w->guessed = false;
	u->sure = 1;
	u->frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
	u->nr = 1;
	u->sp = u->regs.value[u->abi->sp];
	u->bp = u->regs.value[u->abi->bp];
	u->bp_known = u->regs.known & (1U << u->abi->bp);
	u->failed_in = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	u->fiber_end = 0;
	u->fiber_ret = 0;
	u->by_code = false;
	u->is_refuted = false;
}

/*
 * CFI of assembler is written by hand, and wrong in places: glibc's i386 memcpy()
 * pushes without saying so, all of LuaJIT's interpreter is one row. Where no call
 * stands before what it led to from the sampled instruction, ask the code.
 */
static void check_innermost(struct hybrid_walk *w, struct hybrid_row *row,
			    struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	struct hybrid_rule rule = u->rule;
	struct hybrid_caller by_code = {};

	if (rule.kind == HYBRID_RULE_NONE || caller->exact || hybrid_step_is_return(w, caller->ip))
		return;
	u->rule.kind = HYBRID_RULE_NONE;
	if (hybrid_step_code(w, row, &by_code) == HYBRID_STOP_NR)
		*caller = by_code;
	else
		u->rule = rule;
}

/* Did another task, which runs on the same stack, write over the return address? */
static bool is_overwritten(const struct hybrid_walk *w, const struct hybrid_caller *caller)
{
	return w->u->overwritten && caller->ip && !caller->exact &&
	       hybrid_step_reaches(w, caller->ip) <= HYBRID_REACH_ELSEWHERE;
}

/*
 * The row of the last frame. A signal handler's return address is that of the
 * trampoline itself, which nobody called: it is no address behind a call. And a
 * system call that never returns, such as sigreturn, may be the trampoline's
 * last instruction, so that the sampled address lies behind the CFI.
 */
static struct hybrid_row *frame_row(struct hybrid_walk *w, struct hybrid_frame *frame,
				    bool *mapped, struct hybrid_object **object)
{
	struct hybrid_space *space = w->u->space;
	struct hybrid_row *row;

	row = hybrid_walk_row(w, frame->ip, mapped, object, &w->made);
	if (row && row->rule.signal)
		frame->ip = frame->ret;
	if (w->u->nr == 1 && row && row->rule.kind == HYBRID_RULE_NONE) {
		struct hybrid_object *object_before;
		struct hybrid_row *before;
		bool mapped_before;

		before = hybrid_unwind_row(w->unwinder, space, frame->ip - 1,
					   &mapped_before, &object_before);
		if (before && before->rule.signal) {
			frame->ip--;
			*object = object_before;
			return before;
		}
	}
	return row;
}

/*
 * The last frame's address is in no mapping: the step that led there was wrong,
 * and so is the frame.
 */
static enum hybrid_stop unmapped(struct hybrid_unwind *u)
{
	if (u->nr == 1)
		return HYBRID_STOP_NO_MAP;
	u->nr--;
	u->sure = min(u->sure, u->nr);
	return u->rule.kind != HYBRID_RULE_NONE ? HYBRID_STOP_NO_MAP : HYBRID_STOP_NO_CFI;
}

void hybrid_unwind(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	struct hybrid_walk w = { .unwinder = unwinder, .u = u };
	struct hybrid_object *object = NULL, *callee;
	enum hybrid_stop stop = HYBRID_STOP_NR;
	struct hybrid_row *row;
	bool mapped;

	start(&w);
	hybrid_memory_see(unwinder->memory, u->space, u->pid, u->abi, &u->code);
	while (stop == HYBRID_STOP_NR) {
		struct hybrid_caller caller = {};
		struct hybrid_frame *frame;

		if (u->nr > 1 && u->abi->word == 8 && !u->overwritten)
			object = hybrid_walk_fast(&w) ?: object;
		frame = &u->frames[u->nr - 1];
		callee = object;
		row = frame_row(&w, frame, &mapped, &object);
		if (!mapped) {
			stop = unmapped(u);
			object = callee;
			break;
		}
		if (!row && hybrid_object_waits(object)) {
			stop = HYBRID_STOP_UNREAD;
			break;
		}
		stop = step(&w, row, &caller);
		if (stop == HYBRID_STOP_NR && u->nr == 1)
			check_innermost(&w, row, &caller);
		if (stop == HYBRID_STOP_NR && is_overwritten(&w, &caller))
			stop = HYBRID_STOP_BAD_FRAME;
		frame->cfa = caller.cfa;
		if (stop == HYBRID_STOP_NR)
			stop = enter(&w, &caller);
	}
	u->stop = stop;
	u->failed_in = object;
	if (stop != HYBRID_STOP_UNREAD && stop != HYBRID_STOP_LIMIT &&
	    (stop != HYBRID_STOP_OUTERMOST || u->rule.kind != HYBRID_RULE_OUTERMOST))
		hybrid_fiber_end(unwinder, u);
	hybrid_cut_refuted(unwinder, u);
}
