// SPDX-License-Identifier: GPL-2.0
/* Walks user stacks by user-supplied unwind rules. */
#include <linux/mm_types.h>
#include <linux/perf_unwind_rules.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>
#include <asm/sigframe.h>
#include <asm/tlbflush.h>

#include "unwind_user_code.h"

/* Most failed reads of a walk.  With correct rules no read fails. */
#define MAX_FAILED	3

/* A frame, and whether its value of the frame pointer register is known. */
struct frame {
	struct unwind_user_state	state;
	bool				fp_known;
};

/* Are @size bytes from @addr on within what a dump of the stack would contain? */
static __always_inline bool in_dump(const struct perf_unwind_walk *walk, unsigned long addr,
				    unsigned int size)
{
	return addr >= walk->stack && addr <= walk->stack_end && walk->stack_end - addr >= size;
}

/* Is @addr aligned, and is its word in the dump? */
static __always_inline bool may_read(const struct perf_unwind_walk *walk, unsigned long addr,
				     unsigned int ws)
{
	return !(addr & (ws - 1)) && in_dump(walk, addr, ws);
}

static __always_inline bool rule_cfa(const struct perf_unwind_walk *walk,
				     const struct perf_unwind_rule *rule,
				     struct frame *frame, unsigned int ws,
				     unsigned long *cfa)
{
	struct unwind_user_state *state = &frame->state;
	bool by_fp = rule->base == PERF_UNWIND_BASE_FP;

	if (by_fp && !frame->fp_known)
		return false;
	*cfa = (by_fp ? state->fp : state->sp) + rule->cfa_off;
	if (rule->kind == PERF_UNWIND_DEREF) {
		if (!may_read(walk, *cfa, ws) || !unwind_user_read_word(state, *cfa, ws, cfa))
			return false;
		*cfa += rule->deref_off;
		return true;
	}
	/* x86-64 psABI, figure 5.2: jmp and push, of 6 and 5 bytes, precede byte 11. */
	if (rule->kind == PERF_UNWIND_PLT && (state->ip & 15) >= 11)
		*cfa += ws;
	return true;
}

/* Returns the address of the caller's frame pointer register; 0 if it is not in memory. */
static unsigned long rule_fp_at(const struct perf_unwind_rule *rule,
				const struct frame *frame, unsigned long cfa)
{
	if (rule->fp == PERF_UNWIND_FP_AT_CFA)
		return cfa + rule->fp_off;
	if (rule->fp == PERF_UNWIND_FP_AT_FP && frame->fp_known)
		return frame->state.fp + rule->fp_off;
	return 0;
}

/**
 * struct words - memory that a step reads
 * @ra:		the return address
 * @fp:		the caller's value of the frame pointer register
 * @fp_read:	@fp is valid
 * @failed:	number of failed reads
 * @plain_call:	the opcode of a direct call precedes @ra
 */
struct words {
	unsigned long	ra;
	unsigned long	fp;
	bool		fp_read;
	bool		plain_call;
	u8		failed;
};

/* One section with user access for all reads, because entering it costs more than they do. */
static __always_inline bool read_words(const struct perf_unwind_walk *walk,
				       unsigned long ra_at, unsigned long fp_at,
				       unsigned int ws, struct words *words)
{
	const u8 __user *call;
	u32 word;
	u8 opcode;

	words->fp_read = false;
	words->plain_call = false;
	words->failed = 0;
	if (!may_read(walk, ra_at, ws))
		return false;
	if (!may_read(walk, fp_at, ws))
		fp_at = 0;

	__uaccess_begin_nospec();
	if (ws == sizeof(u64)) {
		unsafe_get_user(words->ra, (unsigned long __user *)ra_at, unreadable);
	} else {
		unsafe_get_user(word, (u32 __user *)ra_at, unreadable);
		words->ra = word;
	}
	/* The value may be anything: masked, as a comparison does not stop the load. */
	call = mask_user_address((const u8 __user *)words->ra - CALL_INSN_SIZE);
	unsafe_get_user(opcode, call, no_code);
	words->plain_call = opcode == CALL_INSN_OPCODE;
code_read:
	if (fp_at && ws == sizeof(u64)) {
		unsafe_get_user(words->fp, (unsigned long __user *)fp_at, no_fp);
		words->fp_read = true;
	} else if (fp_at) {
		unsafe_get_user(word, (u32 __user *)fp_at, no_fp);
		words->fp = word;
		words->fp_read = true;
	}
	__uaccess_end();
	return true;

no_code:
	words->failed++;
	goto code_read;
no_fp:
	words->failed++;
	__uaccess_end();
	return true;

unreadable:
	__uaccess_end();
	return false;
}

static __always_inline enum perf_unwind_end step_rule(const struct perf_unwind_walk *walk,
						      const struct perf_unwind_rule *rule,
						      struct frame *frame, unsigned int ws)
{
	struct unwind_user_state *state = &frame->state;
	struct words words;
	unsigned long cfa;

	if (!rule_cfa(walk, rule, frame, ws, &cfa) ||
	    cfa <= state->sp || cfa > walk->stack_end ||
	    !read_words(walk, cfa + rule->ra_off, rule_fp_at(rule, frame, cfa), ws, &words))
		return PERF_UNWIND_END_UNREADABLE;
	if (unlikely(words.failed)) {
		state->arch.failed += words.failed;
		if (state->arch.failed >= UNWIND_USER_FAILED_MAX)
			return PERF_UNWIND_END_UNREADABLE;
	}
	if (!words.plain_call && !unwind_user_code_is_return(state, words.ra))
		return PERF_UNWIND_END_NOT_RETURN;
	if (rule->fp != PERF_UNWIND_FP_SAME) {
		frame->fp_known = words.fp_read;
		state->fp = words.fp_read ? words.fp : 0;
	}
	state->ip = words.ra;
	state->sp = cfa;
	state->topmost = false;
	return PERF_UNWIND_END_NONE;
}

/* Steps to the caller.  Returns PERF_UNWIND_END_NONE, or why there is no step. */
static __always_inline enum perf_unwind_end step(struct perf_unwind_walk *walk,
						 struct frame *frame, unsigned int ws)
{
	struct unwind_user_state *state = &frame->state;
	enum perf_unwind_end end = PERF_UNWIND_END_NONE;
	const struct perf_unwind_rule *rule;

	rule = perf_unwind_find(walk, state->topmost ? state->ip : state->ip - 1);
	switch (rule ? rule->kind : PERF_UNWIND_UNKNOWN) {
	case PERF_UNWIND_OUTERMOST:
		return PERF_UNWIND_END_OUTERMOST;
	case PERF_UNWIND_CFA:
	case PERF_UNWIND_DEREF:
	case PERF_UNWIND_PLT:
		end = step_rule(walk, rule, frame, ws);
		break;
	case PERF_UNWIND_SIGNAL:
		if (!in_dump(walk, state->sp, sizeof(struct rt_sigframe)))
			return PERF_UNWIND_END_UNREADABLE;
		if (state->arch.nr_code++ >= UNWIND_USER_CODE_MAX ||
		    !unwind_user_code_leave_signal(state))
			return PERF_UNWIND_END_NO_RULE;
		/* The interrupted code may run on another stack. */
		if (!in_dump(walk, state->sp, ws))
			return PERF_UNWIND_END_UNREADABLE;
		/* The signal frame contains all registers. */
		frame->fp_known = true;
		break;
	default:
		if (!state->topmost || !unwind_user_code_exact(state))
			return PERF_UNWIND_END_NO_RULE;
		walk->innermost = PERF_UNWIND_INNERMOST_CODE;
		return PERF_UNWIND_END_NONE;
	}
	return end;
}

static __always_inline enum perf_unwind_end
walk_frames(struct perf_unwind_walk *walk, struct frame *frame,
	    struct perf_callchain_entry_ctx *ctx, unsigned int ws)
{
	unsigned int nr = 0, room = ctx->max_stack - ctx->nr;
	u64 *ips = ctx->entry->ip + ctx->entry->nr;
	enum perf_unwind_end end;

	while ((end = step(walk, frame, ws)) == PERF_UNWIND_END_NONE) {
		if (nr == room) {
			end = PERF_UNWIND_END_LIMIT;
			break;
		}
		ips[nr++] = frame->state.ip;
	}
	ctx->entry->nr += nr;
	ctx->nr += nr;
	walk->frames = nr - (nr && walk->innermost == PERF_UNWIND_INNERMOST_CODE);
	return end;
}

enum perf_unwind_end arch_perf_unwind_walk(struct perf_unwind_walk *walk,
					   struct perf_callchain_entry_ctx *ctx,
					   struct pt_regs *regs)
{
	struct frame frame = {
		.state = {
			.ip		= regs->ip,
			.sp		= regs->sp,
			.fp		= regs->bp,
			.ws		= user_64bit_mode(regs) ? sizeof(u64) : sizeof(u32),
			.topmost	= true,
			.arch.failed	= UNWIND_USER_FAILED_MAX - MAX_FAILED,
		},
		.fp_known = true,
	};
	enum perf_unwind_end end;

	/* Rules do not apply to guests, nor to segments that do not begin at 0. */
	if (perf_guest_state() || (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM)) ||
	    (regs->cs != __USER_CS && (regs->cs != __USER32_CS || regs->ss != __USER_DS)))
		return PERF_UNWIND_END_NO_RULE;
	if (!nmi_uaccess_okay())
		return PERF_UNWIND_END_UNREADABLE;
	if (perf_callchain_store(ctx, regs->ip))
		return PERF_UNWIND_END_LIMIT;
	pagefault_disable();
	/* Two copies of the code, so that no frame has to check the size of a word. */
	end = frame.state.ws == sizeof(u64) ? walk_frames(walk, &frame, ctx, sizeof(u64)) :
					      walk_frames(walk, &frame, ctx, sizeof(u32));
	pagefault_enable();
	if (walk->frames && !walk->innermost)
		walk->innermost = PERF_UNWIND_INNERMOST_RULE;
	return end;
}
