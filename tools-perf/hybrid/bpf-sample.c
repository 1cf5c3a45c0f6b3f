// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF program become the samples that the kernel would have written:
 * with a chain by taught rules, and without registers and dump. What reads samples sees
 * no difference.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_hybrid.h>
#include "../debug.h"
#include "../event.h"
#include "../evlist.h"
#include "../evsel.h"
#include "bpf.h"
#include "record/walked.h"
#include "recorder.h"

static u64 word_at(const void *from)
{
	u64 word;

	memcpy(&word, from, sizeof(word));
	return word;
}

bool hybrid_bpf__is_record(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	return bpf && header->type == PERF_RECORD_SAMPLE &&
	       header->size >= sizeof(*header) + sizeof(u64) &&
	       hybrid_bpf__is_id(bpf, word_at(header + 1));
}

/* Of a task that went to sleep: in the kernel. */
static int deliver_asleep(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_walked *walked)
{
	struct perf_event_header *made = (void *)hr->made;
	u64 word = walked->head.addr;
	int err;

	if (!hr->off_cpu.event)
		return 0;
	walked->head.id = hr->off_cpu.id;
	walked->head.misc = PERF_RECORD_MISC_KERNEL;
	hybrid_walked_sample(walked, hr->off_cpu.event->layout.attr.sample_type,
			     HYBRID_BPF_REGS, made);
	hr->holes = walked->holes;
	err = hybrid_off_cpu_chain(hr, ring, made, word);
	hr->holes = 0;
	return err;
}

int hybrid_bpf__deliver(struct hybrid_record *hr, struct hybrid_ring *ring,
			const struct perf_event_header *header)
{
	struct perf_event_header *made = (void *)hr->made;
	const struct perf_event_attr *attr;
	struct hybrid_walked walked;
	struct evsel *evsel;
	int err;

	if (hybrid_walked_parse(hybrid_bpf__sample_type(hr->teaching.bpf), header, &walked)) {
		hybrid_stats_read(&hr->stats, header->size);
		hr->stats.bad++;
		hr->stats.shed++;
		return 0;
	}
	if (!walked.head.id)
		return deliver_asleep(hr, ring, &walked);
	ring->note_id = walked.head.id;
	ring->note = walked.head.info;
	if (!hybrid_walked_is_sample(&walked))
		return 0;
	evsel = evlist__id2evsel(hr->evlist, walked.head.id);
	if (!evsel || !hr->events[evsel->core.idx].hybrid)
		return 0;
	if (!walked.nr_user && !walked.dump)
		hr->stats.shed_dumps++;
	attr = &hr->events[evsel->core.idx].layout.attr;
	hybrid_walked_sample(&walked, attr->sample_type, attr->sample_regs_user, made);
	hr->holes = walked.holes;
	err = hybrid_deliver_sample(hr, ring, made, header->size);
	hr->holes = 0;
	return err;
}

void hybrid_bpf__find_thread(struct hybrid_record *hr, const struct perf_event_header *header)
{
	struct hybrid_walked walked;

	/* Most records have no dump, and are shorter than one. */
	if (header->size > offsetof(struct hybrid_walk_dump, stack) &&
	    !hybrid_walked_parse(hybrid_bpf__sample_type(hr->teaching.bpf), header, &walked) &&
	    walked.dump)
		hybrid_find_stack(hr, (u32)walked.ids, walked.ids >> 32,
				  hybrid_walked_sp(&walked));
}

u64 hybrid_bpf__time(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	struct hybrid_walked walked;

	return hybrid_walked_parse(hybrid_bpf__sample_type(bpf), header, &walked) ?
		0 : walked.head.time;
}

union perf_event *hybrid_bpf__rename_lost(const struct hybrid_bpf *bpf, u64 id,
					  union perf_event *event, void *room)
{
	u16 size = event->header.size;
	union perf_event *renamed = room;

	if (!bpf || size < sizeof(event->lost) + sizeof(u64) ||
	    !hybrid_bpf__is_id(bpf, word_at((const u8 *)event + size - sizeof(u64))))
		return event;
	memcpy(renamed, event, size);
	renamed->lost.id = id;
	memcpy((u8 *)renamed + size - sizeof(u64), &id, sizeof(id));
	return renamed;
}

void hybrid_bpf__print(const struct hybrid_walk_counts *walks)
{
	pr_debug("hybrid: BPF walked %" PRIu64 " samples, left %" PRIu64 " to the kernel, ",
		 (u64)walks->whole, (u64)walks->dumped);
	pr_debug("had no room for the dumps of %" PRIu64 " and lost %" PRIu64 "\n",
		 (u64)walks->shed, (u64)walks->full);
}
