// SPDX-License-Identifier: GPL-2.0
/*
 * What the BPF program writes to: an event of its own on each CPU, or in each thread.
 * Its records go to the ring buffer that the samples of that CPU or thread go to.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <perf/threadmap.h>
#include <internal/evlist.h>
#include <internal/mmap.h>
#include <internal/xyarray.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "../../../perf-sys.h"
#include "../../cloexec.h"
#include "../../debug.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../mmap.h"
#include "../records/walk-record.h"
#include "bpf-private.h"

/*
 * On a CPU, or in a thread; its records go to the ring that @map is of. @wakes: each of them wakes
 * perf.
 */
static int open_output(struct hybrid_bpf *bpf, const struct perf_event_attr *like,
		       const struct perf_mmap *map, pid_t tid, u32 index, bool wakes)
{
	const struct bpf_map *outputs = wakes ? bpf->skel->maps.waking : bpf->skel->maps.output;
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period	= 1,
		.wakeup_events	= wakes,
		.sample_type	= (like->sample_type & HYBRID_BPF_TRAILER) | PERF_SAMPLE_RAW,
		.sample_id_all	= 1,
		.use_clockid	= like->use_clockid,
		.clockid	= like->clockid,
	};
	int fd, err = 0;
	u64 id = 0;

	bpf->sample_type = attr.sample_type;
	fd = sys_perf_event_open(&attr, tid, map->cpu.cpu, -1, perf_event_open_cloexec_flag());
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, map->fd) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &id))
		err = -errno;
	if (!err)
		err = bpf_map__update_elem(outputs, &index, sizeof(index), &fd, sizeof(fd),
					   BPF_ANY);
	if (err) {
		close(fd);
		return err;
	}
	bpf->fds[bpf->nr_ids] = fd;
	bpf->ids[bpf->nr_ids++] = id;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const u64 *id_a = a, *id_b = b;

	return *id_a < *id_b ? -1 : *id_a > *id_b;
}

/* A ring of a CPU, or of the thread with that number; one that has exited has none. */
static int open_output_of(struct hybrid_bpf *bpf, const struct perf_event_attr *like,
			  struct evlist *evlist, int i, bool wakes)
{
	const struct perf_mmap *map = &evlist__mmap(evlist)[i].core;
	struct perf_thread_map *threads = evlist__core(evlist)->threads;
	int cpu = map->cpu.cpu;

	if (!bpf->by_thread)
		return cpu < 0 || cpu >= bpf->cpus ? -EINVAL :
		       open_output(bpf, like, map, -1, cpu, wakes);
	if (cpu >= 0 || i >= perf_thread_map__nr(threads))
		return -EINVAL;
	if (!map->base)
		return 0;
	return open_output(bpf, like, map, perf_thread_map__pid(threads, i), i, wakes);
}

static int open_outputs(struct hybrid_bpf *bpf, struct evlist *evlist,
			const struct perf_event_attr *like)
{
	int i, err, nr = evlist__core(evlist)->nr_mmaps;

	bpf->fds = calloc(2 * nr, sizeof(*bpf->fds));
	bpf->ids = calloc(2 * nr, sizeof(*bpf->ids));
	if (!bpf->fds || !bpf->ids)
		return -ENOMEM;
	for (i = 0; i < 2 * nr; i++) {
		err = open_output_of(bpf, like, evlist, i / 2, i % 2);
		if (err)
			return err;
	}
	if (!bpf->nr_ids)
		return -ENOENT;
	qsort(bpf->ids, bpf->nr_ids, sizeof(*bpf->ids), compare_ids);
	bpf->first_id = bpf->ids[0];
	bpf->id_span = bpf->ids[bpf->nr_ids - 1] - bpf->first_id + 1;
	return 0;
}

/* To an event of a thread, whose number the program is told by bpf_get_attach_cookie(). */
static int attach_numbered(struct hybrid_bpf *bpf, int prog, int event, u64 number)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = number);
	int *links = realloc(bpf->links, (bpf->nr_links + 1) * sizeof(*links));
	int fd;

	if (!links)
		return -ENOMEM;
	bpf->links = links;
	fd = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	if (fd < 0)
		return fd;
	bpf->links[bpf->nr_links++] = fd;
	return 0;
}

/* To the event on all its CPUs, and in all its threads. */
static int attach(struct hybrid_bpf *bpf, struct evsel *evsel)
{
	int prog = bpf_program__fd(bpf->skel->progs.hybrid_walk), fd, x, y, err;
	struct xyarray *fds = evsel->core.fd;

	for (x = 0; fds && x < xyarray__max_x(fds); x++) {
		for (y = 0; y < xyarray__max_y(fds); y++) {
			fd = *(int *)xyarray__entry(fds, x, y);
			if (fd < 0)
				continue;
			if (bpf->by_thread)
				err = attach_numbered(bpf, prog, fd, y);
			else
				err = ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
			if (err)
				return err;
		}
	}
	return 0;
}

static bool attach_all(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	bool attached = false;
	struct evsel *evsel;
	int err;

	evlist__for_each_entry(evlist, evsel) {
		if (!hybrid_bpf__is_served(evsel))
			continue;
		/* The program's records have no more than they say. */
		err = -EOPNOTSUPP;
		if (((evsel->core.attr.sample_type ^ bpf->sample_type) & HYBRID_BPF_TRAILER) == 0)
			err = attach(bpf, evsel);
		if (err)
			pr_debug("hybrid: event %s takes no BPF program: %s\n",
				 evsel__name(evsel), strerror(-err));
		else
			attached = true;
	}
	return attached;
}

struct hybrid_bpf *hybrid_bpf__attach(struct evlist *evlist)
{
	const struct perf_event_attr *like = hybrid_bpf__first_served(evlist);
	struct hybrid_bpf *bpf = hybrid_bpf__take();
	bool attached = false;
	int err;

	if (!bpf)
		return NULL;
	if (!like && bpf->off_cpu)
		like = &hybrid_bpf__off_cpu_evsel(evlist)->core.attr;
	if (!like && bpf->traced)
		like = hybrid_bpf__first_traced(evlist);
	err = like ? open_outputs(bpf, evlist, like) : -EINVAL;
	if (err)
		pr_debug("hybrid: samples have stack dumps: no events for BPF's records: %s\n",
			 strerror(-err));
	else
		attached = attach_all(bpf, evlist);
	bpf->off_cpu = !err && bpf->off_cpu && hybrid_bpf__attach_off_cpu(bpf, evlist);
	bpf->traced = !err && bpf->traced && hybrid_bpf__attach_traced(bpf, evlist);
	bpf->walks = attached || bpf->off_cpu;
	if (bpf->walks || bpf->traced)
		return bpf;
	hybrid_bpf__delete(bpf);
	return NULL;
}

bool hybrid_bpf__walks(const struct hybrid_bpf *bpf)
{
	return bpf->walks;
}

u64 hybrid_bpf__sample_type(const struct hybrid_bpf *bpf)
{
	return bpf->sample_type;
}

bool hybrid_bpf__is_id(const struct hybrid_bpf *bpf, u64 id)
{
	if (id - bpf->first_id >= bpf->id_span)
		return false;
	/* The kernel counts them: mostly no other event is between. */
	return bpf->id_span == bpf->nr_ids ||
	       bsearch(&id, bpf->ids, bpf->nr_ids, sizeof(id), compare_ids);
}
