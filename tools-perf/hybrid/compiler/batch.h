/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BATCH_H
#define __PERF_HYBRID_BATCH_H

#include <linux/perf_unwind_rules.h>
#include "../rules/fde.h"
#include "../rules/object.h"

/* What one ioctl takes. */
#define HYBRID_BATCH_RULES	65535

#define HYBRID_BATCH_HASH	1024

/**
 * struct hybrid_batch - rows of an object in the form that the kernel takes
 *
 * The rows are those that perf unwinds by itself, as cfi.c compiles them.
 *
 * @registers: the store takes HYBRID_WALK_REGISTER, too; not cleared
 * @codes: the store takes what code without CFI tells; not cleared
 * @start: first offset in the file that @rows are about
 * @end: offset behind the last
 * @rows: by offset; no two in a row have the same rule
 * @nr_rows: of @rows
 * @alloc_rows: room in @rows
 * @rules: distinct ones
 * @nr_rules: of @rules
 * @alloc_rules: room in @rules
 * @hash: index of a rule + 1, by its bytes; 0: none
 * @next: for each of @rules, the next with the same hash
 */
struct hybrid_batch {
	bool			 registers;
	bool			 codes;
	u32			 start;
	u32			 end;
	struct perf_unwind_row	*rows;
	size_t			 nr_rows;
	size_t			 alloc_rows;
	struct perf_unwind_rule	*rules;
	size_t			 nr_rules;
	size_t			 alloc_rules;
	u16			 hash[HYBRID_BATCH_HASH];
	u16			*next;
};

/**
 * hybrid_batch_rule - a row's rule as the kernel takes it
 * @abi: of the object
 * @row: compiled
 * @to: out: PERF_UNWIND_UNKNOWN where the kernel has no such rule
 */
void hybrid_batch_rule(const struct hybrid_abi *abi, const struct hybrid_row *row,
		       struct perf_unwind_rule *to);

/**
 * hybrid_batch_code_rule - what code without CFI tells, as the kernel takes it
 * @abi: of the code
 * @rule: what it tells
 * @registers: HYBRID_WALK_REGISTER will do, too
 * @to: out: PERF_UNWIND_UNKNOWN where the kernel has no such rule
 */
void hybrid_batch_code_rule(const struct hybrid_abi *abi, const struct hybrid_rule *rule,
			    bool registers, struct perf_unwind_rule *to);

/**
 * hybrid_batch_fde - add the rows of one FDE
 * @batch: what was added before, at lower offsets; or cleared
 * @object: open
 * @fde: one of its FDEs
 *
 * What lies between two FDEs is for user space to be asked about. An FDE that
 * the file's executable segments do not hold, or only beyond 4 GiB, has no rows.
 *
 * Return: 0; -EAGAIN where it does not fit behind the others (nothing has
 * changed; load what there is first); -ENOMEM.
 */
int hybrid_batch_fde(struct hybrid_batch *batch, struct hybrid_object *object,
		     const struct hybrid_fde *fde);

/**
 * hybrid_batch_code - add what code without CFI tells
 * @batch: what was added before, at lower offsets; or cleared
 * @object: open
 * @start: first address, as the ELF file numbers them
 * @end: address behind the last
 * @rule: of all instructions there
 *
 * Nothing is added where the kernel has no such rule.
 *
 * Return: as hybrid_batch_fde().
 */
int hybrid_batch_code(struct hybrid_batch *batch, const struct hybrid_object *object,
		      u64 start, u64 end, const struct hybrid_rule *rule);

/* Makes it empty, and keeps the memory. */
void hybrid_batch_clear(struct hybrid_batch *batch);
void hybrid_batch_exit(struct hybrid_batch *batch);

#endif /* __PERF_HYBRID_BATCH_H */
