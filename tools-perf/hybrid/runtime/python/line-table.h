/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_LINE_TABLE_H
#define __PERF_HYBRID_PYTHON_LINE_TABLE_H

#include <stddef.h>
#include "../names.h"

/**
 * python_lines - which lines the instructions of a code object are of
 * @bytes: co_linetable
 * @size: number of @bytes
 * @first: co_firstlineno
 * @lines: out, by instruction
 * @max: room in @lines
 *
 * CPython 3.11 and later: Objects/locations.md (InternalDocs/code_objects.md). Instructions
 * without a line have that of those before.
 *
 * Return: number of @lines.
 */
unsigned int python_lines(const u8 *bytes, size_t size, u32 first, struct hybrid_name_line *lines,
			  unsigned int max);

#endif /* __PERF_HYBRID_PYTHON_LINE_TABLE_H */
