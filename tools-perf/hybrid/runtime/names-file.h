/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_FILE_H
#define __PERF_HYBRID_NAMES_FILE_H

#include <stdio.h>

struct hybrid_names;

/**
 * hybrid_names__file - write the names as an ELF file
 * @names: all functions that there are
 * @file: open for writing, empty
 *
 * It has a symbol for each function and, as DWARF 4, the line tables. Its text has
 * HYBRID_NAMES_SIZE bytes that are not in the file, at HYBRID_NAMES_OFFSET, which is both
 * the offset and the address.
 *
 * Return: 0, or -EIO.
 */
int hybrid_names__file(const struct hybrid_names *names, FILE *file);

#endif /* __PERF_HYBRID_NAMES_FILE_H */
