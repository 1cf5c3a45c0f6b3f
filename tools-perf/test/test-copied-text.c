// SPDX-License-Identifier: GPL-2.0
/*
 * Anonymous memory in the place of a part of a file: of this process.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi.h"
#include "copied-text.h"
#include "elf-file.h"
#include "tap.h"

#define PAGE	4096
#define NAME	"many.so"

/* Pages of its code, of which the second one is not whole; and where they are in the file. */
#define NR	2
#define AT	0x1000

static struct hybrid_objects objects;
static struct hybrid_memory *memory;
static struct hybrid_space *space;
static u8 *code;

static void map(unsigned int first, unsigned int nr, bool is_file)
{
	struct hybrid_ident ident = { .path = elf_file_path(NAME) };
	struct hybrid_mapping mapping = {
		.start = (u64)code + first * PAGE, .end = (u64)code + (first + nr) * PAGE,
		.pgoff = is_file ? AT + first * PAGE : 0, .pid = getpid(),
		.object = is_file ? hybrid_object_get(&objects, &ident) : NULL,
	};

	check(!hybrid_space_map(space, &mapping, true));
	if (mapping.object)
		hybrid_object_put(mapping.object);
}

/* The file's pages in memory; no mapping is known yet. */
static void begin(void)
{
	int fd = open(elf_file_path(NAME), O_RDONLY);

	hybrid_objects_init(&objects, elf_file_open, hybrid_x86_abi);
	memory = hybrid_memory_new();
	space = hybrid_space_new();
	code = mmap(NULL, NR * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory && space && code != MAP_FAILED);
	check(pread(fd, code, NR * PAGE, AT) > PAGE);
	close(fd);
}

static void end(void)
{
	hybrid_memory_delete(memory);
	hybrid_space_put(space);
	hybrid_objects_exit(&objects);
	munmap(code, NR * PAGE);
}

static bool is_copy(unsigned int page)
{
	u64 ip = (u64)code + page * PAGE + 8;

	return hybrid_copied_text(memory, space, hybrid_space_find(space, ip), ip);
}

static void test_copy(void)
{
	const struct hybrid_mapping *mapping;

	begin();
	map(0, 1, false);
	map(1, 1, true);
	check(is_copy(0));
	mapping = hybrid_space_find(space, (u64)code);
	check(mapping->is_copy && mapping->object && mapping->pgoff == AT);
	same(mapping->object->refs, 2);
	/* It has its file now. */
	check(!is_copy(0));
	end();
}

static void test_other(void)
{
	begin();
	map(0, 1, false);
	map(1, 1, true);
	code[100]++;
	check(!is_copy(0));
	/* It is looked at once. */
	code[100]--;
	check(!is_copy(0));
	check(!hybrid_space_find(space, (u64)code)->object);
	end();
}

/* No file beside it, a gap between, or what the file has no code for. */
static void test_nothing_beside(void)
{
	struct hybrid_mapping far = { .pid = getpid() };

	begin();
	map(0, 1, false);
	check(!is_copy(0));
	end();

	begin();
	map(1, 1, true);
	far.start = (u64)code - 4 * PAGE;
	far.end = far.start + PAGE;
	check(!hybrid_space_map(space, &far, true));
	check(!hybrid_copied_text(memory, space, hybrid_space_find(space, far.start), far.start));
	end();

	begin();
	map(0, 1, true);
	map(1, 1, false);
	check(!is_copy(1));
	end();
}

/* The process is gone, or nobody may read it. */
static void test_unreadable(void)
{
	begin();
	map(0, 1, false);
	map(1, 1, true);
	check(!hybrid_copied_text(NULL, space, hybrid_space_find(space, (u64)code), (u64)code));
	munmap(code, PAGE);
	check(!is_copy(0));
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "copied text: a page of a file", test_copy },
		{ "copied text: what differs from the file", test_other },
		{ "copied text: no file beside it", test_nothing_beside },
		{ "copied text: memory that can't be read", test_unreadable },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
