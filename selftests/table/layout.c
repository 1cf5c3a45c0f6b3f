// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of the ioctls, which hold the sizes of their structures, and where the members
 * are: the kernel takes those of 32-bit programs for its own.
 */
#include <stddef.h>
#include <linux/perf_unwind_rules.h>

#define AT(type, member)	offsetof(struct perf_unwind_##type, member)

const unsigned int layout[] = {
	PERF_UNWIND_LOAD, PERF_UNWIND_UNLOAD, PERF_UNWIND_STATS, PERF_UNWIND_ATTACH,
	AT(load, fd), AT(load, flags), AT(load, start), AT(load, end), AT(load, rows),
	AT(load, rules), AT(load, nr_rows), AT(load, nr_rules),
	AT(unload, fd), AT(unload, flags), AT(attach, fd), AT(attach, flags),
	AT(stats, rows), AT(stats, bytes), AT(stats, max_bytes), AT(stats, loads),
	AT(stats, evicted), AT(stats, objects), AT(stats, rules),
	sizeof(struct perf_unwind_row), AT(row, offset), AT(row, rule), AT(row, __reserved),
	sizeof(struct perf_unwind_rule), AT(rule, kind), AT(rule, base), AT(rule, bp),
	AT(rule, deref_off), AT(rule, cfa_off), AT(rule, ra_off), AT(rule, bp_off),
};
