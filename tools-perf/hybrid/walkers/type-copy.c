// SPDX-License-Identifier: GPL-2.0
/* One pass over the types of the kernel copies those that a program names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include <linux/kernel.h>
#include <linux/types.h>
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
 * struct types - the copy in the making
 * @program: the program's types
 * @kernel: the kernel's
 * @made: the copy
 * @made_ids: number in @made by number in @kernel; 0: not copied
 * @copied: numbers in @kernel of what @made has; what they refer to is still to be looked at
 * @nr_copied: of @copied
 * @pointer: in @made, for all pointers: no relocation looks at what they point to
 * @names: that are wanted, by hash
 */
struct types {
	const struct btf	*program;
	const struct btf	*kernel;
	struct btf		*made;
	u32			*made_ids;
	u32			*copied;
	u32			 nr_copied;
	int			 pointer;
	struct type_name	*names[1 << NAME_BITS];
};

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

/* The number in the copy of a type of the kernel, which is copied now if it was not yet. */
static int copy(struct types *types, u32 id)
{
	const struct btf_type *type;
	int made;

	if (!id || types->made_ids[id])
		return types->made_ids[id];
	type = btf__type_by_id(types->kernel, id);
	if (!type)
		return -EINVAL;
	if (btf_is_ptr(type))
		return types->pointer;
	made = btf__add_type(types->made, types->kernel, type);
	if (made < 0)
		return made;
	types->made_ids[id] = made;
	types->copied[types->nr_copied++] = id;
	return made;
}

/* Has what @from of the kernel refers to copied, too; @to of the copy refers to that then. */
static int copy_parts(struct types *types, u32 from, u32 to)
{
	const struct btf_type *type = btf__type_by_id(types->kernel, from);
	/* It moves where something is added. */
#define MADE	((struct btf_type *)btf__type_by_id(types->made, to))
	int id, index;
	u32 i;

	if (btf_is_composite(type)) {
		for (i = 0; i < btf_vlen(type); i++) {
			id = copy(types, btf_members(type)[i].type);
			if (id < 0)
				return id;
			btf_members(MADE)[i].type = id;
		}
	} else if (btf_is_array(type)) {
		id = copy(types, btf_array(type)->type);
		index = copy(types, btf_array(type)->index_type);
		if (id < 0 || index < 0)
			return -EINVAL;
		btf_array(MADE)->type = id;
		btf_array(MADE)->index_type = index;
	} else if (btf_is_mod(type) || btf_is_typedef(type)) {
		id = copy(types, type->type);
		if (id < 0)
			return id;
		MADE->type = id;
	} else if (!btf_is_int(type) && !btf_is_float(type) && !btf_is_any_enum(type) &&
		   !btf_is_fwd(type)) {
		return -EINVAL;
	}
#undef MADE
	return 0;
}

static int copy_wanted(struct types *types)
{
	u32 nr = btf__type_cnt(types->kernel), id, i;
	const struct btf_type *type;
	int err = 0;

	for (id = 1; id < nr && err >= 0; id++) {
		type = btf__type_by_id(types->kernel, id);
		if (has_name(type) &&
		    is_wanted(types, btf__name_by_offset(types->kernel, type->name_off)))
			err = copy(types, id);
	}
	for (i = 0; i < types->nr_copied && err >= 0; i++)
		err = copy_parts(types, types->copied[i], types->made_ids[types->copied[i]]);
	return err < 0 ? err : 0;
}

static int make(struct types *types)
{
	u32 nr = btf__type_cnt(types->kernel);

	types->made_ids = calloc(nr, sizeof(*types->made_ids));
	types->copied = calloc(nr, sizeof(*types->copied));
	types->pointer = btf__add_ptr(types->made, 0);
	if (!types->made_ids || !types->copied || types->pointer < 0)
		return -ENOMEM;
	return want_names(types) ?: copy_wanted(types);
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

struct btf *hybrid_copy_types(const struct btf *program, const struct btf *kernel)
{
	struct types types = { .program = program, .kernel = kernel, .made = btf__new_empty() };

	if (types.made && make(&types)) {
		btf__free(types.made);
		types.made = NULL;
	}
	free_names(&types);
	free(types.copied);
	free(types.made_ids);
	return types.made;
}
