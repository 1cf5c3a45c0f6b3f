// SPDX-License-Identifier: GPL-2.0
/*
 * The rows that a rule can't say: with all registers, by DWARF expressions.
 */
#include <string.h>
#include <linux/compiler.h>
#include "../rules/rows.h"
#include "walk.h"

static int expr_read(void *arg, u64 addr, unsigned int size, u64 *value)
{
	return hybrid_walk_read(arg, addr, size, value);
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
 * Over a frame that was stepped over before, and not by CFI: its caller is known,
 * but of the registers only those that every step follows.
 */
static void full_step_known(const struct hybrid_walk *w, struct hybrid_regs *next, u64 *cfa)
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

static const struct hybrid_full_row *full_row(const struct hybrid_walk *w,
					      struct hybrid_object *object,
					      struct hybrid_cfi *made,
					      struct hybrid_row *row)
{
	const struct hybrid_mapping *mapping;

	if (made)
		return hybrid_cfi_full(made, row);
	if (!row->full) {
		mapping = hybrid_space_find(w->u->space, w->u->frames[w->full_at].ip);
		if (!mapping || !hybrid_object_use(mapping))
			return NULL;
	}
	return hybrid_cfi_full(&object->cfi, row);
}

/* By the CFI of frame @full_at; -1 where it can't be read, or fails. */
static int full_step_cfi(struct hybrid_walk *w, struct hybrid_regs *next, u64 *cfa)
{
	const struct hybrid_abi *abi = w->u->abi;
	struct hybrid_expr_ctx ctx = {
		.regs = &w->full, .word = abi->word, .read = expr_read, .arg = w,
	};
	const struct hybrid_full_row *full;
	struct hybrid_cfi *made;
	struct hybrid_object *object;
	struct hybrid_row *row;
	unsigned int i;
	bool mapped;

	row = hybrid_walk_row(w, w->u->frames[w->full_at].ip, &mapped, &object, &made);
	full = row ? full_row(w, object, made, row) : NULL;
	if (!full || !full->cfa.nr_ops ||
	    hybrid_expr_eval(full->cfa.ops, full->cfa.nr_ops, &ctx, &ctx.cfa))
		return -1;
	*cfa = ctx.cfa;
	for (i = 0; i < abi->nr; i++) {
		if (!restore(&full->reg[i], &ctx, i, &next->value[i]))
			next->known |= 1U << i;
	}
	return 0;
}

/* From frame @full_at to its caller, with all registers. */
static enum hybrid_stop full_step(struct hybrid_walk *w, u64 *cfa)
{
	bool is_last = w->full_at + 1 == w->u->nr;
	struct hybrid_regs next = {};
	int err = full_step_cfi(w, &next, cfa);

	if (err && is_last)
		return HYBRID_STOP_BAD_FRAME;
	/* It was left by its code, against its CFI, or has none. */
	if (err || (!is_last && *cfa != w->u->frames[w->full_at].cfa)) {
		memset(&next, 0, sizeof(next));
		full_step_known(w, &next, cfa);
	}
	w->full = next;
	w->full_at++;
	return HYBRID_STOP_NR;
}

enum hybrid_stop hybrid_walk_full(struct hybrid_walk *w, const struct hybrid_rule *rule,
				  struct hybrid_caller *caller)
{
	const struct hybrid_abi *abi = w->u->abi;
	enum hybrid_stop stop;

	while (w->full_at < w->u->nr) {
		stop = full_step(w, &caller->cfa);
		if (stop != HYBRID_STOP_NR)
			return stop;
	}
	if (!(w->full.known & (1U << abi->ip)))
		return hybrid_walk_unreadable(w->u, caller->cfa - abi->word);
	caller->ip = w->full.value[abi->ip];
	caller->bp = w->full.value[abi->bp];
	caller->bp_known = w->full.known & (1U << abi->bp);
	caller->exact = rule->signal;
	return HYBRID_STOP_NR;
}
