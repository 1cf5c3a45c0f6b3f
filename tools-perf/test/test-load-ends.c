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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "loads: a copy that can't be made", not_copied },
		{ "loads: descriptor 0", descriptor_0 },
	};

	if (!loader_world_init())
		return 2;
	return tap_run(tests, ARRAY_SIZE(tests));
}
