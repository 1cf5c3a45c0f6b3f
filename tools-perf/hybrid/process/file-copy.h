/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_COPY_H
#define __PERF_HYBRID_FILE_COPY_H

#include <stdbool.h>
#include "../rules/pinned-file.h"

/**
 * hybrid_copy - copy what an unwinder reads of a file to memory
 * @fd: of an ELF file; the callee's from now on
 *
 * Return: a file of the same size, with that at the same places, and zeros between; or
 * -1.
 */
int hybrid_copy(int fd);

/**
 * hybrid_copy_unless_local - a file that can be read without waiting for anyone
 * @fd: of an ELF file; the callee's from now on
 * @copied: out: the result is a copy
 * @hold: out: the file that it is a copy of; nothing where that changed meanwhile
 *
 * Return: @fd where the file is on a disk or in memory, else a copy; or -1.
 */
int hybrid_copy_unless_local(int fd, bool *copied, struct hybrid_pinned_file *hold);

/**
 * hybrid_copy_is_same - do two files hold the same?
 * @a: a copy, or a file that is local; it stays open
 * @a_copied: it is a copy
 * @b: the same of the other
 * @b_copied: the same
 * @copy: out: where they do, and neither is a copy, one of what they hold, the caller's; else
 *	-1. NULL: none is wanted
 *
 * What an unwinder reads of them is compared, byte by byte.
 */
bool hybrid_copy_is_same(int a, bool a_copied, int b, bool b_copied, int *copy);

#endif /* __PERF_HYBRID_FILE_COPY_H */
