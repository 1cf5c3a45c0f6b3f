// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that open files which may not answer, and what each of them does.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "../rules/clock.h"
#include "helper-pool.h"

/* Of them, those that open files of one file system. */
#define MAX_OF_DEVICE	4

/* How long a helper may take to start, in ns, before its file's time is counted nevertheless. */
#define START_NS	(30 * NSEC_PER_SEC)

/* Those that read for digests of one user's files: samples wait for other files. */
#define MAX_DIGESTING	2

void hybrid_load_free(struct hybrid_load *load)
{
	hybrid_file_give(load->user, HYBRID_FILE_ASKED, load->is_counted);
	if (load->fd >= 0)
		close(load->fd);
	hybrid_file_give(load->user, HYBRID_FILE_COPIES, load->size);
	hybrid_unpin_file(&load->hold);
	list_del(&load->list);
	free(load);
}

/* With the first file that may have to be waited for. */
static int start_process(struct hybrid_loader *loader)
{
	int sockets[2], err;

	if (loader->socket >= 0)
		return 0;
	if (loader->is_broken || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -1;
	err = loader->ops.start(sockets[1]);
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		loader->is_broken = true;
		return -1;
	}
	loader->socket = sockets[0];
	return 0;
}

static struct hybrid_helper *start_helper(struct hybrid_loader *loader)
{
	struct hybrid_helper *helper = &loader->helpers[loader->nr_helpers];
	int sockets[2], fds[2] = { -1, -1 }, err;

	if (loader->nr_helpers == HYBRID_MAX_HELPERS || start_process(loader) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return NULL;
	fds[0] = sockets[1];
	err = hybrid_helper_send(loader->socket, "", 1, fds);
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return NULL;
	}
	loader->nr_helpers++;
	*helper = (struct hybrid_helper) { .socket = sockets[0] };
	return helper;
}

static void end_work(struct hybrid_helper *helper)
{
	if (helper->is_busy)
		hybrid_file_give(helper->user, HYBRID_FILE_WAITS, 1);
	helper->is_busy = false;
}

static void remove_helper(struct hybrid_loader *loader, struct hybrid_helper *helper)
{
	end_work(helper);
	close(helper->socket);
	*helper = loader->helpers[--loader->nr_helpers];
}

static struct hybrid_helper *idle_helper(struct hybrid_loader *loader)
{
	unsigned int i;

	for (i = 0; i < loader->nr_helpers; i++) {
		if (!loader->helpers[i].is_busy)
			return &loader->helpers[i];
	}
	return start_helper(loader);
}

bool hybrid_helpers_are_starting(const struct hybrid_loader *loader)
{
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < loader->nr_helpers; i++) {
		if (loader->helpers[i].is_busy && !loader->helpers[i].is_started &&
		    now - loader->helpers[i].began < START_NS)
			return true;
	}
	return false;
}

struct hybrid_device_use hybrid_helpers_use(const struct hybrid_loader *loader, dev_t dev)
{
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC);
	struct hybrid_device_use use = {};
	unsigned int i;

	for (i = 0; i < loader->nr_helpers; i++) {
		if (!loader->helpers[i].is_busy || loader->helpers[i].is_digesting ||
		    loader->helpers[i].dev != dev)
			continue;
		use.nr++;
		use.is_silent |= loader->helpers[i].is_started &&
				 now - loader->helpers[i].began > HYBRID_LOAD_WAIT_NS;
	}
	return use;
}

/* One that does not answer is one of its user's, and of its file system the only one. */
static bool may_digest(const struct hybrid_loader *loader, const struct hybrid_load *load)
{
	unsigned int i, nr_user = 0;

	for (i = 0; i < loader->nr_helpers; i++) {
		if (!loader->helpers[i].is_busy || !loader->helpers[i].is_digesting)
			continue;
		if (load->dev && loader->helpers[i].dev == load->dev)
			return false;
		nr_user += loader->helpers[i].user == load->user;
	}
	return nr_user < MAX_DIGESTING;
}

/* Gives one file to a helper. Returns false if that can't be, now. */
static bool dispatch(struct hybrid_loader *loader, struct hybrid_load *load)
{
	bool is_digest = load->request.kind == HYBRID_HELPER_DIGEST;
	struct hybrid_helper *helper;

	if (is_digest ? !may_digest(loader, load) :
			hybrid_helpers_use(loader, load->dev).nr >= MAX_OF_DEVICE)
		return false;
	if (!hybrid_file_take(load->user, HYBRID_FILE_WAITS, 1))
		return false;
	helper = idle_helper(loader);
	if (!helper || hybrid_helper_send(helper->socket, &load->request, sizeof(load->request),
					  NULL)) {
		hybrid_file_give(load->user, HYBRID_FILE_WAITS, 1);
		if (helper)
			remove_helper(loader, helper);
		return false;
	}
	list_del_init(&load->list);
	helper->is_busy = true;
	helper->is_digesting = is_digest;
	helper->load = load;
	helper->user = load->user;
	helper->dev = load->dev;
	helper->began = hybrid_clock_ns(CLOCK_MONOTONIC);
	return true;
}

/* Samples wait for files, and not for digests. */
static void dispatch_all(struct hybrid_loader *loader)
{
	struct hybrid_load *load, *next;

	list_for_each_entry_safe(load, next, &loader->queue, list) {
		if (load->request.kind != HYBRID_HELPER_DIGEST)
			dispatch(loader, load);
	}
	list_for_each_entry_safe(load, next, &loader->queue, list) {
		if (load->request.kind == HYBRID_HELPER_DIGEST)
			dispatch(loader, load);
	}
}

void hybrid_load_set_over(struct hybrid_load *load, enum hybrid_file_cost cost)
{
	load->error = EDQUOT;
	if (load->object)
		load->object->over = cost;
	else if (load->is_wanted)
		hybrid_file_left_out(load->user, cost);
}

/* Its file will not come. */
static void set_failed(struct hybrid_load *load, int error)
{
	load->error = error;
	hybrid_file_give(load->user, HYBRID_FILE_COPIES, load->size);
	load->size = 0;
}

/* Whether there is room for a copy, or a digest. Returns 0 if the helper goes on. */
static int allow(struct hybrid_load *load, int socket, u64 needed)
{
	bool is_digest = load->request.kind == HYBRID_HELPER_DIGEST;
	enum hybrid_file_cost cost = is_digest ? HYBRID_FILE_DIGESTS : HYBRID_FILE_BACKGROUND;
	struct hybrid_helper_request go = { .kind = HYBRID_HELPER_GO };
	bool is_free = load->is_wanted && hybrid_file_take(load->user, cost, needed);

	if (is_free && (is_digest || hybrid_file_take(load->user, HYBRID_FILE_COPIES, needed)))
		go.most = needed;
	if (!is_digest)
		load->size = go.most;
	if (!go.most)
		hybrid_load_set_over(load, is_digest ? HYBRID_FILE_DIGESTS : HYBRID_FILE_COPIES);
	if (!hybrid_helper_send(socket, &go, sizeof(go), NULL))
		return !go.most;
	/* The helper has ended. */
	if (go.most)
		set_failed(load, EIO);
	return -1;
}

static void take_file(struct hybrid_load *load, const struct hybrid_helper_answer *answer, int *fds)
{
	load->fd = fds[0];
	load->error = answer->error;
	if (load->request.kind == HYBRID_HELPER_DIGEST)
		memcpy(load->digest, answer->digest, sizeof(load->digest));
	else if (!load->error && fds[0] < 0)
		load->error = EIO;
	load->copied = answer->is_copy;
	fds[0] = -1;
	if (load->error) {
		set_failed(load, load->error);
		return;
	}
	if (!answer->has_file || fds[1] < 0 || hybrid_pin_file(&load->hold, fds[1]))
		return;
	load->hold.ctime = answer->ctime;
	load->hold.copied = true;
}

void hybrid_load_forget(struct hybrid_load *load)
{
	load->object = NULL;
	load->is_wanted = false;
	/* A helper has begun with it, and its answer ends it. */
	if (load->done || !list_empty(&load->list))
		hybrid_load_free(load);
}

void hybrid_load_end(struct hybrid_load *load)
{
	load->done = true;
	if (!load->is_wanted)
		hybrid_load_free(load);
}

/* Returns false if there is nothing to read. */
static bool read_answer(struct hybrid_loader *loader, struct hybrid_helper *helper)
{
	struct hybrid_load *load = helper->load;
	struct hybrid_helper_answer answer;
	bool is_done = true;
	int fds[2];
	ssize_t got;

	got = hybrid_helper_receive(helper->socket, &answer, sizeof(answer), fds, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got == sizeof(answer) && answer.is_ready && !helper->is_started) {
		helper->is_started = true;
		helper->began = hybrid_clock_ns(CLOCK_MONOTONIC);
		return true;
	}
	helper->load = NULL;
	if (got != sizeof(answer)) {
		if (load)
			set_failed(load, EIO);
		remove_helper(loader, helper);
	} else if (answer.is_ready) {
		end_work(helper);
	} else if (load && !answer.error && answer.needed) {
		is_done = allow(load, helper->socket, answer.needed);
		helper->load = is_done ? NULL : load;
	} else if (load) {
		take_file(load, &answer, fds);
	}
	if (fds[0] >= 0)
		close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	if (load && is_done)
		hybrid_load_end(load);
	return true;
}

void hybrid_helpers_read(struct hybrid_loader *loader)
{
	unsigned int i = 0;

	while (i < loader->nr_helpers) {
		/* It may be another one's place after that, or be asked for more. */
		if (!loader->helpers[i].is_busy || !read_answer(loader, &loader->helpers[i]))
			i++;
	}
	dispatch_all(loader);
}

/* For one of them, at most until @until. */
void hybrid_helpers_wait(struct hybrid_loader *loader, u64 until)
{
	struct pollfd fds[HYBRID_MAX_HELPERS];
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC);
	unsigned int i, nr = 0;

	for (i = 0; i < loader->nr_helpers; i++) {
		if (loader->helpers[i].is_busy)
			fds[nr++] = (struct pollfd) { loader->helpers[i].socket, POLLIN, 0 };
	}
	if (now < until)
		poll(fds, nr, (until - now) / NSEC_PER_MSEC + 1);
	hybrid_helpers_read(loader);
}

void hybrid_helpers_exit(struct hybrid_loader *loader)
{
	unsigned int i;

	for (i = 0; i < loader->nr_helpers; i++) {
		close(loader->helpers[i].socket);
		if (loader->helpers[i].load)
			hybrid_load_free(loader->helpers[i].load);
	}
	if (loader->socket >= 0)
		close(loader->socket);
}
