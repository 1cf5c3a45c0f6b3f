// SPDX-License-Identifier: GPL-2.0
/*
 * What the rings tell of a sample: its own record, of the kernel or of BPF; and what BPF has said
 * before of a sample that it left to the kernel, or of what an interpreter runs in it.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../event.h"
#include "../records/walk-record.h"
#include "recording.h"

/* What both kinds of records tell. */
static void begin(struct hybrid_record *hr, struct hybrid_event *event,
		  const struct hybrid_sample_parts *parts, struct hybrid_sample *sample)
{
	*sample = (struct hybrid_sample) {
		.pid		= parts->pid,
		.tid		= parts->tid,
		.ip		= parts->ip,
		.cpumode	= parts->event->misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.at_probe	= event->at_probe,
		.regs_abi	= parts->regs_abi,
		.regs_mask	= event->layout.attr.sample_regs_user,
		.regs		= parts->regs,
		.checks_calls	= hybrid_walker__checks_calls(&hr->walker),
		.precise	= &event->precise,
		.max_frames	= event->max_stack,
		.waits		= hr->pass.draining,
		.chain		= hr->current.chain,
		.max		= hybrid_layout_room(&event->layout, parts),
	};
}

void hybrid_take_parts(struct hybrid_record *hr, struct hybrid_event *event,
		       const struct hybrid_sample_parts *parts, struct hybrid_sample *sample)
{
	begin(hr, event, parts, sample);
	sample->stack = parts->stack;
	sample->stack_size = parts->stack_size;
	sample->stack_room = parts->stack_room;
	hybrid_kernel_chain_parse(parts->chain, parts->nr_chain, &sample->kernel);
	if (!hybrid_walker__is_attached(&hr->walker)) {
		sample->kernel.is_walked = false;
		sample->kernel.info = 0;
	}
}

void hybrid_take_walked(struct hybrid_record *hr, struct hybrid_event *event,
			const struct hybrid_walked *walked, struct hybrid_sample_parts *parts,
			struct hybrid_sample *sample)
{
	const struct perf_event_attr *attr = &event->layout.attr;

	hybrid_walked_head(walked, attr->sample_type, hr->current.head, parts);
	if (walked->dump) {
		parts->regs_abi = hybrid_walked_regs(walked, attr->sample_regs_user,
						     hr->current.regs);
		parts->regs = hr->current.regs;
	}
	begin(hr, event, parts, sample);
	hybrid_walked_chain(walked, hr->current.ips, &sample->kernel);
	sample->stack = hybrid_walked_stack(walked);
	sample->stack_size = walked->stack_size;
	sample->stack_room = walked->stack_room;
	sample->holes = walked->holes;
	sample->room_ends = walked->room_ends;
	sample->space = walked->space;
	sample->code = walked->code;
	sample->frames = walked->frames;
	sample->nr_frames = walked->nr_frames;
	sample->functions = walked->functions;
	sample->code_hash = walked->code_hash;
}

void hybrid_keep_functions(struct hybrid_ring *ring, const struct hybrid_walked *walked)
{
	struct hybrid_ring_functions *kept = ring->functions ?: malloc(sizeof(*kept));

	ring->functions = kept;
	if (!kept)
		return;
	kept->id = walked->head.id;
	kept->ids = walked->ids;
	kept->ip = walked->head.ip;
	kept->functions = walked->functions;
	hybrid_sample_functions__copy(&kept->functions, kept->words);
}

static void find_functions(const struct hybrid_ring *ring, u64 id, struct hybrid_sample *sample)
{
	const struct hybrid_ring_functions *kept = ring->functions;

	if (!sample->functions.nr && kept && kept->functions.nr &&
	    kept->ip == sample->ip && kept->id == id &&
	    kept->ids == hybrid_task_ids(sample->pid, sample->tid))
		sample->functions = kept->functions;
}

/* What BPF has said of a sample that it left to the kernel. */
void hybrid_take_notes(const struct hybrid_record *hr, const struct hybrid_ring *ring,
		       const struct hybrid_sample_parts *parts, struct hybrid_sample *sample)
{
	const u64 id = *(const u64 *)(parts->event + 1);

	if (!sample->kernel.is_walked && hr->walker.bpf && ring->note_id == id)
		sample->kernel.info = ring->note;
	find_functions(ring, id, sample);
}

void hybrid_forget_functions(struct hybrid_ring *ring)
{
	struct hybrid_ring_functions *kept = ring->functions;

	if (kept)
		kept->functions.nr = 0;
}
