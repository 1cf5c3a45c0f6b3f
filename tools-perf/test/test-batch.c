// SPDX-License-Identifier: GPL-2.0
/*
 * What is loaded for given CFI: rules, rows and ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "elf-file.h"
#include "../hybrid/bpf_skel/hybrid_walk.h"
#include "batch.h"
#include "rows.h"
#include "tap.h"

#define PID	1

static struct hybrid_processes ps;
static struct hybrid_object *object;
static struct hybrid_fdes fdes;
static struct hybrid_batch batch;
static const char *file;

static void begin(const char *name, const char *label)
{
	const struct hybrid_mapping *mapping;
	struct hybrid_thread *thread;
	u64 vaddr = elf_file_symbol(name, label);

	file = name;
	hybrid_processes_init(&ps, elf_file_open);
	elf_file_map(&ps, PID, name, 0);
	thread = hybrid_thread_get(&ps, PID, PID);
	mapping = hybrid_space_find(thread->process->space, vaddr);
	hybrid_object_row(mapping, vaddr);
	object = mapping->object;
	same(hybrid_fdes_read(object, &fdes), 0);
}

static void end(void)
{
	hybrid_batch_exit(&batch);
	hybrid_fdes_exit(&fdes);
	hybrid_processes_exit(&ps);
}

static const struct hybrid_fde *fde_of(const char *label)
{
	return hybrid_fdes_find(&fdes, elf_file_symbol(file, label));
}

static u32 offset_of(const char *label)
{
	u64 offset = 0;

	check(hybrid_object_offset(object, elf_file_symbol(file, label), &offset));
	return offset;
}

/* The rule that the kernel would find at an offset. */
static const struct perf_unwind_rule *rule_at(u32 offset)
{
	static const struct perf_unwind_rule none = { .kind = PERF_UNWIND_OUTERMOST + 1 };
	size_t i = batch.nr_rows;

	if (offset < batch.start || offset >= batch.end)
		return &none;
	while (i-- && batch.rows[i].offset > offset)
		;
	return &batch.rules[batch.rows[i].rule];
}

static void compare(const char *label, const struct perf_unwind_rule *want)
{
	const struct perf_unwind_rule *got = rule_at(offset_of(label));

	if (!tap_check(!memcmp(got, want, sizeof(*want)), __FILE__, __LINE__, label)) {
		same(got->kind, want->kind);
		same(got->base, want->base);
		same(got->fp, want->fp);
		same(got->deref_off, want->deref_off);
		same(got->cfa_off, want->cfa_off);
		same(got->ra_off, want->ra_off);
		same(got->fp_off, want->fp_off);
	}
}

#define RULE(kind_, base_, cfa, ...) \
	{ .kind = PERF_UNWIND_##kind_, .base = PERF_UNWIND_BASE_##base_, .cfa_off = cfa, \
	  .ra_off = -8, __VA_ARGS__ }
#define SAVED(off)	.fp = PERF_UNWIND_FP_AT_CFA, .fp_off = off
#define ONLY(kind_)	{ .kind = PERF_UNWIND_##kind_ }

static const struct want {
	const char		*label;
	struct perf_unwind_rule	 rule;
} wants[] = {
	{ "leaf_at", RULE(CFA, SP, 8) },
	{ "pushed", RULE(CFA, SP, 8) },
	{ "pushed_one", RULE(CFA, SP, 16) },
	{ "pushed_at", RULE(CFA, SP, 32) },
	{ "pushed_end", RULE(CFA, SP, 8) },
	{ "bpframe_pushed", RULE(CFA, SP, 16, SAVED(-16)) },
	{ "bpframe_at", RULE(CFA, FP, 16, SAVED(-16)) },
	{ "bpframe_left", RULE(CFA, SP, 8) },
	/* rbp was popped: it is in the register. */
	{ "leaves_left", RULE(CFA, SP, 8) },
	{ "redzone_at", RULE(CFA, SP, 8, SAVED(-24)) },
	{ "remember_early", RULE(CFA, SP, 16) },
	{ "remember_early_ret", RULE(CFA, SP, 8) },
	{ "remember_between", RULE(CFA, SP, 48) },
	{ "remember_late_ret", RULE(CFA, SP, 8) },
	{ "remember_after", RULE(CFA, SP, 48) },
	{ "realign", RULE(CFA, SP, 8) },
	{ "realign_r10", ONLY(UNKNOWN) },
	{ "realign_at", RULE(DEREF, FP, -8, .fp = PERF_UNWIND_FP_AT_FP) },
	{ "realign_lea", ONLY(UNKNOWN) },
	{ "aligned_at", RULE(DEREF, SP, 0, .deref_off = 8) },
	{ "aligned_below_at", RULE(DEREF, SP, -8, .deref_off = 8) },
	{ "aligned_far_at", ONLY(UNKNOWN) },
	/* rbp was popped, and would be looked for in the caller's frame. */
	{ "realign_left", RULE(CFA, SP, 8) },
	{ "realign13_pop", RULE(CFA, SP, 16) },
	{ "realign13_left", RULE(CFA, SP, 8) },
	{ "plt_low", RULE(PLT, SP, 8) },
	{ "plt_high", RULE(PLT, SP, 8) },
	{ "sigframe_ret", ONLY(SIGNAL) },
	/* Not what the kernel's own frames look like. */
	{ "sigplain_ret", ONLY(UNKNOWN) },
	{ "outer_ret", ONLY(OUTERMOST) },
	{ "undefbp_at", RULE(CFA, SP, 8, .fp = PERF_UNWIND_FP_UNDEFINED) },
	{ "raoff_at", { .kind = PERF_UNWIND_CFA, .cfa_off = 32, .ra_off = -24 } },
	{ "inreg_at", ONLY(UNKNOWN) },
	{ "bpreg_at", ONLY(UNKNOWN) },
	{ "valoff_at", ONLY(UNKNOWN) },
	{ "cfarax_at", ONLY(UNKNOWN) },
	{ "bigoff_at", ONLY(UNKNOWN) },
	{ "looping_at", ONLY(UNKNOWN) },
	{ "unknown_at", ONLY(UNKNOWN) },
	{ "nocfi_at", ONLY(UNKNOWN) },
};

/* One function after the other, each by itself. */
static void one_by_one(void)
{
	const struct hybrid_fde *fde;
	unsigned int i;

	begin("frames.so", "leaf_at");
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		fde = fde_of(wants[i].label);
		if (!fde) {
			same(wants[i].rule.kind, PERF_UNWIND_UNKNOWN);
			continue;
		}
		hybrid_batch_clear(&batch);
		same(hybrid_batch_fde(&batch, object, fde), 0);
		same(batch.end - batch.start, fde->end - fde->start);
		compare(wants[i].label, &wants[i].rule);
	}
	end();
}

/* What only a store of perf's own knows: CFAs that count from other registers. */
static void by_registers(void)
{
	static const struct want others[] = {
		{ "realign_r10", { .kind = HYBRID_WALK_REGISTER, .deref_off = 7, .ra_off = -8 } },
		{ "cfarax_at", { .kind = HYBRID_WALK_REGISTER, .deref_off = 10, .cfa_off = 8,
				 .ra_off = -8 } },
		/* rbp is where an expression says; then it was popped. */
		{ "realign_popped", ONLY(UNKNOWN) },
		{ "realign_lea", { .kind = HYBRID_WALK_REGISTER, .deref_off = 7, .ra_off = -8 } },
		{ "inreg_at", ONLY(UNKNOWN) },
		{ "bigoff_at", ONLY(UNKNOWN) },
		{ "aligned_far_at", ONLY(UNKNOWN) },
		{ "sigplain_ret", ONLY(UNKNOWN) },
		{ "realign_left", RULE(CFA, SP, 8) },
	};
	unsigned int i;

	begin("frames.so", "leaf_at");
	batch.registers = true;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		hybrid_batch_clear(&batch);
		same(hybrid_batch_fde(&batch, object, fde_of(others[i].label)), 0);
		compare(others[i].label, &others[i].rule);
	}
	end();
}

static void add_all(void)
{
	size_t i;

	for (i = 0; i < fdes.nr; i++)
		same(hybrid_batch_fde(&batch, object, &fdes.fdes[i]), 0);
}

/* All in one, as of an object that is hot; what no FDE covers is unknown. */
static void whole(void)
{
	unsigned int i;

	begin("frames.so", "leaf_at");
	add_all();
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		/* nocfi stands before the first function. */
		if (strcmp(wants[i].label, "nocfi_at"))
			compare(wants[i].label, &wants[i].rule);
	}
	/* Padding between two functions. */
	same(rule_at(offset_of("redzone_at") & ~15)->kind, PERF_UNWIND_CFA);
	same(rule_at(offset_of("leaf_at") + 15)->kind, PERF_UNWIND_UNKNOWN);
	end();
}

/* What the kernel asks of rows, of whatever file. */
static void valid_rows(void)
{
	static const char * const names[][2] = {
		{ "frames.so", "leaf_at" }, { "small.so", "leaf_at" }, { "i386.so", "leaf_at" },
	};
	unsigned int n;
	size_t i;

	for (n = 0; n < ARRAY_SIZE(names); n++) {
		begin(names[n][0], names[n][1]);
		add_all();
		check(batch.nr_rows > 1 && batch.nr_rules > 1);
		same(batch.rows[0].offset, batch.start);
		for (i = 0; i < batch.nr_rows; i++) {
			check(batch.rows[i].rule < batch.nr_rules);
			same(batch.rows[i].__reserved, 0);
			check(batch.rows[i].offset < batch.end);
			if (!i)
				continue;
			check(batch.rows[i - 1].offset < batch.rows[i].offset);
			check(batch.rows[i - 1].rule != batch.rows[i].rule);
		}
		end();
	}
}

/* No rule stands twice: "remember" has its rows several times. */
static void distinct_rules(void)
{
	size_t i, j;

	begin("frames.so", "leaf_at");
	add_all();
	for (i = 0; i < batch.nr_rules; i++) {
		for (j = 0; j < i; j++)
			check(memcmp(&batch.rules[i], &batch.rules[j],
				     sizeof(batch.rules[i])));
	}
	end();
}

static void merged(void)
{
	begin("frames.so", "leaf_at");
	/* One rule all through is one row. */
	same(hybrid_batch_fde(&batch, object, fde_of("raoff_at")), 0);
	same(batch.nr_rows, 1);
	/* No gap between the two: no row for it. */
	hybrid_batch_clear(&batch);
	same(hybrid_batch_fde(&batch, object, fde_of("noret_ret") - 1), 0);
	same(batch.nr_rows, 2);
	same(hybrid_batch_fde(&batch, object, fde_of("noret_ret")), 0);
	same(batch.nr_rows, 3);
	end();
}

static void ranges(void)
{
	struct hybrid_segment *seg;
	struct hybrid_fde fde;
	u64 vaddr;

	begin("frames.so", "leaf_at");
	fde = *fde_of("pushed_at");
	vaddr = fde.start;
	seg = object->segments;

	/* Behind what there is already, and only there. */
	same(hybrid_batch_fde(&batch, object, &fde), 0);
	same(hybrid_batch_fde(&batch, object, &fde), (u64)-EAGAIN);
	same(hybrid_batch_fde(&batch, object, fde_of("leaf_at")), (u64)-EAGAIN);
	same(batch.end - batch.start, fde.end - fde.start);

	/* Not beyond the end of a segment. */
	hybrid_batch_clear(&batch);
	seg->size = vaddr + 3 - seg->vaddr;
	same(hybrid_batch_fde(&batch, object, &fde), 0);
	same(batch.end - batch.start, 3);
	hybrid_batch_clear(&batch);
	seg->size = vaddr - seg->vaddr;
	same(hybrid_batch_fde(&batch, object, &fde), 0);
	same(batch.nr_rows, 0);

	/* Nor beyond 4 GiB of the file. */
	seg->size = fde.end - seg->vaddr;
	seg->offset = (1ULL << 32) - (fde.end - seg->vaddr);
	same(hybrid_batch_fde(&batch, object, &fde), 0);
	same(batch.nr_rows, 0);
	seg->offset--;
	same(hybrid_batch_fde(&batch, object, &fde), 0);
	same(batch.end, 0xffffffff);
	end();
}

static void make_row(struct hybrid_row *row, unsigned int n)
{
	memset(row, 0, sizeof(*row));
	row->rule.kind = HYBRID_RULE_CFA;
	row->rule.cfa_off = 8 + 8 * n;
	row->rule.ra_off = -8;
}

/* What differs only where it is not used is one rule. */
static void unused_parts(void)
{
	struct perf_unwind_rule a, b;
	struct hybrid_row row;

	make_row(&row, 3);
	hybrid_batch_rule(&hybrid_abi_64, &row, &a);
	row.rule.bp_off = -16;
	row.start = 7;
	hybrid_batch_rule(&hybrid_abi_64, &row, &b);
	check(!memcmp(&a, &b, sizeof(a)));
	row.rule.bp = HYBRID_BP_AT_CFA;
	hybrid_batch_rule(&hybrid_abi_64, &row, &b);
	same(b.fp_off, -16);
	row.rule.signal = 1;
	hybrid_batch_rule(&hybrid_abi_64, &row, &b);
	same(b.kind, PERF_UNWIND_UNKNOWN);
}

/* Nobody calls what a process begins with. */
static void program_entry(void)
{
	begin("entry.so", "inner_at");
	add_all();
	same(rule_at(offset_of("_start"))->kind, PERF_UNWIND_OUTERMOST);
	same(rule_at(offset_of("start_ret") - 1)->kind, PERF_UNWIND_OUTERMOST);
	same(rule_at(offset_of("inner_at"))->kind, PERF_UNWIND_CFA);
	check(!fde_of("behind_ret"));
	end();
	/* A library's entry is no such. */
	begin("nocfi.so", "bare_at");
	same(object->entry_size, 0);
	end();
}

static void abi_32(void)
{
	begin("i386.so", "leaf_at");
	same(hybrid_batch_fde(&batch, object, fde_of("leaf_at")), 0);
	same(rule_at(offset_of("leaf_at"))->cfa_off, 4);
	same(rule_at(offset_of("leaf_at"))->ra_off, (u64)-4);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "batch: rules of functions", one_by_one },
		{ "batch: rules by other registers", by_registers },
		{ "batch: a whole object", whole },
		{ "batch: rows in order", valid_rows },
		{ "batch: distinct rules", distinct_rules },
		{ "batch: equal rows are one", merged },
		{ "batch: ranges", ranges },
		{ "batch: what of a rule counts", unused_parts },
		{ "batch: the entry of a program", program_entry },
		{ "batch: i386", abi_32 },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
