// SPDX-License-Identifier: GPL-2.0
/*
 * Whole rows behind a pop, and of a frame that was left.
 */
#include <dwarf.h>
#include <string.h>
#include "abi.h"
#include "cfi.h"
#include "tap.h"

static const struct hybrid_cfi cfi = { .abi = &hybrid_abi_64 };

static struct hybrid_full_row full;
static struct hybrid_row row;
static Dwarf_Op op;

/* The CFA is at @off from a register; each register @i is saved at CFA + @offs[@i]. */
static void begin(u8 reg, s64 off, const s64 *offs)
{
	unsigned int i;

	memset(&full, 0, sizeof(full));
	memset(&row, 0, sizeof(row));
	op = (Dwarf_Op) { .atom = DW_OP_breg0 + reg, .number = off };
	full.cfa = (struct hybrid_where) { .kind = HYBRID_WHERE_VALUE, .nr_ops = 1, .ops = &op };
	for (i = 0; i < HYBRID_MAX_REGS; i++)
		full.reg[i] = (struct hybrid_where) { .kind = HYBRID_WHERE_CFA, .off = offs[i] };
	row.full = &full;
	row.rule.kind = HYBRID_RULE_FULL;
}

/* What was saved below sp is in its register again. */
static void popped(void)
{
	s64 offs[HYBRID_MAX_REGS];
	unsigned int i, reg;

	for (i = 0; i < HYBRID_MAX_REGS; i++)
		offs[i] = -8 * (s64)i;
	for (reg = 6; reg < 9; reg++) {
		begin(reg, 40, offs);
		full.reg[9].kind = HYBRID_WHERE_UNDEFINED;
		full.reg[10].kind = HYBRID_WHERE_EXPR;
		hybrid_row_popped(&cfi, &row);
		check(row.popped);
		for (i = 0; i < HYBRID_MAX_REGS; i++) {
			if (i == 9 || i == 10)
				same(full.reg[i].kind, i == 9 ? HYBRID_WHERE_UNDEFINED :
								HYBRID_WHERE_EXPR);
			else
				same(full.reg[i].kind, reg == HYBRID_X86_64_SP && i > 5 ?
				     HYBRID_WHERE_SAME : HYBRID_WHERE_CFA);
		}
	}
	/* A CFA of two operations. */
	begin(HYBRID_X86_64_SP, 0, offs);
	full.cfa.nr_ops = 2;
	hybrid_row_popped(&cfi, &row);
	same(full.reg[5].kind, HYBRID_WHERE_CFA);
}

/* What counts from a frame that was left is in its register. */
static void restored(void)
{
	const s64 offs[HYBRID_MAX_REGS] = {};

	begin(HYBRID_X86_64_SP, 8, offs);
	full.reg[3].kind = HYBRID_WHERE_EXPR;
	row.rule.bp = HYBRID_BP_AT_BP;
	hybrid_row_restored(&row);
	check(row.restored);
	same(full.reg[3].kind, HYBRID_WHERE_SAME);
	same(full.reg[4].kind, HYBRID_WHERE_CFA);
	same(row.rule.bp, HYBRID_BP_SAME);
	row.rule.bp = HYBRID_BP_AT_CFA;
	hybrid_row_restored(&row);
	same(row.rule.bp, HYBRID_BP_AT_CFA);
}

static void registers(void)
{
	unsigned int atom;
	bool is_one;
	u64 reg;
	s64 off;

	for (atom = 0; atom < 256; atom++) {
		const Dwarf_Op of = { .atom = atom, .number = 5, .number2 = -7 };

		is_one = (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) || atom == DW_OP_bregx;
		same(hybrid_op_register(&of, &reg, &off), is_one);
		if (!is_one)
			continue;
		same(reg, atom == DW_OP_bregx ? 5 : atom - DW_OP_breg0);
		check(off == (atom == DW_OP_bregx ? -7 : 5));
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "whole rows: behind a pop",		popped },
		{ "whole rows: of a frame that was left", restored },
		{ "whole rows: registers",		registers },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
