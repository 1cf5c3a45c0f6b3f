// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of real ELF files, compiled to rules.
 */
#include <stdlib.h>
#include <string.h>
#include "elf-file.h"
#include "rows.h"
#include "tap.h"

#define PID	1

static struct hybrid_processes ps;
static struct hybrid_space *space;

static void map(const char *name)
{
	struct hybrid_thread *thread;

	hybrid_processes_init(&ps, elf_file_open);
	elf_file_map(&ps, PID, name, 0);
	thread = hybrid_thread_get(&ps, PID, PID);
	space = thread ? thread->process->space : NULL;
}

static void unmap(void)
{
	hybrid_processes_exit(&ps);
}

static struct hybrid_row *row_at(u64 addr)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space, addr);

	return mapping ? hybrid_object_row(mapping, addr) : NULL;
}

static struct hybrid_row *row_of(const char *name, const char *label)
{
	return row_at(elf_file_symbol(name, label));
}

static const struct hybrid_full_row *full_of(struct hybrid_row *row)
{
	if (!row)
		return NULL;
	return hybrid_cfi_full(&hybrid_space_find(space, row->start)->object->cfi, row);
}

struct want {
	const char		*label;
	struct hybrid_rule	 rule;
};

#define CFA(base_, off, ...) \
	{ .kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_##base_, .cfa_off = off, \
	  .ra_off = -8, __VA_ARGS__ }
#define BP_SAVED(off)	.bp = HYBRID_BP_AT_CFA, .bp_off = off

static const struct want plain[] = {
	{ "leaf_at", CFA(SP, 8) },
	{ "pushed", CFA(SP, 8) },
	{ "pushed_one", CFA(SP, 16) },
	{ "pushed_at", CFA(SP, 32) },
	{ "pushed_ret", CFA(SP, 32) },
	{ "pushed_end", CFA(SP, 8) },
	{ "bpframe_entry", CFA(SP, 8) },
	{ "bpframe_pushed", CFA(SP, 16, BP_SAVED(-16)) },
	{ "bpframe_at", CFA(BP, 16, BP_SAVED(-16)) },
	{ "bpframe_left", CFA(SP, 8) },
	{ "leaves_left", CFA(SP, 8, .bp_off = -16) },
	{ "redzone_at", CFA(SP, 8, BP_SAVED(-24)) },
	{ "remember", CFA(SP, 8) },
	{ "remember_one", CFA(SP, 16) },
	{ "remember_before", CFA(SP, 48) },
	{ "remember_early", CFA(SP, 16) },
	{ "remember_early_ret", CFA(SP, 8) },
	{ "remember_between", CFA(SP, 48) },
	{ "remember_late", CFA(SP, 16) },
	{ "remember_late_ret", CFA(SP, 8) },
	{ "remember_after", CFA(SP, 48) },
	{ "undefbp_at", CFA(SP, 8, .bp = HYBRID_BP_UNDEFINED) },
	{ "next", CFA(SP, 64) },
	{ "sigplain_ret", CFA(SP, 32, .signal = 1) },
};

static const struct want odd[] = {
	{ "realign_at", { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_BP, .cfa_off = -8,
			  .ra_off = -8, .bp = HYBRID_BP_AT_BP } },
	{ "aligned_at", { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_SP, .deref_off = 8,
			  .ra_off = -8 } },
	{ "aligned_below_at", { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_SP, .cfa_off = -8,
				.deref_off = 8, .ra_off = -8 } },
	{ "aligned_far_at", { .kind = HYBRID_RULE_FULL } },
	{ "aligned_neg_at", { .kind = HYBRID_RULE_FULL } },
	{ "raoff_at", { .kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .cfa_off = 32,
			.ra_off = -24 } },
	{ "outer_ret", { .kind = HYBRID_RULE_OUTERMOST } },
	{ "realign_r10", { .kind = HYBRID_RULE_FULL } },
	{ "plt_low", { .kind = HYBRID_RULE_FULL } },
	{ "sigframe_ret", { .kind = HYBRID_RULE_FULL, .signal = 1 } },
	{ "inreg_at", { .kind = HYBRID_RULE_FULL } },
	{ "bpreg_at", { .kind = HYBRID_RULE_FULL } },
	{ "valoff_at", { .kind = HYBRID_RULE_FULL } },
	{ "cfarax_at", { .kind = HYBRID_RULE_FULL } },
	{ "bigoff_at", { .kind = HYBRID_RULE_FULL } },
	{ "looping_at", { .kind = HYBRID_RULE_FULL } },
	{ "dividing_at", { .kind = HYBRID_RULE_FULL } },
	{ "unknown_at", { .kind = HYBRID_RULE_NONE } },
	{ "nocfi_at", { .kind = HYBRID_RULE_NONE } },
};

static void compare(const struct hybrid_rule *got, const struct hybrid_rule *want)
{
	same(got->kind, want->kind);
	same(got->signal, want->signal);
	if (want->kind != HYBRID_RULE_CFA && want->kind != HYBRID_RULE_DEREF)
		return;
	same(got->base, want->base);
	same(got->deref_off, want->deref_off);
	same(got->cfa_off, want->cfa_off);
	same(got->ra_off, want->ra_off);
	same(got->bp, want->bp);
	same(got->bp_off, want->bp_off);
}

static void compare_all(const struct want *want, unsigned int nr)
{
	map("frames.so");
	for (; nr--; want++) {
		struct hybrid_row *row = row_of("frames.so", want->label);

		if (!tap_check(row, __FILE__, __LINE__, want->label))
			continue;
		compare(&row->rule, &want->rule);
	}
	unmap();
}

static void plain_rows(void)
{
	compare_all(plain, ARRAY_SIZE(plain));
}

static void odd_rows(void)
{
	compare_all(odd, ARRAY_SIZE(odd));
}

static void expect_range(const char *at, const char *from, const char *to)
{
	struct hybrid_row *row = row_of("frames.so", at);

	if (!check(row))
		return;
	same(row->start, elf_file_symbol("frames.so", from));
	same(row->end, elf_file_symbol("frames.so", to));
}

/* libdw has a row behind restore_state begin where the remembered one did. */
static void ranges(void)
{
	map("frames.so");
	expect_range("remember_after", "remember_after", "remember_end");
	expect_range("remember_between", "remember_between", "remember_split2");
	expect_range("remember_split2", "remember_split2", "remember_late");
	expect_range("remember_late_ret", "remember_late_ret", "remember_after");
	expect_range("remember_early", "remember_early", "remember_early_ret");
	expect_range("remember_before", "remember_before", "remember_split");
	expect_range("pushed_at", "pushed_at", "pushed_two");
	same(ps.objects.nr_rows, 7);
	/* A second look compiles nothing. */
	expect_range("pushed_at", "pushed_at", "pushed_two");
	same(ps.objects.nr_rows, 7);
	unmap();
}

#define MAX_CODE	2048

/* Fills @rules for each byte of the code, asked for in steps of @step. */
static size_t read_rules(struct hybrid_rule *rules, u64 step)
{
	u64 start = elf_file_symbol("frames.so", "nocfi"), at = 0;
	u64 size = elf_file_symbol("frames.so", "unknown_at") + 1 - start;
	unsigned int i;

	if (!check(size < MAX_CODE))
		return 0;
	map("frames.so");
	for (i = 0; i < size; i++) {
		struct hybrid_row *row = row_at(start + at);

		if (check(row))
			rules[at] = row->rule;
		at = (at + step) % size;
	}
	unmap();
	return size;
}

/* Whatever was asked for first, an address has the same rule. */
static void any_order(void)
{
	static struct hybrid_rule up[MAX_CODE], other[MAX_CODE];
	static const u64 primes[] = { 101, 211, 401, 797, 997 };
	size_t size = read_rules(up, 1), i;
	unsigned int p;

	for (p = 0; p <= ARRAY_SIZE(primes); p++) {
		memset(other, 0xff, sizeof(other));
		same(read_rules(other, p ? primes[p - 1] : size - 1), size);
		for (i = 0; i < size; i++)
			check(!memcmp(&up[i], &other[i], sizeof(up[i])));
	}
}

static void full_row(void)
{
	const struct hybrid_full_row *full;
	struct hybrid_row *row;

	map("frames.so");
	row = row_of("frames.so", "pushed_at");
	check(row && !row->full);
	full = full_of(row);
	if (check(full)) {
		same(full->cfa.nr_ops, 1);
		same(full->reg[HYBRID_X86_64_BX].kind, HYBRID_WHERE_CFA);
		same(full->reg[HYBRID_X86_64_BX].off, -16);
		same(full->reg[HYBRID_X86_64_IP].off, -8);
		same(full->reg[HYBRID_X86_64_SP].kind, HYBRID_WHERE_CFA_VALUE);
		same(full->reg[12].kind, HYBRID_WHERE_SAME);
		check(hybrid_cfi_full(NULL, row) == full);
	}
	row = row_of("frames.so", "inreg_at");
	if (check(row && row->full)) {
		same(row->full->reg[HYBRID_X86_64_IP].kind, HYBRID_WHERE_REG);
		same(row->full->reg[HYBRID_X86_64_IP].off, HYBRID_X86_64_BX);
	}
	row = row_of("frames.so", "valoff_at");
	if (check(row && row->full)) {
		same(row->full->reg[HYBRID_X86_64_BP].kind, HYBRID_WHERE_CFA_VALUE);
		same(row->full->reg[HYBRID_X86_64_BP].off, -32);
	}
	row = row_of("frames.so", "sigframe_ret");
	if (check(row && row->full))
		same(row->full->reg[HYBRID_X86_64_IP].kind, HYBRID_WHERE_EXPR);
	row = row_of("frames.so", "nocfi_at");
	check(row && !hybrid_cfi_full(NULL, row));
	unmap();
}

/*
 * What a function has not saved, it has not touched, where the ABI says so:
 * libdw's defaults take register 0 for rbx.
 */
static void callee_saved(void)
{
	static const u8 saved[] = { HYBRID_X86_64_BX, HYBRID_X86_64_BP, 12, 13, 14, 15 };
	const struct hybrid_full_row *full;
	struct hybrid_row *row;
	unsigned int i;

	map("frames.so");
	row = row_of("frames.so", "leaf_at");
	full = full_of(row);
	for (i = 0; check(full) && i < ARRAY_SIZE(saved); i++)
		same(full->reg[saved[i]].kind, HYBRID_WHERE_SAME);
	unmap();
}

/* @name is debug.S, linked to @base. */
static void expect_debug_frame(const char *name, u64 base)
{
	static const struct hybrid_rule want[] = { CFA(SP, 8), CFA(SP, 32), CFA(SP, 8) };
	static const char * const labels[] = { "plain", "plain_at", "plain_end" };
	struct hybrid_row *row;
	unsigned int i;

	map(name);
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		row = row_at(base + elf_file_symbol("debug.so", labels[i]));
		if (check(row))
			compare(&row->rule, &want[i]);
	}
	row = row_at(base + elf_file_symbol("debug.so", "uncovered"));
	check(row && row->rule.kind == HYBRID_RULE_NONE);
	unmap();
}

static void debug_frame(void)
{
	expect_debug_frame("debug.so", 0);
}

static void debug_frame_based(void)
{
	expect_debug_frame("debug-based.so", 0x200000);
}

/* In any order: what is compiled first must not cover the others. */
static void switched_stacks(void)
{
	static const struct want rows[] = {
		{ "switching", CFA(SP, 8) },
		{ "switching_call", { .kind = HYBRID_RULE_SWITCHED } },
		{ "switching_ret", CFA(SP, 8) },
		{ "aligning_call", { .kind = HYBRID_RULE_DEREF, .cfa_off = 0x28, .ra_off = -8,
				     .deref_off = 8 } },
		{ "aligning_left", CFA(SP, 8) },
		{ "mcall", CFA(SP, 8) },
		{ "mcall_push", { .kind = HYBRID_RULE_OUTERMOST } },
		{ "mcall_ret", { .kind = HYBRID_RULE_OUTERMOST } },
		{ "mcall_popped", CFA(SP, 8) },
		{ "later_mcall", CFA(SP, 8) },
		{ "later_mcall_push", { .kind = HYBRID_RULE_OUTERMOST } },
		{ "later_mcall_ret", { .kind = HYBRID_RULE_OUTERMOST } },
		{ "later_mcall_popped", CFA(SP, 8) },
		{ "grows", CFA(SP, 8) },
		{ "grows_on", { .kind = HYBRID_RULE_SWITCHED } },
		{ "grows_ret", CFA(SP, 8) },
		{ "systemstack", CFA(SP, 8) },
		{ "systemstack_on", { .kind = HYBRID_RULE_SWITCHED } },
		{ "systemstack_call", { .kind = HYBRID_RULE_SWITCHED } },
		{ "systemstack_ret", CFA(SP, 8) },
		{ "newer_on", { .kind = HYBRID_RULE_SWITCHED } },
		{ "newer_call", { .kind = HYBRID_RULE_SWITCHED } },
		{ "newer_ret", CFA(SP, 8) },
		{ "same_ret", CFA(SP, 8) },
	};
	unsigned int first, i, at;
	struct hybrid_row *row;

	for (first = 0; first < ARRAY_SIZE(rows); first++) {
		map("debug.so");
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			at = (first + i) % ARRAY_SIZE(rows);
			row = row_of("debug.so", rows[at].label);
			if (check(row))
				compare(&row->rule, &rows[at].rule);
		}
		unmap();
	}
}

static void debug_frame_split(void)
{
	expect_debug_frame("debug-split.so", 0);
	expect_debug_frame("debug-split-based.so", 0x200000);
}

/* With its checksum, as anyone can make one. */
static void debug_frame_of_another(void)
{
	static const char * const names[] = { "debug-split-lies.so", "debug-split-more.so" };
	struct hybrid_row *row;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		map(names[i]);
		row = row_of(names[i], "plain_at");
		check(row && row->rule.kind == HYBRID_RULE_NONE);
		unmap();
	}
}

static void no_cfi(void)
{
	struct hybrid_row *row;

	map("nocfi.so");
	row = row_of("nocfi.so", "bare_at");
	check(row && row->rule.kind == HYBRID_RULE_NONE);
	row = row_of("nocfi.so", "bare_ret");
	check(row && row->rule.kind == HYBRID_RULE_NONE);
	unmap();
}

static void abi_32(void)
{
	struct hybrid_row *row;

	map("i386.so");
	row = row_of("i386.so", "bpframe_at");
	if (check(row)) {
		same(row->rule.kind, HYBRID_RULE_CFA);
		same(row->rule.base, HYBRID_BASE_BP);
		same(row->rule.cfa_off, 8);
		same(row->rule.ra_off, -4);
		same(row->rule.bp, HYBRID_BP_AT_CFA);
		same(row->rule.bp_off, -8);
	}
	row = row_of("i386.so", "leaf_at");
	check(row && row->rule.base == HYBRID_BASE_SP && row->rule.cfa_off == 4);
	row = row_of("i386.so", "wraps_ret");
	check(row && row->rule.kind == HYBRID_RULE_FULL);
	row = row_of("i386.so", "outer_ret");
	check(row && row->rule.kind == HYBRID_RULE_OUTERMOST);
	unmap();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "cfi: plain rows", plain_rows },
		{ "cfi: rows of odd frames", odd_rows },
		{ "cfi: where rows begin and end", ranges },
		{ "cfi: rows asked for in any order", any_order },
		{ "cfi: whole rows", full_row },
		{ "cfi: registers that the ABI keeps", callee_saved },
		{ "cfi: .debug_frame in the file", debug_frame },
		{ "cfi: .debug_frame of a file not linked to 0", debug_frame_based },
		{ "cfi: .debug_frame in a file beside it", debug_frame_split },
		{ "cfi: .debug_frame in a file of another program", debug_frame_of_another },
		{ "cfi: a call on another stack", switched_stacks },
		{ "cfi: a file without CFI", no_cfi },
		{ "cfi: i386", abi_32 },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
