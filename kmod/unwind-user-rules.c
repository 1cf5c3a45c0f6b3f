// SPDX-License-Identifier: GPL-2.0
/* Walking user stacks: by rules that user space has taught. */
#include <linux/mm_types.h>
#include <linux/perf_hybrid.h>
#include <linux/perf_regs.h>
#include <linux/uaccess.h>
#include <asm/tlbflush.h>
#include <asm/vdso.h>

#include "unwind-user-code.h"

u64 arch_perf_hybrid_regs(void)
{
	return BIT_ULL(PERF_REG_X86_IP) | BIT_ULL(PERF_REG_X86_SP) | BIT_ULL(PERF_REG_X86_BP);
}

const void *arch_perf_hybrid_vdso_at(const struct mm_struct *mm, unsigned long start)
{
	return start == (unsigned long)READ_ONCE(mm->context.vdso) ?
	       READ_ONCE(mm->context.vdso_image) : NULL;
}

const void *arch_perf_hybrid_vdso(u32 flag)
{
	if (flag == PERF_HYBRID_VDSO_64)
		return &vdso64_image;
	if (IS_ENABLED(CONFIG_IA32_EMULATION) && flag == PERF_HYBRID_VDSO_32)
		return &vdso32_image;
	return NULL;
}
EXPORT_SYMBOL_GPL(arch_perf_hybrid_vdso);

/* Where a frame is, and whether its frame pointer register could be followed. */
struct frame {
	struct unwind_user_state	state;
	bool				fp_known;
};

static bool rule_cfa(const struct perf_hybrid_rule *rule, const struct frame *frame,
		     unsigned long *cfa)
{
	const struct unwind_user_state *state = &frame->state;
	bool by_fp = rule->base == PERF_HYBRID_BASE_BP;

	if (by_fp && !frame->fp_known)
		return false;
	*cfa = (by_fp ? state->fp : state->sp) + rule->cfa_off;
	if (rule->kind == PERF_HYBRID_DEREF)
		return unwind_user_read_word(*cfa, state->ws, cfa);
	/* psABI figure 5.2: jmp and push are 6 and 5 bytes long. */
	if (rule->kind == PERF_HYBRID_PLT && (state->ip & 15) >= 11)
		*cfa += state->ws;
	return true;
}

/* The caller's frame pointer register; what can't be read is not known. */
static void rule_fp(const struct perf_hybrid_rule *rule, struct frame *frame,
		    unsigned long cfa)
{
	struct unwind_user_state *state = &frame->state;

	switch (rule->bp) {
	case PERF_HYBRID_BP_SAME:
		break;
	case PERF_HYBRID_BP_AT_CFA:
		frame->fp_known = unwind_user_read_word(cfa + rule->bp_off, state->ws,
							&state->fp);
		break;
	case PERF_HYBRID_BP_AT_BP:
		frame->fp_known = frame->fp_known &&
				  unwind_user_read_word(state->fp + rule->bp_off, state->ws,
							&state->fp);
		break;
	default:
		frame->fp_known = false;
	}
}

static enum perf_hybrid_end step_rule(const struct perf_hybrid_rule *rule,
				      struct frame *frame)
{
	struct unwind_user_state *state = &frame->state;
	unsigned long cfa, ra;

	if (!rule_cfa(rule, frame, &cfa) || cfa <= state->sp ||
	    !unwind_user_read_word(cfa + rule->ra_off, state->ws, &ra))
		return PERF_HYBRID_END_UNREADABLE;
	if (!unwind_user_code_is_return(state, ra))
		return PERF_HYBRID_END_NOT_RETURN;
	rule_fp(rule, frame, cfa);
	state->ip = ra;
	state->sp = cfa;
	state->topmost = false;
	return PERF_HYBRID_END_NONE;
}

/* One step; PERF_HYBRID_END_NONE if there is a caller. */
static enum perf_hybrid_end step(struct perf_hybrid_walk *walk, struct frame *frame)
{
	struct unwind_user_state *state = &frame->state;
	const struct perf_hybrid_rule *rule;
	enum perf_hybrid_innermost how = PERF_HYBRID_INNERMOST_RULE;
	enum perf_hybrid_end end = PERF_HYBRID_END_NONE;

	rule = perf_hybrid_find(walk, state->topmost ? state->ip : state->ip - 1);
	switch (rule ? rule->kind : PERF_HYBRID_ASK) {
	case PERF_HYBRID_OUTERMOST:
		return PERF_HYBRID_END_OUTERMOST;
	case PERF_HYBRID_CFA:
	case PERF_HYBRID_DEREF:
	case PERF_HYBRID_PLT:
		end = step_rule(rule, frame);
		break;
	case PERF_HYBRID_SIGNAL:
		if (!unwind_user_code_leave_signal(state))
			return PERF_HYBRID_END_ASK;
		break;
	default:
		if (!state->topmost || !unwind_user_code_exact(state))
			return PERF_HYBRID_END_ASK;
		how = PERF_HYBRID_INNERMOST_CODE;
	}
	if (end == PERF_HYBRID_END_NONE) {
		if (!walk->innermost)
			walk->innermost = how;
		walk->frames += how == PERF_HYBRID_INNERMOST_RULE;
	}
	return end;
}

enum perf_hybrid_end arch_perf_hybrid_walk(struct perf_hybrid_walk *walk,
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
		},
		.fp_known = true,
	};
	enum perf_hybrid_end end;

	/* Guests, and segments that do not begin at 0: not by rules. */
	if (perf_guest_state() || (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM)) ||
	    (regs->cs != __USER_CS && regs->cs != __USER32_CS))
		return PERF_HYBRID_END_ASK;
	if (!nmi_uaccess_okay())
		return PERF_HYBRID_END_UNREADABLE;
	if (perf_callchain_store(ctx, regs->ip))
		return PERF_HYBRID_END_LIMIT;
	do {
		end = step(walk, &frame);
		if (end == PERF_HYBRID_END_NONE && perf_callchain_store(ctx, frame.state.ip))
			end = PERF_HYBRID_END_LIMIT;
	} while (end == PERF_HYBRID_END_NONE);
	return end;
}
