/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TYPE_COPY_H
#define __PERF_HYBRID_TYPE_COPY_H

#include <stddef.h>

struct btf;
struct kernel_types;

/**
 * hybrid_copy_types - the types that a program's relocations need
 * @program: the program's types; struct file___h stands for the kernel's struct file
 * @kernel: all types of the kernel
 * @size: set to the bytes of the copy
 *
 * The copy has each structure, union and enum that the program names, and what is in them.
 * All pointers of it are one type, that of a pointer to void: no relocation looks at what a
 * pointer points to.
 *
 * Return: a BTF file with the copy, for free(); NULL if memory is short, or @kernel has a type in
 * one of these which no structure can have.
 */
void *hybrid_copy_types(const struct btf *program, const struct kernel_types *kernel, size_t *size);

#endif /* __PERF_HYBRID_TYPE_COPY_H */
