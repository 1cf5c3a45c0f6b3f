// SPDX-License-Identifier: GPL-2.0
/*
 * One symbol of a file.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
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

/* A symbol that this program does not export. */
const u32 own_constant __attribute__((visibility("hidden"))) = 0xc0de;

static void own(void)
{
	static const char *const names[] = { "own_constant", "test_nothing", "ends_alike" };
	struct hybrid_object *object = open_object("/proc/self/exe");
	u64 values[ARRAY_SIZE(names)];
	u32 value = 0;

	hybrid_object_own_symbols(object, names, values, ARRAY_SIZE(names));
	check(hybrid_object_bytes(object, values[0], &value, sizeof(value)));
	same(value, own_constant);
	same(values[1], 0);
	check(values[2] && values[2] == hybrid_object_symbol(object, "ends_alike"));
	same(hybrid_object_exported(object, "own_constant"), 0);
	close_object(object);
}

/* Names that the linker has stored as the ends of others. */
static void own_ends_alike(void)
{
	static const char *const names[] = { "spam", "m_spam", "pam", "only" };
	struct hybrid_object *object = open_object(elf_file_path("symbols.so"));
	u64 values[ARRAY_SIZE(names)];

	hybrid_object_own_symbols(object, names, values, ARRAY_SIZE(names));
	same(values[0], elf_file_symbol("symbols.so", "spam"));
	same(values[1], elf_file_symbol("symbols.so", "m_spam"));
	same(values[2], 0);
	same(values[3], elf_file_symbol("symbols.so", "only"));
	close_object(object);
}

/* More names that end alike than places are tried. */
asm(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19\n"
	"first_\\n\\()_of_many = 0x10 + \\n\n"
	"second_\\n\\()_of_many = 0x30 + \\n\n"
	".endr\n");

/* A name that many others end with takes no place from the others that are looked for. */
static void many_ends(void)
{
	static const char *const names[] = { "_of_many", "own_constant", "second_19_of_many" };
	struct hybrid_object *object = open_object("/proc/self/exe");
	u64 values[ARRAY_SIZE(names)];
	u32 value = 0;

	hybrid_object_own_symbols(object, names, values, ARRAY_SIZE(names));
	same(values[0], 0);
	check(hybrid_object_bytes(object, values[1], &value, sizeof(value)));
	same(value, own_constant);
	same(values[2], 0x30 + 19);
	same(hybrid_object_symbol(object, "_of_many"), 0);
	same(hybrid_object_symbol(object, "first_7_of_many"), 0x10 + 7);
	close_object(object);
}

static u64 exported(const char *file, const char *name)
{
	struct hybrid_object *object = open_object(file);
	u64 value = hybrid_object_exported(object, name);

	close_object(object);
	return value;
}

static void hashed(void)
{
	const char *file = elf_file_path("symbols.so");

	same(exported(file, "spam"), elf_file_symbol("symbols.so", "spam"));
	same(exported(file, "only"), elf_file_symbol("symbols.so", "only"));
	same(exported(file, "pam"), 0);
	same(exported(file, "nothing"), 0);
	same(exported(file, ""), 0);
}

/* A copy of symbols.so, of which the words of .gnu.hash from @from on are @word. */
static int copy_with(unsigned int from, u32 word)
{
	int fd = open(elf_file_path("symbols.so"), O_RDONLY | O_CLOEXEC);
	int copy = memfd_create("symbols", 0);
	char *bytes = calloc(1, 65536);
	ssize_t size = read(fd, bytes, 65536);
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + ehdr->e_shoff);
	unsigned int i, at;

	for (i = 0; i < ehdr->e_shnum; i++) {
		if (sections[i].sh_type != SHT_GNU_HASH)
			continue;
		for (at = from; at < sections[i].sh_size / sizeof(word); at++)
			memcpy(bytes + sections[i].sh_offset + at * sizeof(word), &word,
			       sizeof(word));
	}
	same(write(copy, bytes, size), size);
	free(bytes);
	close(fd);
	return copy;
}

/* Buckets that lead nowhere, chains without an end, a head that is none. */
static void hash_lies(void)
{
	static const u32 words[] = { 0, 2, 0x7ffffffe, 0xffffffff };
	unsigned int from, i;
	char path[64];
	int fd;

	for (from = 0; from < 12; from++) {
		for (i = 0; i < ARRAY_SIZE(words); i++) {
			fd = copy_with(from, words[i]);
			snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
			same(exported(path, "nothing"), 0);
			exported(path, "spam");
			close(fd);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "symbol: names that end alike",	ends_alike },
		{ "symbol: parts of names",		none },
		{ "symbol: values of constants",	constants },
		{ "symbol: what is not exported",	own },
		{ "symbol: ends of names, not exported",	own_ends_alike },
		{ "symbol: many names with one end",	many_ends },
		{ "symbol: by a hash table",		hashed },
		{ "symbol: hash tables that lie",	hash_lies },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
