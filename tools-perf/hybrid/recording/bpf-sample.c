// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF program become the samples that the kernel would have written:
 * with a chain by loaded rules, and without registers and dump. What reads samples sees
 * no difference.
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

/* What the record that is made of BPF's does not have. */
static void set_current(struct hybrid_current *current, const struct hybrid_walked *walked)
{
	current->holes = walked->holes;
	current->room_ends = walked->room_ends;
	current->space = walked->space;
	current->code = walked->code;
	current->functions = walked->functions;
	current->nr_functions = walked->nr_functions;
}

static void clear_current(struct hybrid_current *current)
{
	current->holes = 0;
	current->room_ends = false;
	current->space = 0;
	current->code.size = 0;
	current->nr_functions = 0;
}

/* Of a task that went to sleep: in the kernel. */
static int deliver_asleep(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_walked *walked)
{
	struct perf_event_header *made = (void *)hr->current.made;
	u64 word = walked->head.addr;
	int err;

	walked->head.misc = PERF_RECORD_MISC_KERNEL;
	hybrid_walked_sample(walked, hr->off_cpu.event->layout.attr.sample_type,
			     HYBRID_BPF_REGS, made);
	set_current(&hr->current, walked);
	err = hybrid_off_cpu_chain(hr, ring, made, word);
	clear_current(&hr->current);
	return err;
}

int hybrid_deliver_bpf(struct hybrid_record *hr, struct hybrid_ring *ring,
		       const struct perf_event_header *header)
{
	struct perf_event_header *made = (void *)hr->current.made;
	const struct perf_event_attr *attr;
	struct hybrid_walked walked;
	struct hybrid_event *event;
	struct evsel *evsel;
	bool is_asleep;
	int err;

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
	if (walked.interpreted) {
		hybrid_keep_functions(ring, &walked);
		if (!hybrid_walked_is_sample(&walked))
			return 0;
		walked.nr_functions = 0;
	}
	if (is_asleep)
		return deliver_asleep(hr, ring, &walked);
	ring->note_id = walked.head.id;
	ring->note = walked.head.info;
	if (!hybrid_walked_is_sample(&walked))
		return 0;
	evsel = evlist__id2evsel(hr->evlist, walked.head.id);
	event = evsel ? &hr->events[evsel->core.idx] : NULL;
	if (!event || !event->hybrid)
		return 0;
	if (!walked.nr_user && !walked.dump)
		hr->stats.shed_dumps++;
	attr = &event->layout.attr;
	hybrid_walked_sample(&walked, attr->sample_type, attr->sample_regs_user, made);
	set_current(&hr->current, &walked);
	hr->current.code_hash = walked.code_hash;
	err = hybrid_deliver_sample(hr, ring, event, made, header->size);
	clear_current(&hr->current);
	hr->current.code_hash = 0;
	return err;
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
