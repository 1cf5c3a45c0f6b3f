// SPDX-License-Identifier: GPL-2.0
/*
 * One symbol of a file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include "abi.h"
#include "elf-file.h"
#include "symbol.h"
#include "tap.h"

static struct hybrid_object *open_object(const char *path)
{
	struct hybrid_objects *objects = calloc(1, sizeof(*objects));
	struct hybrid_ident ident = { .path = path };
	struct hybrid_object *object;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	same(hybrid_object_open(object, open(path, O_RDONLY | O_CLOEXEC)), 0);
	return object;
}

static void close_object(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;

	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
}

static u64 symbol(const char *file, const char *name)
{
	struct hybrid_object *object = open_object(elf_file_path(file));
	u64 value = hybrid_object_symbol(object, name);

	close_object(object);
	return value;
}

/* Of this program. */
const u32 test_constant = 0x5eed;
u32 test_variable = 1;

static void constants(void)
{
	struct hybrid_object *object = open_object("/proc/self/exe");
	char part[] = "symbol: Values";
	u32 value = 0;

	/* As a literal it would be in the file. */
	part[sizeof("symbol: ") - 1] = 'v';
	check(hybrid_object_constant(object, "test_constant", &value, sizeof(value)));
	same(value, test_constant);
	check(!hybrid_object_constant(object, "test_variable", &value, sizeof(value)));
	check(!hybrid_object_constant(object, "test_nothing", &value, sizeof(value)));
	check(hybrid_object_bytes(object, hybrid_object_symbol(object, "test_variable"), &value,
				  sizeof(value)));
	same(value, 1);
	check(!hybrid_object_bytes(object, 0, &value, sizeof(value)));
	check(!hybrid_object_bytes(object, ~0ULL - 2, &value, sizeof(value)));
	check(hybrid_object_has_text(object, "symbol: values of constants"));
	check(hybrid_object_has_text(object, "of constants"));
	check(!hybrid_object_has_text(object, part));
	close_object(object);
}

/* The first name that ends with it need not be the one that it is a part of. */
static void ends_alike(void)
{
	static const char *const names[] = {
		"z_spam", "a_spam", "spam", "eggs_and_spam", "m_spam",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		same(symbol("symbols.so", names[i]), elf_file_symbol("symbols.so", names[i]));
}

static void none(void)
{
	same(symbol("symbols.so", "nly"), 0);
	same(symbol("symbols.so", "pam"), 0);
	same(symbol("symbols.so", "spa"), 0);
	same(symbol("symbols.so", ""), 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "symbol: names that end alike",	ends_alike },
		{ "symbol: parts of names",		none },
		{ "symbol: values of constants",	constants },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
