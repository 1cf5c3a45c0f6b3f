// SPDX-License-Identifier: GPL-2.0
/*
 * What the file of CRuby shows.
 */
#include <fcntl.h>
#include <stdlib.h>
#include "abi.h"
#include "elf-file.h"
#include "ruby-file.h"
#include "symbol.h"
#include "tap.h"

static bool read_file(struct ruby_file *file, const char *name)
{
	struct hybrid_objects *objects = calloc(1, sizeof(*objects));
	const char *path = elf_file_path(name);
	struct hybrid_ident ident = { .path = path };
	struct hybrid_object *object;
	bool is_read;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	same(hybrid_object_open(object, open(path, O_RDONLY | O_CLOEXEC)), 0);
	is_read = ruby_file__read(file, object);
	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
	return is_read;
}

static void library(void)
{
	struct hybrid_walk_ruby walk;
	struct ruby_file file;

	check(read_file(&file, "ruby.so"));
	same(file.layout->walk.frame_size, 64);
	same(file.data, elf_file_symbol("ruby.so", "variable"));
	same(file.variable, 0);
	same(file.symbols, elf_file_symbol("ruby.so", "table"));
	ruby_file__walk(&file, &walk);
	same(walk.symbols, file.symbols - file.data);
	same(walk.frame_size, 64);
	same(walk.variable, 0);
}

static void in_program(void)
{
	struct hybrid_walk_ruby walk;
	struct ruby_file file;

	check(read_file(&file, "ruby-program.so"));
	same(file.layout->walk.frame_size, 56);
	same(file.data, elf_file_symbol("ruby-program.so", "ruby_version"));
	same(file.variable, -24);
	ruby_file__walk(&file, &walk);
	same(walk.variable, -24);
	same(file.data + walk.symbols, elf_file_symbol("ruby-program.so", "table"));
	check(read_file(&file, "ruby-relaxed.so"));
	same(file.variable, -32);
	check(read_file(&file, "ruby-general.so"));
	same(file.variable, -0x1000);
}

static void others(void)
{
	struct hybrid_walk_ruby walk;
	struct ruby_file file;

	check(!read_file(&file, "ruby-other.so"));
	check(!read_file(&file, "symbols.so"));
	/* There are functions, but no names of methods in C. */
	check(read_file(&file, "ruby-hidden.so"));
	same(file.symbols, 0);
	ruby_file__walk(&file, &walk);
	same(walk.symbols, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a library",				library },
		{ "a program",				in_program },
		{ "other versions, and other files",	others },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
