// SPDX-License-Identifier: GPL-2.0
/* One pass over the types of the kernel copies those that a program names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include "kernel-types.h"
#include "type-copy.h"

#define NAME_BITS	8

/**
 * struct type_name - the name of a structure of the program
 * @next: with the same hash
 * @text: the name, not terminated
 * @length: of the part before ___
 */
struct type_name {
	struct type_name	*next;
	const char		*text;
	size_t			 length;
};

/**
 * struct bytes - a buffer that grows
 * @data: what is in it
 * @size: bytes of it that are used
 * @room: bytes that are allocated
 */
struct bytes {
	char	*data;
	u32	 size;
	u32	 room;
};

/**
 * struct copied - a type that was copied; what it refers to is still to be looked at
 * @id: its number in the kernel's types
 * @offset: of the copy, in its section
 */
struct copied {
	u32	id;
	u32	offset;
};

/**
 * struct types - the copy in the making
 * @program: the program's types
 * @kernel: the kernel's
 * @made: the copy's types
 * @strings: and their names
 * @made_ids: number in @made by number in @kernel; 0: not copied
 * @nr_made: types in @made, with void
 * @copied: by the order in which they were
 * @nr_copied: of @copied
 * @pointer: in @made, for all pointers: no relocation looks at what they point to
 * @names: that are wanted, by hash
 */
struct types {
	const struct btf		*program;
	const struct kernel_types	*kernel;
	struct bytes			 made;
	struct bytes			 strings;
	u32				*made_ids;
	u32				 nr_made;
	struct copied			*copied;
	u32				 nr_copied;
	int				 pointer;
	struct type_name		*names[1 << NAME_BITS];
};

/* Returns the offset of the new bytes, or -ENOMEM. */
static int append(struct bytes *bytes, const void *data, u32 size)
{
	u32 at = bytes->size;
	char *grown;

	if (size > bytes->room - at) {
		grown = realloc(bytes->data, bytes->room * 2 + size + 4096);
		if (!grown)
			return -ENOMEM;
		bytes->data = grown;
		bytes->room = bytes->room * 2 + size + 4096;
	}
	memcpy(bytes->data + at, data, size);
	bytes->size = at + size;
	return at;
}

/* struct file___h stands for the kernel's struct file; so does struct file___6_5. */
static size_t essential_length(const char *name)
{
	const char *flavor = strstr(name, "___");

	return flavor && flavor != name ? (size_t)(flavor - name) : strlen(name);
}

static struct type_name **bucket(struct types *types, const char *name, size_t length)
{
	u32 hash = length;

	while (length--)
		hash = hash * 31 + *name++;
	return &types->names[(hash ^ hash >> 16) & ((1 << NAME_BITS) - 1)];
}

static bool is_wanted(struct types *types, const char *name)
{
	size_t length = essential_length(name);
	const struct type_name *wanted;

	for (wanted = *bucket(types, name, length); wanted; wanted = wanted->next) {
		if (wanted->length == length && !memcmp(wanted->text, name, length))
			return true;
	}
	return false;
}

static bool has_name(const struct btf_type *type)
{
	return type->name_off && (btf_is_composite(type) || btf_is_any_enum(type));
}

static int want_names(struct types *types)
{
	u32 nr = btf__type_cnt(types->program), id;
	struct type_name *wanted, **head;
	const struct btf_type *type;
	const char *name;

	for (id = 1; id < nr; id++) {
		type = btf__type_by_id(types->program, id);
		if (!has_name(type))
			continue;
		name = btf__name_by_offset(types->program, type->name_off);
		if (is_wanted(types, name))
			continue;
		wanted = malloc(sizeof(*wanted));
		if (!wanted)
			return -ENOMEM;
		wanted->text = name;
		wanted->length = essential_length(name);
		head = bucket(types, name, wanted->length);
		wanted->next = *head;
		*head = wanted;
	}
	return 0;
}

/* Gives a name of the copy, which has the kernel's offset, a place in the copy's strings. */
static int copy_name(struct types *types, u32 *offset)
{
	const char *name = kernel_types__name(types->kernel, *offset);
	int at = *name ? append(&types->strings, name, strlen(name) + 1) : 0;

	*offset = at < 0 ? 0 : at;
	return at < 0 ? at : 0;
}

/* The names of members or of an enum's values; each begins with its name. */
static int copy_names(struct types *types, void *parts, u32 size, u32 nr)
{
	int err = 0;

	for (; nr && !err; nr--, parts = (char *)parts + size)
		err = copy_name(types, parts);
	return err;
}

/* Copies a type of the kernel as it is, but for its names. Returns its offset in the copy. */
static int append_type(struct types *types, const struct btf_type *type)
{
	int at = append(&types->made, type, kernel_types__size(type)), err;
	struct btf_type *made;

	if (at < 0)
		return at;
	made = (void *)(types->made.data + at);
	err = copy_name(types, &made->name_off);
	if (btf_is_composite(type))
		err = err ?: copy_names(types, btf_members(made), sizeof(struct btf_member),
					btf_vlen(type));
	else if (btf_is_enum(type))
		err = err ?: copy_names(types, btf_enum(made), sizeof(struct btf_enum),
					btf_vlen(type));
	else if (btf_is_enum64(type))
		err = err ?: copy_names(types, btf_enum64(made), sizeof(struct btf_enum64),
					btf_vlen(type));
	return err ?: at;
}

/* The number in the copy of a type of the kernel, which is copied now if it was not yet. */
static int copy(struct types *types, u32 id)
{
	const struct btf_type *type;
	int at;

	if (!id)
		return 0;
	type = kernel_types__by_id(types->kernel, id);
	if (!type)
		return -EINVAL;
	if (types->made_ids[id])
		return types->made_ids[id];
	if (btf_is_ptr(type))
		return types->pointer;
	at = append_type(types, type);
	if (at < 0)
		return at;
	types->made_ids[id] = types->nr_made++;
	types->copied[types->nr_copied++] = (struct copied) { .id = id, .offset = at };
	return types->made_ids[id];
}

/* Has what @part of a type of the kernel is copied, too; the copy of it refers to that then. */
static int copy_part(struct types *types, struct copied from, const u32 *part)
{
	const struct btf_type *type = kernel_types__by_id(types->kernel, from.id);
	u32 at = from.offset + ((const char *)part - (const char *)type);
	int id = copy(types, *part);

	if (id < 0)
		return id;
	*(u32 *)(types->made.data + at) = id;
	return 0;
}

static int copy_parts(struct types *types, struct copied from)
{
	const struct btf_type *type = kernel_types__by_id(types->kernel, from.id);
	int err = 0;
	u32 i;

	if (btf_is_composite(type)) {
		for (i = 0; i < btf_vlen(type) && !err; i++)
			err = copy_part(types, from, &btf_members(type)[i].type);
		return err;
	}
	if (btf_is_array(type))
		return copy_part(types, from, &btf_array(type)->type) ?:
		       copy_part(types, from, &btf_array(type)->index_type);
	if (btf_is_mod(type) || btf_is_typedef(type))
		return copy_part(types, from, &type->type);
	return btf_is_int(type) || btf_is_float(type) || btf_is_any_enum(type) ||
	       btf_is_fwd(type) ? 0 : -EINVAL;
}

static int copy_wanted(struct types *types)
{
	const struct btf_type *type;
	int err = 0;
	u32 id, i;

	for (id = 1; id < types->kernel->nr && err >= 0; id++) {
		type = kernel_types__by_id(types->kernel, id);
		if (has_name(type) &&
		    is_wanted(types, kernel_types__name(types->kernel, type->name_off)))
			err = copy(types, id);
	}
	for (i = 0; i < types->nr_copied && err >= 0; i++)
		err = copy_parts(types, types->copied[i]);
	return err < 0 ? err : 0;
}

static int make(struct types *types)
{
	const struct btf_type pointer = { .info = BTF_KIND_PTR << 24 };
	u32 nr = types->kernel->nr;

	types->made_ids = calloc(nr, sizeof(*types->made_ids));
	types->copied = calloc(nr, sizeof(*types->copied));
	if (!types->made_ids || !types->copied || append(&types->strings, "", 1) < 0 ||
	    append(&types->made, &pointer, sizeof(pointer)) < 0)
		return -ENOMEM;
	/* After void. */
	types->pointer = 1;
	types->nr_made = 2;
	return want_names(types) ?: copy_wanted(types);
}

/* Header, types, strings. */
static void *join(const struct types *types, size_t *size)
{
	const struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = KERNEL_TYPES_HEADER,
		.type_len = types->made.size,
		.str_off = types->made.size,
		.str_len = types->strings.size,
	};
	struct bytes file = {};

	if (append(&file, &header, KERNEL_TYPES_HEADER) < 0 ||
	    append(&file, types->made.data, types->made.size) < 0 ||
	    append(&file, types->strings.data, types->strings.size) < 0) {
		free(file.data);
		return NULL;
	}
	*size = file.size;
	return file.data;
}

static void free_names(struct types *types)
{
	struct type_name *name;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types->names); i++) {
		while ((name = types->names[i])) {
			types->names[i] = name->next;
			free(name);
		}
	}
}

void *hybrid_copy_types(const struct btf *program, const struct kernel_types *kernel, size_t *size)
{
	struct types types = { .program = program, .kernel = kernel };
	void *file = make(&types) ? NULL : join(&types, size);

	free_names(&types);
	free(types.copied);
	free(types.made_ids);
	free(types.made.data);
	free(types.strings.data);
	return file;
}
