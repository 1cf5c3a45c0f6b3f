// SPDX-License-Identifier: GPL-2.0
/* Walking user stacks: by rules that user space has taught. */
#include <linux/mm_types.h>
#include <linux/perf_unwind_rules.h>
#include <linux/perf_regs.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>
#include <asm/tlbflush.h>
#include <asm/vdso.h>

#include "unwind_user_code.h"

/* Reads that may fail in one walk; in one that is right none does. */
#define MAX_FAILED	3

u64 arch_perf_unwind_regs(void)
{
	return BIT_ULL(PERF_REG_X86_IP) | BIT_ULL(PERF_REG_X86_SP) | BIT_ULL(PERF_REG_X86_BP);
}

const void *arch_perf_unwind_vdso_at(const struct mm_struct *mm, unsigned long start)
{
	return start == (unsigned long)READ_ONCE(mm->context.vdso) ?
	       READ_ONCE(mm->context.vdso_image) : NULL;
}

const void *arch_perf_unwind_vdso(u32 flag)
{
	if (flag == PERF_UNWIND_VDSO_64)
		return &vdso64_image;
	if (IS_ENABLED(CONFIG_IA32_EMULATION) && flag == PERF_UNWIND_VDSO_32)
		return &vdso32_image;
	return NULL;
}
EXPORT_SYMBOL_GPL(arch_perf_unwind_vdso);

/* Where a frame is, and whether its frame pointer register could be followed. */
struct frame {
	struct unwind_user_state	state;
	bool				fp_known;
};

/* On the stack, and nowhere else; aligned. */
static __always_inline bool may_read(const struct perf_unwind_walk *walk, unsigned long addr,
				     unsigned int ws)
{
	return !(addr & (ws - 1)) && addr >= walk->stack && addr < walk->stack_end;
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
	/* psABI figure 5.2: jmp and push are 6 and 5 bytes long. */
	if (rule->kind == PERF_UNWIND_PLT && (state->ip & 15) >= 11)
		*cfa += ws;
	return true;
}

/* Where the caller's frame pointer register is in memory; 0 where it is not. */
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
 * struct words - what a step reads
 * @ra:		the return address
 * @fp:		the caller's frame pointer register
 * @fp_read:	it could be read
 * @failed:	how many of the reads failed
 * @plain_call:	a call to an address that it names stands before @ra
 */
struct words {
	unsigned long	ra;
	unsigned long	fp;
	bool		fp_read;
	bool		plain_call;
	u8		failed;
};

/* All in one section with user access: entering it costs more than reading. */
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
		state->failed += words.failed;
		if (state->failed >= UNWIND_USER_FAILED_MAX)
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

/* One step; PERF_UNWIND_END_NONE if there is a caller. */
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
		if (state->nr_code++ >= UNWIND_USER_CODE_MAX ||
		    !unwind_user_code_leave_signal(state))
			return PERF_UNWIND_END_NO_RULE;
		/* What was interrupted may be on another stack. */
		if (!perf_unwind_find_stack(walk, state->sp))
			return PERF_UNWIND_END_UNREADABLE;
		/* The signal frame has all registers. */
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
			.failed		= UNWIND_USER_FAILED_MAX - MAX_FAILED,
		},
		.fp_known = true,
	};
	enum perf_unwind_end end;

	/* Guests, and segments that do not begin at 0: not by rules. */
	if (perf_guest_state() || (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM)) ||
	    (regs->cs != __USER_CS && (regs->cs != __USER32_CS || regs->ss != __USER_DS)))
		return PERF_UNWIND_END_NO_RULE;
	if (!nmi_uaccess_okay())
		return PERF_UNWIND_END_UNREADABLE;
	if (!perf_unwind_find_stack(walk, regs->sp))
		return PERF_UNWIND_END_UNREADABLE;
	if (perf_callchain_store(ctx, regs->ip))
		return PERF_UNWIND_END_LIMIT;
	pagefault_disable();
	/* Twice the code, so that the size of a word is not asked at each frame. */
	end = frame.state.ws == sizeof(u64) ? walk_frames(walk, &frame, ctx, sizeof(u64)) :
					      walk_frames(walk, &frame, ctx, sizeof(u32));
	pagefault_enable();
	if (walk->frames && !walk->innermost)
		walk->innermost = PERF_UNWIND_INNERMOST_RULE;
	return end;
}
