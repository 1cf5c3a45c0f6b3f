// SPDX-License-Identifier: GPL-2.0
/*
 * One sample's way from its ring to the file.
 */
#include <errno.h>
#include <perf/mmap.h>
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../mmap.h"
#include "../process/prefault.h"
#include "recording.h"

/*
 * Halves of a ring's size, read from it in a row without the ring getting emptier
 * than three quarters, before dumps are shed, and before samples are. A ring that
 * was found full may only have waited for us to be run: half of it has been read
 * without an end only where it fills half as fast as it is read, or faster.
 */
#define SHED_DUMPS	1
#define SHED_SAMPLES	4

/*
 * Where the ring fills up although it is being emptied, dumps go first, then
 * samples; records of mmap, fork, exec and exit never do.
 */
static bool must_shed(struct hybrid_record *hr, struct hybrid_ring *ring, u16 record_size)
{
	struct mmap *map = ring->arg;
	u64 size = ring->mask + 1, used;

	hr->current.shedding = false;
	if (hr->pass.draining)
		return false;
	used = perf_mmap__read_head(&map->core) - hybrid_order_consumed(ring);
	if (used < size - size / 4)
		ring->behind = 0;
	else
		ring->behind += record_size;
	hr->current.shedding = ring->behind > size / 2 * SHED_DUMPS;
	return ring->behind > size / 2 * SHED_SAMPLES;
}

/* What its dump has shown; @size was asked for. */
static bool is_deeper(const struct hybrid_unwind *u, enum hybrid_outcome outcome, u32 size)
{
	return outcome == HYBRID_TRUNCATED && u->stop == HYBRID_STOP_DUMP_END &&
	       u->dump_size && u->dump_size == u->dump_room && size < HYBRID_ORDER_MOST_DUMP;
}

/* Account for a sample that is to be written. @size: of its record in the ring, in bytes */
static void account(struct hybrid_record *hr, const struct hybrid_sample_parts *parts,
		    const struct hybrid_sample *sample, u16 size)
{
	const struct hybrid_unwind *u = &hr->core->unwind;
	struct hybrid_stats *stats = &hr->stats;

	hybrid_stats_read(stats, size);
	hybrid_stats_count(stats, sample->outcome, sample->is_known ? NULL : u->failed_in);
	if (!sample->is_known && is_deeper(u, sample->outcome, sample->stack_room))
		hybrid_stats_deeper(stats, sample->stack_room);
	if (sample->kernel.is_walked || sample->kernel.info)
		hybrid_stats_walk(stats, sample->kernel.info);
	else if (!parts->regs && !parts->stack_size)
		hybrid_stats_no_stack(stats);
}

static int write_sample(struct hybrid_record *hr, const struct hybrid_event *event,
			const struct hybrid_sample_parts *parts,
			const struct hybrid_sample *sample)
{
	void *out;
	int err;

	hybrid_hits_sample(hr, event, parts->time, sample);
	err = hybrid_hits_map(hr, event, parts->event, parts->pid);
	if (err)
		return err;
	out = hybrid_output_room(&hr->out, HYBRID_MAX_RECORD);
	if (!out)
		return -EIO;
	hr->out.used += hybrid_layout_write(&event->layout, parts, sample->chain, sample->nr, out);
	if (sample->named_ip)
		hybrid_layout_set_ip(&event->layout, out, sample->named_ip);
	hr->stats.file_bytes += ((struct perf_event_header *)out)->size;
	return 0;
}

/* A thread that ran before has touched its stack: its next samples will hardly lack pages. */
void hybrid_find_stack(struct hybrid_record *hr, pid_t pid, pid_t tid, u64 sp)
{
	enum hybrid_new_thread is = hybrid_new_threads_meet(&hr->stacks.threads, pid, tid);

	if (is != HYBRID_THREAD_MET && hybrid_prefault_stack(hr->stacks.prefault, pid, sp) &&
	    is == HYBRID_THREAD_BEGUN)
		hr->stacks.asked = hr->pass.now;
}

void hybrid_find_thread(struct hybrid_record *hr, const struct perf_event_header *header)
{
	struct evsel *evsel = evlist__event2evsel(hr->evlist, (union perf_event *)header);
	struct hybrid_event *event = evsel ? &hr->events[evsel->core.idx] : NULL;
	struct hybrid_sample_parts parts;
	u64 sp;

	if (!event || !event->hybrid || hybrid_layout_parse(&event->layout, header, &parts) ||
	    !parts.stack_size)
		return;
	sp = hybrid_core_sp(hr->core, parts.regs_abi, event->layout.attr.sample_regs_user,
			    parts.regs);
	if (sp)
		hybrid_find_stack(hr, parts.pid, parts.tid, sp);
}

/* What its callchain leads through, if it has any, perf finds in the file. */
static int copy_other(struct hybrid_record *hr, const struct perf_event_header *header)
{
	hr->hits.is_unknown = true;
	return hybrid_output_copy(&hr->out, header);
}

/* A sample that there is no time for, or that can't be kept as it is. */
static int leave_out(struct hybrid_record *hr, struct hybrid_event *event, u16 size)
{
	hybrid_stats_read(&hr->stats, size);
	hr->stats.shed++;
	event->shed++;
	return 0;
}

static int deliver(struct hybrid_record *hr, struct hybrid_ring *ring,
		   struct hybrid_event *event, const struct hybrid_sample_parts *parts,
		   struct hybrid_sample *sample, u16 size)
{
	int err = hybrid_make_chain(hr, ring, event, parts, sample);

	if (err)
		return err;
	ring->note_id = 0;
	account(hr, parts, sample, size);
	err = write_sample(hr, event, parts, sample);
	if (!err && !sample->is_known && hybrid_kernel_chain_is_whole(&sample->kernel))
		hybrid_known_chain_learn(hr, event, sample);
	return err;
}

int hybrid_deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_event *event, const struct perf_event_header *header)
{
	struct hybrid_sample_parts parts;
	struct hybrid_sample sample;

	if (!event || !event->hybrid)
		return copy_other(hr, header);
	if (must_shed(hr, ring, header->size))
		return leave_out(hr, event, header->size);
	if (hybrid_layout_parse(&event->layout, header, &parts)) {
		/* The file's layout is another. */
		hr->stats.bad++;
		return leave_out(hr, event, header->size);
	}
	hybrid_take_parts(hr, event, &parts, &sample);
	return deliver(hr, ring, event, &parts, &sample, header->size);
}

int hybrid_deliver_walked(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_event *event, const struct hybrid_walked *walked, u16 size)
{
	struct hybrid_sample_parts parts;
	struct hybrid_sample sample;

	if (must_shed(hr, ring, size))
		return leave_out(hr, event, size);
	if (!walked->head.nr_user && !walked->dump)
		hr->stats.shed_dumps++;
	hybrid_take_walked(hr, event, walked, &parts, &sample);
	return deliver(hr, ring, event, &parts, &sample, size);
}
