// SPDX-License-Identifier: GPL-2.0
/*
 * From perf's rules to the kernel's. The two differ in nothing but the rows
 * that need a DWARF expression: of these the kernel knows two by name, what
 * linkers write for a procedure linkage table and libc for a signal's return.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../bpf_skel/hybrid_walk.h"
#include "../bpf_skel/signal-frame.h"
#include "../rules/compile.h"
#include "../rules/keyed-hash.h"
#include "batch.h"
#include "rule-table.h"

/* One FDE has no more rules than this; else it stays unknown. */
#define MAX_FDE_ROWS	16384

static bool is_op(const Dwarf_Op *op, u8 atom, u64 number)
{
	return op->atom == atom && op->number == number;
}

/* sp + word + ((ip & 15) >= 11) * word, as ld writes it. */
static bool is_plt(const struct hybrid_abi *abi, const struct hybrid_full_row *full)
{
	const struct hybrid_where *ra = &full->reg[abi->ip], *bp = &full->reg[abi->bp];
	const Dwarf_Op *ops = full->cfa.ops;

	return full->cfa.nr_ops == 9 &&
	       is_op(&ops[0], DW_OP_breg0 + abi->sp, abi->word) &&
	       is_op(&ops[1], DW_OP_breg0 + abi->ip, 0) &&
	       ops[2].atom == DW_OP_lit15 && ops[3].atom == DW_OP_and &&
	       ops[4].atom == DW_OP_lit11 && ops[5].atom == DW_OP_ge &&
	       ops[6].atom == (abi->word == 8 ? DW_OP_lit3 : DW_OP_lit2) &&
	       ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus &&
	       ra->kind == HYBRID_WHERE_CFA && ra->off == -abi->word &&
	       bp->kind == HYBRID_WHERE_SAME;
}

/* In memory at sp + @off: libdw puts the CFA first, which is not looked at. */
static bool is_at_sp(const struct hybrid_abi *abi, const struct hybrid_where *where, u64 off)
{
	return where->kind == HYBRID_WHERE_EXPR && where->nr_ops == 2 &&
	       is_op(&where->ops[1], DW_OP_breg0 + abi->sp, off);
}

/* The registers where the kernel leaves them: sp is at a struct ucontext. */
static bool is_sigreturn(const struct hybrid_abi *abi, const struct hybrid_full_row *full)
{
	const struct hybrid_where *cfa = &full->cfa;

	return abi->word == 8 && cfa->nr_ops == 2 &&
	       is_op(&cfa->ops[0], DW_OP_breg0 + HYBRID_X86_64_SP, HYBRID_UCONTEXT_SP) &&
	       cfa->ops[1].atom == DW_OP_deref &&
	       is_at_sp(abi, &full->reg[HYBRID_X86_64_IP], HYBRID_UCONTEXT_IP) &&
	       is_at_sp(abi, &full->reg[HYBRID_X86_64_BP], HYBRID_UCONTEXT_BP);
}

static void full_rule(const struct hybrid_abi *abi, const struct hybrid_row *row,
		      struct perf_unwind_rule *to)
{
	if (row->full && row->rule.signal && is_sigreturn(abi, row->full)) {
		to->kind = PERF_UNWIND_SIGNAL;
	} else if (row->full && !row->rule.signal && is_plt(abi, row->full)) {
		to->kind = PERF_UNWIND_PLT;
		to->base = PERF_UNWIND_BASE_SP;
		to->cfa_off = abi->word;
		to->ra_off = -abi->word;
		to->fp = PERF_UNWIND_FP_SAME;
	}
}

static void plain_rule(const struct hybrid_rule *rule, struct perf_unwind_rule *to)
{
	static const u8 bps[] = {
		[HYBRID_BP_SAME]	= PERF_UNWIND_FP_SAME,
		[HYBRID_BP_AT_CFA]	= PERF_UNWIND_FP_AT_CFA,
		[HYBRID_BP_AT_BP]	= PERF_UNWIND_FP_AT_FP,
		[HYBRID_BP_UNDEFINED]	= PERF_UNWIND_FP_UNDEFINED,
	};

	to->kind = rule->kind == HYBRID_RULE_DEREF ? PERF_UNWIND_DEREF : PERF_UNWIND_CFA;
	to->base = rule->base == HYBRID_BASE_BP ? PERF_UNWIND_BASE_FP : PERF_UNWIND_BASE_SP;
	to->deref_off = rule->deref_off;
	to->cfa_off = rule->cfa_off;
	to->ra_off = rule->ra_off;
	to->fp = bps[rule->bp];
	/* What is not used would make rules differ that do not. */
	if (rule->bp == HYBRID_BP_AT_CFA || rule->bp == HYBRID_BP_AT_BP)
		to->fp_off = rule->bp_off;
}

/* By DWARF number, word of struct pt_regs. */
static const u8 reg_words[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 };

/* The CFA counts from a register other than sp and bp. */
static void register_rule(const struct hybrid_abi *abi, const struct hybrid_row *row,
			  struct perf_unwind_rule *to)
{
	const struct hybrid_full_row *full = row->full;
	const struct hybrid_where *ra, *bp;
	u64 reg;
	s64 off;

	if (abi->word != 8 || row->rule.kind != HYBRID_RULE_FULL || row->rule.signal || !full)
		return;
	ra = &full->reg[abi->ip];
	bp = &full->reg[abi->bp];
	if (full->cfa.nr_ops != 1 || !hybrid_op_register(full->cfa.ops, &reg, &off) ||
	    reg >= ARRAY_SIZE(reg_words) || off != (s32)off ||
	    ra->kind != HYBRID_WHERE_CFA || ra->off != -abi->word)
		return;
	if (bp->kind == HYBRID_WHERE_CFA && bp->off == (s32)bp->off) {
		to->fp = PERF_UNWIND_FP_AT_CFA;
		to->fp_off = bp->off;
	} else if (bp->kind != HYBRID_WHERE_SAME) {
		return;
	}
	to->kind = HYBRID_WALK_REGISTER;
	to->deref_off = reg_words[reg];
	to->cfa_off = off;
	to->ra_off = -abi->word;
}

void hybrid_batch_rule(const struct hybrid_abi *abi, const struct hybrid_row *row,
		       struct perf_unwind_rule *to)
{
	memset(to, 0, sizeof(*to));
	to->kind = PERF_UNWIND_UNKNOWN;
	switch (row->rule.kind) {
	case HYBRID_RULE_OUTERMOST:
		to->kind = PERF_UNWIND_OUTERMOST;
		break;
	case HYBRID_RULE_CFA:
	case HYBRID_RULE_DEREF:
		/* Whom a signal interrupted, no call has called. */
		if (!row->rule.signal)
			plain_rule(&row->rule, to);
		break;
	case HYBRID_RULE_FULL:
		full_rule(abi, row, to);
		break;
	default:
		break;
	}
}

void hybrid_batch_code_rule(const struct hybrid_abi *abi, const struct hybrid_rule *rule,
			    bool registers, struct perf_unwind_rule *to)
{
	unsigned int reg = rule->base - HYBRID_BASE_REG;

	memset(to, 0, sizeof(*to));
	to->kind = PERF_UNWIND_UNKNOWN;
	if (registers && abi->word == 8 && rule->kind == HYBRID_RULE_SAVED_SP) {
		to->kind = HYBRID_WALK_SAVED_SP;
		to->cfa_off = rule->cfa_off;
		to->deref_off = rule->deref_off;
		to->fp_off = rule->bp_off;
		return;
	}
	if (rule->kind != HYBRID_RULE_CFA && rule->kind != HYBRID_RULE_DEREF)
		return;
	if (rule->base < HYBRID_BASE_REG) {
		plain_rule(rule, to);
	} else if (registers && abi->word == 8 && rule->kind == HYBRID_RULE_CFA &&
		   reg < ARRAY_SIZE(reg_words)) {
		plain_rule(rule, to);
		to->kind = HYBRID_WALK_REGISTER;
		to->deref_off = reg_words[reg];
	}
}

/* Room for one more rule. */
static int reserve_rule(struct hybrid_batch *batch)
{
	size_t alloc = batch->alloc_rules * 2 + 64;
	struct perf_unwind_rule *rules;
	u16 *next;

	if (batch->nr_rules < batch->alloc_rules)
		return 0;
	rules = realloc(batch->rules, alloc * sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	batch->rules = rules;
	next = realloc(batch->next, alloc * sizeof(*next));
	if (!next)
		return -ENOMEM;
	batch->next = next;
	batch->alloc_rules = alloc;
	return 0;
}

/* Index of a rule, added where it is new. */
static int find_rule(struct hybrid_batch *batch, const struct perf_unwind_rule *rule)
{
	u32 hash = hybrid_hash_bytes(0, rule, sizeof(*rule)) % HYBRID_BATCH_HASH;
	u16 i;

	for (i = batch->hash[hash]; i; i = batch->next[i - 1]) {
		if (!memcmp(&batch->rules[i - 1], rule, sizeof(*rule)))
			return i - 1;
	}
	if (batch->nr_rules == HYBRID_BATCH_RULES)
		return -EAGAIN;
	if (reserve_rule(batch))
		return -ENOMEM;
	i = batch->nr_rules++;
	batch->rules[i] = *rule;
	batch->next[i] = batch->hash[hash];
	batch->hash[hash] = i + 1;
	return i;
}

static int add_row(struct hybrid_batch *batch, u32 offset, const struct perf_unwind_rule *rule)
{
	size_t alloc = batch->alloc_rows * 2 + 256;
	struct perf_unwind_row *rows;
	int index = find_rule(batch, rule);

	if (index < 0)
		return index;
	if (batch->nr_rows && batch->rows[batch->nr_rows - 1].rule == index)
		return 0;
	if (batch->nr_rows == batch->alloc_rows) {
		rows = realloc(batch->rows, alloc * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		batch->rows = rows;
		batch->alloc_rows = alloc;
	}
	batch->rows[batch->nr_rows++] = (struct perf_unwind_row) {
		.offset	= offset,
		.rule	= index,
	};
	return 0;
}

/* The rows of [vaddr, end), which stand from @offset on in the file. */
static int add_rows(struct hybrid_batch *batch, struct hybrid_object *object,
		    u64 vaddr, u64 end, u64 offset)
{
	size_t most = batch->nr_rows + MAX_FDE_ROWS;
	u64 start = vaddr;
	int err = 0;

	while (!err && vaddr < end) {
		struct perf_unwind_rule rule;
		struct hybrid_row row;

		if (batch->nr_rows > most)
			return -EINVAL;
		if (hybrid_compile_row(object, vaddr, &row))
			return -ENOMEM;
		hybrid_batch_rule(object->cfi.abi, &row, &rule);
		if (batch->registers && rule.kind == PERF_UNWIND_UNKNOWN)
			register_rule(object->cfi.abi, &row, &rule);
		err = add_row(batch, offset + (vaddr - start), &rule);
		vaddr = row.end;
		hybrid_row_exit(&row);
	}
	return err;
}

/* Offset of what is in a segment, which may be cut where that ends. */
static bool place(const struct hybrid_object *object, u64 start, u64 end, u64 *offset, u64 *size)
{
	size_t i;

	for (i = 0; i < object->nr_segments; i++) {
		const struct hybrid_segment *seg = &object->segments[i];
		u64 at = start - seg->vaddr;

		if (at >= seg->size)
			continue;
		*offset = seg->offset + at;
		*size = min(end - start, seg->size - at);
		return *offset + *size <= UINT32_MAX;
	}
	return false;
}

/*
 * From what was added last up to @offset. No FDE covers that: there is no rule, but in a
 * store that takes code without CFI what was loaded there before stays.
 */
static int leave_out(struct hybrid_batch *batch, u64 offset)
{
	const struct perf_unwind_rule ask = {
		.kind = batch->codes ? HYBRID_TABLE_KEEP : PERF_UNWIND_UNKNOWN,
	};

	if (batch->nr_rows && offset < batch->end)
		return -EAGAIN;
	return batch->nr_rows && offset > batch->end ? add_row(batch, batch->end, &ask) : 0;
}

int hybrid_batch_fde(struct hybrid_batch *batch, struct hybrid_object *object,
		     const struct hybrid_fde *fde)
{
	size_t nr_rows = batch->nr_rows;
	u64 offset, size;
	int err;

	if (!place(object, fde->start, fde->end, &offset, &size))
		return 0;
	err = leave_out(batch, offset);
	if (!err)
		err = add_rows(batch, object, fde->start, fde->start + size, offset);
	if (err) {
		batch->nr_rows = nr_rows;
		return err == -EINVAL ? 0 : err;
	}
	if (!nr_rows)
		batch->start = offset;
	batch->end = offset + size;
	return 0;
}

int hybrid_batch_code(struct hybrid_batch *batch, const struct hybrid_object *object,
		      u64 start, u64 end, const struct hybrid_rule *rule)
{
	bool first = !batch->nr_rows;
	struct perf_unwind_rule to;
	u64 offset, size;
	int err;

	if (!place(object, start, end, &offset, &size) || !size)
		return 0;
	hybrid_batch_code_rule(object->cfi.abi, rule, batch->registers, &to);
	if (to.kind == PERF_UNWIND_UNKNOWN)
		return 0;
	err = leave_out(batch, offset);
	if (!err)
		err = add_row(batch, offset, &to);
	if (err)
		return err;
	if (first)
		batch->start = offset;
	batch->end = offset + size;
	return 0;
}

void hybrid_batch_clear(struct hybrid_batch *batch)
{
	batch->nr_rows = 0;
	batch->nr_rules = 0;
	memset(batch->hash, 0, sizeof(batch->hash));
}

void hybrid_batch_exit(struct hybrid_batch *batch)
{
	free(batch->rows);
	free(batch->rules);
	free(batch->next);
	memset(batch, 0, sizeof(*batch));
}
