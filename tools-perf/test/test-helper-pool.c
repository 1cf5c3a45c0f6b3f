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
#include "pool-world.h"
#include "tap.h"

/* The kernel's own headers, which are those of these tests, name some system calls only. */
#ifndef SYS_close
#define SYS_close	3
#endif

static unsigned int bad_closes;

/* Linked in place of the C library's: counts descriptors that are none. */
int close(int fd)
{
	int err = syscall(SYS_close, fd);

	bad_closes += err && errno == EBADF;
	return err;
}

/* Whether a helper is given a file at once. */
static bool is_given(u32 kind, dev_t dev)
{
	struct hybrid_load *load;
	bool is;

	bad_closes = 0;
	load = pool_ask(kind, dev);
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
	pool_start(0);
	check(is_given(HYBRID_HELPER_OPEN, DEV));
	same(pool.loader.nr_helpers, 1);
	check(pool.loader.helpers[0].is_busy && !pool.loader.helpers[0].is_started);
	same(pool.user->used[HYBRID_FILE_WAITS], 1);
	check(comes(pool.first_end, 1, true) && !comes(pool.first_end, 1, true));
	pool_end(0);
	/* It can't be started, which is tried once. */
	pool_start(0);
	pool.loader.ops.start = fail_to_start;
	failures = 0;
	check(!is_given(HYBRID_HELPER_OPEN, DEV) && pool.loader.is_broken);
	check(!is_given(HYBRID_HELPER_OPEN, DEV));
	same(failures, 1);
	same(pool.loader.nr_helpers, 0);
	same(pool.user->used[HYBRID_FILE_WAITS], 0);
	pool_end(0);
}

/* As many helpers as there may be, and one less. */
static void most(void)
{
	int sockets[2];
	unsigned int nr;

	for (nr = HYBRID_MAX_HELPERS - 1; nr <= HYBRID_MAX_HELPERS; nr++) {
		pool_start(nr);
		/* The first process is there. */
		check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
		pool.loader.socket = sockets[0];
		pool.first_end = sockets[1];
		same(is_given(HYBRID_HELPER_OPEN, 1), nr < HYBRID_MAX_HELPERS);
		same(comes(pool.first_end, 1, true), nr < HYBRID_MAX_HELPERS);
		same(pool.loader.nr_helpers, HYBRID_MAX_HELPERS);
		same(pool.user->used[HYBRID_FILE_WAITS], nr < HYBRID_MAX_HELPERS);
		pool_end(nr);
	}
}

/* Of one file system four open files, and one reads for digests. */
static void of_device(void)
{
	unsigned int nr, i;

	for (nr = 3; nr <= 4; nr++) {
		pool_start(6);
		pool.loader.helpers[5].is_busy = false;
		for (i = 0; i < nr; i++)
			pool.loader.helpers[i].dev = DEV;
		same(is_given(HYBRID_HELPER_OPEN, DEV), nr < 4);
		if (nr < 4) {
			check(pool.loader.helpers[5].is_busy);
			check(comes(pool.ends[5], sizeof(struct hybrid_helper_request), false));
		}
		pool_end(6);
	}
	/* Of those that are not known there may be two. */
	for (nr = 0; nr < 4; nr++) {
		pool_start(3);
		pool.loader.helpers[0].is_digesting = true;
		pool.loader.helpers[0].dev = nr % 2 ? 0 : DEV;
		pool.loader.helpers[2].is_busy = false;
		same(is_given(HYBRID_HELPER_DIGEST, nr == 2 ? DEV : 0), nr != 2);
		pool_end(3);
	}
}

/* Two helpers read for one user's digests. */
static void of_user(void)
{
	unsigned int nr, i;

	for (nr = 1; nr <= 3; nr++) {
		pool_start(4);
		pool.loader.helpers[3].is_busy = false;
		for (i = 0; i < nr; i++) {
			pool.loader.helpers[i].is_digesting = true;
			pool.loader.helpers[i].user = i < 2 ? pool.user : NULL;
		}
		same(is_given(HYBRID_HELPER_DIGEST, DEV + 10), nr < 2);
		/* Files are opened nevertheless. */
		check(is_given(HYBRID_HELPER_OPEN, DEV + 10));
		pool_end(4);
	}
}

/* All of them are waited for, and what the last one says is read. */
static void waits(void)
{
	const struct hybrid_helper_answer ready = { .is_ready = true };
	unsigned int nr = HYBRID_MAX_HELPERS;

	pool_start(nr);
	hybrid_helpers_wait(&pool.loader, 0);
	same(pool.loader.nr_helpers, nr);
	check(pool.loader.helpers[nr - 1].is_busy);
	pool_say(nr - 1, &ready, NULL);
	hybrid_helpers_wait(&pool.loader, ~0ULL >> 1);
	check(!pool.loader.helpers[nr - 1].is_busy && pool.loader.helpers[nr - 2].is_busy);
	pool_end(nr);
}

/* How a helper ends: it has closed its socket, says something else, or can't be read. */
static void ended(void)
{
	const struct hybrid_helper_answer ready = { .is_ready = true };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct hybrid_load *load;
	unsigned int way;

	for (way = 0; way < 4; way++) {
		pool_start(2);
		load = pool_load(HYBRID_HELPER_OPEN, DEV);
		check(hybrid_file_take(pool.user, HYBRID_FILE_WAITS, 5));
		/* It was allowed to copy so much. */
		check(hybrid_file_take(pool.user, HYBRID_FILE_COPIES, 64));
		load->size = 64;
		pool.loader.helpers[0].user = pool.user;
		pool.loader.helpers[0].load = load;
		if (way == 0)
			shutdown(pool.ends[0], SHUT_RDWR);
		else if (way == 1)
			same(hybrid_helper_send(pool.ends[0], "", 1, NULL), 0);
		else if (way == 2)
			check(dup2(null, pool.loader.helpers[0].socket) >= 0);
		hybrid_helpers_read(&pool.loader);
		same(load->done, way < 3);
		same(load->error, way < 3 ? EIO : 0);
		same(pool.user->used[HYBRID_FILE_COPIES], way < 3 ? 0 : 64);
		same(pool.loader.nr_helpers, way < 3 ? 1 : 2);
		same(pool.loader.helpers[0].dev, way < 3 ? DEV + 1 : DEV);
		same(pool.user->used[HYBRID_FILE_WAITS], way < 3 ? 4 : 5);
		if (way < 3)
			hybrid_load_free(load);
		pool_end(2);
	}
	close(null);
	/* One that is done with its file. */
	pool_start(1);
	check(hybrid_file_take(pool.user, HYBRID_FILE_WAITS, 5));
	pool.loader.helpers[0].user = pool.user;
	pool_say(0, &ready, NULL);
	hybrid_helpers_read(&pool.loader);
	check(!pool.loader.helpers[0].is_busy && pool.loader.nr_helpers == 1);
	same(pool.user->used[HYBRID_FILE_WAITS], 4);
	pool_end(1);
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
		pool_start(1);
		load = pool_load(way % 2 ? HYBRID_HELPER_DIGEST : HYBRID_HELPER_OPEN, DEV);
		cost = way % 2 ? HYBRID_FILE_DIGESTS : HYBRID_FILE_COPIES;
		pool.user->used[cost] = hybrid_file_limits[cost].user - answer.needed + is_full;
		pool.loader.helpers[0].load = load;
		pool_say(0, &answer, NULL);
		close(pool.ends[0]);
		pool.ends[0] = -1;
		hybrid_helpers_read(&pool.loader);
		check(load->done && load->fd == -1);
		same(load->error, is_full ? EDQUOT : EIO);
		same(load->size, 0);
		same(pool.user->used[HYBRID_FILE_COPIES],
		     way % 2 ? 0 : hybrid_file_limits[cost].user - answer.needed + is_full);
		same(pool.loader.nr_helpers, 0);
		hybrid_load_free(load);
		pool_end(1);
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
		pool_start(1);
		load = pool_load(HYBRID_HELPER_OPEN, DEV);
		pool.loader.helpers[0].load = load;
		answer = (struct hybrid_helper_answer) {
			.is_copy = true, .has_file = way != 1, .error = way == 2 ? EIO : 0,
			.ctime = { .tv_sec = 12, .tv_nsec = 34 },
		};
		fds[0] = memory("copy");
		fds[1] = way == 3 ? -1 : memory("file");
		pool_say(0, &answer, fds);
		close(fds[0]);
		close(fds[1]);
		hybrid_helpers_read(&pool.loader);
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
		pool_end(1);
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
