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

static u64 symbol(const char *file, const char *name)
{
	struct hybrid_ident ident = { .path = elf_file_path(file) };
	struct hybrid_objects *objects = calloc(1, sizeof(*objects));
	struct hybrid_object *object;
	u64 value;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	same(hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC)), 0);
	value = hybrid_object_symbol(object, name);
	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
	return value;
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
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
