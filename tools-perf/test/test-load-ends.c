// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a file that a helper has opened: its share, and its descriptor.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include "elf-file.h"
#include "helper-pool.h"
#include "loader-world.h"
#include "mount.h"
#include "short-memory.h"
#include "tap.h"

/* On a file system that is not local, and no ELF file: its first bytes are copied. */
#define NOTES	"/sys/kernel/notes"
#define COPIED	64

#define USER	1000

/* A copy that was allowed, and then can't be made: its share is given back once. */
static void not_copied(void)
{
	const u64 others = 100;
	struct rlimit before, few;
	char path[64];
	struct hybrid_mapping mapping;
	struct hybrid_load *load;

	snprintf(path, sizeof(path), LOADER_REAL "/tmp/hybrid-test-%d!", getpid());
	if (access(NOTES, R_OK) || getrlimit(RLIMIT_FSIZE, &before))
		return;
	loader_world_start_user(USER);
	check(hybrid_file_take(world.user, HYBRID_FILE_COPIES, others));
	/* Helpers have the limit that is there when the first one starts. */
	few = (struct rlimit) { .rlim_cur = COPIED - 1, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	mapping = loader_world_map("/far/a");
	check(!close(loader_world_open_at_last(&mapping)));
	setrlimit(RLIMIT_FSIZE, &before);
	check(!symlink(NOTES, path + strlen(LOADER_REAL)));
	mapping = loader_world_map(path);
	same((u64)hybrid_loader_open(&mapping), (u64)HYBRID_OPEN_LATER);
	load = mapping.object->load;
	loader_world_answer(true);
	while (!load->done && !usleep(1000))
		hybrid_helpers_read(world.loader);
	check(load->fd < 0 && load->error == EIO);
	same(world.user->used[HYBRID_FILE_COPIES], others);
	same(loader_world_open_at_last(&mapping), -1);
	same(errno, EIO);
	same(world.user->used[HYBRID_FILE_COPIES], others);
	unlink(path + strlen(LOADER_REAL));
	loader_world_end();
}

/* Files that come as descriptor 0 are closed, or belong to the caller. */
static void descriptor_0(void)
{
	/* This is 0 if there is no standard input. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), input = dup(STDIN_FILENO), fd;
	struct hybrid_mapping mapping;
	u8 id[20] = { 1 };

	/* The helper finds asm/debuginfod.S. */
	check(dlopen(elf_file_path("debuginfod.so"), RTLD_NOW | RTLD_GLOBAL));
	loader_world_start_user(USER);
	mapping = loader_world_map("/far/a!");
	same((u64)hybrid_loader_open(&mapping), (u64)HYBRID_OPEN_LATER);
	loader_world_answer(true);
	close(STDIN_FILENO);
	while (!mapping.object->load->done && !usleep(1000))
		hybrid_helpers_read(world.loader);
	same(mapping.object->load->fd, 0);
	check(fcntl(0, F_GETFD) >= 0);
	hybrid_loader_cancel(mapping.object);
	check(fcntl(0, F_GETFD) < 0);
	/* Wait until the helper is ready: else a second helper's socket becomes descriptor 0. */
	while (world.loader->helpers[0].is_busy && !usleep(1000))
		hybrid_helpers_read(world.loader);
	same(world.loader->nr_helpers, 1);
	do {
		fd = hybrid_loader_fetch(mapping.object, id, sizeof(id));
	} while (fd == HYBRID_OPEN_LATER && !usleep(1000));
	same(fd, 0);
	check(!close(fd));
	dup2(input, STDIN_FILENO);
	close(input);
	close(null);
	loader_world_end();
}

/* Asks for a file that does not answer; its helper has started. */
static struct hybrid_load *ask_slow(struct hybrid_mapping *mapping)
{
	*mapping = loader_world_map("/slow!");
	same((u64)hybrid_loader_open(mapping), (u64)HYBRID_OPEN_LATER);
	while (!world.loader->helpers[0].is_started && !usleep(1000))
		hybrid_helpers_read(world.loader);
	return mapping->object->load;
}

/* Samples wait for two seconds, and a user's share of that; not for what is there. */
static void how_long(void)
{
	const u64 now = 1000000000000ULL, limit = hybrid_file_limits[HYBRID_FILE_WAITED].user;
	struct hybrid_mapping mapping;
	struct hybrid_load *load;
	unsigned int over;

	for (over = 0; over < 4; over++) {
		loader_world_start_user(USER);
		load = ask_slow(&mapping);
		/* Nothing is forgotten from then on. */
		check(hybrid_file_take(world.user, HYBRID_FILE_WAITED, 0));
		world.user->used[HYBRID_FILE_WAITED] = over < 2 ? 0 : limit - 3 + over % 2;
		world.loader->helpers[0].began = now;
		load->asked = over < 2 ? now - HYBRID_LOAD_WAIT_NS + !over : now;
		load->waited = now - 2;
		load->late = false;
		tap_set_monotonic(now);
		same(hybrid_loader_state(mapping.object, false),
		     over % 2 ? HYBRID_LOAD_LATE : HYBRID_LOAD_WAIT);
		same(load->late, over % 2);
		tap_set_monotonic(0);
		loader_world_answer(true);
		while (!load->done && !usleep(1000))
			hybrid_helpers_read(world.loader);
		same(hybrid_loader_state(mapping.object, false), HYBRID_LOAD_DONE);
		same(hybrid_loader_state(mapping.object, true), HYBRID_LOAD_DONE);
		same(load->late, over % 2);
		loader_world_end();
	}
}

/* Has a helper that has started, and has nothing to do. */
static void have_idle_helper(void)
{
	struct hybrid_mapping mapping = loader_world_map("/far/first");

	check(!close(loader_world_open_at_last(&mapping)));
	while (world.loader->helpers[0].is_busy && !usleep(1000))
		hybrid_helpers_read(world.loader);
	same(world.loader->nr_helpers, 1);
}

/* Samples of a user who is over that share do not wait at all. */
static void asked_late(void)
{
	const u64 limit = hybrid_file_limits[HYBRID_FILE_WAITED].user;
	struct hybrid_mapping mapping;
	unsigned int over;
	int fd;

	for (over = 0; over < 2; over++) {
		loader_world_start_user(USER);
		have_idle_helper();
		check(hybrid_file_take(world.user, HYBRID_FILE_WAITED, 0));
		world.user->used[HYBRID_FILE_WAITED] = limit - 1 + over;
		mapping = loader_world_map(over ? "/slow!" : "/far/a");
		tap_set_monotonic(1000000000000ULL);
		fd = hybrid_loader_open(&mapping);
		same(world.user->used[HYBRID_FILE_WAITED], limit);
		same(world.user->left_out, over);
		if (over) {
			same(fd, (u64)HYBRID_OPEN_LATER);
			check(mapping.object->load->late && mapping.object->why);
			same(hybrid_loader_state(mapping.object, false), HYBRID_LOAD_LATE);
			same(hybrid_loader_state(mapping.object, true), HYBRID_LOAD_LATE);
			same(world.user->left_out, 1);
		} else {
			check(fd >= 0 && !mapping.object->load);
			close(fd);
		}
		tap_set_monotonic(0);
		loader_world_end();
	}
}

static void no_memory(void)
{
	struct hybrid_mapping mapping;
	u8 id[20] = { 1 };
	int found;

	loader_world_start_user(USER);
	mapping = loader_world_map("/far/a");
	short_memory_begin(0);
	same(hybrid_loader_open(&mapping), -1);
	same(errno, ENOMEM);
	check(short_memory_end());
	short_memory_begin(0);
	check(!hybrid_loader_digest(world.loader, &mapping, &found) && found == -1);
	check(short_memory_end());
	short_memory_begin(0);
	same(hybrid_loader_fetch(mapping.object, id, sizeof(id)), -1);
	check(short_memory_end());
	check(!mapping.object->load);
	same(world.user->used[HYBRID_FILE_ASKED], 0);
	loader_world_end();
}

/* On which file system a file is, as far as that is known. */
static void devices(void)
{
	int proc = open("/proc/self/maps", O_PATH | O_CLOEXEC), found;
	struct hybrid_mapping mapping;
	struct hybrid_load *digest;

	loader_world_start_user(USER);
	same(ask_slow(&mapping)->dev, 0);
	digest = hybrid_loader_digest(world.loader, &mapping, &found);
	check(digest && found == -1);
	same(digest->dev, 0);
	hybrid_load_forget(digest);
	mapping = loader_world_map("/far/a");
	digest = hybrid_loader_digest(world.loader, &mapping, &found);
	check(digest && found == -1);
	same(digest->dev, hybrid_device_of(proc));
	hybrid_load_forget(digest);
	close(proc);
	loader_world_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "loads: a copy that can't be made", not_copied },
		{ "loads: descriptor 0", descriptor_0 },
		{ "loads: how long samples wait", how_long },
		{ "loads: a user over the share of waiting", asked_late },
		{ "loads: no memory", no_memory },
		{ "loads: which file system it is", devices },
	};

	if (!loader_world_init())
		return 2;
	return tap_run(tests, ARRAY_SIZE(tests));
}
