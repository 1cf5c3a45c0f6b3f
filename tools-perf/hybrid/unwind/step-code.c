// SPDX-License-Identifier: GPL-2.0
/*
 * A step from code that no CFI covers: by what the code itself tells, or by the frame
 * pointer. Either is believed only where a call stands before what it leads to.
 */
#include "../bpf_skel/signal-frame.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "fiber.h"
#include "step.h"
#include "step-run.h"

/* Words of a stack among which the outermost frame's return address is looked for. */
#define OUTERMOST_WORDS	64

/* Bytes of a syscall instruction. */
#define SYSCALL_SIZE	2

/* What nobody called tells of no target: Go leaves such an address on a stack it has left. */
enum hybrid_reach hybrid_step_reaches(const struct hybrid_walk *w, u64 ret)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_frame *frame = &u->frames[u->nr - 1];
	enum hybrid_reach leads;

	leads = hybrid_check_call(w->unwinder, u->space, u->pid, u->abi, ret, frame->ip);
	if (leads <= HYBRID_REACH_FAR && u->nr > 1 && !hybrid_step_is_return(w, frame->ret) &&
	    hybrid_step_is_return(w, ret))
		return HYBRID_REACH_MAYBE;
	return leads;
}

/*
 * Code without CFI (psABI x86-64 3.2.2: a frame pointer of 0 is the deepest). What
 * code with CFI, or none, has in the register need not be a frame pointer: 0 is
 * often none, as below code that PHP compiles. It counts only if the callee was left by its frame
 * pointer: in musl's dynamic linker the register is 0, and functions have callers.
 */
static enum hybrid_stop read_frame_pointer(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u8 word = u->abi->word;

	if (!u->bp_known)
		return HYBRID_STOP_NO_CFI;
	if (!u->bp)
		return w->framed ? HYBRID_STOP_OUTERMOST : HYBRID_STOP_NO_CFI;
	if (u->bp < u->sp || u->bp % word)
		return HYBRID_STOP_NO_CFI;
	caller->cfa = u->bp + 2 * word;
	if (hybrid_walk_word(u, u->bp, &caller->bp) ||
	    hybrid_walk_word(u, u->bp + word, &caller->ip))
		return hybrid_walk_unreadable(u, u->bp);
	caller->ip = hybrid_step_true_return(w, u->bp + word, caller->ip);
	caller->bp_known = true;
	caller->exact = false;
	caller->framed = true;
	return HYBRID_STOP_NR;
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
 * Is it a sampled instruction of V8's? If its code has no frame just now bp is that of the caller,
 * as all that calls it is V8's: so what bp leads to is an outer frame, though one may be missing.
 * Of the code that V8 has compiled none is missing if hybrid_memory_has_frame().
 */
static bool is_framed_outside(struct hybrid_walk *w, const struct hybrid_mapping *mapping, u64 ret)
{
	const struct hybrid_unwind *u = w->u;

	if (u->nr > 1 || !mapping || !hybrid_step_is_return(w, ret) ||
	    !hybrid_space_is_framed(u->space, mapping, u->frames[0].ip))
		return false;
	w->guess = mapping->object;
	return mapping->object || hybrid_memory_has_frame(w->unwinder->memory, u->space, u->pid,
							  u->abi, u->frames[0].ip);
}

/*
 * In assembler the register may hold anything, and what it points to look like a
 * frame: only a direct call that leads to the last frame shows that it is one. Code
 * made at run time keeps frame pointers, mostly: there a call will do.
 */
enum hybrid_stop hybrid_step_frame_pointer(struct hybrid_walk *w,
					   struct hybrid_caller *caller)
{
	const struct hybrid_frame *frame = &w->u->frames[w->u->nr - 1];
	enum hybrid_stop stop = read_frame_pointer(w, caller);
	const struct hybrid_mapping *mapping;

	if (stop != HYBRID_STOP_NR)
		return stop;
	/* A return address of 0 counts as a frame pointer of 0 does. */
	if (!caller->ip)
		return w->framed ? stop : HYBRID_STOP_NO_CFI;
	mapping = hybrid_space_find(w->u->space, frame->ip);
	switch (hybrid_step_reaches(w, caller->ip)) {
	case HYBRID_REACH_NOT:
	case HYBRID_REACH_ELSEWHERE:
		w->guess = true;
		return is_framed_outside(w, mapping, caller->ip) || is_between_made(w, caller->ip) ?
			stop : HYBRID_STOP_NO_CFI;
	case HYBRID_REACH_FAR:
		w->guess = true;
		return is_framed_outside(w, mapping, caller->ip) || is_linked(w, caller->ip) ?
			stop : HYBRID_STOP_NO_CFI;
	case HYBRID_REACH_THERE:
		return stop;
	case HYBRID_REACH_INDIRECT:
		w->guess = mapping && mapping->object;
		return stop;
	case HYBRID_REACH_MAYBE:
	default:
		w->guess = true;
		return stop;
	}
}

/*
 * Finds the rule of the code at @at by its instructions. @row: of that address, which keeps the
 * rule; NULL is possible. Returns false if there is no rule.
 */
static bool code_rule(const struct hybrid_walk *w, struct hybrid_row *row, u64 at,
		      struct hybrid_rule *rule)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, at);

	if (mapping && !mapping->object)
		return hybrid_memory_rule(w->unwinder->memory, u->space, u->pid, u->abi, at, rule,
					  NULL);
	if (!mapping || !row)
		return false;
	*rule = *hybrid_object_code_rule(row, mapping, at);
	return rule->kind != HYBRID_RULE_NONE;
}

/* A function's first instruction has a return address at sp, which is no value of uc_flags. */
static bool has_ucontext(const struct hybrid_unwind *u)
{
	u64 flags, link, cs;

	return !hybrid_walk_word(u, u->sp, &flags) && flags < HYBRID_UCONTEXT_FLAGS &&
	       !hybrid_walk_word(u, u->sp + HYBRID_UCONTEXT_LINK, &link) && !link &&
	       !hybrid_walk_word(u, u->sp + HYBRID_UCONTEXT_CS, &cs) &&
	       (cs & 0xffff) == HYBRID_USER_CS;
}

/*
 * Is the sample in the system call rt_sigreturn()? The call is the last instruction of a signal
 * trampoline. The sampled address follows it, and may be the first of another function, as in musl.
 * During the call sp points to the struct ucontext.
 */
static bool is_in_sigreturn(struct hybrid_walk *w, struct hybrid_rule *rule)
{
	struct hybrid_unwind *u = w->u;
	u64 call = u->frames[0].ip - SYSCALL_SIZE;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	if (u->nr > 1 || u->abi->word != 8 || !has_ucontext(u))
		return false;
	row = hybrid_unwind_row(w->unwinder, u->space, call, &mapped, &object);
	return code_rule(w, row, call, rule) && rule->kind == HYBRID_RULE_SIGRETURN;
}

/*
 * The last frame has called, and its code is a runtime's that keeps a frame with bp in all that
 * calls. So it needs no proof by the code: the BPF program steps as this does, native_row().
 */
static enum hybrid_stop step_framed(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u64 ret = u->frames[u->nr - 1].ret;
	const struct hybrid_mapping *mapping;
	enum hybrid_stop stop;

	if (u->nr < 2 || u->frames[u->nr - 1].ip == ret || !u->bp)
		return HYBRID_STOP_NO_CFI;
	mapping = hybrid_space_find(u->space, ret - 1);
	if (!mapping || !hybrid_space_is_framed(u->space, mapping, ret - 1))
		return HYBRID_STOP_NO_CFI;
	stop = read_frame_pointer(w, caller);
	if (stop == HYBRID_STOP_DUMP_END)
		u->by_code = true;
	else if (stop != HYBRID_STOP_NR || !hybrid_step_is_return(w, caller->ip))
		return HYBRID_STOP_NO_CFI;
	return stop;
}

enum hybrid_stop hybrid_step_runtime(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	const struct hybrid_unwinder *unwinder = w->unwinder;
	struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *mapping;
	struct hybrid_rule rule;
	enum hybrid_stop stop;

	mapping = hybrid_space_find(u->space, u->frames[u->nr - 1].ip);
	if (u->nr == 1 && mapping && !mapping->object &&
	    hybrid_space_is_framed(u->space, mapping, u->frames[0].ip))
		hybrid_step_note_callee(u);
	stop = step_framed(w, caller);
	if (stop != HYBRID_STOP_NO_CFI || !unwinder->runtime_rule)
		return stop;
	mapping = hybrid_space_find(u->space, u->frames[u->nr - 1].ip);
	if (!mapping || mapping->object ||
	    !unwinder->runtime_rule(unwinder->runtimes, u, u->nr - 1, &rule))
		return HYBRID_STOP_NO_CFI;
	stop = hybrid_step_rule(w, &rule, caller);
	if (stop == HYBRID_STOP_DUMP_END) {
		u->by_code = true;
		return stop;
	}
	if (stop != HYBRID_STOP_NR)
		return HYBRID_STOP_NO_CFI;
	return hybrid_step_is_return(w, caller->ip) || is_between_made(w, caller->ip) ?
		stop : HYBRID_STOP_NO_CFI;
}

enum hybrid_stop hybrid_step_code(struct hybrid_walk *w, struct hybrid_row *row,
				  struct hybrid_caller *caller)
{
	struct hybrid_frame *frame = &w->u->frames[w->u->nr - 1];
	struct hybrid_unwind *u = w->u;
	struct hybrid_rule rule;
	enum hybrid_stop stop;

	if (is_in_sigreturn(w, &rule)) {
		frame->ip--;
		u->rule = rule;
		return hybrid_step_sigreturn(u, caller);
	}
	if (!code_rule(w, row, frame->ret, &rule))
		return HYBRID_STOP_NO_CFI;
	if (rule.kind == HYBRID_RULE_SIGRETURN) {
		/* Nobody called it: see frame_row(). */
		frame->ip = frame->ret;
		u->rule = rule;
		return hybrid_step_sigreturn(u, caller);
	}
	stop = hybrid_step_rule(w, &rule, caller);
	/* Assembler has frames of tens of kilobytes. */
	u->by_code = stop == HYBRID_STOP_DUMP_END;
	if (!u->by_code && (stop != HYBRID_STOP_NR ||
			    hybrid_step_reaches(w, caller->ip) <= HYBRID_REACH_ELSEWHERE)) {
		if (row)
			row->code_failed = true;
		return HYBRID_STOP_NO_CFI;
	}
	if (row)
		row->code_led = true;
	caller->framed = rule.base == HYBRID_BASE_BP;
	return stop;
}

/*
 * May @ret be a return address? What can't be read may be one. The return address of a signal
 * handler is not looked for: the kernel's signal frame above it is longer than OUTERMOST_WORDS.
 */
static bool may_be_return(const struct hybrid_walk *w, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(w->unwinder, w->u->space, ret - 1, &mapped, &object);
	return mapped && (!object || !row || hybrid_step_is_return(w, ret));
}

/* Does a process or a thread begin in the code that returns to @ret? */
static bool is_outermost(const struct hybrid_walk *w, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(w->unwinder, w->u->space, ret - 1, &mapped, &object);
	return row && row->rule.kind == HYBRID_RULE_OUTERMOST && hybrid_step_is_return(w, ret);
}

/*
 * Has the last frame called its callee so that the result is the next call's argument, as in
 * exit(main())? On a stack that a program has made, any function's address may be in the place of
 * a return address: so the call has to lead to the callee.
 */
static bool calls_with_result(const struct hybrid_walk *w)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_frame *frame = &u->frames[u->nr - 1];
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, frame->ip);

	return u->nr > 1 && frame->ip != frame->ret && mapping &&
	       hybrid_object_calls_with_result(mapping, frame->ret) &&
	       hybrid_check_call(w->unwinder, u->space, u->pid, u->abi, frame->ret, frame[-1].ip) >
		       HYBRID_REACH_ELSEWHERE;
}

enum hybrid_stop hybrid_step_outermost(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u64 addr, ret, end = u->sp + OUTERMOST_WORDS * u->abi->word;

	if (u->sp % u->abi->word || !calls_with_result(w))
		return HYBRID_STOP_NO_CFI;
	for (addr = u->sp; addr < end; addr += u->abi->word) {
		if (hybrid_walk_word(u, addr, &ret))
			return HYBRID_STOP_NO_CFI;
		ret = hybrid_step_true_return(w, addr, ret);
		if (!may_be_return(w, ret))
			continue;
		if (!is_outermost(w, ret) || hybrid_step_reaches(w, ret) == HYBRID_REACH_NOT ||
		    !hybrid_is_stack_top(w->unwinder, u, addr + u->abi->word))
			return HYBRID_STOP_NO_CFI;
		*caller = (struct hybrid_caller){ .cfa = addr + u->abi->word, .ip = ret };
		return HYBRID_STOP_NR;
	}
	return HYBRID_STOP_NO_CFI;
}
