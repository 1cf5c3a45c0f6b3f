/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FUNCTION_H
#define __PERF_HYBRID_FUNCTION_H

#include "arch.h"
#include "space.h"

struct hybrid_fde;

/**
 * hybrid_function_start - where the function that holds an address begins
 * @mapping: that holds @ip
 * @ip: the address
 *
 * Return: its first address in the process, or 0 where no FDE tells. A part that the
 * compiler has put elsewhere counts as a function of its own.
 */
u64 hybrid_function_start(const struct hybrid_mapping *mapping, u64 ip);

/* The same as an FDE has it, by the addresses of the file; NULL if none does. */
const struct hybrid_fde *hybrid_function_fde(const struct hybrid_mapping *mapping, u64 vaddr);

/* May the function that holds @ip go to another stack? False without a mapping or an FDE of @ip. */
bool hybrid_function_leaves_stack(const struct hybrid_mapping *mapping, u64 ip);

#endif /* __PERF_HYBRID_FUNCTION_H */
