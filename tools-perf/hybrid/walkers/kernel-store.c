// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/perf_unwind_rules, see include/uapi/linux/perf_unwind_rules.h.
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
#include "../glue/evsel.h"
#include "kernel-store.h"

#define DEVICE	"/dev/perf_unwind_rules"

static int store_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

/* In parts of as many rows as the kernel takes: each replaces what is from its start on. */
static int store_load(void *store, const struct perf_unwind_load *load,
		      const struct hybrid_pinned_file *file __maybe_unused)
{
	const struct perf_unwind_row *rows = (void *)(uintptr_t)load->rows;
	struct perf_unwind_load part = *load;
	u32 first = 0, last;
	int err;

	do {
		last = min(load->nr_rows, first + PERF_UNWIND_MAX_ROWS);
		part.nr_rows = last - first;
		part.rows = (uintptr_t)(rows + first);
		part.start = first ? rows[first].offset : load->start;
		part.end = last < load->nr_rows ? rows[last].offset : load->end;
		err = store_ioctl(*(int *)store, PERF_UNWIND_LOAD, &part);
		first = last;
	} while (!err && first < load->nr_rows);
	return err;
}

static int store_forget(void *store, const struct perf_unwind_unload *forget)
{
	return store_ioctl(*(int *)store, PERF_UNWIND_UNLOAD, (void *)forget);
}

const struct hybrid_store_ops hybrid_store_ops = {
	.load	= store_load,
	.forget	= store_forget,
};

int hybrid_store__stats(int fd, struct perf_unwind_stats *stats)
{
	stats->size = sizeof(*stats);
	return store_ioctl(fd, PERF_UNWIND_STATS, stats);
}

/* To the event on all its CPUs, or in all its threads. */
static int attach(struct evsel *evsel, int store)
{
	struct perf_unwind_attach event = { .size = sizeof(event) };
	struct xyarray *fds = evsel->core.fd;
	int x, y, err;

	for (x = 0; fds && x < xyarray__max_x(fds); x++) {
		for (y = 0; y < xyarray__max_y(fds); y++) {
			event.fd = *(int *)xyarray__entry(fds, x, y);
			err = event.fd < 0 ? 0 : store_ioctl(store, PERF_UNWIND_ATTACH, &event);
			if (err)
				return err;
		}
	}
	return 0;
}

bool hybrid_store__is_there(void)
{
	return !access(DEVICE, F_OK);
}

void hybrid_store__set_attr(struct evlist *evlist, bool has_store)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			evsel->core.attr.unwind_rules = has_store;
	}
}

int hybrid_store__open(struct evlist *evlist)
{
	struct evsel *evsel;
	int fd, err;

	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		pr_debug("hybrid: no rules go to the kernel: %s: %s\n", DEVICE,
			 strerror(errno));
		return -1;
	}
	evlist__for_each_entry(evlist, evsel) {
		if (!evsel__has_hybrid_callchain(evsel))
			continue;
		err = attach(evsel, fd);
		if (!err)
			continue;
		/* Events that have it already go on with their dumps: it is empty. */
		pr_debug("hybrid: no rules go to the kernel: event %s takes no store: %s\n",
			 evsel__name(evsel), strerror(-err));
		close(fd);
		return -1;
	}
	return fd;
}
