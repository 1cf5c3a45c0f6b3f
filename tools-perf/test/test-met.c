// SPDX-License-Identifier: GPL-2.0
/*
 * The files and pages of the kernel that callchains led through.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "abi.h"
#include "met.h"
#include "open-nothing.h"
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
	same(met.nr_pages, 2);
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

static void build_ids(void)
{
	struct hybrid_ident ident = { .path = "/a", .build_id = { 1 }, .build_id_size = 20 };
	struct hybrid_space *space = start();

	hybrid_met_file(&met, &ident, 1);
	hybrid_met_file(&met, &ident, 2);
	same(met.nr_files, 1);
	ident.build_id[19] = 1;
	hybrid_met_file(&met, &ident, 3);
	ident.build_id_size = 16;
	hybrid_met_file(&met, &ident, 3);
	ident.path = "/b";
	hybrid_met_file(&met, &ident, 3);
	same(met.nr_files, 4);
	same(met.files[0].pid, 2);
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
			hybrid_met_file(&met, &ident, 1);
		}
		for (i = 0; i < HYBRID_MET_PAGES; i++)
			hybrid_met_kernel(&met, KERNEL + i * PAGE);
	}
	same(met.nr_files, 5000);
	same(met.nr_pages, HYBRID_MET_PAGES);
	expect_file(4999, "/4999", 0, 1);
	check(!met.failed);
	hybrid_met_kernel(&met, KERNEL - PAGE);
	check(met.failed);
	end(space);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "met: what a chain leads through", chain },
		{ "met: another file in the place of one", mapped_anew },
		{ "met: files are told apart by build-id and path", build_ids },
		{ "met: the vDSO of a process of 32 bits", low_vdso },
		{ "met: many files, and all pages", many },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
