// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of CFI programs that are made at random, against an interpreter of the test.
 */
#include <dwarf.h>
#include <string.h>
#include "cfi.h"
#include "made-cfi.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP
#define SP	HYBRID_X86_64_SP
#define IP	HYBRID_X86_64_IP

/* As eh-frame.c keeps states. */
#define MAX_KEPT	8

#define CODE		512

/* Where a register is, and all that rules are made of. */
struct place {
	u8	kind;
	s64	off;
};

struct state {
	bool		known;
	u64		reg;
	s64		off;
	struct place	bp;
	struct place	sp;
	struct place	ip;
};

struct row {
	u64		start;
	u64		end;
	struct state	state;
};

/**
 * struct model - a program, and what it says
 * @program: its bytes
 * @code: code alignment factor
 * @align: data alignment factor
 * @now: after the last instruction
 * @initial: after those of the CIE
 * @in_cie: they are made
 * @kept: states that were remembered
 * @nr_kept: number of @kept
 * @odd: from here on nothing is known
 * @rows: that have ended
 * @nr: number of @rows
 * @at: where the row begins
 */
static struct {
	struct made_bytes	program;
	u64			code;
	s64			align;
	struct state		now;
	struct state		initial;
	bool			in_cie;
	struct state		kept[MAX_KEPT];
	unsigned int		nr_kept;
	bool			odd;
	struct row		rows[256];
	unsigned int		nr;
	u64			at;
} model;

static void byte(u8 value)
{
	made_byte(&model.program, value);
}

static struct place *place_of(struct state *state, u64 reg)
{
	return reg == BP ? &state->bp : reg == SP ? &state->sp : reg == IP ? &state->ip : NULL;
}

static void set(u64 reg, u8 kind, s64 off)
{
	struct place *place = place_of(&model.now, reg);

	if (place && !model.odd)
		*place = (struct place) { kind, off };
}

static void become_odd(void)
{
	model.odd = true;
	model.now.known = false;
}

static u64 random_reg(void)
{
	static const u8 regs[] = { BP, BP, BP, IP, IP, SP, 3, 12, 15, 0 };

	return regs[tap_random() % ARRAY_SIZE(regs)];
}

/* Ends the row @by units of code further on. */
static void advance(u64 by)
{
	u64 bytes = by * model.code;
	unsigned int form = tap_random() % 4;

	if (!form && by < 64) {
		byte(DW_CFA_advance_loc | by);
	} else if (form == 1 && by < 256) {
		byte(DW_CFA_advance_loc1);
		byte(by);
	} else {
		byte(form == 2 ? DW_CFA_advance_loc2 : DW_CFA_advance_loc4);
		made_word(&model.program, by, form == 2 ? 2 : 4);
	}
	/* What comes after an odd instruction is not read. */
	if (model.odd || !bytes)
		return;
	model.rows[model.nr++] = (struct row) { model.at, model.at + bytes, model.now };
	model.at += bytes;
}

static void put_offset(u64 reg, s64 factored)
{
	switch (tap_random() % 3) {
	case 0:
		byte(DW_CFA_offset_extended_sf);
		made_uleb(&model.program, reg);
		made_sleb(&model.program, factored);
		break;
	case 1:
		byte(DW_CFA_offset_extended);
		made_uleb(&model.program, reg);
		made_uleb(&model.program, factored & 0xfff);
		factored &= 0xfff;
		break;
	default:
		byte(DW_CFA_offset | reg);
		made_uleb(&model.program, factored & 0xfff);
		factored &= 0xfff;
		break;
	}
	set(reg, HYBRID_WHERE_CFA, factored * model.align);
}

static void put_restore(u64 reg)
{
	if (tap_random() & 1) {
		byte(DW_CFA_restore | reg);
	} else {
		byte(DW_CFA_restore_extended);
		made_uleb(&model.program, reg);
	}
	if (model.in_cie)
		become_odd();
	else if (place_of(&model.now, reg) && !model.odd)
		*place_of(&model.now, reg) = *place_of(&model.initial, reg);
}

static void put_block(void)
{
	unsigned int i, nr = tap_random() % 5;

	made_uleb(&model.program, nr);
	for (i = 0; i < nr; i++)
		byte(DW_OP_lit0 + i);
}

static void put_cfa(u64 reg, s64 off)
{
	bool is_signed = tap_random() & 1;

	byte(is_signed ? DW_CFA_def_cfa_sf : DW_CFA_def_cfa);
	made_uleb(&model.program, reg);
	if (is_signed)
		made_sleb(&model.program, off);
	else
		made_uleb(&model.program, off & 0xffff);
	if (model.odd)
		return;
	model.now.known = true;
	model.now.reg = reg;
	model.now.off = is_signed ? off * model.align : off & 0xffff;
}

static void put_cfa_part(void)
{
	s64 off = (s64)(tap_random() % 400) - 200;
	u64 reg = tap_random() & 1 ? SP : BP;

	switch (tap_random() % 4) {
	case 0:
		byte(DW_CFA_def_cfa_register);
		made_uleb(&model.program, reg);
		model.now.reg = model.odd ? model.now.reg : reg;
		break;
	case 1:
		byte(DW_CFA_def_cfa_offset);
		made_uleb(&model.program, off & 0xffff);
		model.now.off = model.odd ? model.now.off : off & 0xffff;
		break;
	case 2:
		byte(DW_CFA_def_cfa_offset_sf);
		made_sleb(&model.program, off);
		model.now.off = model.odd ? model.now.off : off * model.align;
		break;
	default:
		byte(DW_CFA_def_cfa_expression);
		put_block();
		model.now.known = false;
		break;
	}
}

static void put_kept(void)
{
	if (tap_random() & 1) {
		byte(DW_CFA_remember_state);
		if (model.odd)
			return;
		if (model.nr_kept == MAX_KEPT)
			become_odd();
		else
			model.kept[model.nr_kept++] = model.now;
		return;
	}
	byte(DW_CFA_restore_state);
	if (model.odd)
		return;
	if (!model.nr_kept)
		become_odd();
	else
		model.now = model.kept[--model.nr_kept];
}

/* What needs more than a rule says: registers, values, expressions. */
static void put_other(u64 reg)
{
	static const struct {
		u8	op;
		u8	operand;
	} ops[] = {
		{ DW_CFA_register, 'u' }, { DW_CFA_val_offset, 'u' }, { DW_CFA_val_offset_sf, 's' },
		{ DW_CFA_expression, 'b' }, { DW_CFA_val_expression, 'b' },
	};
	unsigned int i = tap_random() % ARRAY_SIZE(ops);

	byte(ops[i].op);
	made_uleb(&model.program, reg);
	if (ops[i].operand == 'u')
		made_uleb(&model.program, tap_random() % 300);
	else if (ops[i].operand == 's')
		made_sleb(&model.program, (s64)(tap_random() % 300) - 150);
	else
		put_block();
	set(reg, HYBRID_WHERE_EXPR, 0);
}

/* No such instruction; or one that ends behind the program, which only the last one can be. */
static void put_odd(void)
{
	static const u8 ops[] = { 0x17, 0x1c, 0x2d, 0x2f, 0x30, 0x3f };

	byte(ops[tap_random() % ARRAY_SIZE(ops)]);
	if (!model.odd)
		become_odd();
}

static void put_place(void)
{
	u64 reg = random_reg();

	switch (tap_random() % 6) {
	case 0:
		byte(DW_CFA_undefined);
		made_uleb(&model.program, reg);
		set(reg, HYBRID_WHERE_UNDEFINED, 0);
		break;
	case 1:
		byte(DW_CFA_same_value);
		made_uleb(&model.program, reg);
		set(reg, HYBRID_WHERE_SAME, 0);
		if (reg == SP && !model.odd)
			become_odd();
		break;
	case 2:
		put_restore(reg);
		break;
	case 3:
		if (tap_random() & 1) {
			put_other(reg);
			break;
		}
		/* fallthrough */
	default:
		put_offset(reg, (s64)(tap_random() % 40) - (tap_random() & 1 ? 20 : 0));
		break;
	}
}

static void put_random(bool may_be_odd)
{
	switch (tap_random() % 16) {
	case 0 ... 4:
		put_place();
		break;
	case 5:
		put_cfa(tap_random() % 4 ? (tap_random() & 1 ? SP : BP) : 12,
			(s64)(tap_random() % 400) - 100);
		break;
	case 6 ... 7:
		put_cfa_part();
		break;
	case 8 ... 9:
		put_kept();
		break;
	case 10:
		byte(DW_CFA_nop);
		break;
	case 11:
		byte(DW_CFA_GNU_args_size);
		made_uleb(&model.program, tap_random() % 1000);
		break;
	case 12:
		if (may_be_odd && !(tap_random() % 4))
			put_odd();
		break;
	default:
		advance(tap_random() % (tap_random() % 8 ? 12 : 100));
		break;
	}
}

static bool fits(s64 off)
{
	return off == (s32)off;
}

/* The rule of a state, in the words of rule.h. False: a rule does not say it. */
static bool rule_of(const struct state *state, struct hybrid_rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	if (!state->known || state->sp.kind != HYBRID_WHERE_SAME)
		return false;
	if (state->ip.kind == HYBRID_WHERE_UNDEFINED) {
		rule->kind = HYBRID_RULE_OUTERMOST;
		return true;
	}
	if (state->ip.kind != HYBRID_WHERE_CFA || (state->reg != SP && state->reg != BP) ||
	    !fits(state->off) || !fits(state->ip.off))
		return false;
	rule->kind = HYBRID_RULE_CFA;
	rule->base = state->reg == SP ? HYBRID_BASE_SP : HYBRID_BASE_BP;
	rule->cfa_off = state->off;
	rule->ra_off = state->ip.off;
	rule->bp_off = state->bp.off;
	switch (state->bp.kind) {
	case HYBRID_WHERE_SAME:
		rule->bp = HYBRID_BP_SAME;
		return true;
	case HYBRID_WHERE_UNDEFINED:
		rule->bp = HYBRID_BP_UNDEFINED;
		return true;
	case HYBRID_WHERE_CFA:
		rule->bp = HYBRID_BP_AT_CFA;
		return fits(state->bp.off);
	default:
		return false;
	}
}

static const struct row *row_at(u64 addr)
{
	unsigned int i;

	for (i = 0; i < model.nr; i++) {
		if (addr >= model.rows[i].start && addr < model.rows[i].end)
			return &model.rows[i];
	}
	return NULL;
}

static void compare_at(struct hybrid_object *object, u64 addr)
{
	const struct row *want = row_at(addr);
	struct hybrid_rule rule;
	struct hybrid_row row;
	bool found, known;

	memset(&row, 0x5a, sizeof(row));
	found = hybrid_eh_frame_row(&object->cfi, addr, &row);
	known = want && rule_of(&want->state, &rule);
	if (!same(found, known) || !known)
		return;
	same(row.start, want->start);
	same(row.end, want->end);
	check(!memcmp(&row.rule, &rule, sizeof(rule)));
}

static void begin_program(void)
{
	model.program.nr = 0;
	model.nr_kept = 0;
	model.nr = 0;
	model.odd = false;
}

/* The CIE: mostly the usual one, and then more. False: nothing is known of its FDEs. */
static bool make_cie(struct made_cfi *cfi)
{
	static const u64 codes[] = { 1, 1, 2, 4 };
	static const s64 aligns[] = { -8, -8, -4, 8, 1 };
	struct made_bytes data = { { DW_EH_PE_pcrel | DW_EH_PE_sdata4 }, 1 };
	unsigned int i, nr = tap_random() % 3;

	begin_program();
	cfi->encoding = data.bytes[0];
	model.code = codes[tap_random() % ARRAY_SIZE(codes)];
	model.align = aligns[tap_random() % ARRAY_SIZE(aligns)];
	model.in_cie = true;
	memset(&model.now, 0, sizeof(model.now));
	model.now.ip.kind = HYBRID_WHERE_EXPR;
	if (tap_random() % 16)
		put_cfa(SP, model.align == 1 ? 8 : 8 / model.align);
	if (tap_random() % 16)
		put_offset(IP, model.align == -4 ? 2 : 1);
	for (i = 0; i < nr; i++) {
		if (tap_random() % 4)
			put_place();
		else
			put_random(true);
	}
	made_cie(cfi, "zR", &data, model.code, model.align, IP, &model.program);
	/* It is one row. */
	model.initial = model.now;
	model.in_cie = false;
	return !model.odd && model.now.known && !model.nr;
}

static void random_programs(void)
{
	struct hybrid_object *object;
	struct made_cfi cfi;
	unsigned int round, i;
	bool usable;
	u64 addr;

	for (round = 0; round < 1500; round++) {
		made_cfi_begin(&cfi);
		usable = make_cie(&cfi);
		begin_program();
		model.now = model.initial;
		model.at = MADE_TEXT + 64;
		for (i = tap_random() % 40; i--;)
			put_random(true);
		made_fde(&cfi, MADE_TEXT + 64, CODE, &model.program);
		/* The last row ends with the FDE, where others may have ended before. */
		model.rows[model.nr++] = (struct row) { model.at, MADE_TEXT + 64 + CODE,
							model.now };
		for (i = 0; i < model.nr; i++)
			model.rows[i].end = min_t(u64, model.rows[i].end, MADE_TEXT + 64 + CODE);
		if (!usable)
			model.nr = 0;
		object = made_cfi_object(&cfi);
		for (addr = MADE_TEXT + 62; addr < MADE_TEXT + 66 + CODE; addr++)
			compare_at(object, addr);
		/* From the end to the beginning. */
		for (i = 0; i < 20; i++)
			compare_at(object, MADE_TEXT + 64 + tap_random() % CODE);
		elf_made_close(object);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "made CFI: random programs",	random_programs },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
