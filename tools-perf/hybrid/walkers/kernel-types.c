// SPDX-License-Identifier: GPL-2.0
/* The types of the kernel, in one pass that looks at nothing but their sizes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include "kernel-types.h"

/* The first room for offsets is for types of so many bytes each; a distribution's have 20. */
#define BYTES_PER_TYPE	20

/* What follows a struct btf_type. Returns false for a kind that is not known. */
static bool size_of_rest(const struct btf_type *type, u32 *size)
{
	u32 nr = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		*size = 0;
		return true;
	case BTF_KIND_INT:
		*size = sizeof(__u32);
		return true;
	case BTF_KIND_ARRAY:
		*size = sizeof(struct btf_array);
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		*size = nr * sizeof(struct btf_member);
		return true;
	case BTF_KIND_ENUM:
		*size = nr * sizeof(struct btf_enum);
		return true;
	case BTF_KIND_ENUM64:
		*size = nr * sizeof(struct btf_enum64);
		return true;
	case BTF_KIND_FUNC_PROTO:
		*size = nr * sizeof(struct btf_param);
		return true;
	case BTF_KIND_VAR:
		*size = sizeof(struct btf_var);
		return true;
	case BTF_KIND_DATASEC:
		*size = nr * sizeof(struct btf_var_secinfo);
		return true;
	case BTF_KIND_DECL_TAG:
		*size = sizeof(struct btf_decl_tag);
		return true;
	default:
		return false;
	}
}

static int add_offset(struct kernel_types *kernel, u32 *room, u32 offset)
{
	u32 *offsets;

	if (kernel->nr == *room) {
		*room *= 2;
		offsets = reallocarray(kernel->offsets, *room, sizeof(*offsets));
		if (!offsets)
			return -ENOMEM;
		kernel->offsets = offsets;
	}
	kernel->offsets[kernel->nr++] = offset;
	return 0;
}

static int find_types(struct kernel_types *kernel, u32 size)
{
	u32 room = size / BYTES_PER_TYPE + 16, at = 0, rest;
	const struct btf_type *type;

	kernel->offsets = calloc(room, sizeof(*kernel->offsets));
	if (!kernel->offsets)
		return -ENOMEM;
	/* void */
	kernel->nr = 1;
	while (at < size) {
		type = (const void *)(kernel->types + at);
		if (size - at < sizeof(*type) || !size_of_rest(type, &rest) ||
		    size - at - sizeof(*type) < rest)
			return -EINVAL;
		if (add_offset(kernel, &room, at))
			return -ENOMEM;
		at += sizeof(*type) + rest;
	}
	return 0;
}

/* Is a section of so many bytes at @offset behind the header? */
static bool is_within(const struct btf_header *header, size_t size, u32 offset, u32 length)
{
	size -= header->hdr_len;
	return offset <= size && length <= size - offset;
}

static bool is_valid(const struct btf_header *header, size_t size)
{
	return size >= KERNEL_TYPES_HEADER && header->magic == BTF_MAGIC &&
	       header->version == BTF_VERSION && header->hdr_len >= KERNEL_TYPES_HEADER &&
	       header->hdr_len <= size && header->hdr_len % sizeof(__u32) == 0 &&
	       header->type_off % sizeof(__u32) == 0 &&
	       is_within(header, size, header->type_off, header->type_len) &&
	       is_within(header, size, header->str_off, header->str_len) && header->str_len;
}

int kernel_types__init(struct kernel_types *kernel, const void *data, size_t size)
{
	const struct btf_header *header = data;
	const char *sections;
	int err;

	memset(kernel, 0, sizeof(*kernel));
	if (!is_valid(header, size))
		return -EINVAL;
	sections = (const char *)data + header->hdr_len;
	kernel->types = sections + header->type_off;
	kernel->strings = sections + header->str_off;
	kernel->strings_size = header->str_len;
	if (kernel->strings[kernel->strings_size - 1])
		return -EINVAL;
	err = find_types(kernel, header->type_len);
	if (err)
		kernel_types__exit(kernel);
	return err;
}

void kernel_types__exit(struct kernel_types *kernel)
{
	free(kernel->offsets);
	kernel->offsets = NULL;
	kernel->nr = 0;
}

const struct btf_type *kernel_types__by_id(const struct kernel_types *kernel, u32 id)
{
	return id && id < kernel->nr ? (const void *)(kernel->types + kernel->offsets[id]) : NULL;
}

u32 kernel_types__size(const struct btf_type *type)
{
	u32 rest = 0;

	size_of_rest(type, &rest);
	return sizeof(*type) + rest;
}

const char *kernel_types__name(const struct kernel_types *kernel, u32 offset)
{
	return offset < kernel->strings_size ? kernel->strings + offset : "";
}
