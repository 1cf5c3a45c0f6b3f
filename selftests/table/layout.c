// SPDX-License-Identifier: GPL-2.0
/*
 * The sizes of the structures, and the offsets of their members: the kernel reads those of
 * 32-bit programs like its own.
 */
#include <stddef.h>
#include <linux/perf_unwind_rules.h>

#define AT(type, member)	offsetof(struct perf_unwind_##type, member)

_Static_assert(sizeof(struct perf_unwind_row) == PERF_UNWIND_ROW_SIZE_VER0, "row");
_Static_assert(sizeof(struct perf_unwind_rule) == PERF_UNWIND_RULE_SIZE_VER0, "rule");
_Static_assert(sizeof(struct perf_unwind_load) == PERF_UNWIND_LOAD_SIZE_VER0, "load");
_Static_assert(sizeof(struct perf_unwind_unload) == PERF_UNWIND_UNLOAD_SIZE_VER0, "unload");
_Static_assert(sizeof(struct perf_unwind_attach) == PERF_UNWIND_ATTACH_SIZE_VER0, "attach");
_Static_assert(sizeof(struct perf_unwind_stats) == PERF_UNWIND_STATS_SIZE_VER0, "stats");

const unsigned int layout[] = {
	sizeof(struct perf_unwind_load), sizeof(struct perf_unwind_unload),
	sizeof(struct perf_unwind_attach), sizeof(struct perf_unwind_stats),
	AT(load, fd), AT(load, flags), AT(load, start), AT(load, end), AT(load, rows),
	AT(load, rules), AT(load, nr_rows), AT(load, nr_rules),
	AT(load, row_size), AT(load, rule_size),
	AT(unload, fd), AT(unload, flags), AT(attach, fd), AT(attach, flags),
	AT(stats, rows), AT(stats, bytes), AT(stats, max_bytes), AT(stats, loads),
	AT(stats, evicted), AT(stats, objects), AT(stats, rules),
	sizeof(struct perf_unwind_row), AT(row, offset), AT(row, rule), AT(row, __reserved),
	sizeof(struct perf_unwind_rule), AT(rule, kind), AT(rule, base), AT(rule, fp),
	AT(rule, ra), AT(rule, cfa_off), AT(rule, ra_off), AT(rule, fp_off),
	AT(rule, deref_off), AT(rule, __reserved),
};
