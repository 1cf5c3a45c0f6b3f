// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that open files: which one is given a file, and what becomes of its answer. Here nobody
 * is at the other ends of their sockets but the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "helper-pool.h"
#include "tap.h"

/* File systems: those of helpers are this one and the following. */
#define DEV	100

#define USER	1000

/* The kernel's own headers, which are those of these tests, name some system calls only. */
#ifndef SYS_close
#define SYS_close	3
#endif

static struct hybrid_loader loader;
static struct hybrid_file_budget budget;
static struct hybrid_file_user *user;

/* The other ends of the helpers' sockets, and that of the first process's. */
static int ends[HYBRID_MAX_HELPERS];
static int first_end;

static unsigned int bad_closes;

/* Linked in place of the C library's: counts descriptors that are none. */
int close(int fd)
{
	int err = syscall(SYS_close, fd);

	bad_closes += err && errno == EBADF;
	return err;
}

static int start_process(int socket)
{
	first_end = dup(socket);
	return first_end < 0 ? -1 : 0;
}

/* With helpers that are at work, each for root and on a file system of its own. */
static void start(unsigned int nr)
{
	int sockets[2];
	unsigned int i;

	hybrid_file_budget_init(&budget);
	user = hybrid_file_user_get(&budget, USER);
	loader = (struct hybrid_loader) {
		.ops.start = start_process, .socket = -1, .nr_helpers = nr,
	};
	INIT_LIST_HEAD(&loader.queue);
	for (i = 0; i < nr; i++) {
		check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
		ends[i] = sockets[1];
		loader.helpers[i] = (struct hybrid_helper) {
			.socket = sockets[0], .is_started = true, .is_busy = true, .dev = DEV + i,
		};
	}
	first_end = -1;
}

static void end(unsigned int nr)
{
	struct hybrid_load *load, *next;

	list_for_each_entry_safe(load, next, &loader.queue, list)
		hybrid_load_free(load);
	hybrid_helpers_exit(&loader);
	while (nr--)
		close(ends[nr]);
	close(first_end);
}

static struct hybrid_load *new_load(u32 kind, dev_t dev)
{
	struct hybrid_load *load = calloc(1, sizeof(*load));

	if (!load)
		abort();
	INIT_LIST_HEAD(&load->list);
	load->request.kind = kind;
	load->dev = dev;
	load->user = user;
	load->fd = -1;
	load->is_wanted = true;
	return load;
}

/* Whether a helper is given a file at once. */
static bool is_given(u32 kind, dev_t dev)
{
	struct hybrid_load *load = new_load(kind, dev);
	bool is;

	list_add_tail(&load->list, &loader.queue);
	bad_closes = 0;
	hybrid_helpers_read(&loader);
	same(bad_closes, 0);
	is = list_empty(&load->list);
	if (!is)
		hybrid_load_free(load);
	return is;
}

/* Is there a message at the other end of a socket? It has a descriptor, or none. */
static bool comes(int socket, size_t size, bool has_fd)
{
	static struct hybrid_helper_request request;
	int fds[2];
	ssize_t got = hybrid_helper_receive(socket, &request, sizeof(request), fds, MSG_DONTWAIT);

	if (got < 0)
		return false;
	same(got, size);
	same(fds[0] >= 0, has_fd);
	same(fds[1], -1);
	close(fds[0]);
	return true;
}

static unsigned int failures;

static int fail_to_start(int socket __maybe_unused)
{
	failures++;
	return -1;
}

/* The first file: with it the first process is started, and a helper. */
static void first(void)
{
	start(0);
	check(is_given(HYBRID_HELPER_OPEN, DEV));
	same(loader.nr_helpers, 1);
	check(loader.helpers[0].is_busy && !loader.helpers[0].is_started);
	same(user->used[HYBRID_FILE_WAITS], 1);
	check(comes(first_end, 1, true) && !comes(first_end, 1, true));
	end(0);
	/* It can't be started, which is tried once. */
	start(0);
	loader.ops.start = fail_to_start;
	failures = 0;
	check(!is_given(HYBRID_HELPER_OPEN, DEV) && loader.is_broken);
	check(!is_given(HYBRID_HELPER_OPEN, DEV));
	same(failures, 1);
	same(loader.nr_helpers, 0);
	same(user->used[HYBRID_FILE_WAITS], 0);
	end(0);
}

/* As many helpers as there may be, and one less. */
static void most(void)
{
	int sockets[2];
	unsigned int nr;

	for (nr = HYBRID_MAX_HELPERS - 1; nr <= HYBRID_MAX_HELPERS; nr++) {
		start(nr);
		/* The first process is there. */
		check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
		loader.socket = sockets[0];
		first_end = sockets[1];
		same(is_given(HYBRID_HELPER_OPEN, 1), nr < HYBRID_MAX_HELPERS);
		same(comes(first_end, 1, true), nr < HYBRID_MAX_HELPERS);
		same(loader.nr_helpers, HYBRID_MAX_HELPERS);
		same(user->used[HYBRID_FILE_WAITS], nr < HYBRID_MAX_HELPERS);
		end(nr);
	}
}

/* Of one file system four open files, and one reads for digests. */
static void of_device(void)
{
	unsigned int nr, i;

	for (nr = 3; nr <= 4; nr++) {
		start(6);
		loader.helpers[5].is_busy = false;
		for (i = 0; i < nr; i++)
			loader.helpers[i].dev = DEV;
		same(is_given(HYBRID_HELPER_OPEN, DEV), nr < 4);
		if (nr < 4) {
			check(loader.helpers[5].is_busy);
			check(comes(ends[5], sizeof(struct hybrid_helper_request), false));
		}
		end(6);
	}
	/* Of those that are not known there may be two. */
	for (nr = 0; nr < 4; nr++) {
		start(3);
		loader.helpers[0].is_digesting = true;
		loader.helpers[0].dev = nr % 2 ? 0 : DEV;
		loader.helpers[2].is_busy = false;
		same(is_given(HYBRID_HELPER_DIGEST, nr == 2 ? DEV : 0), nr != 2);
		end(3);
	}
}

/* Two helpers read for one user's digests. */
static void of_user(void)
{
	unsigned int nr, i;

	for (nr = 1; nr <= 3; nr++) {
		start(4);
		loader.helpers[3].is_busy = false;
		for (i = 0; i < nr; i++) {
			loader.helpers[i].is_digesting = true;
			loader.helpers[i].user = i < 2 ? user : NULL;
		}
		same(is_given(HYBRID_HELPER_DIGEST, DEV + 10), nr < 2);
		/* Files are opened nevertheless. */
		check(is_given(HYBRID_HELPER_OPEN, DEV + 10));
		end(4);
	}
}

/* All of them are waited for, and what the last one says is read. */
static void waits(void)
{
	const struct hybrid_helper_answer ready = { .is_ready = true };
	unsigned int nr = HYBRID_MAX_HELPERS;

	start(nr);
	hybrid_helpers_wait(&loader, 0);
	same(loader.nr_helpers, nr);
	check(loader.helpers[nr - 1].is_busy);
	same(hybrid_helper_send(ends[nr - 1], &ready, sizeof(ready), NULL), 0);
	hybrid_helpers_wait(&loader, ~0ULL >> 1);
	check(!loader.helpers[nr - 1].is_busy && loader.helpers[nr - 2].is_busy);
	end(nr);
}

/* How a helper ends: it has closed its socket, says something else, or can't be read. */
static void ended(void)
{
	const struct hybrid_helper_answer ready = { .is_ready = true };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct hybrid_load *load;
	unsigned int way;

	for (way = 0; way < 4; way++) {
		start(2);
		load = new_load(HYBRID_HELPER_OPEN, DEV);
		check(hybrid_file_take(user, HYBRID_FILE_WAITS, 5));
		/* It was allowed to copy so much. */
		check(hybrid_file_take(user, HYBRID_FILE_COPIES, 64));
		load->size = 64;
		loader.helpers[0].user = user;
		loader.helpers[0].load = load;
		if (way == 0)
			shutdown(ends[0], SHUT_RDWR);
		else if (way == 1)
			same(hybrid_helper_send(ends[0], "", 1, NULL), 0);
		else if (way == 2)
			check(dup2(null, loader.helpers[0].socket) >= 0);
		hybrid_helpers_read(&loader);
		same(load->done, way < 3);
		same(load->error, way < 3 ? EIO : 0);
		same(user->used[HYBRID_FILE_COPIES], way < 3 ? 0 : 64);
		same(loader.nr_helpers, way < 3 ? 1 : 2);
		same(loader.helpers[0].dev, way < 3 ? DEV + 1 : DEV);
		same(user->used[HYBRID_FILE_WAITS], way < 3 ? 4 : 5);
		if (way < 3)
			hybrid_load_free(load);
		end(2);
	}
	close(null);
	/* One that is done with its file. */
	start(1);
	check(hybrid_file_take(user, HYBRID_FILE_WAITS, 5));
	loader.helpers[0].user = user;
	same(hybrid_helper_send(ends[0], &ready, sizeof(ready), NULL), 0);
	hybrid_helpers_read(&loader);
	check(!loader.helpers[0].is_busy && loader.nr_helpers == 1);
	same(user->used[HYBRID_FILE_WAITS], 4);
	end(1);
}

/* A helper that has asked for room, and then ends: with room for its file, and without. */
static void ended_after_asking(void)
{
	const struct hybrid_helper_answer answer = { .needed = 64 };
	enum hybrid_file_cost cost;
	struct hybrid_load *load;
	unsigned int way, is_full;

	for (way = 0; way < 4; way++) {
		is_full = way / 2;
		start(1);
		load = new_load(way % 2 ? HYBRID_HELPER_DIGEST : HYBRID_HELPER_OPEN, DEV);
		cost = way % 2 ? HYBRID_FILE_DIGESTS : HYBRID_FILE_COPIES;
		budget.clock = tap_stopped_clock;
		check(hybrid_file_take(user, cost, 0));
		user->used[cost] = hybrid_file_limits[cost].user - answer.needed + is_full;
		loader.helpers[0].load = load;
		same(hybrid_helper_send(ends[0], &answer, sizeof(answer), NULL), 0);
		close(ends[0]);
		ends[0] = -1;
		hybrid_helpers_read(&loader);
		check(load->done && load->fd == -1);
		same(load->error, is_full ? EDQUOT : EIO);
		same(load->size, 0);
		same(user->used[HYBRID_FILE_COPIES],
		     way % 2 ? 0 : hybrid_file_limits[cost].user - answer.needed + is_full);
		same(loader.nr_helpers, 0);
		hybrid_load_free(load);
		end(1);
	}
}

static int memory(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	check(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

/* The copy is read, and the file that it is of is held. */
static void held(void)
{
	struct hybrid_helper_answer answer;
	struct hybrid_load *load;
	int fds[2];
	char byte;
	unsigned int way;

	for (way = 0; way < 4; way++) {
		start(1);
		load = new_load(HYBRID_HELPER_OPEN, DEV);
		loader.helpers[0].load = load;
		answer = (struct hybrid_helper_answer) {
			.is_copy = true, .has_file = way != 1, .error = way == 2 ? EIO : 0,
			.ctime = { .tv_sec = 12, .tv_nsec = 34 },
		};
		fds[0] = memory("copy");
		fds[1] = way == 3 ? -1 : memory("file");
		same(hybrid_helper_send(ends[0], &answer, sizeof(answer), fds), 0);
		close(fds[0]);
		close(fds[1]);
		hybrid_helpers_read(&loader);
		check(load->done && load->copied);
		check(pread(load->fd, &byte, 1, 0) == 1 && byte == 'c');
		check(!load->hold.page == !!way);
		if (!way && load->hold.page) {
			same(*(char *)load->hold.page, 'f');
			check(load->hold.copied);
			same(load->hold.ctime.tv_sec, 12);
			same(load->hold.ctime.tv_nsec, 34);
		}
		hybrid_load_free(load);
		end(1);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "pool: the first file", first },
		{ "pool: as many as there may be", most },
		{ "pool: of one file system", of_device },
		{ "pool: of one user", of_user },
		{ "pool: waiting for all", waits },
		{ "pool: one that ends", ended },
		{ "pool: one that ends after it has asked for room", ended_after_asking },
		{ "pool: a copy and its file", held },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
