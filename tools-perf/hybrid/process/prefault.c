// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "background.h"
#include "prefault.h"

#define PAGE		4096UL

/* What the largest dump covers; and what may wait, a few samples of each thread. */
#define MAX_PAGES	17
#define MAX_REQUESTS	64

/* Lines of /proc/PID/maps that are looked at: as many mappings as the kernel allows. */
#define MAX_LINES	65536

/* @sp: not 0: only what its mapping has of the pages */
struct request {
	pid_t	pid;
	u64	from;
	u64	to;
	u64	sp;
};

/**
 * struct hybrid_prefault - the thread that reads, and what it is to read
 * @lock: of all that follows
 * @wake: there is a request, or no more will come
 * @requests: a ring of them
 * @first: the oldest of @requests
 * @nr: of @requests
 * @running: there is a thread
 * @stop: its owner is gone: the thread frees it
 */
struct hybrid_prefault {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	struct request	requests[MAX_REQUESTS];
	unsigned int	first;
	unsigned int	nr;
	bool		running;
	bool		stop;
};

struct hybrid_prefault *hybrid_prefault_new(void)
{
	struct hybrid_prefault *touch = calloc(1, sizeof(*touch));

	if (touch) {
		pthread_mutex_init(&touch->lock, NULL);
		pthread_cond_init(&touch->wake, NULL);
	}
	return touch;
}

static void free_touch(struct hybrid_prefault *touch)
{
	pthread_mutex_destroy(&touch->lock);
	pthread_cond_destroy(&touch->wake);
	free(touch);
}

void hybrid_prefault_delete(struct hybrid_prefault *touch)
{
	bool running;

	if (!touch)
		return;
	pthread_mutex_lock(&touch->lock);
	running = touch->running;
	touch->stop = true;
	pthread_cond_signal(&touch->wake);
	pthread_mutex_unlock(&touch->lock);
	if (!running)
		free_touch(touch);
}

/*
 * Takes away what is of another mapping; false where there is none with the stack, or it is of a
 * file: whose file system may let who reads it wait for ever.
 */
static bool clip(struct request *request)
{
	char line[256], mode[8];
	u64 at = request->sp ?: request->from, start, end, inode;
	bool found = false;
	unsigned int i;
	FILE *maps;

	snprintf(line, sizeof(line), "/proc/%d/maps", request->pid);
	maps = fopen(line, "re");
	if (!maps)
		return false;
	/* A long name is read in parts; none of them looks like the start of a line. */
	for (i = 0; i < MAX_LINES && !found && fgets(line, sizeof(line), maps); i++)
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64, &start, &end,
			       mode, &inode) == 4 && at >= start && at < end;
	fclose(maps);
	if (!found || inode || (request->sp && strncmp(mode, "rw", 2)))
		return false;
	request->from = max(request->from, start);
	request->to = min(request->to, end - 1);
	return true;
}

static void read_pages(struct request *request)
{
	char path[64], byte;
	u64 addr;
	int fd;

	if (!clip(request))
		return;
	snprintf(path, sizeof(path), "/proc/%d/mem", request->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* Behind one that is not mapped is another stack, or none. */
	for (addr = request->from; addr <= request->to; addr += PAGE) {
		if (pread(fd, &byte, 1, addr) != 1)
			break;
	}
	close(fd);
}

static void *work(void *arg)
{
	struct hybrid_prefault *touch = arg;
	struct request request;

	pthread_mutex_lock(&touch->lock);
	while (!touch->stop) {
		if (!touch->nr) {
			pthread_cond_wait(&touch->wake, &touch->lock);
			continue;
		}
		request = touch->requests[touch->first];
		touch->first = (touch->first + 1) % MAX_REQUESTS;
		touch->nr--;
		pthread_mutex_unlock(&touch->lock);
		read_pages(&request);
		pthread_mutex_lock(&touch->lock);
	}
	pthread_mutex_unlock(&touch->lock);
	free_touch(touch);
	return NULL;
}

static bool start(struct hybrid_prefault *touch)
{
	pthread_t thread;

	if (hybrid_background_start(&thread, work, touch))
		return false;
	pthread_detach(thread);
	return true;
}

/* The same is asked for by all samples that were taken before it is done. */
static bool waits(const struct hybrid_prefault *touch, const struct request *request)
{
	const struct request *other;
	unsigned int i;

	for (i = 0; i < touch->nr; i++) {
		other = &touch->requests[(touch->first + i) % MAX_REQUESTS];
		if (other->pid == request->pid && other->from == request->from &&
		    other->to == request->to && other->sp == request->sp)
			return true;
	}
	return false;
}

static bool ask(struct hybrid_prefault *touch, const struct request *request)
{
	bool taken;

	pthread_mutex_lock(&touch->lock);
	taken = waits(touch, request);
	if (!taken && touch->nr < MAX_REQUESTS) {
		touch->running = touch->running || start(touch);
		if (touch->running) {
			touch->requests[(touch->first + touch->nr++) % MAX_REQUESTS] = *request;
			pthread_cond_signal(&touch->wake);
			taken = true;
		}
	}
	pthread_mutex_unlock(&touch->lock);
	return taken;
}

bool hybrid_prefault_pages(struct hybrid_prefault *touch, pid_t pid, u64 from, u64 to)
{
	struct request request = { .pid = pid, .from = from & -PAGE, .to = to & -PAGE };

	if (!touch || pid <= 0 || from > to || request.to - request.from >= MAX_PAGES * PAGE)
		return false;
	return ask(touch, &request);
}

bool hybrid_prefault_stack(struct hybrid_prefault *touch, pid_t pid, u64 sp)
{
	const u64 reach = (MAX_PAGES - 1) * PAGE;
	struct request request = { pid, (sp & -PAGE) - reach, (sp & -PAGE) + reach, sp };

	if (!touch || pid <= 0 || sp < reach || sp > -2 * reach)
		return false;
	return ask(touch, &request);
}
