/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_REFINE_ROW_H
#define __PERF_HYBRID_REFINE_ROW_H

#include <linux/types.h>

struct hybrid_object;
struct hybrid_row;

/**
 * hybrid_refine_row - put into a row what its CFI leaves out or gets wrong
 * @object: open
 * @vaddr: in @row, as the ELF file numbers them
 * @row: of HYBRID_RULE_NONE where no CFI covers @vaddr; becomes shorter where what
 *	holds at @vaddr does not hold for all of it
 */
void hybrid_refine_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row);

#endif /* __PERF_HYBRID_REFINE_ROW_H */
