/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KERNEL_TYPES_H
#define __PERF_HYBRID_KERNEL_TYPES_H

#include <stddef.h>
#include <linux/types.h>

struct btf_type;

/* Bytes of a BTF file's header: newer headers have more, which nothing here needs. */
#define KERNEL_TYPES_HEADER	(offsetof(struct btf_header, str_len) + sizeof(__u32))

/**
 * struct kernel_types - all types of the kernel, as BTF
 * @types: the section of the types
 * @strings: that of their names, which ends with a 0 byte
 * @strings_size: bytes of @strings
 * @offsets: in @types, by the number of a type; that of number 0, void, is not used
 * @nr: of @offsets
 *
 * libbpf checks each type when it makes a struct btf, which takes several times as long.
 */
struct kernel_types {
	const char	*types;
	const char	*strings;
	u32		 strings_size;
	u32		*offsets;
	u32		 nr;
};

/**
 * kernel_types__init - find where each type is
 * @kernel: filled in; it refers to @data
 * @data: a BTF file, at an address that is a multiple of 4
 * @size: bytes of @data
 *
 * Return: 0 or -errno; then nothing is to be freed.
 */
int kernel_types__init(struct kernel_types *kernel, const void *data, size_t size);

/** kernel_types__exit - free what kernel_types__init() has allocated */
void kernel_types__exit(struct kernel_types *kernel);

/** kernel_types__by_id - the type of a number; NULL if there is none, or for void */
const struct btf_type *kernel_types__by_id(const struct kernel_types *kernel, u32 id);

/** kernel_types__size - bytes of a type that kernel_types__by_id() returned, with its members */
u32 kernel_types__size(const struct btf_type *type);

/** kernel_types__name - the string at an offset of the names; "" if it is too large */
const char *kernel_types__name(const struct kernel_types *kernel, u32 offset);

#endif /* __PERF_HYBRID_KERNEL_TYPES_H */
