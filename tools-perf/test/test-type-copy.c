// SPDX-License-Identifier: GPL-2.0
/*
 * The types that libbpf gets in place of all of the kernel's: those that a program names, whole,
 * and no others.
 */
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include "tap.h"
#include "kernel-types.h"
#include "type-copy.h"

static struct btf *program, *kernel, *made;

static void begin(void)
{
	program = btf__new_empty();
	kernel = btf__new_empty();
	if (!program || !kernel)
		exit(2);
}

/* NULL if there is no copy, or libbpf does not take it. */
static struct btf *copy_of(const void *data, size_t size)
{
	struct kernel_types types;
	struct btf *btf;
	size_t copied;
	void *file;

	if (kernel_types__init(&types, data, size))
		return NULL;
	file = hybrid_copy_types(program, &types, &copied);
	btf = file ? btf__new(file, copied) : NULL;
	free(file);
	kernel_types__exit(&types);
	return btf;
}

static struct btf *copy_kernel(void)
{
	u32 size;
	const void *data = btf__raw_data(kernel, &size);

	return copy_of(data, size);
}

static void copy(void)
{
	btf__free(made);
	made = copy_kernel();
	check(made);
	if (!made)
		exit(1);
}

static void end(void)
{
	btf__free(made);
	btf__free(kernel);
	btf__free(program);
	made = NULL;
}

/* A structure that the program names, without members. */
static void want(const char *name)
{
	check(btf__add_struct(program, name, 0) > 0);
}

static const struct btf_type *type_of(const struct btf *btf, int id)
{
	return btf__type_by_id(btf, id);
}

/* A structure of the copy; exits where there is none. */
static const struct btf_type *copied(const char *name)
{
	int id = btf__find_by_name_kind(made, name, BTF_KIND_STRUCT);

	check(id > 0);
	if (id <= 0)
		exit(1);
	return type_of(made, id);
}

static const char *member_name(const struct btf_type *type, unsigned int i)
{
	return btf__name_by_offset(made, btf_members(type)[i].name_off);
}

static const struct btf_type *member_type(const struct btf_type *type, unsigned int i)
{
	return type_of(made, btf_members(type)[i].type);
}

/* struct NAME { int first; struct part second; } */
static int add_pair(const char *name, int first, int second)
{
	int id = btf__add_struct(kernel, name, 16);

	btf__add_field(kernel, "first", first, 0, 0);
	btf__add_field(kernel, "second", second, 64, 0);
	return id;
}

/* What is named, what that has, and nothing that has it. */
static void named(void)
{
	const struct btf_type *type;
	int number, part;

	begin();
	number = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
	part = btf__add_struct(kernel, "part", 8);
	btf__add_field(kernel, "word", number, 0, 0);
	add_pair("other", number, part);
	add_pair("task", number, part);
	add_pair("task_group", number, part);
	add_pair("tas", number, part);
	want("task___h");
	copy();
	type = copied("task");
	same(type->size, 16);
	same(btf_vlen(type), 2);
	same_text(member_name(type, 0), "first");
	same_text(member_name(type, 1), "second");
	same(btf_member_bit_offset(type, 1), 64);
	check(btf_is_int(member_type(type, 0)));
	check(member_type(type, 1) == copied("part"));
	check(btf__find_by_name(made, "other") < 0);
	check(btf__find_by_name(made, "task_group") < 0);
	check(btf__find_by_name(made, "tas") < 0);
	end();
}

/* struct file___6_5 and struct file are one, struct ___file is itself. */
static void flavours(void)
{
	begin();
	btf__add_struct(kernel, "file", 8);
	btf__add_struct(kernel, "inode", 8);
	btf__add_struct(kernel, "___own", 8);
	btf__add_struct(kernel, "___other", 8);
	btf__add_struct(kernel, "own", 8);
	want("file___6_5");
	want("file___h");
	want("inode");
	want("___own");
	copy();
	copied("file");
	copied("inode");
	copied("___own");
	check(btf__find_by_name(made, "own") < 0);
	check(btf__find_by_name(made, "___other") < 0);
	/* That of no type is 0, and all pointers are one. */
	same(btf__type_cnt(made), 5);
	end();
}

/* A list's node points to itself; what a pointer points to is not copied. */
static void pointers(void)
{
	const struct btf_type *type;
	int node, other, to_node, to_other;

	begin();
	other = btf__add_struct(kernel, "other", 8);
	to_other = btf__add_ptr(kernel, other);
	to_node = btf__add_ptr(kernel, to_other + 2);
	node = btf__add_struct(kernel, "node", 16);
	same(node, to_other + 2);
	btf__add_field(kernel, "next", to_node, 0, 0);
	btf__add_field(kernel, "other", to_other, 64, 0);
	want("node");
	copy();
	type = copied("node");
	same(btf_vlen(type), 2);
	check(btf_is_ptr(member_type(type, 0)));
	check(member_type(type, 0) == member_type(type, 1));
	same(member_type(type, 0)->type, 0);
	check(btf__find_by_name(made, "other") < 0);
	end();
}

/* Through a typedef, a qualifier, an array and a union without a name. */
static void wrapped(void)
{
	const struct btf_type *type, *inner;
	int number, array, of, qualified, whole, within;

	begin();
	number = btf__add_int(kernel, "long", 8, BTF_INT_SIGNED);
	of = btf__add_typedef(kernel, "counter_t", number);
	qualified = btf__add_volatile(kernel, of);
	array = btf__add_array(kernel, number, qualified, 3);
	within = btf__add_union(kernel, NULL, 24);
	btf__add_field(kernel, "words", array, 0, 0);
	whole = btf__add_struct(kernel, "whole", 24);
	btf__add_field(kernel, NULL, within, 0, 0);
	check(whole > 0);
	want("whole");
	copy();
	type = member_type(copied("whole"), 0);
	check(btf_is_union(type));
	same_text(member_name(type, 0), "words");
	inner = member_type(type, 0);
	check(btf_is_array(inner));
	same(btf_array(inner)->nelems, 3);
	inner = type_of(made, btf_array(inner)->type);
	check(btf_is_volatile(inner));
	inner = type_of(made, inner->type);
	check(btf_is_typedef(inner));
	check(btf_is_int(type_of(made, inner->type)));
	end();
}

/* Two structures have one part: it is copied once, whichever is first. */
static void shared(void)
{
	int number, part;

	begin();
	number = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
	add_pair("early", number, number + 2);
	part = btf__add_struct(kernel, "part", 8);
	btf__add_field(kernel, "word", number, 0, 0);
	add_pair("late", number, part);
	want("late");
	want("early");
	copy();
	check(member_type(copied("early"), 1) == copied("part"));
	check(member_type(copied("late"), 1) == copied("part"));
	same(btf__type_cnt(made), 6);
	end();
}

/* Enums are named, too; a function has no place in a structure. */
static void others(void)
{
	int state;

	begin();
	state = btf__add_enum(kernel, "state", 4);
	btf__add_enum_value(kernel, "ACTIVE", 1);
	check(state > 0);
	check(btf__add_enum(program, "state___h", 4) > 0);
	copy();
	check(btf__find_by_name_kind(made, "state", BTF_KIND_ENUM) > 0);
	btf__add_struct(kernel, "broken", 8);
	btf__add_field(kernel, "function", btf__add_func_proto(kernel, 0), 0, 0);
	copy();
	end();
	begin();
	state = btf__add_func_proto(kernel, 0);
	btf__add_struct(kernel, "broken", 8);
	btf__add_field(kernel, "function", state, 0, 0);
	want("broken");
	check(!copy_kernel());
	end();
}

static void *raw_copy(u32 *size)
{
	const void *data = btf__raw_data(kernel, size);
	void *raw = malloc(*size);

	if (!raw)
		exit(2);
	return memcpy(raw, data, *size);
}

/* Types of every kind, whose sizes differ, before the one that is wanted. */
static void kinds(void)
{
	int number;

	begin();
	number = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
	btf__add_ptr(kernel, number);
	btf__add_array(kernel, number, number, 3);
	btf__add_enum(kernel, "few", 4);
	btf__add_enum_value(kernel, "ONE", 1);
	btf__add_enum64(kernel, "many", 8, false);
	btf__add_enum64_value(kernel, "LARGE", 1ULL << 40);
	btf__add_fwd(kernel, "later", BTF_FWD_STRUCT);
	btf__add_typedef(kernel, "number_t", number);
	btf__add_const(kernel, number);
	btf__add_restrict(kernel, number);
	btf__add_func(kernel, "call", BTF_FUNC_GLOBAL,
		      btf__add_func_proto(kernel, number) + 1);
	btf__add_func_proto(kernel, number);
	btf__add_func_param(kernel, "first", number);
	btf__add_var(kernel, "variable", BTF_VAR_GLOBAL_ALLOCATED, number);
	btf__add_datasec(kernel, ".data", 4);
	btf__add_datasec_var_info(kernel, number, 0, 4);
	btf__add_float(kernel, "double", 8);
	btf__add_decl_tag(kernel, "tag", number, -1);
	btf__add_type_tag(kernel, "user", number);
	add_pair("task", number, number);
	want("task");
	check(btf__add_enum64(program, "many", 8, false) > 0);
	copy();
	same_text(member_name(copied("task"), 1), "second");
	number = btf__find_by_name_kind(made, "many", BTF_KIND_ENUM64);
	check(number > 0);
	same_text(btf__name_by_offset(made, btf_enum64(type_of(made, number))->name_off), "LARGE");
	end();
}

/* The header is as long as the kernel that made it has it. */
static void headers(void)
{
	const u32 of_linux_4_18 = 24, longer = 40;
	struct btf_header *header;
	u32 size;
	char *raw;

	begin();
	add_pair("task", btf__add_int(kernel, "int", 4, BTF_INT_SIGNED), 1);
	want("task");
	raw = raw_copy(&size);
	raw = realloc(raw, size + longer);
	if (!raw)
		exit(2);
	header = (void *)raw;
	size -= header->hdr_len;
	memmove(raw + longer, raw + header->hdr_len, size);
	memset(raw + of_linux_4_18, 0, longer - of_linux_4_18);
	header->hdr_len = longer;
	made = copy_of(raw, size + longer);
	same_text(member_name(copied("task"), 1), "second");
	btf__free(made);
	memmove(raw + of_linux_4_18, raw + longer, size);
	header->hdr_len = of_linux_4_18;
	made = copy_of(raw, size + of_linux_4_18);
	same_text(member_name(copied("task"), 1), "second");
	free(raw);
	end();
}

/* Files that are cut off or wrong, in bytes of their own so that ASan sees what is read. */
static void damaged(void)
{
	struct btf_header *header;
	struct kernel_types types;
	struct btf_type *type;
	u32 size, cut;
	void *raw;

	begin();
	add_pair("task", btf__add_int(kernel, "int", 4, BTF_INT_SIGNED), 1);
	want("task");
	raw = raw_copy(&size);
	for (cut = 0; cut < size; cut++) {
		void *part = malloc(cut ?: 1);

		if (!part)
			exit(2);
		check(kernel_types__init(&types, memcpy(part, raw, cut), cut));
		free(part);
	}
	header = raw;
	type = (void *)((char *)raw + header->hdr_len + header->type_off);
	/* A kind that is not known, a member's type and a name that are not there. */
	type->info |= 31 << 24;
	check(kernel_types__init(&types, raw, size));
	free(raw);
	raw = raw_copy(&size);
	header = raw;
	type = (void *)((char *)raw + header->hdr_len + header->type_off + 16);
	btf_members(type)[0].name_off = ~0;
	made = copy_of(raw, size);
	same_text(member_name(copied("task"), 0), "");
	btf_members(type)[1].type = 1000;
	check(!copy_of(raw, size));
	header->str_off -= 4;
	((char *)raw)[size - 5] = 'x';
	check(kernel_types__init(&types, raw, size));
	free(raw);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "types: what a program names, whole, and no more", named },
		{ "types: names with a flavour", flavours },
		{ "types: pointers lead nowhere", pointers },
		{ "types: what is in what", wrapped },
		{ "types: what two have in common is there once", shared },
		{ "types: enums, and what no structure can have", others },
		{ "types: kinds of all sizes", kinds },
		{ "types: headers of all sizes", headers },
		{ "types: files that are damaged", damaged },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
