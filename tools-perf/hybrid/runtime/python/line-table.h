/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_LINE_TABLE_H
#define __PERF_HYBRID_PYTHON_LINE_TABLE_H

#include <stddef.h>
#include "../names.h"
#include "layout.h"

/**
 * python_lines - which lines the instructions of a code object are of
 * @kind: how the table is stored
 * @bytes: co_linetable, or co_lnotab
 * @size: number of @bytes
 * @first: co_firstlineno
 * @lines: out, by instruction
 * @max: room in @lines
 *
 * Instructions without a line have that of those before.
 *
 * Return: number of @lines.
 */
unsigned int python_lines(enum python_line_format kind, const u8 *bytes, size_t size, u32 first,
			  struct hybrid_name_line *lines, unsigned int max);

#endif /* __PERF_HYBRID_PYTHON_LINE_TABLE_H */
