// SPDX-License-Identifier: GPL-2.0
/*
 * Digests of files. Threads read those on local file systems. The processes that open all other
 * files read these, too: see file-helper.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <sys/stat.h>
#include "../rules/clock.h"
#include "../rules/rows.h"
#include "background.h"
#include "file-digest.h"
#include "file-loader.h"
#include "helper-pool.h"

/* Threads that read. */
#define MAX_THREADS	2

/* Between two looks at what is done. */
#define STEP_NS		NSEC_PER_MSEC

enum state { WAITING, READING, KNOWN, FAILED };

/**
 * struct job - one file
 * @fd: of a file on a local file system (O_PATH), until a thread has read it; else -1
 * @load: of any other file, until it is done; else NULL
 * @state: of @fd or @load
 * @id: which file
 * @user: whose share @size is of
 * @digest: if KNOWN
 */
struct job {
	int			 fd;
	struct hybrid_load	*load;
	enum state		 state;
	struct hybrid_file_id	 id;
	struct hybrid_file_user	*user;
	u8			 digest[HYBRID_DIGEST_SIZE];
};

/**
 * struct hybrid_digests - all files of a recording
 * @loader: of what is not local
 * @jobs: each on its own: a thread has a pointer to the one that it reads
 * @nr: of @jobs
 * @unread: those that had not ended when they were looked at last; each one of HYBRID_FILE_UNREAD
 * @nr_unread: number of @unread
 * @lock: of all that follows, and of @state, @fd and @digest of jobs of threads
 * @queue: of @unread, those that no thread has begun with, in the order they were met
 * @nr_queue: number of @queue
 * @threads: that run; the last one frees all if @is_deleted
 * @is_deleted: the owner has none any more
 */
struct hybrid_digests {
	struct hybrid_loader	 *loader;
	struct job		**jobs;
	u32			  nr;
	struct job		 *unread[HYBRID_DIGESTS_UNREAD];
	unsigned int		  nr_unread;
	pthread_mutex_t		  lock;
	struct job		 *queue[HYBRID_DIGESTS_UNREAD];
	unsigned int		  nr_queue;
	unsigned int		  threads;
	bool			  is_deleted;
};

struct hybrid_digests *hybrid_digests_new(struct hybrid_loader *loader)
{
	struct hybrid_digests *digests = calloc(1, sizeof(*digests));

	if (!digests)
		return NULL;
	pthread_mutex_init(&digests->lock, NULL);
	digests->loader = loader;
	return digests;
}

static void free_digests(struct hybrid_digests *digests)
{
	u32 i;

	for (i = 0; i < digests->nr; i++) {
		if (digests->jobs[i]->fd >= 0)
			close(digests->jobs[i]->fd);
		free(digests->jobs[i]);
	}
	free(digests->jobs);
	pthread_mutex_destroy(&digests->lock);
	free(digests);
}

void hybrid_digests_delete(struct hybrid_digests *digests)
{
	unsigned int i;
	bool is_last;

	if (!digests)
		return;
	for (i = 0; i < digests->nr_unread; i++) {
		if (digests->unread[i]->load)
			hybrid_load_forget(digests->unread[i]->load);
	}
	pthread_mutex_lock(&digests->lock);
	digests->is_deleted = true;
	is_last = !digests->threads;
	pthread_mutex_unlock(&digests->lock);
	if (is_last)
		free_digests(digests);
}

/* Closes @found. */
static enum state read_file(int found, const struct hybrid_file_id *id, u8 *digest)
{
	int fd = hybrid_open_found(found);
	enum state state = FAILED;

	if (fd < 0)
		return FAILED;
	if (hybrid_file_id_is_of(id, fd) && !hybrid_content_digest(fd, digest) &&
	    hybrid_file_id_is_of(id, fd))
		state = KNOWN;
	close(fd);
	return state;
}

/* The next file to be read; NULL: there is none. Locked. */
static struct job *take_job(struct hybrid_digests *digests)
{
	struct job *job = digests->queue[0];

	if (!digests->nr_queue || digests->is_deleted)
		return NULL;
	memmove(digests->queue, digests->queue + 1, --digests->nr_queue * sizeof(job));
	job->state = READING;
	return job;
}

static void *work(void *arg)
{
	struct hybrid_digests *digests = arg;
	u8 digest[HYBRID_DIGEST_SIZE];
	enum state state;
	struct job *job;
	bool is_last;

	pthread_mutex_lock(&digests->lock);
	while ((job = take_job(digests)) != NULL) {
		pthread_mutex_unlock(&digests->lock);
		state = read_file(job->fd, &job->id, digest);
		pthread_mutex_lock(&digests->lock);
		job->fd = -1;
		job->state = state;
		memcpy(job->digest, digest, sizeof(digest));
	}
	is_last = !--digests->threads && digests->is_deleted;
	pthread_mutex_unlock(&digests->lock);
	if (is_last)
		free_digests(digests);
	return NULL;
}

/* Locked. */
static void start_thread(struct hybrid_digests *digests)
{
	pthread_t thread;

	if (!digests->nr_queue || digests->threads == MAX_THREADS)
		return;
	digests->threads++;
	if (hybrid_background_start(&thread, work, digests))
		digests->threads--;
	else
		pthread_detach(thread);
}

static void end_load(struct job *job)
{
	struct hybrid_load *load = job->load;

	if (!load || !load->done)
		return;
	job->state = load->error ? FAILED : KNOWN;
	memcpy(job->digest, load->digest, sizeof(job->digest));
	job->load = NULL;
	hybrid_load_forget(load);
}

void hybrid_digests_look(struct hybrid_digests *digests)
{
	unsigned int i, nr = 0;
	struct job *job;

	if (!digests || !digests->nr_unread)
		return;
	hybrid_helpers_read(digests->loader);
	pthread_mutex_lock(&digests->lock);
	for (i = 0; i < digests->nr_unread; i++) {
		job = digests->unread[i];
		end_load(job);
		if (job->state == WAITING || job->state == READING)
			digests->unread[nr++] = job;
		else
			hybrid_file_give(job->user, HYBRID_FILE_UNREAD, 1);
	}
	digests->nr_unread = nr;
	start_thread(digests);
	pthread_mutex_unlock(&digests->lock);
}

static struct job *alloc_job(struct hybrid_digests *digests)
{
	struct job **jobs, *job;

	if (digests->nr == HYBRID_DIGESTS_ALL)
		return NULL;
	if (!(digests->nr & (digests->nr - 1))) {
		jobs = realloc(digests->jobs, max(2 * digests->nr, 1U) * sizeof(*jobs));
		if (!jobs)
			return NULL;
		digests->jobs = jobs;
	}
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	job->fd = -1;
	digests->jobs[digests->nr++] = job;
	return job;
}

/* Takes one of its user's HYBRID_FILE_UNREAD. Returns NULL if there is none left, or no memory. */
static struct job *new_job(struct hybrid_digests *digests, struct hybrid_file_user *user)
{
	struct job *job;

	if (!hybrid_file_take(user, HYBRID_FILE_UNREAD, 1))
		return NULL;
	job = alloc_job(digests);
	if (!job)
		hybrid_file_give(user, HYBRID_FILE_UNREAD, 1);
	return job;
}

/* For a thread, if its user may have so much read. Closes @found, or keeps it. */
static void add_local(struct hybrid_digests *digests, struct job *job, int found)
{
	struct stat st;

	if (fstat(found, &st) || !hybrid_file_take(job->user, HYBRID_FILE_DIGESTS, st.st_size)) {
		hybrid_file_left_out(job->user, HYBRID_FILE_DIGESTS);
		close(found);
		job->state = FAILED;
		return;
	}
	job->fd = found;
	pthread_mutex_lock(&digests->lock);
	digests->queue[digests->nr_queue++] = job;
	pthread_mutex_unlock(&digests->lock);
}

u32 hybrid_digests_add(struct hybrid_digests *digests, const struct hybrid_mapping *mapping)
{
	struct hybrid_file_user *user;
	struct hybrid_load *load;
	struct job *job;
	int found;

	if (!digests || !digests->loader || !mapping->file.ino)
		return 0;
	hybrid_digests_look(digests);
	if (digests->nr_unread == HYBRID_DIGESTS_UNREAD)
		return 0;
	load = hybrid_loader_digest(digests->loader, mapping, &found);
	if (!load && found < 0)
		return 0;
	user = load ? load->user : hybrid_mapping_user(mapping, found);
	job = new_job(digests, user);
	if (!job) {
		if (load)
			hybrid_load_forget(load);
		else
			close(found);
		return 0;
	}
	job->id = mapping->file;
	job->user = user;
	job->load = load;
	digests->unread[digests->nr_unread++] = job;
	if (!load)
		add_local(digests, job, found);
	hybrid_digests_look(digests);
	return digests->nr;
}

void hybrid_digests_wait(struct hybrid_digests *digests, u64 ns)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	u64 end = hybrid_clock_ns(CLOCK_MONOTONIC) + ns;

	while (digests) {
		hybrid_digests_look(digests);
		if (!digests->nr_unread || hybrid_clock_ns(CLOCK_MONOTONIC) >= end)
			break;
		nanosleep(&step, NULL);
	}
}

bool hybrid_digests_get(struct hybrid_digests *digests, u32 number, u8 *digest)
{
	const struct job *job;
	bool is_known;

	if (!digests || !number)
		return false;
	pthread_mutex_lock(&digests->lock);
	job = digests->jobs[number - 1];
	is_known = job->state == KNOWN;
	if (is_known)
		memcpy(digest, job->digest, HYBRID_DIGEST_SIZE);
	pthread_mutex_unlock(&digests->lock);
	return is_known;
}
