// SPDX-License-Identifier: GPL-2.0
/*
 * perf top: what BPF has written becomes samples as they come out of the rings, which
 * perf top then orders and resolves like all others.
 */
#include "../event.h"
#include "../evlist.h"
#include "../evsel.h"
#include "bpf.h"
#include "live.h"
#include "record.h"
#include "resolve.h"
#include "record/layout.h"
#include "record/walked.h"
#include "teach.h"

static struct hybrid_teaching live = { .store = -1 };

void hybrid_live__prepare(struct evlist *evlist)
{
	if (evlist__has_hybrid_callchain(evlist))
		hybrid_record__ask_kernel(evlist);
}

void hybrid_live__attach(struct evlist *evlist)
{
	if (!evlist__has_hybrid_callchain(evlist))
		return;
	hybrid_teaching__attach(&live, evlist);
	if (live.bpf || live.store >= 0)
		hybrid__teach(&live);
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

union perf_event *hybrid_live__event(struct evlist *evlist, union perf_event *event)
{
	static u8 made[HYBRID_MAX_RECORD] __aligned(8);
	struct hybrid_walked walked;
	struct evsel *evsel;

	if (live.bpf && event->header.type == PERF_RECORD_LOST)
		return hybrid_bpf__rename_lost(live.bpf, first_id(evlist), event, made);
	if (!hybrid_bpf__is_record(live.bpf, &event->header))
		return event;
	if (hybrid_walked_parse(hybrid_bpf__sample_type(live.bpf), &event->header, &walked) ||
	    !hybrid_walked_is_sample(&walked))
		return NULL;
	evsel = evlist__id2evsel(evlist, walked.head.id);
	if (!evsel)
		return NULL;
	hybrid_walked_end_at_hole(&walked);
	hybrid_walked_sample(&walked, evsel->core.attr.sample_type,
			     evsel->core.attr.sample_regs_user, (void *)made);
	return (union perf_event *)made;
}

void hybrid_live__exit(void)
{
	struct hybrid_walk_counts walks;

	hybrid__teach(NULL);
	if (live.bpf) {
		hybrid_bpf__stats(live.bpf, NULL, &walks);
		hybrid_bpf__print(&walks);
	}
	hybrid_teaching__exit(&live);
}
