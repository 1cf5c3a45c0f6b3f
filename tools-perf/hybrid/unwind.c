// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping from frame to frame over a copy of the stack.
 *
 * ip, sp and bp are followed by rule; a row that needs more registers has them
 * computed then, by running the frames since they were last known once more in
 * full. That is rare, and spares all other frames five loads each.
 */
#include <errno.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include "unwind.h"

/* Offsets in bytes: arch/x86/include/uapi/asm/ucontext.h, sigcontext.h. */
#define UCONTEXT_BP	120
#define UCONTEXT_SP	160
#define UCONTEXT_IP	168

/**
 * struct walk - an unwind under way
 * @unwinder: caches
 * @u: the sample
 * @full: all registers of frame @full_at
 * @full_at: index of a frame
 * @retried: the innermost frame was left by its code, against its CFI
 */
struct walk {
	struct hybrid_unwinder	*unwinder;
	struct hybrid_unwind	*u;
	struct hybrid_regs	 full;
	unsigned int		 full_at;
	bool			 retried;
};

/* What one step found: the caller, where @stop is HYBRID_STOP_NR. */
struct caller {
	u64	cfa;
	u64	ip;
	u64	bp;
	bool	bp_known;
	bool	exact;
};

int hybrid_unwind_read(const struct hybrid_unwind *u, u64 addr, unsigned int size,
		       u64 *value)
{
	u64 offset = addr - u->dump_start;

	if (offset >= u->dump_size || u->dump_size - offset < size)
		return -1;
	*value = 0;
	memcpy(value, u->dump + offset, size);
	return 0;
}

static int read_word(const struct hybrid_unwind *u, u64 addr, u64 *value)
{
	/* The common case apart: the compiler makes one load of it. */
	if (u->abi->word == 8)
		return hybrid_unwind_read(u, addr, 8, value);
	return hybrid_unwind_read(u, (u32)addr, 4, value);
}

/*
 * Why a word can't be read: what lies above the dump is only not at hand; below
 * it, too, where a signal had come on an alternate stack.
 */
static enum hybrid_stop unreadable(const struct hybrid_unwind *u, u64 addr)
{
	return addr >= u->dump_start || u->sp < u->dump_start ?
		HYBRID_STOP_DUMP_END : HYBRID_STOP_BAD_FRAME;
}

struct hybrid_row *hybrid_unwind_row(struct hybrid_unwinder *unwinder,
				     struct hybrid_space *space, u64 ip,
				     bool *mapped, struct hybrid_object **object)
{
	struct hybrid_cache_entry *entry;
	const struct hybrid_mapping *mapping;

	entry = &unwinder->cache[hash_64(ip + space->gen, HYBRID_CACHE_BITS)];
	if (entry->ip == ip && entry->gen == space->gen) {
		*mapped = true;
		*object = entry->object;
		return entry->row;
	}
	mapping = hybrid_space_find(space, ip);
	if (!mapping && unwinder->fill) {
		unwinder->fill(space, ip, unwinder->fill_arg);
		mapping = hybrid_space_find(space, ip);
	}
	*mapped = mapping;
	*object = mapping ? mapping->object : NULL;
	if (!mapping)
		return NULL;
	entry->ip = ip;
	entry->gen = space->gen;
	entry->object = mapping->object;
	entry->row = mapping->object ? hybrid_object_row(mapping, ip) : NULL;
	return entry->row;
}

static enum hybrid_stop step_rule(const struct hybrid_unwind *u, const struct hybrid_rule *rule,
				  struct caller *caller)
{
	u64 base = rule->base == HYBRID_BASE_BP ? u->bp : u->sp;
	u64 cfa = base + rule->cfa_off;

	if (rule->base == HYBRID_BASE_BP && !u->bp_known)
		return HYBRID_STOP_BAD_FRAME;
	if (rule->kind == HYBRID_RULE_DEREF && read_word(u, cfa, &cfa))
		return unreadable(u, cfa);
	cfa += rule->deref_off;
	caller->cfa = cfa;
	if (read_word(u, cfa + rule->ra_off, &caller->ip))
		return unreadable(u, cfa + rule->ra_off);

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
static enum hybrid_stop step_sigreturn(const struct hybrid_unwind *u, struct caller *caller)
{
	if (read_word(u, u->sp + UCONTEXT_BP, &caller->bp) ||
	    read_word(u, u->sp + UCONTEXT_SP, &caller->cfa) ||
	    read_word(u, u->sp + UCONTEXT_IP, &caller->ip))
		return unreadable(u, u->sp + UCONTEXT_BP);
	caller->bp_known = true;
	caller->exact = true;
	return HYBRID_STOP_NR;
}

/* Code without CFI (psABI x86-64 3.2.2: a frame pointer of 0 is the deepest). */
static enum hybrid_stop step_frame_pointer(const struct hybrid_unwind *u, struct caller *caller)
{
	u8 word = u->abi->word;

	if (!u->bp_known)
		return HYBRID_STOP_NO_CFI;
	if (!u->bp)
		return HYBRID_STOP_OUTERMOST;
	if (u->bp < u->sp || u->bp % word)
		return HYBRID_STOP_NO_CFI;
	caller->cfa = u->bp + 2 * word;
	if (read_word(u, u->bp, &caller->bp) || read_word(u, u->bp + word, &caller->ip))
		return unreadable(u, u->bp);
	caller->bp_known = true;
	caller->exact = false;
	return HYBRID_STOP_NR;
}

static int expr_read(void *arg, u64 addr, unsigned int size, u64 *value)
{
	return hybrid_unwind_read(arg, addr, size, value);
}

/* The caller's value of one register; -1 where it can't be known. */
static int restore(const struct hybrid_where *where, const struct hybrid_expr_ctx *ctx,
		   unsigned int reg, u64 *value)
{
	switch (where->kind) {
	case HYBRID_WHERE_REG:
		reg = where->off;
		if (reg >= HYBRID_MAX_REGS)
			return -1;
		fallthrough;
	case HYBRID_WHERE_SAME:
		*value = ctx->regs->value[reg];
		return ctx->regs->known & (1U << reg) ? 0 : -1;
	case HYBRID_WHERE_CFA:
		return ctx->read(ctx->arg, ctx->cfa + where->off, ctx->word, value);
	case HYBRID_WHERE_CFA_VALUE:
		*value = ctx->cfa + where->off;
		return 0;
	case HYBRID_WHERE_EXPR:
		if (hybrid_expr_eval(where->ops, where->nr_ops, ctx, value))
			return -1;
		return ctx->read(ctx->arg, *value, ctx->word, value);
	case HYBRID_WHERE_VALUE:
		return hybrid_expr_eval(where->ops, where->nr_ops, ctx, value);
	default:
		return -1;
	}
}

/*
 * Over a frame that no CFI covers and that was stepped over before: its caller
 * is known, but of the registers only those that every step follows.
 */
static void full_step_known(const struct walk *w, struct hybrid_regs *next, u64 *cfa)
{
	const struct hybrid_frame *frame = &w->u->frames[w->full_at];
	const struct hybrid_abi *abi = w->u->abi;

	*cfa = frame->cfa;
	next->value[abi->sp] = frame->cfa;
	next->value[abi->ip] = frame[1].ret;
	next->known = 1U << abi->ip | 1U << abi->sp;
	/* The frame above starts from the bp that was found below it. */
	if (w->full_at + 2 == w->u->nr && w->u->bp_known) {
		next->value[abi->bp] = w->u->bp;
		next->known |= 1U << abi->bp;
	}
}

/* From frame @full_at to its caller, with all registers. */
static enum hybrid_stop full_step(struct walk *w, u64 *cfa)
{
	const struct hybrid_abi *abi = w->u->abi;
	struct hybrid_expr_ctx ctx = {
		.regs = &w->full, .word = abi->word, .read = expr_read, .arg = w->u,
	};
	const struct hybrid_full_row *full;
	struct hybrid_object *object;
	struct hybrid_regs next = {};
	struct hybrid_row *row;
	unsigned int i;
	bool mapped;

	row = hybrid_unwind_row(w->unwinder, w->u->space, w->u->frames[w->full_at].ip,
				&mapped, &object);
	if (!row || row->rule.kind == HYBRID_RULE_NONE) {
		full_step_known(w, &next, cfa);
		goto done;
	}
	full = hybrid_cfi_full(&object->cfi, row);
	if (!full || !full->cfa.nr_ops ||
	    hybrid_expr_eval(full->cfa.ops, full->cfa.nr_ops, &ctx, &ctx.cfa))
		return HYBRID_STOP_BAD_FRAME;
	*cfa = ctx.cfa;
	for (i = 0; i < abi->nr; i++) {
		if (!restore(&full->reg[i], &ctx, i, &next.value[i]))
			next.known |= 1U << i;
	}
done:
	w->full = next;
	w->full_at++;
	return HYBRID_STOP_NR;
}

static enum hybrid_stop step_full(struct walk *w, const struct hybrid_rule *rule,
				  struct caller *caller)
{
	const struct hybrid_abi *abi = w->u->abi;
	enum hybrid_stop stop;

	while (w->full_at < w->u->nr) {
		stop = full_step(w, &caller->cfa);
		if (stop != HYBRID_STOP_NR)
			return stop;
	}
	if (!(w->full.known & (1U << abi->ip)))
		return unreadable(w->u, caller->cfa - abi->word);
	caller->ip = w->full.value[abi->ip];
	caller->bp = w->full.value[abi->bp];
	caller->bp_known = w->full.known & (1U << abi->bp);
	caller->exact = rule->signal;
	return HYBRID_STOP_NR;
}

/* What the code of the last frame tells; its object's row keeps that. */
static bool code_rule(const struct walk *w, struct hybrid_row *row, struct hybrid_rule *rule)
{
	const struct hybrid_unwind *u = w->u;
	u64 ret = u->frames[u->nr - 1].ret;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ret);

	if (mapping && !mapping->object)
		return hybrid_memory_rule(w->unwinder->memory, u->space, u->abi, ret, rule);
	if (!mapping || !row)
		return false;
	*rule = *hybrid_object_code_rule(row, mapping, ret);
	return rule->kind != HYBRID_RULE_NONE;
}

static bool is_return(const struct walk *w, u64 ret)
{
	const struct hybrid_unwind *u = w->u;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ret);

	if (mapping && !mapping->object)
		return hybrid_memory_is_return(w->unwinder->memory, u->space, u->abi, ret);
	return mapping && hybrid_object_is_return(mapping, ret);
}

/*
 * By that, where it leads to behind a call, or to what a signal interrupted.
 * HYBRID_STOP_NO_CFI: the code does not tell.
 */
static enum hybrid_stop step_code(const struct walk *w, struct hybrid_row *row,
				  struct caller *caller)
{
	struct hybrid_frame *frame = &w->u->frames[w->u->nr - 1];
	struct hybrid_unwind *u = w->u;
	struct hybrid_object *object;
	struct hybrid_rule rule;
	bool mapped;

	if (!code_rule(w, row, &rule))
		return HYBRID_STOP_NO_CFI;
	if (rule.kind == HYBRID_RULE_SIGRETURN) {
		/* Nobody called it: see frame_row(). */
		frame->ip = frame->ret;
		u->rule = rule;
		return step_sigreturn(u, caller);
	}
	if (step_rule(u, &rule, caller) != HYBRID_STOP_NR)
		return HYBRID_STOP_NO_CFI;
	/* Looked up as a frame is: so it is there, if it can be. */
	hybrid_unwind_row(w->unwinder, u->space, caller->ip - 1, &mapped, &object);
	return is_return(w, caller->ip) ? HYBRID_STOP_NR : HYBRID_STOP_NO_CFI;
}

static enum hybrid_stop step(struct walk *w, struct hybrid_row *row, struct caller *caller)
{
	static const struct hybrid_rule none;
	struct hybrid_unwind *u = w->u;
	enum hybrid_stop stop;

	u->rule = row ? row->rule : none;
	switch (u->rule.kind) {
	case HYBRID_RULE_OUTERMOST:
		return HYBRID_STOP_OUTERMOST;
	case HYBRID_RULE_CFA:
	case HYBRID_RULE_DEREF:
		return step_rule(u, &u->rule, caller);
	case HYBRID_RULE_FULL:
		return step_full(w, &u->rule, caller);
	default:
		stop = step_code(w, row, caller);
		return stop == HYBRID_STOP_NO_CFI ? step_frame_pointer(u, caller) : stop;
	}
}

/* Makes the caller the last frame. */
static enum hybrid_stop enter(struct walk *w, const struct caller *caller)
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
	u->frames[u->nr++] = (struct hybrid_frame) {
		.ip	= caller->ip - !caller->exact,
		.ret	= caller->ip,
	};
	u->sp = sp;
	u->bp = caller->bp;
	u->bp_known = caller->bp_known;
	return HYBRID_STOP_NR;
}

static void start(struct walk *w)
{
	struct hybrid_unwind *u = w->u;
	u64 ip = u->regs.value[u->abi->ip];

	w->full = u->regs;
	w->full_at = 0;
	u->frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
	u->nr = 1;
	u->sp = u->regs.value[u->abi->sp];
	u->bp = u->regs.value[u->abi->bp];
	u->bp_known = u->regs.known & (1U << u->abi->bp);
	u->culprit = NULL;
	u->rule.kind = HYBRID_RULE_NONE;
}

/*
 * CFI of assembler is written by hand, and wrong in places (glibc's i386
 * memcpy() pushes without saying so). Where it led nowhere from the sampled
 * instruction, ask the code. Returns true where the walk can go on.
 */
static bool retry_innermost(struct walk *w)
{
	struct hybrid_unwind *u = w->u;
	struct hybrid_object *object;
	struct caller caller = {};
	struct hybrid_row *row;
	bool mapped;

	/* Code may lead nowhere, too: what a signal interrupted may be no code. */
	if (w->retried)
		return false;
	w->retried = true;
	start(w);
	row = hybrid_unwind_row(w->unwinder, u->space, u->frames[0].ip, &mapped, &object);
	if (step_code(w, row, &caller) != HYBRID_STOP_NR)
		return false;
	u->frames[0].cfa = caller.cfa;
	return enter(w, &caller) == HYBRID_STOP_NR;
}

/*
 * The row of the last frame. A signal handler's return address is that of the
 * trampoline itself, which nobody called: it is no address behind a call. And a
 * system call that never returns, such as sigreturn, may be the trampoline's
 * last instruction, so that the sampled address lies behind the CFI.
 */
static struct hybrid_row *frame_row(struct walk *w, struct hybrid_frame *frame,
				    bool *mapped, struct hybrid_object **object)
{
	struct hybrid_space *space = w->u->space;
	struct hybrid_row *row;

	row = hybrid_unwind_row(w->unwinder, space, frame->ip, mapped, object);
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
 * and so is the frame. HYBRID_STOP_NR where another way was found.
 */
static enum hybrid_stop unmapped(struct walk *w)
{
	struct hybrid_unwind *u = w->u;
	bool by_cfi = u->rule.kind != HYBRID_RULE_NONE;

	if (u->nr == 1)
		return HYBRID_STOP_NO_MAP;
	if (u->nr == 2 && by_cfi) {
		if (retry_innermost(w))
			return HYBRID_STOP_NR;
		u->nr = 2;
	}
	u->nr--;
	return by_cfi ? HYBRID_STOP_NO_MAP : HYBRID_STOP_NO_CFI;
}

void hybrid_unwind(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	struct walk w = { .unwinder = unwinder, .u = u };
	struct hybrid_object *object = NULL, *callee;
	enum hybrid_stop stop = HYBRID_STOP_NR;
	struct hybrid_row *row;
	bool mapped;

	start(&w);
	while (stop == HYBRID_STOP_NR) {
		struct hybrid_frame *frame = &u->frames[u->nr - 1];
		struct caller caller = {};

		callee = object;
		row = frame_row(&w, frame, &mapped, &object);
		if (!mapped) {
			stop = unmapped(&w);
			object = callee;
			continue;
		}
		stop = step(&w, row, &caller);
		frame->cfa = caller.cfa;
		if (stop == HYBRID_STOP_NR)
			stop = enter(&w, &caller);
	}
	u->stop = stop;
	u->culprit = object;
}
