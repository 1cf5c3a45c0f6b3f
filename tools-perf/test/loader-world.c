// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <linux/string.h>
#include "abi.h"
#include "elf-file.h"
#include "loader-world.h"
#include "tap.h"

/* What the tests and the helpers have together. */
struct shared {
	bool		answers;
	unsigned int	start_ms;
	unsigned int	opened;
};

static struct shared *shared;

struct loader_world world;

bool loader_world_init(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	snprintf(world.file, sizeof(world.file), "%s", elf_file_path("frames.so"));
	return shared != MAP_FAILED;
}

void loader_world_answer(bool yes)
{
	__atomic_store_n(&shared->answers, yes, __ATOMIC_RELEASE);
}

void loader_world_start_slowly(unsigned int ms)
{
	shared->start_ms = ms;
}

unsigned int loader_world_opened(void)
{
	return __atomic_load_n(&shared->opened, __ATOMIC_RELAXED);
}

/* In a helper. */
static int open_slowly(const struct hybrid_mapping *mapping)
{
	const char *path = mapping->object->ident.path;

	while (strchr(path, '!') && !__atomic_load_n(&shared->answers, __ATOMIC_ACQUIRE))
		usleep(1000);
	__atomic_add_fetch(&shared->opened, 1, __ATOMIC_RELAXED);
	if (strstr(path, LOADER_DIES))
		_exit(1);
	return open(strstarts(path, LOADER_REAL) ? path + strlen(LOADER_REAL) : world.file,
		    O_RDONLY | O_CLOEXEC);
}

static int open_vdso(const struct hybrid_mapping *mapping)
{
	(void)mapping;
	return open(world.file, O_RDONLY | O_CLOEXEC);
}

static int find(const struct hybrid_mapping *mapping)
{
	const char *path = mapping->object->ident.path;

	if (strchr(path, '!')) {
		errno = EAGAIN;
		return -1;
	}
	if (path[0] == '[') {
		errno = ENOENT;
		return -1;
	}
	return open(strchr(path + 1, '/') ? "/proc/self/maps" : world.file, O_PATH | O_CLOEXEC);
}

static int open_found(const struct hybrid_mapping *mapping, int found)
{
	(void)mapping;
	return hybrid_open_found(found);
}

static int start_process(int socket)
{
	int status;
	pid_t pid;

	world.started++;
	if (world.is_broken)
		return -1;
	pid = fork();
	if (!pid) {
		if (!fork()) {
			/* This may be the socket's other end. perf's helper is another program. */
			if (socket != STDIN_FILENO)
				close(STDIN_FILENO);
			usleep(shared->start_ms * 1000);
			hybrid_helper_main(socket, open_slowly);
		}
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? 0 : -1;
}

void loader_world_start(void)
{
	static const struct hybrid_loader_ops ops = {
		.find = find, .open_found = open_found, .open = open_vdso,
		.start = start_process,
	};

	loader_world_answer(false);
	world.started = 0;
	hybrid_objects_init(&world.objects, hybrid_loader_open, hybrid_x86_abi);
	world.loader = hybrid_loader_new(&ops);
	world.objects.open_arg = world.loader;
	world.objects.cancel = hybrid_loader_cancel;
}

static struct hybrid_file_user *user_of(const struct hybrid_mapping *mapping __maybe_unused)
{
	return world.user;
}

void loader_world_start_user(uid_t uid)
{
	loader_world_start();
	hybrid_file_budget_init(&world.budget);
	world.budget.clock = tap_stopped_clock;
	world.objects.budget = &world.budget;
	world.objects.user_of = user_of;
	world.user = hybrid_file_user_get(&world.budget, uid);
}

void loader_world_end(void)
{
	hybrid_objects_exit(&world.objects);
	hybrid_loader_delete(world.loader);
	loader_world_answer(true);
}

struct hybrid_mapping loader_world_map(const char *path)
{
	struct hybrid_ident ident = { .path = path };

	return (struct hybrid_mapping) {
		.start = AT, .end = AT + (1 << 20),
		.object = hybrid_object_get(&world.objects, &ident),
	};
}

int loader_world_open_at_last(struct hybrid_mapping *mapping)
{
	int fd;

	do {
		fd = hybrid_loader_open(mapping);
	} while (fd == HYBRID_OPEN_LATER && !usleep(1000));
	return fd;
}
