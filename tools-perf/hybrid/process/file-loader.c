// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/time64.h>
#include "../rules/clock.h"
#include "../rules/space.h"
#include "background.h"
#include "file-copy.h"
#include "file-loader.h"

/* Threads, each of which may have a file that does not answer. */
#define MAX_THREADS	32

/* A file that is at hand is there in less, in ns: no sample has to be looked at twice. */
#define FIRST_WAIT	10000000ULL

/* File systems that are kept in mind as local. */
#define MAX_LOCAL	16

/**
 * struct hybrid_load - a file that is asked for
 * @list: of those that no thread has begun with
 * @object: as much of the true one as it takes to open the file
 * @mapping: of @object
 * @asked: when, in ns
 * @refs: the object's and the thread's
 * @fd: the file, when @done
 * @error: errno, where it can't be opened
 * @copied: it is a copy
 * @hold: of what
 * @done: it is there, or can't be opened
 * @late: samples wait for it no more
 */
struct hybrid_load {
	struct list_head	list;
	struct hybrid_object	object;
	struct hybrid_mapping	mapping;
	u64			asked;
	unsigned int		refs;
	int			fd;
	int			error;
	bool			copied;
	struct hybrid_pinned_file	hold;
	bool			done;
	bool			late;
};

/**
 * struct hybrid_loader - files that are asked for
 * @lock: for all of it
 * @wake: of a thread that has nothing to do
 * @answer: a file is there
 * @queue: files that no thread has begun with
 * @nr_threads: that there are
 * @nr_idle: of them, those that have nothing to do
 * @refs: the owner's and the threads'
 * @stop: it is deleted
 * @open: how to open a file
 * @find: how to find one without opening it
 * @local: the file systems of files that were opened, those that are local
 * @nr_local: of @local
 * @wait_until: how long who has nothing else to do waits, in ns; 0: that was not yet
 */
struct hybrid_loader {
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	pthread_cond_t		answer;
	struct list_head	queue;
	unsigned int		nr_threads;
	unsigned int		nr_idle;
	unsigned int		refs;
	bool			stop;
	hybrid_open_fn		open;
	hybrid_open_fn		find;
	dev_t			local[MAX_LOCAL];
	unsigned int		nr_local;
	u64			wait_until;
};

/* With the lock; false where @until is over. */
static bool wait_answer(struct hybrid_loader *loader, u64 until)
{
	struct timespec ts = { .tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC };

	return pthread_cond_timedwait(&loader->answer, &loader->lock, &ts) != ETIMEDOUT;
}

struct hybrid_loader *hybrid_loader_new(hybrid_open_fn open, hybrid_open_fn find)
{
	struct hybrid_loader *loader = calloc(1, sizeof(*loader));
	pthread_condattr_t attr;

	if (!loader)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->wake, NULL);
	pthread_cond_init(&loader->answer, &attr);
	pthread_condattr_destroy(&attr);
	INIT_LIST_HEAD(&loader->queue);
	loader->refs = 1;
	loader->open = open;
	loader->find = find;
	return loader;
}

/* With the lock, which is given back. */
static void put_loader(struct hybrid_loader *loader)
{
	bool last = !--loader->refs;

	pthread_mutex_unlock(&loader->lock);
	if (!last)
		return;
	pthread_cond_destroy(&loader->answer);
	pthread_cond_destroy(&loader->wake);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

/* With the lock. */
static void put_load(struct hybrid_load *load)
{
	if (--load->refs)
		return;
	if (load->fd >= 0)
		close(load->fd);
	hybrid_unpin_file(&load->hold);
	list_del(&load->list);
	free((char *)load->object.ident.path);
	free(load);
}

void hybrid_loader_delete(struct hybrid_loader *loader)
{
	struct hybrid_load *load, *next;

	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	loader->stop = true;
	list_for_each_entry_safe(load, next, &loader->queue, list) {
		list_del_init(&load->list);
		put_load(load);
	}
	pthread_cond_broadcast(&loader->wake);
	put_loader(loader);
}

/* With the lock. */
static bool is_local(const struct hybrid_loader *loader, dev_t dev)
{
	unsigned int i;

	for (i = 0; i < loader->nr_local; i++) {
		if (loader->local[i] == dev)
			return true;
	}
	return false;
}

/* With the lock. */
static void remember_local(struct hybrid_loader *loader, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && !is_local(loader, st.st_dev) && loader->nr_local < MAX_LOCAL)
		loader->local[loader->nr_local++] = st.st_dev;
}

/* With the lock, which is not held meanwhile. */
static void open_file(struct hybrid_loader *loader, struct hybrid_load *load)
{
	struct hybrid_pinned_file hold = {};
	bool copied = false;
	int fd, error;

	list_del_init(&load->list);
	pthread_mutex_unlock(&loader->lock);
	fd = loader->open(&load->mapping);
	if (fd >= 0)
		fd = hybrid_copy_unless_local(fd, &copied, &hold);
	error = errno;
	pthread_mutex_lock(&loader->lock);
	load->fd = fd;
	load->error = fd < 0 ? error : 0;
	load->copied = copied;
	load->hold = hold;
	load->done = true;
	if (fd >= 0 && !copied)
		remember_local(loader, fd);
	pthread_cond_broadcast(&loader->answer);
	put_load(load);
}

static void *work(void *arg)
{
	struct hybrid_loader *loader = arg;

	pthread_mutex_lock(&loader->lock);
	while (!loader->stop) {
		if (!list_empty(&loader->queue)) {
			open_file(loader, list_first_entry(&loader->queue, struct hybrid_load,
							   list));
			continue;
		}
		loader->nr_idle++;
		pthread_cond_wait(&loader->wake, &loader->lock);
		loader->nr_idle--;
	}
	put_loader(loader);
	return NULL;
}

/* With the lock; false where there is no thread to open files. */
static bool start_thread(struct hybrid_loader *loader)
{
	pthread_t thread;

	if (loader->nr_threads == MAX_THREADS)
		return true;
	if (hybrid_background_start(&thread, work, loader))
		return loader->nr_threads;
	pthread_detach(thread);
	loader->nr_threads++;
	loader->refs++;
	return true;
}

static struct hybrid_load *new_load(const struct hybrid_mapping *mapping)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	struct hybrid_load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	load->object.ident = *ident;
	load->object.file = mapping->object->file;
	load->object.ident.path = strdup(ident->path);
	if (!load->object.ident.path) {
		free(load);
		return NULL;
	}
	INIT_LIST_HEAD(&load->list);
	load->mapping = *mapping;
	load->mapping.object = &load->object;
	load->mapping.record = NULL;
	load->asked = hybrid_clock_ns(CLOCK_MONOTONIC);
	load->fd = -1;
	return load;
}

/* With the lock; NULL where no thread can open it. */
static struct hybrid_load *ask(struct hybrid_loader *loader, const struct hybrid_mapping *mapping)
{
	struct hybrid_load *load = new_load(mapping);

	if (!load)
		return NULL;
	load->refs = 1;
	if (list_empty(&loader->queue) && loader->nr_idle)
		pthread_cond_signal(&loader->wake);
	else if (!start_thread(loader))
		goto out_put;
	list_add_tail(&load->list, &loader->queue);
	load->refs++;
	while (!load->done && wait_answer(loader, load->asked + FIRST_WAIT))
		;
	return load;

out_put:
	put_load(load);
	return NULL;
}

/*
 * A thread is not worth its while where the file system is known to answer: it opens the
 * file in 0.05 ms, and on a busy machine gets its turn after tens of them.
 */
static int open_local(struct hybrid_loader *loader, const struct hybrid_mapping *mapping)
{
	int found = loader->find(mapping);
	bool local = false;
	struct statx st;

	if (found < 0)
		return -1;
	if (!statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st)) {
		pthread_mutex_lock(&loader->lock);
		local = is_local(loader, makedev(st.stx_dev_major, st.stx_dev_minor));
		pthread_mutex_unlock(&loader->lock);
	}
	close(found);
	return local ? loader->open(mapping) : -1;
}

int hybrid_loader_open(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_loader *loader = object->objects->open_arg;
	struct hybrid_load *load;
	int fd = HYBRID_OPEN_LATER, error = 0;
	bool asked;

	/* It is read from the process. */
	if (!strcmp(object->ident.path, HYBRID_VDSO_64) ||
	    !strcmp(object->ident.path, HYBRID_VDSO_32))
		return loader->open(mapping);
	if (!object->load) {
		object->is_copy = false;
		fd = open_local(loader, mapping);
		if (fd >= 0)
			return fd;
		fd = HYBRID_OPEN_LATER;
	}
	pthread_mutex_lock(&loader->lock);
	load = object->load;
	if (!load) {
		load = ask(loader, mapping);
		object->load = load;
	}
	asked = load;
	if (load && load->done) {
		fd = load->fd;
		error = load->error;
		object->is_copy = load->copied;
		object->hold = load->hold;
		load->hold.page = NULL;
		load->fd = -1;
		object->load = NULL;
		put_load(load);
	}
	pthread_mutex_unlock(&loader->lock);
	if (!asked)
		return loader->open(mapping);
	errno = error;
	return fd;
}

void hybrid_loader_cancel(struct hybrid_object *object)
{
	struct hybrid_loader *loader = object->objects->open_arg;

	pthread_mutex_lock(&loader->lock);
	if (object->load)
		put_load(object->load);
	object->load = NULL;
	pthread_mutex_unlock(&loader->lock);
}

static void give_up(struct hybrid_object *object)
{
	object->load->late = true;
	object->why = "its file system did not answer in time";
}

void hybrid_loader_give_up(struct hybrid_object *object)
{
	struct hybrid_loader *loader = object->objects->open_arg;

	pthread_mutex_lock(&loader->lock);
	if (object->load)
		give_up(object);
	pthread_mutex_unlock(&loader->lock);
}

enum hybrid_load_state hybrid_loader_state(struct hybrid_object *object, bool wait)
{
	struct hybrid_loader *loader = object->objects->open_arg;
	struct hybrid_load *load = object->load;
	enum hybrid_load_state state = HYBRID_LOAD_DONE;

	pthread_mutex_lock(&loader->lock);
	if (wait && !loader->wait_until)
		loader->wait_until = hybrid_clock_ns(CLOCK_MONOTONIC) + HYBRID_LOAD_WAIT_NS;
	while (wait && load && !load->done && !load->late &&
	       wait_answer(loader, min(load->asked + (u64)HYBRID_LOAD_WAIT_NS,
				       loader->wait_until)))
		;
	if (load && !load->done) {
		if (wait || hybrid_clock_ns(CLOCK_MONOTONIC) - load->asked >= HYBRID_LOAD_WAIT_NS)
			give_up(object);
		state = load->late ? HYBRID_LOAD_LATE : HYBRID_LOAD_WAIT;
	}
	pthread_mutex_unlock(&loader->lock);
	return state;
}
