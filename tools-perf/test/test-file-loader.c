// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are opened elsewhere, and answer late or never.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "abi.h"
#include "await.h"
#include "file-copy.h"
#include "elf-file.h"
#include "file-loader.h"
#include "rows.h"
#include "tap.h"

/* More than there are processes that open files. */
#define MANY	40

#define AT	0x7f0000000000ULL

/* What the tests and the helpers have together. */
struct shared {
	bool		answers;
	unsigned int	opened;
};

static struct hybrid_objects objects;
static struct hybrid_loader *loader;
static struct shared *shared;
static unsigned int started;
static char file[PATH_MAX];

/* In a helper. Paths with a '!' don't answer until they all do. */
static int open_slowly(const struct hybrid_mapping *mapping)
{
	while (strchr(mapping->object->ident.path, '!') &&
	       !__atomic_load_n(&shared->answers, __ATOMIC_ACQUIRE))
		usleep(1000);
	__atomic_add_fetch(&shared->opened, 1, __ATOMIC_RELAXED);
	return open(file, O_RDONLY | O_CLOEXEC);
}

/*
 * Paths with a '!' can't be found without waiting; those with a '/' behind the first are on a file
 * system that is not local.
 */
static int find(const struct hybrid_mapping *mapping)
{
	const char *path = mapping->object->ident.path;

	if (strchr(path, '!')) {
		errno = EAGAIN;
		return -1;
	}
	return open(strchr(path + 1, '/') ? "/proc/self/maps" : file, O_PATH | O_CLOEXEC);
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

	started++;
	pid = fork();
	if (!pid) {
		if (!fork())
			hybrid_helper_main(socket, open_slowly);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? 0 : -1;
}

static void set_answers(bool yes)
{
	__atomic_store_n(&shared->answers, yes, __ATOMIC_RELEASE);
}

static void start(void)
{
	static const struct hybrid_loader_ops ops = {
		.find = find, .open_found = open_found, .start = start_process,
	};

	set_answers(false);
	started = 0;
	hybrid_objects_init(&objects, hybrid_loader_open, hybrid_x86_abi);
	loader = hybrid_loader_new(&ops);
	objects.open_arg = loader;
	objects.cancel = hybrid_loader_cancel;
}

static void end(void)
{
	hybrid_objects_exit(&objects);
	hybrid_loader_delete(loader);
	set_answers(true);
}

static struct hybrid_mapping map(const char *path)
{
	struct hybrid_ident ident = { .path = path };

	return (struct hybrid_mapping) {
		.start = AT, .end = AT + (1 << 20), .object = hybrid_object_get(&objects, &ident),
	};
}

static struct hybrid_row *row_of(const struct hybrid_mapping *mapping)
{
	return hybrid_object_row(mapping, AT + elf_file_symbol("frames.so", "leaf_at"));
}

/* However long it takes: how busy the machine is does not matter. */
static struct hybrid_row *row_at_last(const struct hybrid_mapping *mapping)
{
	struct hybrid_row *row;

	do {
		row = row_of(mapping);
	} while (!row && hybrid_object_waits(mapping->object) && !usleep(1000));
	return row;
}

static void at_hand(void)
{
	struct hybrid_mapping mapping;

	start();
	mapping = map("/a");
	check(row_at_last(&mapping));
	check(!hybrid_object_waits(mapping.object) && !mapping.object->why);
	same(hybrid_loader_state(mapping.object, false), HYBRID_LOAD_DONE);
	end();
}

/* No process is started for what is on a local file system. */
static void local(void)
{
	static const char * const paths[] = { "/a", "/b", "/far/a", "/far/b", "/c" };
	static const unsigned int by_helper[] = { 0, 0, 1, 2, 2 };
	struct hybrid_mapping mapping;
	unsigned int i, before = shared->opened;

	start();
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		mapping = map(paths[i]);
		check(row_at_last(&mapping));
		same(shared->opened - before, by_helper[i]);
		same(started, !!by_helper[i]);
	}
	end();
}

static void does_not_answer(void)
{
	struct hybrid_mapping slow, other;

	start();
	slow = map("/slow!");
	other = map("/other");
	objects.waiting = NULL;
	check(!row_of(&slow) && hybrid_object_waits(slow.object));
	check(objects.waiting == slow.object);
	/* No other file waits for it. */
	check(row_at_last(&other));
	check(!row_of(&slow));
	check(hybrid_loader_state(slow.object, false) != HYBRID_LOAD_DONE);
	check(!slow.object->is_late);
	hybrid_await_give_up(slow.object);
	check(slow.object->is_late);
	same(hybrid_await(slow.object, false), HYBRID_LOAD_LATE);
	same(hybrid_await(other.object, false), HYBRID_LOAD_DONE);
	same_text(slow.object->why, "its file system did not answer in time");
	/* When it is there it is used. */
	set_answers(true);
	check(row_at_last(&slow) && !slow.object->why);
	end();
}

/* Who has nothing else to do waits, and not for ever. */
static void waits(void)
{
	struct hybrid_mapping a, b;

	start();
	a = map("/a!");
	b = map("/b!");
	check(!row_of(&a) && !row_of(&b));
	same(hybrid_loader_state(a.object, true), HYBRID_LOAD_LATE);
	same(hybrid_loader_state(b.object, true), HYBRID_LOAD_LATE);
	end();
}

/* Objects, and all of them, go while their files are asked for. */
static void goes(void)
{
	struct hybrid_mapping mapping;
	unsigned int i;
	char path[16];

	start();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%u!", i);
		mapping = map(path);
		check(!row_of(&mapping));
		mapping.object->is_old = true;
		if (i % 2)
			hybrid_object_put(mapping.object);
	}
	end();
}

/* More than there are processes: those behind them are late, and come. */
static void many(void)
{
	struct hybrid_mapping mappings[MANY];
	unsigned int i;
	char path[16];

	start();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%u!", i);
		mappings[i] = map(path);
		check(!row_of(&mappings[i]));
	}
	set_answers(true);
	for (i = 0; i < MANY; i++)
		check(row_at_last(&mappings[i]));
	end();
}

/* A copy has the same rows. */
static void copies(void)
{
	static const char * const names[] = { "frames.so", "debug.so", "nocfi.so", "i386.so" };
	struct hybrid_mapping original, copy;
	struct hybrid_row *a, *b;
	unsigned int i, nr;
	int fd;
	u64 ip;

	start();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = open(elf_file_path(names[i]), O_RDONLY);
		original = map("/file");
		copy = map("/copy");
		original.object->is_old = true;
		copy.object->is_old = true;
		hybrid_object_open(copy.object, hybrid_copy(fd, hybrid_copy_size(fd)));
		hybrid_object_open(original.object, fd);
		for (ip = AT, nr = 0; ip < AT + 0x4000; ip++) {
			a = hybrid_object_row(&original, ip);
			b = hybrid_object_row(&copy, ip);
			check(!a == !b && (!a || !memcmp(&a->rule, &b->rule, sizeof(a->rule))));
			check(hybrid_object_is_return(&original, ip) ==
			      hybrid_object_is_return(&copy, ip));
			nr += a && a->rule.kind != HYBRID_RULE_NONE;
		}
		check(nr > 0 || !strcmp(names[i], "nocfi.so"));
		hybrid_object_put(original.object);
		hybrid_object_put(copy.object);
	}
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "load: a file that is at hand", at_hand },
		{ "load: file systems that are local", local },
		{ "load: a file that does not answer", does_not_answer },
		{ "load: with nothing else to do", waits },
		{ "load: objects that go meanwhile", goes },
		{ "load: more files than processes", many },
		{ "load: a copy in memory", copies },
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	snprintf(file, sizeof(file), "%s", elf_file_path("frames.so"));
	return tap_run(tests, ARRAY_SIZE(tests));
}
