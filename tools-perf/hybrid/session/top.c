// SPDX-License-Identifier: GPL-2.0
/*
 * perf top and trace: what BPF has written becomes samples as they come out of the rings, which
 * perf then orders and resolves like all others.
 */
#include <string.h>
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../glue/evsel.h"
#include "../records/kept-functions.h"
#include "../records/sample-layout.h"
#include "../records/walk-record.h"
#include "../walkers/bpf.h"
#include "../walkers/walker.h"
#include "resolve.h"
#include "top.h"

static struct hybrid_walker live = { .store = -1 };

void hybrid_top__prepare(struct evlist *evlist)
{
	if (evlist__has_hybrid_callchain(evlist))
		hybrid_walker__prepare(evlist);
}

void hybrid_top__attach(struct evlist *evlist)
{
	if (!evlist__has_hybrid_callchain(evlist))
		return;
	if (hybrid_walker__attach(&live, evlist))
		hybrid__set_walker(&live);
}

/* Of the first event that BPF walks for. What it lost is counted as that one's. */
static u64 first_id(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			return evsel->core.id[0];
	}
	return 0;
}

static bool asks_for_build_ids(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.attr.build_id)
			return true;
	}
	return false;
}

/*
 * Some kernels (6.18.44) say so of all records of a mapping if one recording has asked for its
 * build-id: those of others have device and inode nevertheless.
 */
static bool has_no_build_id(struct evlist *evlist, const union perf_event *event)
{
	return event->header.type == PERF_RECORD_MMAP2 &&
	       event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID && !asks_for_build_ids(evlist);
}

union perf_event *hybrid_top__event(struct evlist *evlist, union perf_event *event)
{
	static u8 made[HYBRID_MAX_RECORD] __aligned(8);
	struct hybrid_walked walked;
	struct evsel *evsel;

	if (live.bpf && event->header.type == PERF_RECORD_LOST)
		return hybrid_bpf__rename_lost(live.bpf, first_id(evlist), event, made);
	if (!hybrid_bpf__is_record(live.bpf, &event->header)) {
		hybrid_kept_functions__read_other();
		if (!has_no_build_id(evlist, event))
			return event;
		/* A ring that is written over is not perf's to write to. */
		event = memcpy(made, event, event->header.size);
		event->header.misc &= ~PERF_RECORD_MISC_MMAP_BUILD_ID;
		return event;
	}
	if (hybrid_walked_parse(hybrid_bpf__sample_type(live.bpf), &event->header, &walked))
		return NULL;
	hybrid_kept_functions__read(&walked);
	if (!hybrid_walked_is_sample(&walked))
		return NULL;
	evsel = evlist__id2evsel(evlist, walked.head.id);
	if (!evsel)
		return NULL;
	hybrid_walked_end_at_hole(&walked);
	hybrid_walked_sample(&walked, evsel->core.attr.sample_type,
			     evsel->core.attr.sample_regs_user, (void *)made);
	return (union perf_event *)made;
}

void hybrid_top__exit(void)
{
	hybrid__set_walker(NULL);
	hybrid_walker__print(&live);
	hybrid_walker__exit(&live);
	hybrid_kept_functions__exit();
}
