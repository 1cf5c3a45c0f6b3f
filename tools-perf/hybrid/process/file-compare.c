// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../rules/clock.h"
#include "background.h"
#include "file-compare.h"
#include "file-copy.h"

/*
 * Samples wait for so long in all, in ns, and for 1/SHARE of the time that has gone by: anybody
 * can make large files with the build-id of another.
 */
#define WAIT_NS		2000000000ULL
#define SHARE		20

/* Between two looks at a result, in us, if there is nothing else to do. */
#define LOOK		100

/* Comparisons under way: each reads two files, and may copy them to memory. */
#define MAX_RUNNING	2

static unsigned int nr_running;

/* When the first one began, and how long samples have waited, in ns. */
static u64 first, waited;

struct file {
	int			fd;
	bool			is_copy;
	struct hybrid_file_id	id;
};

/**
 * struct hybrid_comparison - of two files
 * @a: a descriptor of its own
 * @b: the same of the other
 * @hold: @a's file, where neither is a copy
 * @user: of @a
 * @copy: of what both hold; -1: none
 * @copied: bytes that were taken for it
 * @refs: who wants to know, and the thread
 * @result: see struct hybrid_compare_ops
 * @began: when it did, in ns
 * @ended: when @result was known
 * @until: samples wait until then
 */
struct hybrid_comparison {
	struct file	a;
	struct file	b;
	struct hybrid_pinned_file hold;
	struct hybrid_file_user *user;
	int		copy;
	u64		copied;
	unsigned int	refs;
	int		result;
	u64		began;
	u64		ended;
	u64		until;
};

static int result(const struct hybrid_comparison *comparison)
{
	return __atomic_load_n(&comparison->result, __ATOMIC_ACQUIRE);
}

static void put(struct hybrid_comparison *comparison)
{
	if (__atomic_sub_fetch(&comparison->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (comparison->a.fd >= 0)
		close(comparison->a.fd);
	if (comparison->b.fd >= 0)
		close(comparison->b.fd);
	if (comparison->copy >= 0) {
		close(comparison->copy);
		hybrid_file_give(comparison->user, HYBRID_FILE_COPIES, comparison->copied);
	}
	hybrid_unpin_file(&comparison->hold);
	free(comparison);
}

static void end(struct hybrid_comparison *comparison)
{
	u64 until = comparison->ended;

	if (result(comparison) == -EINPROGRESS)
		until = hybrid_clock_ns(CLOCK_MONOTONIC);
	waited += min(until, comparison->until) - comparison->began;
	put(comparison);
}

/* It holds what rows were made of, and what was compared. */
static bool is_current(const struct file *file)
{
	return file->is_copy || hybrid_file_id_is_of(&file->id, file->fd);
}

static void *work(void *arg)
{
	struct hybrid_comparison *comparison = arg;
	const struct file *a = &comparison->a, *b = &comparison->b;
	bool same;

	if (!a->is_copy && !b->is_copy)
		hybrid_pin_file(&comparison->hold, a->fd);
	comparison->hold.copied = true;
	same = hybrid_copy_is_same(a->fd, b->fd, comparison->user,
				   a->is_copy || b->is_copy ? NULL : &comparison->copy,
				   &comparison->copied) &&
	       is_current(a) && is_current(b);
	comparison->ended = hybrid_clock_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&comparison->result, same, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&nr_running, 1, __ATOMIC_RELAXED);
	put(comparison);
	return NULL;
}

/* Of what samples may wait in all until now. */
static u64 wait_until(u64 now)
{
	u64 most;

	first = first ?: now;
	most = WAIT_NS + (now - first) / SHARE;
	return now + (waited < most ? min_t(u64, most - waited, WAIT_NS) : 0);
}

static void open_file(struct file *file, const struct hybrid_object *object)
{
	file->fd = fcntl(object->fd, F_DUPFD_CLOEXEC, 0);
	file->is_copy = object->is_copy;
	file->id = object->file;
}

static struct hybrid_comparison *start(const struct hybrid_object *a,
				       const struct hybrid_object *b)
{
	struct hybrid_comparison *comparison;
	pthread_t thread;

	if (__atomic_load_n(&nr_running, __ATOMIC_RELAXED) >= MAX_RUNNING)
		return NULL;
	comparison = calloc(1, sizeof(*comparison));
	if (!comparison)
		return NULL;
	open_file(&comparison->a, a);
	open_file(&comparison->b, b);
	comparison->user = a->user;
	comparison->copy = -1;
	comparison->refs = 2;
	comparison->result = -EINPROGRESS;
	comparison->began = hybrid_clock_ns(CLOCK_MONOTONIC);
	comparison->until = wait_until(comparison->began);
	__atomic_add_fetch(&nr_running, 1, __ATOMIC_RELAXED);
	if (hybrid_background_start(&thread, work, comparison)) {
		__atomic_sub_fetch(&nr_running, 1, __ATOMIC_RELAXED);
		comparison->refs = 1;
		put(comparison);
		return NULL;
	}
	pthread_detach(thread);
	return comparison;
}

static int copy(struct hybrid_comparison *comparison, struct hybrid_pinned_file *hold, u64 *size)
{
	int fd = comparison->copy;

	*hold = comparison->hold;
	*size = comparison->copied;
	comparison->hold.page = NULL;
	comparison->copy = -1;
	return fd;
}

const struct hybrid_compare_ops hybrid_file_compare = {
	.start	= start,
	.result	= result,
	.copy	= copy,
	.end	= end,
};

enum hybrid_load_state hybrid_compare_state(struct hybrid_object *object, bool wait)
{
	const struct hybrid_comparison *comparison = object->comparison;

	while (result(comparison) == -EINPROGRESS) {
		if (object->is_late || hybrid_clock_ns(CLOCK_MONOTONIC) >= comparison->until) {
			object->is_late = true;
			return HYBRID_LOAD_LATE;
		}
		if (!wait)
			return HYBRID_LOAD_WAIT;
		usleep(LOOK);
	}
	return HYBRID_LOAD_DONE;
}
