// SPDX-License-Identifier: GPL-2.0
/*
 * The CFI compiler: one row of .eh_frame or .debug_frame into a rule of 16 bytes, as
 * eh-frame.c reads it or, where that can't, libdw.
 *
 * Rows are compiled when an address first needs one: compiling all of libLLVM's or cc1's
 * half million rows ahead would stall a recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <dwarf.h>
#include "cfi.h"
#include "elf-bounds.h"

/* More than any compiler writes; a row that has more is not to be trusted. */
#define MAX_OPS		64

/* A row is not worth more lookups than this: it begins where it is needed. */
#define MAX_ROWS_BETWEEN	16

bool hybrid_op_register(const Dwarf_Op *op, u64 *reg, s64 *off)
{
	if (op->atom == DW_OP_bregx) {
		*reg = op->number;
		*off = op->number2;
		return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*off = op->number;
		return true;
	}
	return false;
}

/* libdw's form of "at CFA + N": call_frame_cfa, then plus_uconst N unless 0. */
static bool is_cfa_offset(const Dwarf_Op *ops, size_t nr, s64 *off)
{
	if (!nr || nr > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*off = 0;
	if (nr == 1)
		return true;
	*off = ops[1].number;
	return ops[1].atom == DW_OP_plus_uconst;
}

static int copy_ops(struct hybrid_where *where, const Dwarf_Op *ops, size_t nr)
{
	if (!nr || nr > MAX_OPS)
		return -EINVAL;
	where->ops = malloc(nr * sizeof(*ops));
	if (!where->ops)
		return -ENOMEM;
	memcpy(where->ops, ops, nr * sizeof(*ops));
	where->nr_ops = nr;
	return 0;
}

static int read_where(Dwarf_Frame *frame, int reg, struct hybrid_where *where)
{
	Dwarf_Op mem[3], *ops;
	bool value;
	size_t nr;

	memset(where, 0, sizeof(*where));
	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return -EINVAL;
	if (!nr) {
		where->kind = ops ? HYBRID_WHERE_UNDEFINED : HYBRID_WHERE_SAME;
		return 0;
	}
	if (nr == 1 && ops[0].atom == DW_OP_regx) {
		where->kind = HYBRID_WHERE_REG;
		where->off = ops[0].number;
		return 0;
	}
	value = ops[nr - 1].atom == DW_OP_stack_value;
	if (is_cfa_offset(ops, nr - value, &where->off)) {
		where->kind = value ? HYBRID_WHERE_CFA_VALUE : HYBRID_WHERE_CFA;
		return 0;
	}
	where->kind = value ? HYBRID_WHERE_VALUE : HYBRID_WHERE_EXPR;
	return copy_ops(where, ops, nr);
}

static void full_free(struct hybrid_full_row *full)
{
	unsigned int i;

	if (!full)
		return;
	free(full->cfa.ops);
	for (i = 0; i < HYBRID_MAX_REGS; i++)
		free(full->reg[i].ops);
	free(full);
}

/*
 * What a function does not mention it has not touched, of the registers that
 * belong to its caller (psABI x86-64 3.2.1). libdw has the same defaults, but
 * takes register 0 for rbx.
 */
static bool is_rbx(const struct hybrid_abi *abi, unsigned int reg)
{
	return abi->word == 8 && reg == HYBRID_X86_64_BX;
}

static struct hybrid_full_row *read_full(const struct hybrid_abi *abi, Dwarf_Frame *frame)
{
	struct hybrid_full_row *full = calloc(1, sizeof(*full));
	Dwarf_Op *ops;
	unsigned int i;
	size_t nr;

	if (!full)
		return NULL;
	full->cfa.kind = HYBRID_WHERE_VALUE;
	/* No CFA is no error: an outermost frame needs none. */
	if (dwarf_frame_cfa(frame, &ops, &nr) ||
	    (nr && copy_ops(&full->cfa, ops, nr)))
		goto out_free;
	for (i = 0; i < abi->nr; i++) {
		if (read_where(frame, i, &full->reg[i]))
			goto out_free;
		if (full->reg[i].kind == HYBRID_WHERE_UNDEFINED && is_rbx(abi, i))
			full->reg[i].kind = HYBRID_WHERE_SAME;
	}
	return full;

out_free:
	full_free(full);
	return NULL;
}

static bool fits(s64 off)
{
	return off == (s32)off;
}

/* libdw has DW_OP_deref and then what is added, if anything. */
static bool simple_deref(const Dwarf_Op *ops, size_t nr, u8 *off)
{
	if (!nr || nr > 2 || ops[0].atom != DW_OP_deref)
		return false;
	*off = 0;
	if (nr == 1)
		return true;
	*off = ops[1].number;
	return ops[1].atom == DW_OP_plus_uconst && *off == ops[1].number;
}

static bool simple_cfa(const struct hybrid_abi *abi, const struct hybrid_where *cfa,
		       struct hybrid_rule *rule)
{
	u64 reg;
	s64 off;

	if (!cfa->nr_ops || !hybrid_op_register(&cfa->ops[0], &reg, &off) || !fits(off) ||
	    (reg != abi->sp && reg != abi->bp))
		return false;
	rule->base = reg == abi->sp ? HYBRID_BASE_SP : HYBRID_BASE_BP;
	rule->cfa_off = off;
	rule->kind = HYBRID_RULE_CFA;
	if (cfa->nr_ops == 1)
		return true;
	rule->kind = HYBRID_RULE_DEREF;
	return simple_deref(&cfa->ops[1], cfa->nr_ops - 1, &rule->deref_off);
}

static bool simple_bp(const struct hybrid_abi *abi, const struct hybrid_where *bp,
		      struct hybrid_rule *rule)
{
	u64 reg;
	s64 off;

	switch (bp->kind) {
	case HYBRID_WHERE_SAME:
		rule->bp = HYBRID_BP_SAME;
		return true;
	case HYBRID_WHERE_UNDEFINED:
		rule->bp = HYBRID_BP_UNDEFINED;
		return true;
	case HYBRID_WHERE_CFA:
		rule->bp = HYBRID_BP_AT_CFA;
		rule->bp_off = bp->off;
		return fits(bp->off);
	case HYBRID_WHERE_EXPR:
		/* libdw puts the CFA first, which this form never looks at. */
		if (bp->nr_ops != 2 || !hybrid_op_register(&bp->ops[1], &reg, &off) ||
		    reg != abi->bp || !fits(off))
			return false;
		rule->bp = HYBRID_BP_AT_BP;
		rule->bp_off = off;
		return true;
	default:
		return false;
	}
}

static void make_rule(const struct hybrid_abi *abi, const struct hybrid_full_row *full,
		      bool signal, struct hybrid_rule *rule)
{
	const struct hybrid_where *ra = &full->reg[abi->ip];
	const struct hybrid_where *sp = &full->reg[abi->sp];

	memset(rule, 0, sizeof(*rule));
	rule->signal = signal;
	if (ra->kind == HYBRID_WHERE_UNDEFINED) {
		rule->kind = HYBRID_RULE_OUTERMOST;
		return;
	}
	if (ra->kind == HYBRID_WHERE_CFA && fits(ra->off) &&
	    sp->kind == HYBRID_WHERE_CFA_VALUE && !sp->off &&
	    simple_cfa(abi, &full->cfa, rule) &&
	    simple_bp(abi, &full->reg[abi->bp], rule)) {
		rule->ra_off = ra->off;
		return;
	}
	rule->kind = HYBRID_RULE_FULL;
}

/* The distance from sp to the CFA; false where the CFA is none of sp's. */
static bool cfa_from_sp(const struct hybrid_abi *abi, const struct hybrid_where *cfa, s64 *off)
{
	u64 reg;

	return cfa->nr_ops == 1 && hybrid_op_register(&cfa->ops[0], &reg, off) && reg == abi->sp;
}

/* Registers saved below sp have been popped: see hybrid_row_popped(). */
static void full_popped(const struct hybrid_abi *abi, struct hybrid_full_row *full)
{
	unsigned int i;
	s64 off;

	if (!cfa_from_sp(abi, &full->cfa, &off))
		return;
	for (i = 0; i < abi->nr; i++) {
		if (full->reg[i].kind == HYBRID_WHERE_CFA && off + full->reg[i].off < 0)
			full->reg[i].kind = HYBRID_WHERE_SAME;
	}
}

void hybrid_row_popped(const struct hybrid_cfi *cfi, struct hybrid_row *row)
{
	struct hybrid_rule *rule = &row->rule;

	row->popped = true;
	if (row->full)
		full_popped(cfi->abi, row->full);
	if (rule->kind == HYBRID_RULE_CFA && rule->base == HYBRID_BASE_SP &&
	    rule->bp == HYBRID_BP_AT_CFA && (s64)rule->cfa_off + rule->bp_off < 0)
		rule->bp = HYBRID_BP_SAME;
}

static void full_restored(struct hybrid_full_row *full)
{
	unsigned int i;

	for (i = 0; i < HYBRID_MAX_REGS; i++) {
		if (full->reg[i].kind == HYBRID_WHERE_EXPR)
			full->reg[i].kind = HYBRID_WHERE_SAME;
	}
}

void hybrid_row_restored(struct hybrid_row *row)
{
	row->restored = true;
	if (row->full)
		full_restored(row->full);
	if (row->rule.bp == HYBRID_BP_AT_BP)
		row->rule.bp = HYBRID_BP_SAME;
}

/* What libdw has of the FDEs of a section that it can't search: it keeps all of them, in a tree. */
static bool charge_libdw(Elf *sections)
{
	struct hybrid_section hdr, frame;

	if (hybrid_section_open(&hdr, sections, ".eh_frame_hdr") &&
	    hybrid_eh_frame_is_usual(&hdr))
		return true;
	return !hybrid_section_open(&frame, sections, ".eh_frame") ||
	       hybrid_elf_charge(sections, HYBRID_LIBDW_FACTOR * frame.data->d_size);
}

static void open_libdw(struct hybrid_cfi *cfi)
{
	Elf *sections = hybrid_cfi_sections(cfi);

	cfi->eh_tried = true;
	if (!sections)
		return;
	if (cfi->fd >= 0 && !charge_libdw(sections))
		cfi->is_refused = true;
	else
		cfi->eh = dwarf_getcfi_elf(sections);
}

void hybrid_cfi_forget(struct hybrid_cfi *cfi)
{
	if (cfi->eh)
		dwarf_cfi_end(cfi->eh);
	cfi->eh = NULL;
	cfi->eh_tried = false;
	cfi->eh_frame.tried = false;
	hybrid_elf_end(cfi->sections);
	cfi->sections = NULL;
	cfi->sections_tried = false;
	cfi->is_refused = false;
}

static Dwarf_Frame *find_frame(struct hybrid_cfi *cfi, u64 addr)
{
	Dwarf_Frame *frame;

	if (!cfi->eh_tried)
		open_libdw(cfi);
	if (cfi->eh && !dwarf_cfi_addrframe(cfi->eh, addr, &frame))
		return frame;
	if (cfi->debug && !dwarf_cfi_addrframe(cfi->debug, addr - cfi->debug_bias, &frame))
		return frame;
	return NULL;
}

/*
 * libdw's DW_CFA_restore_state brings back where the remembered row began, too,
 * so that a row behind it claims the rows between. What ends before @end is
 * none of it.
 */
static u64 true_start(struct hybrid_cfi *cfi, u64 addr, u64 start, u64 end)
{
	Dwarf_Addr other_start, other_end;
	Dwarf_Frame *frame;
	unsigned int i;

	for (i = 0; i < MAX_ROWS_BETWEEN && start < addr; i++) {
		frame = find_frame(cfi, start);
		if (!frame)
			return addr;
		dwarf_frame_info(frame, &other_start, &other_end, NULL);
		free(frame);
		if (other_end >= end)
			return start;
		if (other_end <= start)
			return addr;
		start = other_end;
	}
	return addr;
}

int hybrid_cfi_libdw_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row)
{
	struct hybrid_full_row *full;
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal;
	int ra;

	memset(row, 0, sizeof(*row));
	row->start = addr;
	row->end = addr + 1;

	frame = find_frame(cfi, addr);
	if (!frame)
		return 0;

	ra = dwarf_frame_info(frame, &start, &end, &signal);
	full = ra == cfi->abi->ip ? read_full(cfi->abi, frame) : NULL;
	free(frame);
	if (!full)
		return 0;

	/* A row of .debug_frame stands at its own bias: one address is enough. */
	if (start <= addr && addr < end) {
		row->start = true_start(cfi, addr, start, end);
		row->end = end;
	}
	make_rule(cfi->abi, full, signal, &row->rule);
	if (row->rule.kind == HYBRID_RULE_FULL)
		row->full = full;
	else
		full_free(full);
	return 0;
}

int hybrid_cfi_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row)
{
	memset(row, 0, sizeof(*row));
	return hybrid_eh_frame_row(cfi, addr, row) ? 0 : hybrid_cfi_libdw_row(cfi, addr, row);
}

const struct hybrid_full_row *hybrid_cfi_full(struct hybrid_cfi *cfi, struct hybrid_row *row)
{
	Dwarf_Frame *frame;

	if (row->full || row->rule.kind == HYBRID_RULE_NONE)
		return row->full;
	frame = find_frame(cfi, row->start);
	if (!frame)
		return NULL;
	row->full = read_full(cfi->abi, frame);
	free(frame);
	if (row->full && row->popped)
		full_popped(cfi->abi, row->full);
	if (row->full && row->restored)
		full_restored(row->full);
	return row->full;
}

void hybrid_row_exit(struct hybrid_row *row)
{
	full_free(row->full);
	row->full = NULL;
}
