// SPDX-License-Identifier: GPL-2.0
/*
 * Digests of files. A file system may not answer: threads open and read the files, and others go
 * on while one of them waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <sys/stat.h>
#include "../rules/clock.h"
#include "background.h"
#include "file-digest.h"

/* Threads that read, and threads in all: the others wait for a file system. */
#define MAX_READING	2
#define MAX_THREADS	8

/* A file that takes longer than this many ns may be on a file system that does not answer. */
#define STUCK_NS	500000000ULL

/* Between two looks at what is done. */
#define STEP_NS		1000000

enum state { WAITING, READING, KNOWN, FAILED };

struct job {
	int			fd;
	enum state		state;
	u64			began;
	struct hybrid_file_id	id;
	u8			digest[HYBRID_DIGEST_SIZE];
};

/**
 * struct hybrid_digests - all files of a recording
 * @lock: of all of it
 * @jobs: each on its own: a thread has a pointer to the one that it reads
 * @nr: of @jobs
 * @next: those before it are not WAITING
 * @nr_ended: KNOWN or FAILED
 * @threads: that run; the last one frees all if @is_deleted
 * @reading: what they read
 * @is_deleted: the owner has none any more
 * @left: bytes that may still be read
 */
struct hybrid_digests {
	pthread_mutex_t	  lock;
	struct job	**jobs;
	u32		  nr;
	u32		  next;
	u32		  nr_ended;
	unsigned int	  threads;
	struct job	 *reading[MAX_THREADS];
	bool		  is_deleted;
	u64		  left;
};

struct hybrid_digests *hybrid_digests_new(void)
{
	struct hybrid_digests *digests = calloc(1, sizeof(*digests));

	if (!digests)
		return NULL;
	pthread_mutex_init(&digests->lock, NULL);
	digests->left = HYBRID_DIGESTS_BYTES;
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
	bool is_last;

	if (!digests)
		return;
	pthread_mutex_lock(&digests->lock);
	digests->is_deleted = true;
	is_last = !digests->threads;
	pthread_mutex_unlock(&digests->lock);
	if (is_last)
		free_digests(digests);
}

/* Only what fstat() has shown to be a regular file is opened for reading. */
static int open_file(const struct job *job)
{
	char path[64];
	struct stat st;

	if (fstat(job->fd, &st) || !S_ISREG(st.st_mode) ||
	    !hybrid_file_id_is_of(&job->id, job->fd))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", job->fd);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool take_bytes(struct hybrid_digests *digests, int fd)
{
	struct stat st;
	bool may;

	if (fstat(fd, &st))
		return false;
	pthread_mutex_lock(&digests->lock);
	may = (u64)st.st_size <= digests->left;
	if (may)
		digests->left -= st.st_size;
	pthread_mutex_unlock(&digests->lock);
	return may;
}

static enum state read_job(struct hybrid_digests *digests, struct job *job)
{
	int fd = open_file(job), err;

	if (fd < 0)
		return FAILED;
	err = take_bytes(digests, fd) ? hybrid_content_digest(fd, job->digest) : -EFBIG;
	if (!err && !hybrid_file_id_is_of(&job->id, fd))
		err = -ESTALE;
	close(fd);
	return err ? FAILED : KNOWN;
}

/* The next file to be read; NULL: there is none. Locked. */
static struct job *take_job(struct hybrid_digests *digests)
{
	struct job *job;

	if (digests->next == digests->nr || digests->is_deleted)
		return NULL;
	job = digests->jobs[digests->next++];
	job->state = READING;
	job->began = hybrid_clock_ns(CLOCK_MONOTONIC);
	return job;
}

static void *work(void *arg)
{
	struct hybrid_digests *digests = arg;
	unsigned int slot = 0;
	enum state state;
	struct job *job;
	bool is_last;

	pthread_mutex_lock(&digests->lock);
	while (digests->reading[slot])
		slot++;
	while ((job = take_job(digests)) != NULL) {
		digests->reading[slot] = job;
		pthread_mutex_unlock(&digests->lock);
		state = read_job(digests, job);
		pthread_mutex_lock(&digests->lock);
		job->state = state;
		digests->nr_ended++;
		close(job->fd);
		job->fd = -1;
	}
	digests->reading[slot] = NULL;
	is_last = !--digests->threads && digests->is_deleted;
	pthread_mutex_unlock(&digests->lock);
	if (is_last)
		free_digests(digests);
	return NULL;
}

/* Threads that have not read the same file for long. Locked. */
static unsigned int nr_reading(const struct hybrid_digests *digests)
{
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC);
	unsigned int nr = digests->threads, i;

	for (i = 0; i < MAX_THREADS; i++) {
		if (digests->reading[i] && now - digests->reading[i]->began > STUCK_NS)
			nr--;
	}
	return nr;
}

/* Locked. */
static void start_thread(struct hybrid_digests *digests)
{
	pthread_t thread;

	if (digests->next == digests->nr || digests->threads == MAX_THREADS ||
	    nr_reading(digests) >= MAX_READING)
		return;
	digests->threads++;
	if (hybrid_background_start(&thread, work, digests))
		digests->threads--;
	else
		pthread_detach(thread);
}

/* Locked. */
static struct job *new_job(struct hybrid_digests *digests)
{
	struct job **jobs, *job;

	if (digests->nr - digests->nr_ended == HYBRID_DIGESTS_WAITING ||
	    digests->nr == HYBRID_DIGESTS_ALL)
		return NULL;
	if (!(digests->nr & (digests->nr - 1))) {
		jobs = realloc(digests->jobs, max(2 * digests->nr, 1U) * sizeof(*jobs));
		if (!jobs)
			return NULL;
		digests->jobs = jobs;
	}
	job = calloc(1, sizeof(*job));
	if (job)
		digests->jobs[digests->nr++] = job;
	return job;
}

u32 hybrid_digests_add(struct hybrid_digests *digests, int fd, const struct hybrid_file_id *id)
{
	struct job *job = NULL;
	u32 number = 0;

	if (digests && fd >= 0 && id->ino) {
		pthread_mutex_lock(&digests->lock);
		job = new_job(digests);
		if (job) {
			job->fd = fd;
			job->id = *id;
			number = digests->nr;
			start_thread(digests);
		}
		pthread_mutex_unlock(&digests->lock);
	}
	if (!job && fd >= 0)
		close(fd);
	return number;
}

void hybrid_digests_wait(struct hybrid_digests *digests, u64 ns)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	u64 end = hybrid_clock_ns(CLOCK_MONOTONIC) + ns;
	bool is_done = !digests;

	while (!is_done) {
		pthread_mutex_lock(&digests->lock);
		is_done = digests->nr_ended == digests->nr;
		if (!is_done)
			start_thread(digests);
		pthread_mutex_unlock(&digests->lock);
		if (hybrid_clock_ns(CLOCK_MONOTONIC) >= end)
			break;
		if (!is_done)
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
