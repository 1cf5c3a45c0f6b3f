// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of the ioctls, which hold the sizes of their structures, and where the members
 * are: the kernel takes those of 32-bit programs for its own.
 */
#include <stddef.h>
#include <linux/perf_hybrid.h>

#define AT(type, member)	offsetof(struct perf_hybrid_##type, member)

const unsigned int layout[] = {
	PERF_HYBRID_TEACH, PERF_HYBRID_FORGET, PERF_HYBRID_STATS, PERF_HYBRID_ATTACH,
	AT(teach, fd), AT(teach, flags), AT(teach, start), AT(teach, end), AT(teach, rows),
	AT(teach, rules), AT(teach, nr_rows), AT(teach, nr_rules),
	AT(forget, fd), AT(forget, flags), AT(attach, fd), AT(attach, flags),
	AT(stats, rows), AT(stats, bytes), AT(stats, max_bytes), AT(stats, taught),
	AT(stats, evicted), AT(stats, objects), AT(stats, rules),
	sizeof(struct perf_hybrid_row), AT(row, offset), AT(row, rule), AT(row, __reserved),
	sizeof(struct perf_hybrid_rule), AT(rule, kind), AT(rule, base), AT(rule, bp),
	AT(rule, deref_off), AT(rule, cfa_off), AT(rule, ra_off), AT(rule, bp_off),
};
