// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/perf_hybrid, see include/uapi/linux/perf_hybrid.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <internal/xyarray.h>
#include <linux/perf_event.h>
#include "../../debug.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "store.h"

#define DEVICE	"/dev/perf_hybrid"

static int store_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

static int store_teach(void *store, const struct perf_hybrid_teach *teach)
{
	return store_ioctl(*(int *)store, PERF_HYBRID_TEACH, (void *)teach);
}

static int store_forget(void *store, const struct perf_hybrid_forget *forget)
{
	return store_ioctl(*(int *)store, PERF_HYBRID_FORGET, (void *)forget);
}

const struct hybrid_store_ops hybrid_store_ops = {
	.teach	= store_teach,
	.forget	= store_forget,
};

int hybrid_store__stats(int fd, struct perf_hybrid_stats *stats)
{
	return store_ioctl(fd, PERF_HYBRID_STATS, stats);
}

/* To the event on all its CPUs, or in all its threads. */
static int attach(struct evsel *evsel, int store)
{
	struct xyarray *fds = evsel->core.fd;
	int x, y, fd;

	for (x = 0; fds && x < xyarray__max_x(fds); x++) {
		for (y = 0; y < xyarray__max_y(fds); y++) {
			fd = *(int *)xyarray__entry(fds, x, y);
			if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_HYBRID, store))
				return -errno;
		}
	}
	return 0;
}

static bool has_events(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.attr.hybrid_callchain)
			return true;
	}
	return false;
}

int hybrid_store__open(struct evlist *evlist)
{
	struct evsel *evsel;
	int fd, err;

	if (!has_events(evlist))
		return -1;
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		pr_debug("hybrid: the kernel is taught nothing: %s: %s\n", DEVICE,
			 strerror(errno));
		return -1;
	}
	evlist__for_each_entry(evlist, evsel) {
		if (!evsel->core.attr.hybrid_callchain)
			continue;
		err = attach(evsel, fd);
		if (!err)
			continue;
		/* Events that have it already dump where it knows nothing. */
		pr_debug("hybrid: the kernel is taught nothing: event %s takes no store: %s\n",
			 evsel__name(evsel), strerror(-err));
		close(fd);
		return -1;
	}
	return fd;
}
