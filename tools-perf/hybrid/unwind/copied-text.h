/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_COPIED_TEXT_H
#define __PERF_HYBRID_COPIED_TEXT_H

#include "../rules/space.h"
#include "memory.h"

/**
 * hybrid_copied_text - is anonymous memory in the place of a part of a file, and a copy of it?
 * @memory: reads it; NULL: that is not known
 * @space: of the process; changed where the mapping is found to be a copy
 * @mapping: executable, and of no file
 * @ip: an address in it
 *
 * Programs put their code on huge pages so (node --use-largepages, iodlr): they copy it, and
 * map anonymous memory where it was. What is left of the file's mapping ends or begins
 * there. 64 pages are compared, that with @ip among them; those that are not in memory are
 * left out. A mapping is looked at once.
 *
 * Return: true where it is: the mapping has the file from then on.
 */
bool hybrid_copied_text(struct hybrid_memory *memory, struct hybrid_space *space,
			const struct hybrid_mapping *mapping, u64 ip);

#endif /* __PERF_HYBRID_COPIED_TEXT_H */
