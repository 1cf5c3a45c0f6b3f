// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that can't be started, or that have done nothing yet: here the test starts them, and does
 * their work when it wants to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "await.h"
#include "background.h"
#include "file-compare.h"
#include "file-digest.h"
#include "loader-world.h"
#include "prefault.h"
#include "short-memory.h"
#include "tap.h"

/* The kernel's own headers, which are those of these tests, name some system calls only. */
#ifndef SYS_pread64
#define SYS_pread64	17
#endif

#define USER	1000

#define NOW	1000000000000ULL
#define SECOND	1000000000ULL

/* Requests that wait for the thread that touches pages, and the address of the first page. */
#define WAITING	64
#define PAGE	4096ULL

#define MAX_KEPT	4

/* Threads that were started, and those that can't be any more from now on. */
static struct {
	void	*(*work)(void *arg);
	void	*arg;
} kept[MAX_KEPT];
static unsigned int nr_kept, failures;

static void *do_nothing(void *arg)
{
	return arg;
}

/* Linked in place of the one in background.c. */
int hybrid_background_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	const int err = EAGAIN;

	if (failures) {
		failures--;
		return err;
	}
	check(nr_kept < MAX_KEPT);
	kept[nr_kept].work = work;
	kept[nr_kept++].arg = arg;
	return pthread_create(thread, NULL, do_nothing, NULL);
}

/* Does what the first thread would. */
static void run(void)
{
	check(nr_kept);
	kept[0].work(kept[0].arg);
	memmove(kept, kept + 1, --nr_kept * sizeof(kept[0]));
}

/* The file that changes when it is read; -1: none. */
static int changing = -1;

/* Linked in place of the C library's. */
ssize_t pread(int fd, void *buf, size_t nbytes, off_t offset)
{
	struct stat before, now, file;

	if (changing >= 0 && !fstat(changing, &before) && !fstat(fd, &file) &&
	    file.st_ino == before.st_ino) {
		/* The clock of the file system may take a while. */
		do {
			fchmod(changing, 0600);
			fstat(changing, &now);
		} while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
			 now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
	}
	return syscall(SYS_pread64, fd, buf, nbytes, offset);
}

static struct hybrid_object make_object(void)
{
	static const char text[100] = "It is no ELF file, so that its first bytes are read.";
	struct hybrid_object object = { .fd = memfd_create("test", MFD_CLOEXEC) };

	check(write(object.fd, text, sizeof(text)) == sizeof(text));
	check(!hybrid_file_id_read(object.fd, &object.file));
	return object;
}

static void begin_comparison(struct hybrid_object *object, u64 now)
{
	tap_set_monotonic(now);
	object->is_late = false;
	object->comparison = hybrid_file_compare.start(object, object);
	check(object->comparison);
}

static void end_comparison(struct hybrid_object *object, u64 now)
{
	tap_set_monotonic(now);
	hybrid_file_compare.end(object->comparison);
	object->comparison = NULL;
}

/* Samples wait until this time, and no longer. */
static void waits_until(struct hybrid_object *object, u64 until)
{
	tap_set_monotonic(until - 1);
	same(hybrid_await(object, false), HYBRID_LOAD_WAIT);
	check(!object->is_late);
	tap_set_monotonic(until);
	same(hybrid_await(object, false), HYBRID_LOAD_LATE);
	check(object->is_late);
	/* Who has nothing else to do does not wait either. */
	same(hybrid_await(object, true), HYBRID_LOAD_LATE);
	tap_set_monotonic(until - 1);
	same(hybrid_await(object, false), HYBRID_LOAD_LATE);
}

/* Two seconds and a twentieth of the time since the first one. This is the first. */
static void how_long(void)
{
	struct hybrid_object object = make_object();

	begin_comparison(&object, NOW);
	waits_until(&object, NOW + 2 * SECOND);
	end_comparison(&object, NOW + SECOND / 2);
	run();
	/* 500 ms were waited for; of 2,050 ms. */
	begin_comparison(&object, NOW + SECOND);
	waits_until(&object, NOW + 2550 * SECOND / 1000);
	/* What it took longer than that was not waited for. */
	end_comparison(&object, NOW + 10 * SECOND);
	run();
	begin_comparison(&object, NOW + SECOND + 19);
	same(hybrid_await(&object, false), HYBRID_LOAD_LATE);
	end_comparison(&object, NOW + SECOND + 19);
	run();
	begin_comparison(&object, NOW + SECOND + 20);
	waits_until(&object, NOW + SECOND + 21);
	end_comparison(&object, NOW + SECOND + 20);
	run();
	/* Not longer than two seconds for one. */
	begin_comparison(&object, NOW + 101 * SECOND);
	waits_until(&object, NOW + 103 * SECOND);
	/* After it has ended nobody waits for it, however late that is noticed. */
	tap_set_monotonic(NOW + 102 * SECOND);
	run();
	same(hybrid_await(&object, false), HYBRID_LOAD_DONE);
	end_comparison(&object, NOW + 110 * SECOND);
	/* 3,050 ms of 2 s and 2,050 ms. */
	begin_comparison(&object, NOW + 41 * SECOND);
	waits_until(&object, NOW + 42 * SECOND);
	end_comparison(&object, NOW + 41 * SECOND);
	run();
	tap_set_monotonic(0);
	close(object.fd);
}

/* Two files at a time. */
static void most_comparisons(void)
{
	struct hybrid_object object = make_object();
	struct hybrid_comparison *two[3] = {};
	unsigned int i;

	/* Threads that could not be started are none of them. */
	failures = 3;
	while (failures)
		check(!hybrid_file_compare.start(&object, &object));
	for (i = 0; i < 2; i++) {
		two[i] = hybrid_file_compare.start(&object, &object);
		check(two[i]);
	}
	check(!hybrid_file_compare.start(&object, &object));
	same(hybrid_file_compare.result(two[0]), (u64)-EINPROGRESS);
	run();
	same(hybrid_file_compare.result(two[0]), 1);
	two[2] = hybrid_file_compare.start(&object, &object);
	check(two[2]);
	check(!hybrid_file_compare.start(&object, &object));
	while (nr_kept)
		run();
	for (i = 0; i < 3; i++)
		hybrid_file_compare.end(two[i]);
	close(object.fd);
}

/* A path with one file system's name: see loader_world_start(). */
static u32 add(struct hybrid_digests *digests)
{
	struct hybrid_mapping mapping = loader_world_map("/a");
	int fd = open(world.file, O_PATH | O_CLOEXEC);

	same(hybrid_file_id_read(fd, &mapping.file), 0);
	close(fd);
	return hybrid_digests_add(digests, &mapping);
}

/* Two threads read digests. Those that could not be started are tried again. */
static void digest_threads(void)
{
	u8 digest[HYBRID_DIGEST_SIZE];
	struct hybrid_digests *digests;
	unsigned int i;

	loader_world_start_user(USER);
	digests = hybrid_digests_new(world.loader);
	failures = 3;
	same(add(digests), 1);
	same(failures, 2);
	hybrid_digests_look(digests);
	hybrid_digests_look(digests);
	same(failures, 0);
	same(nr_kept, 0);
	for (i = 2; i <= 5; i++) {
		same(add(digests), i);
		same(nr_kept, 2);
	}
	run();
	run();
	hybrid_digests_look(digests);
	same(nr_kept, 0);
	for (i = 1; i <= 5; i++)
		check(hybrid_digests_get(digests, i, digest));
	/* All are read: there is nothing to start a thread for. */
	same(add(digests), 6);
	same(nr_kept, 1);
	run();
	hybrid_digests_delete(digests);
	loader_world_end();
}

/* The last thread frees what its owner has none of any more, and reads nothing. */
static void digests_gone(void)
{
	struct hybrid_digests *digests;
	unsigned int i;

	loader_world_start_user(USER);
	digests = hybrid_digests_new(world.loader);
	for (i = 0; i < 3; i++)
		check(add(digests));
	same(nr_kept, 2);
	hybrid_digests_delete(digests);
	run();
	run();
	loader_world_end();
}

/* A file that can't be opened any more has no digest, and is waited for no longer. */
static void not_opened(void)
{
	u8 digest[HYBRID_DIGEST_SIZE];
	struct hybrid_digests *digests;
	struct rlimit before, few;

	loader_world_start_user(USER);
	digests = hybrid_digests_new(world.loader);
	same(add(digests), 1);
	check(!getrlimit(RLIMIT_NOFILE, &before));
	few = before;
	few.rlim_cur = 0;
	check(!setrlimit(RLIMIT_NOFILE, &few));
	run();
	check(!setrlimit(RLIMIT_NOFILE, &before));
	hybrid_digests_look(digests);
	check(!hybrid_digests_get(digests, 1, digest));
	same(hybrid_file_user_get(&world.budget, 0)->used[HYBRID_FILE_UNREAD], 0);
	same(world.user->used[HYBRID_FILE_UNREAD], 0);
	same(add(digests), 2);
	run();
	hybrid_digests_look(digests);
	check(hybrid_digests_get(digests, 2, digest));
	hybrid_digests_delete(digests);
	loader_world_end();
}

static void no_digests(void)
{
	short_memory_begin(0);
	check(!hybrid_digests_new(NULL));
	check(short_memory_end());
	hybrid_digests_delete(NULL);
	hybrid_digests_look(NULL);
}

/* A file of its own, with the text of @path. */
static int copy_of(const char *path, char *to)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), fd = mkstemp(to);
	off_t size = lseek(from, 0, SEEK_END), at = 0;

	check(sendfile(fd, from, &at, size) == size);
	close(from);
	return fd;
}

/* What changes while it is read has no digest. */
static void changes(void)
{
	char before[sizeof(world.file)], path[sizeof(world.file)];
	u8 digest[HYBRID_DIGEST_SIZE];
	struct hybrid_digests *digests;
	unsigned int i;
	int fd;

	/* It is on the same file system. */
	snprintf(path, sizeof(path), "%.4000s-XXXXXX", world.file);
	fd = copy_of(world.file, path);
	memcpy(before, world.file, sizeof(before));
	memcpy(world.file, path, sizeof(path));
	for (i = 0; i < 2; i++) {
		loader_world_start_user(USER);
		digests = hybrid_digests_new(world.loader);
		same(add(digests), 1);
		changing = i ? fd : -1;
		run();
		changing = -1;
		hybrid_digests_look(digests);
		same(hybrid_digests_get(digests, 1, digest), !i);
		hybrid_digests_delete(digests);
		loader_world_end();
	}
	memcpy(world.file, before, sizeof(before));
	unlink(path);
	close(fd);
}

/* Without a thread no page is waited for; with one that does not come, a bounded number. */
static void pages(void)
{
	struct hybrid_prefault *touch = hybrid_prefault_new();
	const pid_t pid = getpid();
	u64 i;

	failures = 1;
	check(!hybrid_prefault_pages(touch, pid, PAGE, PAGE));
	same(nr_kept, 0);
	for (i = 1; i <= WAITING; i++)
		check(hybrid_prefault_pages(touch, pid, i * PAGE, i * PAGE));
	same(nr_kept, 1);
	check(!hybrid_prefault_pages(touch, pid, i * PAGE, i * PAGE));
	/* What waits need not be asked for again. */
	check(hybrid_prefault_pages(touch, pid, PAGE, PAGE + 1));
	check(hybrid_prefault_pages(touch, pid, WAITING * PAGE, WAITING * PAGE + 1));
	check(!hybrid_prefault_pages(touch, pid + 1, PAGE, PAGE));
	check(!hybrid_prefault_pages(touch, pid, PAGE, 2 * PAGE));
	check(!hybrid_prefault_pages(touch, pid, 0, PAGE));
	hybrid_prefault_delete(touch);
	run();
	/* Without a thread, its owner frees it. */
	hybrid_prefault_delete(hybrid_prefault_new());
	same(nr_kept, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "background: how long comparisons are waited for", how_long },
		{ "background: comparisons at a time", most_comparisons },
		{ "background: threads that read digests", digest_threads },
		{ "background: digests that nobody wants", digests_gone },
		{ "background: a file that can't be opened", not_opened },
		{ "background: no memory for digests", no_digests },
		{ "background: a file that changes while it is read", changes },
		{ "background: pages that are not touched yet", pages },
	};

	if (!loader_world_init())
		return 2;
	return tap_run(tests, ARRAY_SIZE(tests));
}
