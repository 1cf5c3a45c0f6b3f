// SPDX-License-Identifier: GPL-2.0
/*
 * DWARF expressions as CFI rows use them (DWARF 5, sections 2.5.1 and 6.4.2).
 */
#include <dwarf.h>
#include "expr.h"

#define EXPR_STACK	32
#define EXPR_STEPS	512

/* Bytes of an operation: DW_OP_bregx with two LEB128 of 64 bits. */
#define MAX_ENCODING	21

struct expr {
	const struct hybrid_expr_ctx	*ctx;
	const Dwarf_Op			*ops;
	size_t				 nr_ops;
	size_t				 pc;
	unsigned int			 nr;
	u64				 stack[EXPR_STACK];
};

static u64 truncate_word(const struct expr *e, u64 value)
{
	return e->ctx->word == 4 ? (u32)value : value;
}

static s64 as_signed(const struct expr *e, u64 value)
{
	return e->ctx->word == 4 ? (s32)value : (s64)value;
}

static int push(struct expr *e, u64 value)
{
	if (e->nr == EXPR_STACK)
		return -1;
	e->stack[e->nr++] = truncate_word(e, value);
	return 0;
}

static int push_reg(struct expr *e, u64 reg, u64 offset)
{
	const struct hybrid_regs *regs = e->ctx->regs;

	if (reg >= HYBRID_MAX_REGS || !(regs->known & (1U << reg)))
		return -1;
	return push(e, regs->value[reg] + offset);
}

static int deref(struct expr *e, unsigned int size)
{
	u64 *top = &e->stack[e->nr - 1];

	if (!size || size > e->ctx->word)
		return -1;
	return e->ctx->read(e->ctx->arg, *top, size, top);
}

/* DW_OP_skip and DW_OP_bra count bytes from the end of their 3-byte encoding. */
static int jump(struct expr *e, const Dwarf_Op *op)
{
	u64 target = op->offset + 3 + (s16)op->number;
	u64 last = e->ops[e->nr_ops - 1].offset;
	size_t i;

	for (i = 0; i < e->nr_ops; i++) {
		if (e->ops[i].offset == target) {
			e->pc = i;
			return 0;
		}
	}
	/* Just behind the last operation: the regular end. */
	if (target <= last || target > last + MAX_ENCODING)
		return -1;
	e->pc = e->nr_ops;
	return 0;
}

static int divide(struct expr *e, u8 atom, u64 a, u64 b, u64 *out)
{
	s64 sa = as_signed(e, a), sb = as_signed(e, b);

	if (!b)
		return -1;
	if (atom == DW_OP_mod)
		*out = a % b;
	else if (sb == -1)
		*out = -(u64)sa;	/* the smallest number by -1 overflows */
	else
		*out = sa / sb;
	return 0;
}

static u64 shift(struct expr *e, u8 atom, u64 a, u64 b)
{
	unsigned int bits = e->ctx->word * 8;

	if (atom == DW_OP_shra)
		return as_signed(e, a) >> (b >= bits ? bits - 1 : b);
	if (b >= bits)
		return 0;
	return atom == DW_OP_shl ? a << b : a >> b;
}

static u64 compare(struct expr *e, u8 atom, u64 a, u64 b)
{
	s64 sa = as_signed(e, a), sb = as_signed(e, b);

	switch (atom) {
	case DW_OP_eq:
		return sa == sb;
	case DW_OP_ne:
		return sa != sb;
	case DW_OP_lt:
		return sa < sb;
	case DW_OP_le:
		return sa <= sb;
	case DW_OP_gt:
		return sa > sb;
	default:
		return sa >= sb;
	}
}

static int binary(struct expr *e, u8 atom)
{
	u64 b = e->stack[--e->nr];
	u64 a = e->stack[--e->nr];
	u64 value;

	switch (atom) {
	case DW_OP_and:
		value = a & b;
		break;
	case DW_OP_or:
		value = a | b;
		break;
	case DW_OP_xor:
		value = a ^ b;
		break;
	case DW_OP_plus:
		value = a + b;
		break;
	case DW_OP_minus:
		value = a - b;
		break;
	case DW_OP_mul:
		value = a * b;
		break;
	case DW_OP_div:
	case DW_OP_mod:
		if (divide(e, atom, a, b, &value))
			return -1;
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		value = shift(e, atom, a, b);
		break;
	default:
		value = compare(e, atom, a, b);
		break;
	}
	return push(e, value);
}

static int unary(struct expr *e, const Dwarf_Op *op)
{
	u64 *top = &e->stack[e->nr - 1];
	u64 value = *top;

	switch (op->atom) {
	case DW_OP_neg:
		value = -value;
		break;
	case DW_OP_not:
		value = ~value;
		break;
	case DW_OP_abs:
		value = as_signed(e, value) < 0 ? -value : value;
		break;
	default: /* DW_OP_plus_uconst */
		value += op->number;
		break;
	}
	*top = truncate_word(e, value);
	return 0;
}

static int shuffle(struct expr *e, const Dwarf_Op *op)
{
	u64 *top = &e->stack[e->nr - 1];
	u64 tmp;

	switch (op->atom) {
	case DW_OP_dup:
		return push(e, *top);
	case DW_OP_drop:
		e->nr--;
		return 0;
	case DW_OP_over:
		return push(e, top[-1]);
	case DW_OP_pick:
		if (op->number >= e->nr)
			return -1;
		return push(e, *(top - op->number));
	case DW_OP_swap:
		tmp = top[0];
		top[0] = top[-1];
		top[-1] = tmp;
		return 0;
	default: /* DW_OP_rot */
		tmp = top[0];
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = tmp;
		return 0;
	}
}

/* Entries that the operation takes off the stack, or looks at. */
static unsigned int needs(u8 atom)
{
	switch (atom) {
	case DW_OP_rot:
		return 3;
	case DW_OP_over:
	case DW_OP_swap:
	case DW_OP_and:
	case DW_OP_div ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return 2;
	case DW_OP_deref:
	case DW_OP_deref_size:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_pick:
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
	case DW_OP_bra:
		return 1;
	default:
		return 0;
	}
}

static int step(struct expr *e, const Dwarf_Op *op)
{
	if (e->nr < needs(op->atom))
		return -1;

	switch (op->atom) {
	case DW_OP_nop:
	case DW_OP_stack_value:
		return 0;
	case DW_OP_addr:
	case DW_OP_const1u ... DW_OP_consts:
		return push(e, op->number);
	case DW_OP_lit0 ... DW_OP_lit31:
		return push(e, op->atom - DW_OP_lit0);
	case DW_OP_breg0 ... DW_OP_breg31:
		return push_reg(e, op->atom - DW_OP_breg0, op->number);
	case DW_OP_bregx:
		return push_reg(e, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return push(e, e->ctx->cfa);
	case DW_OP_deref:
		return deref(e, e->ctx->word);
	case DW_OP_deref_size:
		return deref(e, op->number);
	case DW_OP_skip:
		return jump(e, op);
	case DW_OP_bra:
		return e->stack[--e->nr] ? jump(e, op) : 0;
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return unary(e, op);
	case DW_OP_dup ... DW_OP_rot:
		return shuffle(e, op);
	case DW_OP_and:
	case DW_OP_div ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return binary(e, op->atom);
	default:
		return -1;
	}
}

int hybrid_expr_eval(const Dwarf_Op *ops, size_t nr,
		     const struct hybrid_expr_ctx *ctx, u64 *result)
{
	struct expr e = { .ctx = ctx, .ops = ops, .nr_ops = nr };
	unsigned int steps;

	for (steps = 0; e.pc < nr; steps++) {
		if (steps == EXPR_STEPS || step(&e, &ops[e.pc++]))
			return -1;
	}
	if (!e.nr)
		return -1;
	*result = e.stack[e.nr - 1];
	return 0;
}
