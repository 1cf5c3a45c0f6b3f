// SPDX-License-Identifier: GPL-2.0
/*
 * The files and pages of the kernel that callchains led through.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "abi.h"
#include "met.h"
#include "open-nothing.h"
#include "short-memory.h"
#include "tap.h"

#define PAGE	4096ULL
#define KERNEL	0xffffffff81000000ULL

static struct hybrid_objects objects;
static struct hybrid_met met;

static struct hybrid_space *start(void)
{
	memset(&met, 0, sizeof(met));
	hybrid_objects_init(&objects, open_nothing, hybrid_x86_abi);
	return hybrid_space_new();
}

static void end(struct hybrid_space *space)
{
	hybrid_met_exit(&met);
	hybrid_space_put(space);
	hybrid_objects_exit(&objects);
}

/* A page at 1, 2, ... */
static void map(struct hybrid_space *space, u64 page, const char *path, u64 ino, pid_t pid)
{
	struct hybrid_ident ident = { .path = path, .ino = ino };
	struct hybrid_mapping mapping = {
		.start	= page * PAGE,
		.end	= (page + 1) * PAGE,
		.pid	= pid,
		.object	= path ? hybrid_object_get(&objects, &ident) : NULL,
	};

	same(hybrid_space_map(space, &mapping, true), 0);
	if (mapping.object)
		hybrid_object_put(mapping.object);
}

static void expect_file(u32 i, const char *path, u64 ino, pid_t pid)
{
	if (!check(i < met.nr_files))
		return;
	same_text(met.files[i].ident.path, path);
	same(met.files[i].ident.ino, ino);
	same(met.files[i].pid, pid);
}

static void chain(void)
{
	struct hybrid_space *space = start();
	const u64 chain[] = {
		PERF_CONTEXT_KERNEL, KERNEL + 1, KERNEL + 2, KERNEL + PAGE,
		PERF_CONTEXT_USER, PAGE, PAGE + 8, 3 * PAGE, 4 * PAGE, 9 * PAGE,
		PERF_CONTEXT_GUEST_USER, 2 * PAGE,
		PERF_CONTEXT_GUEST_KERNEL, KERNEL + 5 * PAGE,
	};

	map(space, 1, "/a", 1, 10);
	map(space, 2, "/b", 2, 10);
	map(space, 3, "/c", 3, 10);
	map(space, 4, NULL, 0, 10);
	hybrid_met_chain(&met, NULL, chain, ARRAY_SIZE(chain));
	same(met.nr_files, 0);
	hybrid_met_chain(&met, space, chain, ARRAY_SIZE(chain));
	same(met.nr_files, 2);
	expect_file(0, "/a", 1, 10);
	expect_file(1, "/c", 3, 10);
	same(met.pages.nr, 2);
	check(!met.failed);
	end(space);
}

/* Another file may be mapped where the last one was. */
static void mapped_anew(void)
{
	struct hybrid_space *space = start(), *other;

	map(space, 1, "/a", 1, 10);
	hybrid_met_user(&met, space, PAGE);
	map(space, 1, "/a", 2, 10);
	hybrid_met_user(&met, space, PAGE);
	same(met.nr_files, 2);
	/* The same file in another process. */
	other = hybrid_space_new();
	map(other, 7, "/a", 1, 11);
	hybrid_met_user(&met, other, 7 * PAGE + 1);
	same(met.nr_files, 2);
	expect_file(0, "/a", 1, 11);
	expect_file(1, "/a", 2, 10);
	hybrid_space_put(other);
	end(space);
}

/* A file that there is no memory for is left out, and perf knows that the list is not whole. */
static void no_room(void)
{
	struct hybrid_space *space;
	unsigned int nr = 0;
	bool is_short;

	do {
		space = start();
		map(space, 1, "/a", 1, 10);
		short_memory_begin(nr++);
		hybrid_met_user(&met, space, PAGE);
		is_short = short_memory_end();
		same(met.failed, is_short);
		same(met.nr_files, !is_short);
		end(space);
	} while (is_short && nr < 100);
	check(nr > 2 && nr < 100);
}

static void build_ids(void)
{
	struct hybrid_ident ident = { .path = "/a", .build_id = { 1 }, .build_id_size = 20 };
	struct hybrid_space *space = start();

	hybrid_met_file(&met, &ident, NULL, 1);
	hybrid_met_file(&met, &ident, NULL, 2);
	same(met.nr_files, 1);
	ident.build_id[19] = 1;
	hybrid_met_file(&met, &ident, NULL, 3);
	ident.build_id_size = 16;
	hybrid_met_file(&met, &ident, NULL, 3);
	ident.path = "/b";
	hybrid_met_file(&met, &ident, NULL, 3);
	same(met.nr_files, 4);
	same(met.files[0].pid, 2);
	end(space);
}

/* Returns the number that the file has among those with the ident. */
static u32 number_of(const struct hybrid_ident *ident, u64 ino, s64 ctime)
{
	const struct hybrid_file_id file = { .dev = 1, .ino = ino, .ctime_sec = ctime };

	return hybrid_met_file(&met, ident, &file, 1)->number;
}

static void namesakes(void)
{
	struct hybrid_ident ident = { .path = "/a", .build_id = { 1 }, .build_id_size = 20 };
	struct hybrid_ident other = { .path = "/b", .build_id = { 1 }, .build_id_size = 20 };
	struct hybrid_space *space = start();
	unsigned int round, i;

	/* One that is not known counts for nothing. */
	same(hybrid_met_file(&met, &ident, NULL, 1)->number, 0);
	for (round = 0; round < 2; round++) {
		same(number_of(&ident, 5, 1), 0);
		same(number_of(&ident, 6, 1), 1);
		/* The same inode was changed. */
		same(number_of(&ident, 5, 2), 2);
		same(number_of(&other, 7, 1), 0);
	}
	same(met.nr_files, 5);
	for (i = 3; i < HYBRID_MET_NAMESAKES; i++)
		same(number_of(&ident, 100 + i, 1), i);
	/* What is more is not told apart. */
	for (i = 0; i < 10; i++)
		same(number_of(&ident, 1000 + i, 1), 0);
	same(number_of(&ident, 100 + HYBRID_MET_NAMESAKES - 1, 1), HYBRID_MET_NAMESAKES - 1);
	same(met.nr_files, HYBRID_MET_NAMESAKES + 2);
	end(space);
}

static u32 count_digest(void *arg, const struct hybrid_mapping *mapping)
{
	u32 *nr = arg;

	check(mapping->file.ino);
	++*nr;
	/* There is no room at the first try. */
	return *nr - 1;
}

static void map_file(struct hybrid_space *space, u64 page, u8 build_id_size, u64 ino)
{
	struct hybrid_ident ident = { .path = "/a", .build_id_size = build_id_size };
	struct hybrid_mapping mapping = {
		.start	= page * PAGE,
		.end	= (page + 1) * PAGE,
		.pid	= 10,
		.file	= { .ino = ino },
		.object	= hybrid_object_get(&objects, &ident),
	};

	same(hybrid_space_map(space, &mapping, true), 0);
	hybrid_object_put(mapping.object);
}

static void digests(void)
{
	struct hybrid_space *space = start();
	u32 nr = 0;

	met.add_digest = count_digest;
	met.arg = &nr;
	map_file(space, 1, 20, 5);
	map_file(space, 3, 20, 5);
	map_file(space, 5, 20, 5);
	map_file(space, 7, 20, 6);
	map_file(space, 9, 20, 0);
	map_file(space, 11, 0, 7);
	hybrid_met_user(&met, space, PAGE);
	hybrid_met_user(&met, space, PAGE);
	same(nr, 1);
	/* The next mapping of the file is the second try, and there is no third one. */
	hybrid_met_user(&met, space, 3 * PAGE);
	same(nr, 2);
	hybrid_met_user(&met, space, 5 * PAGE);
	same(nr, 2);
	same(met.nr_numbered, 0);
	hybrid_met_user(&met, space, 7 * PAGE);
	same(nr, 3);
	same(met.nr_numbered, 1);
	same(hybrid_space_at(space, 7 * PAGE)->number, 1);
	same(hybrid_space_at(space, 5 * PAGE)->number, 0);
	/* Not identified; and without a build-id. */
	hybrid_met_user(&met, space, 9 * PAGE);
	hybrid_met_user(&met, space, 11 * PAGE);
	same(nr, 3);
	end(space);
}

/* That of a process of 32 bits has the same name, and is no file that perf could tell by it. */
static void low_vdso(void)
{
	struct hybrid_space *space = start();

	map(space, 1, "/a", 1, 10);
	map(space, 2, HYBRID_MET_VDSO, 0, 10);
	map(space, 1 << 20, HYBRID_MET_VDSO, 0, 10);
	hybrid_met_user(&met, space, PAGE);
	check(!met.in_low_vdso);
	hybrid_met_user(&met, space, 2 * PAGE);
	check(met.in_low_vdso);
	same(met.nr_files, 1);
	hybrid_met_user(&met, space, PAGE << 20);
	same(met.nr_files, 2);
	expect_file(1, HYBRID_MET_VDSO, 0, 10);
	end(space);
}

static void many(void)
{
	struct hybrid_space *space = start();
	struct hybrid_ident ident = {};
	unsigned int i, round;
	char path[16];

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 5000; i++) {
			snprintf(path, sizeof(path), "/%u", i);
			ident.path = path;
			hybrid_met_file(&met, &ident, NULL, 1);
		}
		for (i = 0; i < HYBRID_MET_PAGES; i++)
			hybrid_met_kernel(&met, KERNEL + i * PAGE);
	}
	same(met.nr_files, 5000);
	same(met.pages.nr, HYBRID_MET_PAGES);
	expect_file(4999, "/4999", 0, 1);
	check(!met.failed);
	hybrid_met_kernel(&met, KERNEL - PAGE);
	check(met.failed);
	end(space);
}

/* Each file is noted by what its record says, whichever part of that differs. */
static void idents(void)
{
	struct hybrid_ident ident = { .path = "/a", .maj = 1, .min = 2, .ino = 3 };
	struct hybrid_space *space = start();
	unsigned int i;

	ident.ino_generation = 4;
	for (i = 0; i < 2; i++) {
		hybrid_met_file(&met, &ident, NULL, 1);
		same(met.nr_files, 1);
	}
	ident.maj++;
	hybrid_met_file(&met, &ident, NULL, 1);
	ident.min++;
	hybrid_met_file(&met, &ident, NULL, 1);
	ident.ino++;
	hybrid_met_file(&met, &ident, NULL, 1);
	ident.ino_generation++;
	hybrid_met_file(&met, &ident, NULL, 1);
	ident.path = "/b";
	hybrid_met_file(&met, &ident, NULL, 1);
	same(met.nr_files, 6);
	for (i = 0; i < 6; i++)
		same(met.files[i].pid, 1);
	/* The same once more: the process is the last one. */
	hybrid_met_file(&met, &ident, NULL, 7);
	same(met.nr_files, 6);
	same(met.files[5].pid, 7);
	end(space);
}

/* The first and the last byte of a mapping, and what is beside it. */
static void edges(void)
{
	struct hybrid_space *space = start();

	map(space, 1, "/a", 1, 10);
	map(space, 2, "/b", 2, 10);
	map(space, 4, "/c", 3, 10);
	hybrid_met_user(&met, space, PAGE - 1);
	same(met.nr_files, 0);
	hybrid_met_user(&met, space, 2 * PAGE - 1);
	same(met.nr_files, 1);
	hybrid_met_user(&met, space, 2 * PAGE);
	same(met.nr_files, 2);
	hybrid_met_user(&met, space, 3 * PAGE);
	same(met.nr_files, 2);
	hybrid_met_user(&met, space, PAGE);
	hybrid_met_user(&met, space, 4 * PAGE);
	same(met.nr_files, 3);
	/* Functions of runtimes have addresses that no process has. */
	map(space, 1ULL << 44, "/d", 4, 10);
	hybrid_met_user(&met, space, 1ULL << 56);
	same(met.nr_files, 3);
	map(space, 1ULL << 45, "/e", 5, 10);
	hybrid_met_user(&met, space, 2ULL << 56);
	same(met.nr_files, 4);
	same(met.pages.nr, 0);
	end(space);
}

/* Each file is noted once, however often samples come back to it. */
static void noted_once(void)
{
	struct hybrid_space *space = start();
	unsigned int i;

	map(space, 1, "/a", 1, 10);
	map(space, 2, "/b", 2, 10);
	for (i = 0; i < 10; i++)
		hybrid_met_user(&met, space, (1 + i % 2) * PAGE);
	same(met.nr_files, 2);
	check(hybrid_space_find(space, PAGE)->is_met && hybrid_space_find(space, 2 * PAGE)->is_met);
	/* What was noted of a mapping that was met is not asked again. */
	met.files[0].pid = 77;
	hybrid_met_user(&met, space, PAGE);
	same(met.files[0].pid, 77);
	end(space);
}

/* One page of the kernel, again and again, or with others between; and address 0. */
static void kernel_pages(void)
{
	struct hybrid_space *space = start();
	unsigned int i;

	hybrid_met_kernel(&met, 0);
	hybrid_met_kernel(&met, PAGE - 1);
	same(met.pages.nr, 0);
	for (i = 0; i < 100; i++) {
		hybrid_met_kernel(&met, KERNEL + i);
		hybrid_met_kernel(&met, KERNEL + (i % 3) * PAGE);
	}
	same(met.pages.nr, 3);
	hybrid_met_kernel(&met, KERNEL + 3 * PAGE - 1);
	same(met.pages.nr, 3);
	hybrid_met_kernel(&met, KERNEL + 3 * PAGE);
	same(met.pages.nr, 4);
	for (i = 0; i < 1000; i++)
		hybrid_met_kernel(&met, KERNEL + i * PAGE);
	same(met.pages.nr, 1000);
	end(space);
}

/* The number of files may grow. */
static void room(void)
{
	struct hybrid_ident ident = { .path = "/a" };
	struct hybrid_space *space = start();
	u32 i;

	for (i = 0; i < 300; i++) {
		ident.ino = 1 + i;
		check(hybrid_met_file(&met, &ident, NULL, 1) == &met.files[i]);
	}
	for (i = 0; i < 300; i++) {
		ident.ino = 1 + i;
		check(hybrid_met_file(&met, &ident, NULL, 1) == &met.files[i]);
	}
	same(met.nr_files, 300);
	end(space);
}

/* After memory was short no more is noted. */
static void short_of_memory(void)
{
	struct hybrid_ident ident = { .path = "/a", .ino = 1 };
	struct hybrid_space *space;
	unsigned int nr;
	u64 i;

	for (nr = 0; nr < 3; nr++) {
		space = start();
		short_memory_begin(nr);
		check(!hybrid_met_file(&met, &ident, NULL, 1));
		check(short_memory_end());
		check(met.failed && !hybrid_met_file(&met, &ident, NULL, 1));
		same(met.nr_files, 0);
		end(space);
	}
	/* The second time that room is made. */
	for (nr = 0; nr < 2; nr++) {
		space = start();
		for (i = 0; i < 32; i++) {
			ident.ino = 1 + i;
			check(hybrid_met_file(&met, &ident, NULL, 1));
		}
		ident.ino++;
		short_memory_begin(nr);
		check(!hybrid_met_file(&met, &ident, NULL, 1));
		check(short_memory_end());
		check(met.failed && !hybrid_met_file(&met, &ident, NULL, 1));
		end(space);
		space = start();
		for (i = 0; i < 48 * nr; i++)
			hybrid_met_kernel(&met, KERNEL + i * PAGE);
		short_memory_begin(0);
		hybrid_met_kernel(&met, KERNEL + i * PAGE);
		check(short_memory_end());
		check(met.failed);
		hybrid_met_kernel(&met, KERNEL + (i + 1) * PAGE);
		same(met.pages.nr, i);
		end(space);
	}
}

/* The paths of files are given back: by far the most of this memory is of them. */
static void paths(void)
{
	static char path[16384];
	struct hybrid_ident ident = { .path = path };
	struct hybrid_space *space;
	size_t before = mallinfo2().uordblks;
	unsigned int i, nr;

	memset(path, 'x', sizeof(path) - 1);
	for (i = 0; i < 100; i++) {
		space = start();
		for (nr = 0; nr <= i % 2; nr++) {
			ident.ino = 1 + nr;
			check(hybrid_met_file(&met, &ident, NULL, 1));
		}
		end(space);
	}
	check(mallinfo2().uordblks < before + 20 * sizeof(path));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "met: what a chain leads through", chain },
		{ "met: another file in the place of one", mapped_anew },
		{ "met: no room for a file", no_room },
		{ "met: files are told apart by build-id and path", build_ids },
		{ "met: several files with one build-id and path", namesakes },
		{ "met: each file has its digest computed once", digests },
		{ "met: the vDSO of a process of 32 bits", low_vdso },
		{ "met: many files, and all pages", many },
		{ "met: room for files", room },
		{ "met: memory is short", short_of_memory },
		{ "met: what tells files apart", idents },
		{ "met: the edges of mappings", edges },
		{ "met: paths are given back", paths },
		{ "met: each file once", noted_once },
		{ "met: pages of the kernel", kernel_pages },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
