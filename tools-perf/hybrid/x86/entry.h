/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ENTRY_H
#define __PERF_HYBRID_ENTRY_H

#include <linux/types.h>

struct hybrid_object;

/**
 * hybrid_entry_size - how much code a process begins with
 * @object: open; its entry is as the ELF header has it, which may lie
 *
 * Looked at when it is first asked for.
 *
 * Return: bytes from the entry on that have no caller, 0 where it is no such code.
 */
u64 hybrid_entry_size(struct hybrid_object *object);

#endif /* __PERF_HYBRID_ENTRY_H */
