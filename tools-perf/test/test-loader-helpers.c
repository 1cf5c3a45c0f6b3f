// SPDX-License-Identifier: GPL-2.0
/*
 * What helpers answer: copies of files that are not local, and errors; and helpers that end, or
 * can't be started.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "elf-file.h"
#include "helper-pool.h"
#include "loader-world.h"
#include "short-memory.h"
#include "tap.h"

/* On a file system that is not local, and no ELF file: its first bytes are copied. */
#define NOTES	"/sys/kernel/notes"
#define COPIED	64

#define USER	1000

/* The beginning of a file, by its path. */
static ssize_t read_path(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, bytes, size);

	close(fd);
	return got;
}

static void copied(void)
{
	char bytes[2 * COPIED], expected[COPIED];
	struct hybrid_mapping mapping;
	int fd;

	if (read_path(NOTES, expected, COPIED) != COPIED)
		return;
	loader_world_start_user(USER);
	mapping = loader_world_map(LOADER_REAL NOTES);
	fd = loader_world_open_at_last(&mapping);
	check(fd >= 0 && mapping.object->is_copy && mapping.object->user == world.user);
	same(mapping.object->copied, COPIED);
	same(world.user->used[HYBRID_FILE_COPIES], COPIED);
	same(world.user->used[HYBRID_FILE_BACKGROUND], COPIED);
	same(world.user->used[HYBRID_FILE_ASKED], 0);
	/* What is not copied is a hole. */
	same(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	check(!memcmp(bytes, expected, COPIED));
	memset(expected, 0, COPIED);
	check(!memcmp(bytes + COPIED, expected, COPIED));
	check(pwrite(fd, "x", 1, 0) < 0);
	close(fd);
	/* A local one is none, even if a helper has opened it. */
	mapping = loader_world_map("/far/a");
	fd = loader_world_open_at_last(&mapping);
	check(fd >= 0 && !mapping.object->is_copy);
	same(mapping.object->copied, 0);
	close(fd);
	loader_world_end();
}

/* A copy takes a share of what all copies, and all reads for them, may take. */
static void shares(void)
{
	static const enum hybrid_file_cost costs[] = {
		HYBRID_FILE_COPIES, HYBRID_FILE_BACKGROUND,
	};
	struct hybrid_mapping mapping;
	unsigned int i, over;
	u64 limit;
	int fd;

	if (access(NOTES, R_OK))
		return;
	for (i = 0; i < 2 * ARRAY_SIZE(costs); i++) {
		over = i % 2;
		loader_world_start_user(USER);
		limit = hybrid_file_limits[costs[i / 2]].user;
		check(hybrid_file_take(world.user, costs[i / 2], limit - COPIED + over));
		mapping = loader_world_map(LOADER_REAL NOTES);
		fd = loader_world_open_at_last(&mapping);
		same(fd < 0, over);
		if (over) {
			same(errno, EDQUOT);
			same(mapping.object->over, HYBRID_FILE_COPIES);
			same(mapping.object->copied, 0);
		}
		close(fd);
		/* The helper goes on with others. */
		mapping = loader_world_map("/far/a");
		fd = loader_world_open_at_last(&mapping);
		check(fd >= 0);
		close(fd);
		same(world.started, 1);
		loader_world_end();
	}
}

/* What can't be opened, has nothing to copy, or is no regular file. */
static void errors(void)
{
	static const struct {
		const char	*path;
		int		error;
	} cases[] = {
		{ LOADER_REAL "/nothing/there", ENOENT }, { LOADER_REAL "/proc/self/maps", EIO },
		{ LOADER_REAL "/proc/self", EIO }, { LOADER_DIES "/a", EIO },
	};
	struct hybrid_mapping mapping;
	unsigned int i;
	int fd;

	loader_world_start_user(USER);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mapping = loader_world_map(cases[i].path);
		errno = 0;
		fd = loader_world_open_at_last(&mapping);
		same(fd, -1);
		same(errno, cases[i].error);
		check(!mapping.object->is_copy);
		mapping = loader_world_map("/far/a");
		fd = loader_world_open_at_last(&mapping);
		check(fd >= 0);
		close(fd);
	}
	/* The first process has started another helper in place of that which has ended. */
	same(world.started, 1);
	same(world.user->used[HYBRID_FILE_ASKED], 0);
	/* A helper says last that it has closed the file. */
	while (world.user->used[HYBRID_FILE_WAITS] && !usleep(1000))
		hybrid_helpers_read(world.loader);
	loader_world_end();
}

/* A file that came, and that nobody has taken: with the object it is given back. */
static void not_taken(void)
{
	struct hybrid_mapping mapping;

	loader_world_start_user(USER);
	mapping = loader_world_map("/far/a!");
	same((u64)hybrid_loader_open(&mapping), (u64)HYBRID_OPEN_LATER);
	same(world.user->used[HYBRID_FILE_ASKED], 1);
	loader_world_answer(true);
	while (!mapping.object->load->done && !usleep(1000))
		hybrid_helpers_read(world.loader);
	check(mapping.object->load->fd >= 0);
	/* Descriptors are counted at the end of the program. */
	hybrid_loader_cancel(mapping.object);
	check(!mapping.object->load);
	same(world.user->used[HYBRID_FILE_ASKED], 0);
	loader_world_end();
}

static void no_memory(void)
{
	static const struct hybrid_loader_ops none;

	short_memory_begin(0);
	check(!hybrid_loader_new(&none));
	check(short_memory_end());
	hybrid_loader_delete(NULL);
}

/* By a path, at once: nobody is asked whether it is there. */
static void paths(void)
{
	int fd;

	loader_world_start_user(USER);
	fd = hybrid_loader_open_path(&world.objects, world.file);
	check(fd >= 0);
	close(fd);
	fd = hybrid_loader_open_path(&world.objects, "/proc/self/maps");
	check(fd < 0);
	same(world.started, 0);
	loader_world_end();
}

static void no_process(void)
{
	struct hybrid_load *digest;
	struct hybrid_mapping mapping;
	unsigned int i;
	int found;

	loader_world_start_user(USER);
	world.is_broken = true;
	for (i = 0; i < 3; i++) {
		mapping = loader_world_map(i ? "/far/a" : "/far/b");
		same(hybrid_loader_open(&mapping), -1);
		same(errno, ENOENT);
		check(!mapping.object->load);
	}
	/* It is tried once. */
	same(world.started, 1);
	digest = hybrid_loader_digest(world.loader, &mapping, &found);
	check(digest && digest->done);
	same(found, -1);
	hybrid_load_forget(digest);
	world.is_broken = false;
	/* What is local needs none, nor does a vDSO. */
	mapping = loader_world_map("/a");
	check(!close(hybrid_loader_open(&mapping)));
	mapping = loader_world_map(HYBRID_VDSO_64);
	check(!close(hybrid_loader_open(&mapping)));
	mapping = loader_world_map(HYBRID_VDSO_32);
	check(!close(hybrid_loader_open(&mapping)));
	mapping = loader_world_map("[other]");
	same(hybrid_loader_open(&mapping), -1);
	same(errno, ENOENT);
	loader_world_end();
}

/* So many files of a user may be asked for; those that go make room. */
static void asked(void)
{
	u64 limit = hybrid_file_limits[HYBRID_FILE_ASKED].user;
	struct hybrid_mapping mapping;

	loader_world_start_user(USER);
	check(hybrid_file_take(world.user, HYBRID_FILE_ASKED, limit));
	mapping = loader_world_map("/far/a");
	same(hybrid_loader_open(&mapping), -1);
	same(errno, EDQUOT);
	same(mapping.object->over, HYBRID_FILE_ASKED);
	same(world.user->used[HYBRID_FILE_ASKED], limit);
	hybrid_file_give(world.user, HYBRID_FILE_ASKED, 1);
	check(!close(loader_world_open_at_last(&mapping)));
	same(world.user->used[HYBRID_FILE_ASKED], limit - 1);
	loader_world_end();
}

/* A helper asks debuginfod; see asm/debuginfod.S. */
static void fetched(void)
{
	u8 id[20] = { 1 };
	struct hybrid_mapping mapping;
	struct hybrid_object *object;
	unsigned int i;
	int fd;

	check(dlopen(elf_file_path("debuginfod.so"), RTLD_NOW | RTLD_GLOBAL));
	loader_world_start_user(USER);
	mapping = loader_world_map("/a");
	object = mapping.object;
	for (i = 0; i < 2; i++) {
		id[0] = 1 + i;
		do {
			fd = hybrid_loader_fetch(object, id, sizeof(id));
			check(fd != HYBRID_OPEN_LATER || object->load);
		} while (fd == HYBRID_OPEN_LATER && !usleep(1000));
		same(fd >= 0, !i);
		check(!object->load);
		/* It is open still. */
		if (fd >= 0)
			check(!close(fd));
	}
	/* The file itself is opened meanwhile, or the object goes. */
	for (i = 0; i < 100; i++) {
		fd = hybrid_loader_fetch(object, id, sizeof(id));
		same(fd, object->load ? HYBRID_OPEN_LATER : -1);
		check(!close(hybrid_loader_open(&mapping)));
		check(!object->load);
	}
	hybrid_loader_fetch(object, id, sizeof(id));
	loader_world_end();
}

/* Which helpers are at a file system, whether it does not answer, and whether one still starts. */
static void uses(void)
{
	static struct hybrid_loader loader;
	const u64 now = 1000000000000ULL;
	struct hybrid_device_use use;
	unsigned int n;

	tap_set_monotonic(now);
	loader.nr_helpers = 2;
	loader.helpers[1] = (struct hybrid_helper) {
		.is_busy = true, .is_started = true, .dev = 7, .began = now,
	};
	for (n = 0; n < 1 << 5; n++) {
		bool busy = n & 1, digests = n & 2, started = n & 4, is_at = n & 8, late = n & 16;
		bool counts = busy && !digests && is_at;

		loader.helpers[0] = (struct hybrid_helper) {
			.is_busy = busy, .is_digesting = digests, .is_started = started,
			.dev = is_at ? 7 : 8,
			.began = now - HYBRID_LOAD_WAIT_NS - late,
		};
		use = hybrid_helpers_use(&loader, 7);
		same(use.nr, 1 + counts);
		same(use.is_silent, counts && started && late);
		same(hybrid_helpers_are_starting(&loader), busy && !started);
	}
	/* One that takes half a minute to start is not waited for. */
	loader.helpers[0] = (struct hybrid_helper) { .is_busy = true };
	for (n = 0; n < 2; n++) {
		loader.helpers[0].began = now - 30000000000ULL + n;
		same(hybrid_helpers_are_starting(&loader), n);
	}
	tap_set_monotonic(0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "helpers: a copy of a file", copied },
		{ "helpers: shares of copies", shares },
		{ "helpers: errors, and one that ends", errors },
		{ "helpers: files that nobody takes", not_taken },
		{ "helpers: they can't be started", no_process },
		{ "loader: no memory for it", no_memory },
		{ "loader: files by their paths", paths },
		{ "helpers: how many files are asked for", asked },
		{ "helpers: a file of debuginfod", fetched },
		{ "helpers: at which file systems they are", uses },
	};

	if (!loader_world_init())
		return 2;
	return tap_run(tests, ARRAY_SIZE(tests));
}
