// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of the file that V8 is in, before any process has run it.
 */
#include <fcntl.h>
#include "abi.h"
#include "elf-file.h"
#include "tap.h"
#include "v8-layout.h"

static int read_layout(struct v8_layout *layout, const char *file)
{
	struct hybrid_ident ident = { .path = elf_file_path(file) };
	struct hybrid_objects objects;
	struct hybrid_object *object;
	int err;

	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(&objects, &ident);
	same(hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC)), 0);
	err = v8_layout__read(layout, object);
	hybrid_object_put(object);
	hybrid_objects_exit(&objects);
	return err;
}

/* The code segment of these files begins at a page, and has the blob first. */
static void expect_layout(const char *file)
{
	struct v8_layout layout;

	same(read_layout(&layout, file), 0);
	same(layout.walk.code % 4096, elf_file_symbol(file, "blob") % 4096);
	same(layout.walk.code_end - layout.walk.code, 192);
	same(layout.walk.below_function, 16);
	same(layout.walk.below_context, 8);
	same(layout.walk.shared, 24);
	same(layout.version, 12 << 8 | 4);
	same(layout.type_script, 167);
	/* In .bss. */
	same(layout.scope_nr_locals, 0);
	same(layout.scope_first_vars, 3);
}

static void returned(void)
{
	expect_layout("v8.so");
}

static void by_pointer(void)
{
	expect_layout("v8-pointer.so");
}

static void own_symbols(void)
{
	expect_layout("v8-hidden.so");
}

static void none(void)
{
	struct v8_layout layout;

	same(read_layout(&layout, "symbols.so"), -1);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8 layout: functions return it",	returned },
		{ "V8 layout: as a pointer has it",	by_pointer },
		{ "V8 layout: symbols of the data",	own_symbols },
		{ "V8 layout: of a file without V8",	none },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
