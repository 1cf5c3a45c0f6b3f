// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that open files: those that have gone, and answers that nobody waits for. Descriptors
 * that stay open fail the test's last line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include "pool-world.h"
#include "tap.h"

#define NEEDED	64

static const struct hybrid_helper_answer ready = { .is_ready = true };

/* What a helper was told last; kind 0: nothing. */
static struct hybrid_helper_request told(unsigned int nr)
{
	static struct hybrid_helper_request request;
	int fds[2];

	request.kind = 0;
	hybrid_helper_receive(pool.ends[nr], &request, sizeof(request), fds, MSG_DONTWAIT);
	return request;
}

/* A file that a helper has begun with. */
static struct hybrid_load *begun(u32 kind)
{
	struct hybrid_load *load = pool_load(kind, DEV);

	pool.loader.helpers[0].load = load;
	return load;
}

/* The first process has gone, so that nobody can start a helper. */
static void first_gone(void)
{
	int sockets[2];

	pool_start(0);
	check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	pool.loader.socket = sockets[0];
	close(sockets[1]);
	check(!list_empty(&pool_ask(HYBRID_HELPER_OPEN, DEV)->list));
	same(pool.loader.nr_helpers, 0);
	same(pool.user->used[HYBRID_FILE_WAITS], 0);
	pool_end(0);
}

/* A helper has gone while it had nothing to do: others get the file. */
static void idle_gone(void)
{
	struct hybrid_load *load;

	pool_start(3);
	pool.loader.helpers[0].is_busy = false;
	pool.loader.helpers[2].is_busy = false;
	shutdown(pool.ends[0], SHUT_RDWR);
	load = pool_ask(HYBRID_HELPER_OPEN, 1);
	check(!list_empty(&load->list));
	same(pool.loader.nr_helpers, 2);
	same(pool.user->used[HYBRID_FILE_WAITS], 0);
	/* The last one has its place. */
	check(!pool.loader.helpers[0].is_busy && pool.loader.helpers[1].is_busy);
	hybrid_helpers_read(&pool.loader);
	check(list_empty(&load->list) && pool.loader.helpers[0].load == load);
	same(pool.loader.nr_helpers, 2);
	same(pool.user->used[HYBRID_FILE_WAITS], 1);
	same(told(2).kind, HYBRID_HELPER_OPEN);
	pool_end(3);
}

/* A user has as many helpers as his share; the next file waits for one of them. */
static void of_share(void)
{
	const u64 limit = hybrid_file_limits[HYBRID_FILE_WAITS].user;
	struct hybrid_load *load;
	unsigned int over;

	for (over = 0; over < 2; over++) {
		pool_start(1);
		pool.loader.helpers[0].is_busy = false;
		check(hybrid_file_take(pool.user, HYBRID_FILE_WAITS, limit - 1 + over));
		load = pool_ask(HYBRID_HELPER_OPEN, DEV);
		same(list_empty(&load->list), !over);
		same(pool.loader.helpers[0].is_busy, !over);
		same(pool.user->used[HYBRID_FILE_WAITS], limit);
		pool_end(1);
	}
}

/* Samples wait for files, and not for digests: files are first. */
static void files_first(void)
{
	struct hybrid_load *digest, *file;

	pool_start(1);
	/* There can't be another helper. */
	pool.loader.is_broken = true;
	digest = pool_ask(HYBRID_HELPER_DIGEST, 1);
	file = pool_ask(HYBRID_HELPER_OPEN, 2);
	check(!list_empty(&digest->list) && !list_empty(&file->list));
	pool_say(0, &ready, NULL);
	hybrid_helpers_read(&pool.loader);
	check(!list_empty(&digest->list) && list_empty(&file->list));
	check(!pool.loader.helpers[0].is_digesting);
	same(told(0).kind, HYBRID_HELPER_OPEN);
	/* The helper is given the digest as soon as it is done with the file. */
	pool.loader.helpers[0].load = NULL;
	hybrid_load_free(file);
	pool_say(0, &ready, NULL);
	hybrid_helpers_read(&pool.loader);
	check(list_empty(&digest->list) && pool.loader.helpers[0].is_digesting);
	same(pool.loader.helpers[0].dev, 1);
	same(told(0).kind, HYBRID_HELPER_DIGEST);
	pool_end(1);
}

/* A load that nobody wants any more is freed at once, unless a helper has begun with it. */
static void forgotten(void)
{
	const struct hybrid_helper_answer none = { .error = ENOENT };
	struct hybrid_object object = {};
	struct hybrid_load *load;
	unsigned int way;

	for (way = 0; way < 3; way++) {
		pool_start(1);
		load = begun(HYBRID_HELPER_OPEN);
		load->object = &object;
		check(hybrid_file_take(pool.user, HYBRID_FILE_ASKED, 2));
		load->is_counted = true;
		if (way)
			pool.loader.helpers[0].load = NULL;
		if (way == 1)
			list_add_tail(&load->list, &pool.loader.queue);
		else if (way == 2)
			hybrid_load_end(load);
		same(pool.user->used[HYBRID_FILE_ASKED], 2);
		hybrid_load_forget(load);
		same(pool.user->used[HYBRID_FILE_ASKED], way ? 1 : 2);
		check(list_empty(&pool.loader.queue));
		if (!way) {
			check(!load->object && !load->is_wanted);
			pool_say(0, &none, NULL);
			hybrid_helpers_read(&pool.loader);
			check(!pool.loader.helpers[0].load);
			same(pool.user->used[HYBRID_FILE_ASKED], 1);
		}
		pool_end(1);
	}
}

/* Nothing is copied or read for a load that nobody wants any more. */
static void not_wanted(void)
{
	const struct hybrid_helper_answer asks = { .needed = NEEDED };
	struct hybrid_helper_request go;
	struct hybrid_load *load;
	unsigned int way;
	bool digest, wanted;

	for (way = 0; way < 4; way++) {
		digest = way & 1;
		wanted = way & 2;
		pool_start(1);
		load = begun(digest ? HYBRID_HELPER_DIGEST : HYBRID_HELPER_OPEN);
		load->is_wanted = wanted;
		pool_say(0, &asks, NULL);
		hybrid_helpers_read(&pool.loader);
		go = told(0);
		same(go.kind, HYBRID_HELPER_GO);
		same(go.most, wanted ? NEEDED : 0);
		same(pool.user->used[HYBRID_FILE_DIGESTS], wanted && digest ? NEEDED : 0);
		same(pool.user->used[HYBRID_FILE_BACKGROUND], wanted && !digest ? NEEDED : 0);
		same(pool.user->used[HYBRID_FILE_COPIES], wanted && !digest ? NEEDED : 0);
		same(pool.user->left_out, 0);
		check(pool.loader.helpers[0].load == (wanted ? load : NULL));
		/* It is busy until it is ready. */
		check(pool.loader.helpers[0].is_busy);
		pool_end(1);
	}
}

/* The lowest number that no open file has. */
static int lowest_free(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	close(fd);
	return fd;
}

/* A file that comes after its user has gone is closed. */
static void too_late(void)
{
	const struct hybrid_helper_answer answer = { .is_copy = true, .has_file = true };
	int fds[2], nr, before = lowest_free();

	for (nr = 0; nr <= 2; nr++) {
		pool_start(1);
		fds[0] = nr > 0 ? memfd_create("test", MFD_CLOEXEC) : -1;
		fds[1] = nr > 1 ? memfd_create("test", MFD_CLOEXEC) : -1;
		pool_say(0, &answer, fds);
		close(fds[0]);
		close(fds[1]);
		hybrid_helpers_read(&pool.loader);
		check(pool.loader.helpers[0].is_busy);
		same(pool.loader.nr_helpers, 1);
		pool_end(1);
		same(lowest_free(), before);
	}
}

/* A digest is a digest without a file, and a file that does not come is an error. */
static void answers(void)
{
	struct hybrid_helper_answer answer = { .digest = { 1, [HYBRID_DIGEST_SIZE - 1] = 2 } };
	struct hybrid_load *load;
	unsigned int way;
	bool digest;

	for (way = 0; way < 4; way++) {
		digest = way & 1;
		answer.error = way & 2 ? ESTALE : 0;
		pool_start(1);
		load = begun(digest ? HYBRID_HELPER_DIGEST : HYBRID_HELPER_OPEN);
		pool_say(0, &answer, NULL);
		hybrid_helpers_read(&pool.loader);
		check(load->done && !pool.loader.helpers[0].load);
		same(load->error, answer.error ?: digest ? answer.error : EIO);
		same(!memcmp(load->digest, answer.digest, sizeof(answer.digest)), digest);
		hybrid_load_free(load);
		pool_end(1);
	}
}

/* The first "ready" of a helper says that it runs, the next one that it is done. */
static void started(void)
{
	const u64 now = 1000000000000ULL;

	tap_set_monotonic(now);
	pool_start(1);
	pool.loader.helpers[0].is_started = false;
	pool.loader.helpers[0].began = now - 5;
	begun(HYBRID_HELPER_OPEN);
	check(hybrid_helpers_are_starting(&pool.loader));
	pool_say(0, &ready, NULL);
	hybrid_helpers_read(&pool.loader);
	check(pool.loader.helpers[0].is_started && pool.loader.helpers[0].is_busy);
	check(pool.loader.helpers[0].load && !hybrid_helpers_are_starting(&pool.loader));
	same(pool.loader.helpers[0].began, now);
	pool_say(0, &ready, NULL);
	hybrid_load_free(pool.loader.helpers[0].load);
	pool.loader.helpers[0].load = NULL;
	hybrid_helpers_read(&pool.loader);
	check(!pool.loader.helpers[0].is_busy);
	pool_end(1);
	/* Both are read at once. */
	pool_start(1);
	pool.loader.helpers[0].is_started = false;
	pool_say(0, &ready, NULL);
	pool_say(0, &ready, NULL);
	hybrid_helpers_read(&pool.loader);
	check(pool.loader.helpers[0].is_started && !pool.loader.helpers[0].is_busy);
	pool_end(1);
	tap_set_monotonic(0);
}

/* The cost that a load's user was over: its object has it, or the line at the end counts it. */
static void over(void)
{
	struct hybrid_object object = {};
	struct hybrid_load *load;
	unsigned int way;

	for (way = 0; way < 3; way++) {
		pool_start(0);
		object.over = HYBRID_FILE_READ;
		load = pool_load(HYBRID_HELPER_OPEN, DEV);
		load->object = way == 0 ? &object : NULL;
		load->is_wanted = way < 2;
		hybrid_load_set_over(load, HYBRID_FILE_COPIES);
		same(load->error, EDQUOT);
		same(object.over, way ? HYBRID_FILE_READ : HYBRID_FILE_COPIES);
		same(pool.user->left_out, way == 1);
		hybrid_load_free(load);
		pool_end(0);
	}
}

/* Files that wait for a helper go with the loader. */
static void deleted(void)
{
	static const struct hybrid_loader_ops ops;
	struct hybrid_loader *loader = hybrid_loader_new(&ops);
	struct hybrid_load *load;
	unsigned int i;

	pool_start(0);
	check(hybrid_file_take(pool.user, HYBRID_FILE_ASKED, 3));
	for (i = 0; i < 2; i++) {
		load = pool_load(HYBRID_HELPER_OPEN, DEV);
		load->is_counted = true;
		list_add_tail(&load->list, &loader->queue);
	}
	hybrid_loader_delete(loader);
	same(pool.user->used[HYBRID_FILE_ASKED], 1);
	hybrid_loader_delete(NULL);
	pool_end(0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "pool: the first process has gone", first_gone },
		{ "pool: an idle helper has gone", idle_gone },
		{ "pool: helpers of one user", of_share },
		{ "pool: files before digests", files_first },
		{ "pool: files that are asked for no more", forgotten },
		{ "pool: no room for what nobody wants", not_wanted },
		{ "pool: files that come too late", too_late },
		{ "pool: digests and errors", answers },
		{ "pool: a helper that starts", started },
		{ "pool: who is over a share", over },
		{ "pool: the loader goes", deleted },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
