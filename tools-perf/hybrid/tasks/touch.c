// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "background.h"
#include "touch.h"

#define PAGE		4096UL

/* What the largest dump covers; and what may wait, a few samples of each thread. */
#define MAX_PAGES	17
#define MAX_REQUESTS	64

struct request {
	pid_t	pid;
	u64	from;
	u64	to;
};

/**
 * struct hybrid_touch - the thread that reads, and what it is to read
 * @lock: of all that follows
 * @wake: there is a request, or no more will come
 * @requests: a ring of them
 * @first: the oldest of @requests
 * @nr: of @requests
 * @running: there is a thread
 * @stop: its owner is gone: the thread frees it
 */
struct hybrid_touch {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	struct request	requests[MAX_REQUESTS];
	unsigned int	first;
	unsigned int	nr;
	bool		running;
	bool		stop;
};

struct hybrid_touch *hybrid_touch_new(void)
{
	struct hybrid_touch *touch = calloc(1, sizeof(*touch));

	if (touch) {
		pthread_mutex_init(&touch->lock, NULL);
		pthread_cond_init(&touch->wake, NULL);
	}
	return touch;
}

static void free_touch(struct hybrid_touch *touch)
{
	pthread_mutex_destroy(&touch->lock);
	pthread_cond_destroy(&touch->wake);
	free(touch);
}

void hybrid_touch_delete(struct hybrid_touch *touch)
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

static void read_pages(const struct request *request)
{
	char path[64], byte;
	u64 addr;
	int fd;

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
	struct hybrid_touch *touch = arg;
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

static bool start(struct hybrid_touch *touch)
{
	pthread_t thread;

	if (hybrid_background_start(&thread, work, touch))
		return false;
	pthread_detach(thread);
	return true;
}

/* The same is asked for by all samples that were taken before it is done. */
static bool waits(const struct hybrid_touch *touch, const struct request *request)
{
	const struct request *other;
	unsigned int i;

	for (i = 0; i < touch->nr; i++) {
		other = &touch->requests[(touch->first + i) % MAX_REQUESTS];
		if (other->pid == request->pid && other->from == request->from &&
		    other->to == request->to)
			return true;
	}
	return false;
}

bool hybrid_touch_pages(struct hybrid_touch *touch, pid_t pid, u64 from, u64 to)
{
	struct request request = { pid, from & -PAGE, to & -PAGE };
	bool taken;

	if (!touch || pid <= 0 || from > to || request.to - request.from >= MAX_PAGES * PAGE)
		return false;
	pthread_mutex_lock(&touch->lock);
	taken = waits(touch, &request);
	if (!taken && touch->nr < MAX_REQUESTS) {
		touch->running = touch->running || start(touch);
		if (touch->running) {
			touch->requests[(touch->first + touch->nr++) % MAX_REQUESTS] = request;
			pthread_cond_signal(&touch->wake);
			taken = true;
		}
	}
	pthread_mutex_unlock(&touch->lock);
	return taken;
}
