/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_ROWS_H
#define __PERF_HYBRID_CODE_ROWS_H

#include "stored.h"

/**
 * hybrid_code_rows_around - the rows of the code without CFI around an address
 * @stored: open; notes that it was done
 * @vaddr: as the ELF file numbers them
 * @batch: out; empty where there is nothing to load, or it was done before
 *
 * Of 64 KiB, as a sample in a function that works for long is followed by others in it, and
 * in those beside it, at thousands of addresses.
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_code_rows_around(struct hybrid_stored *stored, u64 vaddr, struct hybrid_batch *batch);

/* Have the rows around an address not been asked for? @stored is open. */
bool hybrid_code_rows_are_due(const struct hybrid_stored *stored, u64 vaddr);

/**
 * hybrid_code_row_at - the row of one address without CFI
 * @stored: open
 * @vaddr: as the ELF file numbers them: by it the rule is found
 * @at: of the next instruction: the same, or the one behind the call that ends at @vaddr
 * @batch: out; empty where there is nothing to load
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_code_row_at(struct hybrid_stored *stored, u64 vaddr, u64 at, struct hybrid_batch *batch);

#endif /* __PERF_HYBRID_CODE_ROWS_H */
