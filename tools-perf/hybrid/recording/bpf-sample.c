// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF program: samples that it has walked or copied, chains of tasks that go to
 * sleep, functions that it has read, and what it says of a sample that follows.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <linux/perf_unwind_rules.h>
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../records/walk-record.h"
#include "../walkers/bpf.h"
#include "recording.h"

int hybrid_deliver_bpf(struct hybrid_record *hr, struct hybrid_ring *ring,
		       const struct perf_event_header *header)
{
	struct hybrid_walked walked;
	struct hybrid_event *event;
	struct evsel *evsel;
	bool is_asleep;

	if (hybrid_walked_parse(hybrid_bpf__sample_type(hr->walker.bpf), header, &walked)) {
		hybrid_stats_read(&hr->stats, header->size);
		hr->stats.bad++;
		hr->stats.shed++;
		return 0;
	}
	if (walked.text) {
		hybrid_take_text(hr, &walked);
		return 0;
	}
	is_asleep = !walked.head.id;
	if (is_asleep && !hr->off_cpu.event)
		return 0;
	if (is_asleep)
		walked.head.id = hr->off_cpu.id;
	if (walked.head.kind == HYBRID_WALK_RECORD_FUNCTIONS) {
		hybrid_keep_functions(ring, &walked);
		return 0;
	}
	if (is_asleep)
		return hybrid_off_cpu_chain(hr, ring, &walked);
	ring->note_id = walked.head.id;
	ring->note = walked.head.info;
	if (!hybrid_walked_is_sample(&walked))
		return 0;
	evsel = evlist__id2evsel(hr->evlist, walked.head.id);
	event = evsel ? &hr->events[evsel->core.idx] : NULL;
	if (!event || !event->hybrid)
		return 0;
	return hybrid_deliver_walked(hr, ring, event, &walked, header->size);
}

void hybrid_find_thread_of_bpf(struct hybrid_record *hr, const struct perf_event_header *header)
{
	struct hybrid_walked walked;

	/* Most records have no dump, and are shorter than one. */
	if (header->size > offsetof(struct hybrid_walk_dump, stack) &&
	    !hybrid_walked_parse(hybrid_bpf__sample_type(hr->walker.bpf), header, &walked) &&
	    walked.dump)
		hybrid_find_stack(hr, (u32)walked.ids, walked.ids >> 32,
				  hybrid_walked_sp(&walked));
}
