/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_COPY_H
#define __PERF_HYBRID_FILE_COPY_H

#include <stdbool.h>
#include "../rules/file-budget.h"

/*
 * What an unwinder reads of a file: the headers, what is loaded, notes, and the sections of names
 * and CFI. Holes of a file are neither read nor copied.
 */

/**
 * hybrid_copy_size - bytes that a copy of a file takes
 * @fd: any file
 *
 * Return: without the holes; 0 if it can't be read.
 */
u64 hybrid_copy_size(int fd);

/**
 * hybrid_copy - copy what an unwinder reads of a file to memory
 * @fd: any file; it stays open
 * @most: bytes that the copy may take
 *
 * Return: a file of the same size, with that at the same places, and holes between; or -1. It can't
 * be written to any more.
 */
int hybrid_copy(int fd, u64 most);

/**
 * hybrid_copy_is_same - do two files hold the same?
 * @a: a file that is local, or a copy; it stays open
 * @b: the same of the other
 * @user: whose share the work is of, and the copy, whose size is taken of HYBRID_FILE_COPIES
 * @copy: out: if they do, a copy of what both hold, the caller's; else -1. NULL: none is wanted
 * @size: out: bytes that were taken for @copy
 *
 * What an unwinder reads of them is compared, byte by byte.
 *
 * Return: false, too, if the user is over his share.
 */
bool hybrid_copy_is_same(int a, int b, struct hybrid_file_user *user, int *copy, u64 *size);

#endif /* __PERF_HYBRID_FILE_COPY_H */
