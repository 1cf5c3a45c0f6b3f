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
#include "../rules/rows.h"
#include "confirm.h"
#include "uretprobe.h"
#include "walk.h"

/* Offsets in bytes: arch/x86/include/uapi/asm/ucontext.h, sigcontext.h. */
#define UCONTEXT_BP	120
#define UCONTEXT_SP	160
#define UCONTEXT_IP	168

/* How often a word there is asked for, about 1 us each. */
#define MAX_ASKED	16

static int read_word(const struct hybrid_unwind *u, u64 addr, u64 *value)
{
	/* The common case apart: the compiler makes one load of it. */
	if (u->abi->word == 8)
		return hybrid_unwind_read(u, addr, 8, value);
	return hybrid_unwind_read(u, (u32)addr, 4, value);
}

static bool is_behind_call(const struct hybrid_walk *w, u64 ret);

/* As it was before a return probe replaced it. */
static u64 true_return(const struct hybrid_walk *w, u64 at, u64 ret)
{
	u64 was;

	if (!hybrid_uretprobe_is_trampoline(ret))
		return ret;
	was = hybrid_uretprobe_return(w->u, at, ret);
	return was != ret && is_behind_call(w, was) ? was : ret;
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

static enum hybrid_stop step_rule(struct hybrid_walk *w, const struct hybrid_rule *rule,
				  struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u64 base = rule->base == HYBRID_BASE_BP ? u->bp : u->sp;
	u64 cfa = base + rule->cfa_off;

	if (rule->base == HYBRID_BASE_BP && !u->bp_known)
		return HYBRID_STOP_BAD_FRAME;
	if (rule->base >= HYBRID_BASE_REG && !add_register(u, rule, &cfa))
		return HYBRID_STOP_BAD_FRAME;
	if (rule->kind == HYBRID_RULE_DEREF && hybrid_walk_read(w, cfa, u->abi->word, &cfa))
		return hybrid_walk_unreadable(u, cfa);
	cfa += rule->deref_off;
	caller->cfa = cfa;
	if (read_word(u, cfa + rule->ra_off, &caller->ip))
		return hybrid_walk_unreadable(u, cfa + rule->ra_off);
	caller->ip = true_return(w, cfa + rule->ra_off, caller->ip);

	caller->bp = u->bp;
	caller->bp_known = u->bp_known;
	if (rule->bp == HYBRID_BP_AT_CFA)
		caller->bp_known = !read_word(u, cfa + rule->bp_off, &caller->bp);
	else if (rule->bp == HYBRID_BP_AT_BP)
		caller->bp_known = !read_word(u, u->bp + rule->bp_off, &caller->bp);
	else if (rule->bp == HYBRID_BP_UNDEFINED)
		caller->bp_known = false;
	caller->exact = rule->signal;
	return HYBRID_STOP_NR;
}

/* The handler's return took all of struct rt_sigframe but its struct ucontext. */
static enum hybrid_stop step_sigreturn(struct hybrid_unwind *u, struct hybrid_caller *caller)
{
	if (read_word(u, u->sp + UCONTEXT_BP, &caller->bp) ||
	    read_word(u, u->sp + UCONTEXT_SP, &caller->cfa) ||
	    read_word(u, u->sp + UCONTEXT_IP, &caller->ip))
		return hybrid_walk_unreadable(u, u->sp + UCONTEXT_BP);
	caller->bp_known = true;
	caller->exact = true;
	return HYBRID_STOP_NR;
}

/*
 * Code without CFI (psABI x86-64 3.2.2: a frame pointer of 0 is the deepest). What
 * code with CFI, or none, has in the register need not be a frame pointer: 0 is
 * often none, as below code that PHP compiles.
 */
static enum hybrid_stop read_frame_pointer(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u8 word = u->abi->word;

	if (!u->bp_known)
		return HYBRID_STOP_NO_CFI;
	if (!u->bp)
		return w->by_bp ? HYBRID_STOP_OUTERMOST : HYBRID_STOP_NO_CFI;
	if (u->bp < u->sp || u->bp % word)
		return HYBRID_STOP_NO_CFI;
	caller->cfa = u->bp + 2 * word;
	if (read_word(u, u->bp, &caller->bp) || read_word(u, u->bp + word, &caller->ip))
		return hybrid_walk_unreadable(u, u->bp);
	caller->ip = true_return(w, u->bp + word, caller->ip);
	caller->bp_known = true;
	caller->exact = false;
	return HYBRID_STOP_NR;
}

/*
 * Did the call before @ret lead to the last frame? What nobody called tells of no target:
 * Go leaves such an address on a stack that it has switched from.
 */
static enum hybrid_leads leads_here(const struct hybrid_walk *w, u64 ret)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_frame *frame = &u->frames[u->nr - 1];
	enum hybrid_leads leads;

	leads = hybrid_confirm(w->unwinder, u->space, u->pid, u->abi, ret, frame->ip);
	if (leads <= HYBRID_LEADS_FAR && u->nr > 1 && !is_behind_call(w, frame->ret) &&
	    is_behind_call(w, ret))
		return HYBRID_LEADS_MAYBE;
	return leads;
}

/*
 * Does a chain of frame pointers go on at @ret, between code without CFI? V8 enters
 * JavaScript by a call to what looks at the function and then jumps there.
 */
static bool is_linked(const struct hybrid_walk *w, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(w->unwinder, w->u->space, ret - 1, &mapped, &object);
	return w->by_bp && (!row || row->rule.kind == HYBRID_RULE_NONE);
}

/*
 * Is @ret in code that was made at run time, as the last frame is? Interpreters that are
 * made so, as Java's, push return addresses of their own and jump.
 */
static bool is_between_made(const struct hybrid_walk *w, u64 ret)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *of = hybrid_space_find(u->space, u->frames[u->nr - 1].ip);
	const struct hybrid_mapping *to = hybrid_space_find(u->space, ret);

	return of && !of->object && to && !to->object;
}

/*
 * In assembler the register may hold anything, and what it points to look like a
 * frame: only a direct call that leads to the last frame shows that it is one. Code
 * made at run time keeps frame pointers, mostly: there a call will do.
 */
static enum hybrid_stop step_frame_pointer(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	const struct hybrid_frame *frame = &w->u->frames[w->u->nr - 1];
	enum hybrid_stop stop = read_frame_pointer(w, caller);
	const struct hybrid_mapping *mapping;

	if (stop != HYBRID_STOP_NR || !caller->ip)
		return stop;
	mapping = hybrid_space_find(w->u->space, frame->ip);
	switch (leads_here(w, caller->ip)) {
	case HYBRID_LEADS_NOT:
		w->guess = true;
		return is_between_made(w, caller->ip) ? stop : HYBRID_STOP_NO_CFI;
	case HYBRID_LEADS_FAR:
		w->guess = true;
		return is_linked(w, caller->ip) ? stop : HYBRID_STOP_NO_CFI;
	case HYBRID_LEADS_THERE:
		return stop;
	case HYBRID_LEADS_INDIRECT:
		w->guess = mapping && mapping->object;
		return stop;
	case HYBRID_LEADS_MAYBE:
	default:
		w->guess = true;
		return stop;
	}
}

/* What the code of the last frame tells; its object's row keeps that. */
static bool code_rule(const struct hybrid_walk *w, struct hybrid_row *row, struct hybrid_rule *rule)
{
	const struct hybrid_unwind *u = w->u;
	u64 ret = u->frames[u->nr - 1].ret;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ret);

	if (mapping && !mapping->object)
		return hybrid_memory_rule(w->unwinder->memory, u->space, u->pid, u->abi, ret, rule);
	if (!mapping || !row)
		return false;
	*rule = *hybrid_object_code_rule(row, mapping, ret);
	return rule->kind != HYBRID_RULE_NONE;
}

static bool is_return(const struct hybrid_walk *w, u64 ret)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ret);

	if (mapping && !mapping->object)
		return hybrid_memory_is_return(w->unwinder->memory, u->space, u->pid, u->abi, ret);
	return mapping && hybrid_object_is_return(mapping, ret);
}

/* Looked up as a frame is: so its mapping is there, if it can be. */
static bool is_behind_call(const struct hybrid_walk *w, u64 ret)
{
	struct hybrid_object *object;
	bool mapped;

	hybrid_unwind_row(w->unwinder, w->u->space, ret - 1, &mapped, &object);
	return is_return(w, ret);
}

/*
 * By that, where it leads to behind a call, or to what a signal interrupted.
 * HYBRID_STOP_NO_CFI: the code does not tell.
 */
static enum hybrid_stop step_code(struct hybrid_walk *w, struct hybrid_row *row,
				  struct hybrid_caller *caller)
{
	struct hybrid_frame *frame = &w->u->frames[w->u->nr - 1];
	struct hybrid_unwind *u = w->u;
	struct hybrid_rule rule;
	enum hybrid_stop stop;

	if (!code_rule(w, row, &rule))
		return HYBRID_STOP_NO_CFI;
	if (rule.kind == HYBRID_RULE_SIGRETURN) {
		/* Nobody called it: see frame_row(). */
		frame->ip = frame->ret;
		u->rule = rule;
		return step_sigreturn(u, caller);
	}
	stop = step_rule(w, &rule, caller);
	/* Assembler has frames of tens of kilobytes. */
	u->by_code = stop == HYBRID_STOP_DUMP_END;
	if (!u->by_code && (stop != HYBRID_STOP_NR ||
			    leads_here(w, caller->ip) == HYBRID_LEADS_NOT)) {
		if (row)
			row->code_failed = true;
		return HYBRID_STOP_NO_CFI;
	}
	if (row)
		row->code_led = true;
	return stop;
}

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
		return step_rule(w, &u->rule, caller);
	case HYBRID_RULE_FULL:
		stop = hybrid_walk_full(w, &u->rule, caller);
		caller->ip = true_return(w, caller->cfa - u->abi->word, caller->ip);
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
		stop = step_code(w, NULL, caller);
		if (stop == HYBRID_STOP_NR)
			return stop;
	}
	u->rule = row->rule;
	stop = step_said(w, caller);
	if (stop != HYBRID_STOP_NR || caller->exact || !caller->ip ||
	    leads_here(w, caller->ip) != HYBRID_LEADS_NOT)
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
	stop = step_code(w, row, caller);
	return stop == HYBRID_STOP_NO_CFI ? step_frame_pointer(w, caller) : stop;
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
		if (stop == HYBRID_STOP_NR && is_behind_call(w, caller->ip))
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
	if (!u->rule.signal && (sp < u->sp || (sp == u->sp && !full)))
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
	return HYBRID_STOP_NR;
}

static void start(struct hybrid_walk *w)
{
	struct hybrid_unwind *u = w->u;
	u64 ip = u->regs.value[u->abi->ip];

	w->full = u->regs;
	w->full_at = 0;
	w->by_bp = false;
	w->guessed = false;
	u->sure = 1;
	u->frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
	u->nr = 1;
	u->sp = u->regs.value[u->abi->sp];
	u->bp = u->regs.value[u->abi->bp];
	u->bp_known = u->regs.known & (1U << u->abi->bp);
	u->failed_in = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	u->by_code = false;
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

	if (rule.kind == HYBRID_RULE_NONE || caller->exact || is_behind_call(w, caller->ip))
		return;
	u->rule.kind = HYBRID_RULE_NONE;
	if (step_code(w, row, &by_code) == HYBRID_STOP_NR)
		*caller = by_code;
	else
		u->rule = rule;
}

/* Did another task, which runs on the same stack, write over the return address? */
static bool is_overwritten(const struct hybrid_walk *w, const struct hybrid_caller *caller)
{
	return w->u->overwritten && caller->ip && !caller->exact &&
	       leads_here(w, caller->ip) == HYBRID_LEADS_NOT;
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
	while (stop == HYBRID_STOP_NR) {
		struct hybrid_caller caller = {};
		struct hybrid_frame *frame;

		if (u->nr > 1 && u->abi->word == 8 && !u->overwritten)
			object = hybrid_walk_plain(&w) ?: object;
		frame = &u->frames[u->nr - 1];
		callee = object;
		row = frame_row(&w, frame, &mapped, &object);
		if (!mapped) {
			stop = unmapped(u);
			object = callee;
			break;
		}
		if (hybrid_object_waits(object)) {
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
}
