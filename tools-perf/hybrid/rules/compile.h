/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_COMPILE_H
#define __PERF_HYBRID_COMPILE_H

#include "object.h"

/**
 * hybrid_compile_row - the row for one address, kept nowhere
 * @object: open
 * @vaddr: as the ELF file numbers them
 * @row: out; to be given to hybrid_row_exit()
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_compile_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row);

#endif /* __PERF_HYBRID_COMPILE_H */
