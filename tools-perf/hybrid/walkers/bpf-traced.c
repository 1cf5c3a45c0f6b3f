// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of interpreters in samples that the kernel writes: hybrid_traced() in
 * bpf_skel/traced.bpf.h.
 */
#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <internal/evlist.h>
#include <internal/xyarray.h>
#include <perf/cpumap.h>
#include <perf/threadmap.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "../../debug.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../pmu.h"
#include "../glue/evsel.h"
#include "bpf-private.h"

/* Others may come while the kernel puts the user's registers in their place. */
static bool is_traced_type(const struct evsel *evsel)
{
	const char *pmu = evsel->pmu ? evsel->pmu->name : NULL;

	switch (evsel->core.attr.type) {
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
	case PERF_TYPE_SOFTWARE:
		return true;
	default:
		return pmu && (!strcmp(pmu, "uprobe") || !strcmp(pmu, "kprobe"));
	}
}

/*
 * An event whose samples the kernel writes, with a stack dump, while the sampled task runs:
 * tracepoints, probes, breakpoints and events of the kernel's software.
 */
static bool is_traced(struct evsel *evsel)
{
	const u64 needed = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	const struct perf_event_attr *attr = &evsel->core.attr;

	return evsel__has_hybrid_callchain(evsel) && is_traced_type(evsel) &&
	       !hybrid_bpf__is_served(evsel) && !evsel__is_offcpu_event(evsel) &&
	       (attr->sample_type & needed) == needed && attr->sample_id_all &&
	       !attr->write_backward;
}

const struct perf_event_attr *hybrid_bpf__first_traced(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (is_traced(evsel))
			return &evsel->core.attr;
	}
	return NULL;
}

/* Of all events on all their CPUs, and in all their threads, at most. */
static u32 nr_ids(struct evlist *evlist)
{
	const struct perf_evlist *core = evlist__core(evlist);
	u32 threads = max(perf_thread_map__nr(core->threads), 1);

	return evlist__nr_entries(evlist) * perf_cpu_map__nr(core->all_cpus) * threads;
}

int hybrid_bpf__prepare_traced(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	struct hybrid_walk_bpf *skel = bpf->skel;
	int err;

	if (bpf->traced) {
		bpf_map__set_max_entries(skel->maps.traced_states, bpf->cpus);
		return bpf_map__set_max_entries(skel->maps.traced_events, nr_ids(evlist));
	}
	/* What is not loaded takes no memory, and must not be refused by the kernel. */
	err = bpf_program__set_autoload(skel->progs.hybrid_traced, false);
	err = err ?: bpf_map__set_autocreate(skel->maps.traced_states, false);
	return err ?: bpf_map__set_autocreate(skel->maps.traced_events, false);
}

/* The event's numbers, one for each CPU and thread. A thread that has exited has none. */
static int put_ids(struct hybrid_bpf *bpf, struct evsel *evsel)
{
	const struct bpf_map *events = bpf->skel->maps.traced_events;
	struct xyarray *ids = evsel->core.sample_id;
	const struct perf_sample_id *id;
	int x, y, err = 0;
	u32 ring;

	for (x = 0; ids && x < xyarray__max_x(ids); x++) {
		for (y = 0; y < xyarray__max_y(ids) && !err; y++) {
			id = (const void *)xyarray__entry(ids, x, y);
			ring = id->idx;
			if (id->id)
				err = bpf_map__update_elem(events, &id->id, sizeof(id->id), &ring,
							   sizeof(ring), BPF_ANY);
		}
	}
	return err;
}

bool hybrid_bpf__attach_traced(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	struct hybrid_walk_bpf *skel = bpf->skel;
	struct evsel *evsel;
	int err = 0;

	evlist__for_each_entry(evlist, evsel) {
		if (!err && is_traced(evsel))
			err = put_ids(bpf, evsel);
	}
	if (!err) {
		skel->links.hybrid_traced = bpf_program__attach(skel->progs.hybrid_traced);
		err = skel->links.hybrid_traced ? 0 : -errno;
	}
	if (err)
		pr_debug("hybrid: samples with dumps have no functions: %s\n",
			 strerror(-err));
	return !err;
}
