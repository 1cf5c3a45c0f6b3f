// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of all CPUs are read in the time order of all of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <internal/lib.h>
#include <perf/mmap.h>
#include "../../debug.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../mmap.h"
#include "../../time-utils.h"
#include "../process/await.h"
#include "../process/priority.h"
#include "../records/record-size.h"
#include "../runtime/runtime.h"
#include "recording.h"

/* Bytes of records that wait in memory for a file, or a comparison, at most. */
#define KEPT_SIZE	(64ULL << 20)

/* How long records wait to be written together, in ns. */
#define FLUSH		500000000ULL

/* How long what a process has compiled is taken to be what it was, in ns. */
#define LOOK		100000000ULL

static struct mmap *ring_mmap(struct hybrid_ring *ring)
{
	return ring->arg;
}

/* The record without what is not its own; valid until the next one. */
static union perf_event *own_part(struct hybrid_record *hr, const struct perf_event_header *header)
{
	u16 size = hybrid_record_size(header, hr->id_size);
	union perf_event *event = (union perf_event *)header;

	if (size == header->size)
		return event;
	event = (union perf_event *)hr->current.made;
	memcpy(event, header, size);
	event->header.size = size;
	return event;
}

static union perf_event *rename_lost(struct hybrid_record *hr, union perf_event *event)
{
	const struct evsel *first = hybrid_record__first(hr);

	if (!first)
		return event;
	return hybrid_bpf__rename_lost(hr->walker.bpf, first->core.id[0], event, hr->current.made);
}

static int deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  const struct perf_event_header *header)
{
	struct evsel *evsel = evlist__event2evsel(hr->evlist, (union perf_event *)header);
	struct hybrid_event *event = evsel ? &hr->events[evsel->core.idx] : NULL;

	if (event && event->off_cpu)
		return hybrid_off_cpu_deliver(hr, ring, event, header);
	return hybrid_deliver_sample(hr, ring, event, header);
}

static int deliver(struct hybrid_ring *ring, const struct perf_event_header *header, void *arg)
{
	struct hybrid_record *hr = arg;
	union perf_event *event;

	if (hybrid_bpf__is_record(hr->walker.bpf, header))
		return hybrid_deliver_bpf(hr, ring, header);
	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_sample(hr, ring, header);
	event = own_part(hr, header);
	if (header->type == PERF_RECORD_LOST) {
		hybrid_lost_seen(&hr->lost, hr->pass.now);
		event = rename_lost(hr, event);
	}
	return hybrid_deliver_other(hr, event);
}

/*
 * Behind what a full ring holds records may have been lost. The kernel says so with the next
 * record in this ring only, which may be long after the process went on, on another CPU.
 */
static void note_full(struct hybrid_ring *ring, u64 head)
{
	u64 size = ring->mask + 1, left = size - (head - hybrid_order_consumed(ring));

	if (!ring->full_at && left < min_t(u64, sizeof(union perf_event), size / 4))
		ring->full_at = head;
}

static u64 ring_head(struct hybrid_ring *ring, void *arg __maybe_unused)
{
	struct mmap *map = ring_mmap(ring);
	u64 head;

	/* Unmapped when its last event was gone: nothing more will come. */
	if (!map->core.base)
		return ring->tail;
	head = perf_mmap__read_head(&map->core);
	note_full(ring, head);
	return head;
}

static u64 record_time(const struct perf_event_header *header, void *arg)
{
	struct hybrid_record *hr = arg;
	u64 time;

	if (hybrid_bpf__is_record(hr->walker.bpf, header))
		return hybrid_bpf__time(hr->walker.bpf, header);
	if (evlist__parse_sample_timestamp(hr->evlist, own_part(hr, header), &time))
		return 0;
	return time == ~0ULL ? 0 : time;
}

static void found(const struct perf_event_header *header, void *arg)
{
	const struct perf_record_fork *fork = (const void *)header;
	struct hybrid_record *hr = arg;

	hybrid_early_found(hr, header);
	if (header->type == PERF_RECORD_FORK)
		hybrid_new_threads_begun(&hr->stacks.threads, fork->tid);
	else if (hybrid_bpf__is_record(hr->walker.bpf, header))
		hybrid_find_thread_of_bpf(hr, header);
	else if (header->type == PERF_RECORD_SAMPLE)
		hybrid_find_thread(hr, header);
}

static void consume(struct hybrid_ring *ring, void *arg)
{
	struct hybrid_record *hr = arg;
	struct mmap *map = ring_mmap(ring);

	if (ring->full_at && ring->tail >= ring->full_at) {
		hybrid_lost_seen(&hr->lost, hr->pass.now);
		ring->full_at = 0;
	}
	if (!map->core.base)
		return;
	map->core.prev = hybrid_order_consumed(ring);
	perf_mmap__consume(&map->core);
}

static int rings_init(struct hybrid_record *hr, struct mmap **maps, int nr)
{
	int i;

	hr->rings.ring = calloc(nr, sizeof(*hr->rings.ring));
	hr->rings.heap = calloc(nr, sizeof(*hr->rings.heap));
	if (!hr->rings.ring || !hr->rings.heap)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct hybrid_ring *ring = &hr->rings.ring[i];

		ring->arg = maps[i];
		ring->data = maps[i]->core.base + page_size;
		ring->mask = maps[i]->core.mask;
		ring->tail = maps[i]->core.prev;
		ring->looked = ring->tail - 1;
		ring->copy = malloc(HYBRID_MAX_RECORD);
		if (!ring->copy)
			return -ENOMEM;
		hr->rings.nr++;
	}
	return 0;
}

/*
 * While samples wait for a file the rings are emptied into memory. Returns false where
 * they wait no more.
 */
static bool keep_rings(struct hybrid_record *hr)
{
	u64 kept = 0;
	int i;

	if (hybrid_await(hr->pass.waiting, false) != HYBRID_LOAD_WAIT)
		return false;
	for (i = 0; i < hr->rings.nr; i++) {
		struct hybrid_ring *ring = &hr->rings.ring[i];

		if (!ring_mmap(ring)->core.base)
			continue;
		if (hybrid_order_keep(ring, ring_head(ring, hr)) < 0)
			kept = KEPT_SIZE;
		consume(ring, hr);
		kept += ring->kept_end - ring->kept_start;
	}
	if (kept < KEPT_SIZE)
		return true;
	hybrid_await_give_up(hr->pass.waiting);
	return false;
}

int hybrid_record__read(struct hybrid_record *hr, struct mmap **maps, int nr, bool all)
{
	static const struct hybrid_order_ops ops = {
		.head		= ring_head,
		.time		= record_time,
		.found		= found,
		.deliver	= deliver,
		.consume	= consume,
	};
	u64 now = rdclock();
	int delivered, err = 0;

	if (!hr->rings.ring && rings_init(hr, maps, nr)) {
		pr_err("hybrid: out of memory for %d rings\n", nr);
		return -ENOMEM;
	}
	hr->pass.began = hr->pass.began ?: now;
	if (hr->pass.waiting && !all && keep_rings(hr))
		return 0;
	hr->pass.waiting = NULL;
	hr->pass.draining = all;
	if (all) {
		hybrid_priority_restore(&hr->raised);
		/* What they name would not be read. */
		hybrid_bpf__stop_off_cpu(hr->walker.bpf);
	}
	hr->pass.now = now;
	hybrid_lost_pass(&hr->lost, now);
	hybrid_memory_forget(hr->core->unwinder.memory);
	/* Passes may come every few ms, and what processes say of their code be long. */
	if (now - hr->pass.looked >= LOOK) {
		hybrid_jit_forget(hr->core->unwinder.jit);
		hybrid_runtimes_forget(hr->core->unwinder.runtimes);
		hr->pass.looked = now;
	}
	hybrid_objects_age(&hr->core->ps.objects, now);
	hybrid_digests_look(hr->hits.digests);
	delivered = hybrid_order_pass(&hr->rings.order, all ? HYBRID_ORDER_ALL : now,
				      hr->rings.ring, hr->rings.nr, hr->rings.heap, &ops, hr);
	hybrid_early_pass(hr);
	hybrid_compiler_pass(hr->walker.compiler);
	if (hybrid_runtimes_opened(hr->core->unwinder.runtimes) != hr->pass.nr_runtimes) {
		hr->pass.nr_runtimes = hybrid_runtimes_opened(hr->core->unwinder.runtimes);
		hr->pass.found = now;
	}
	if (all || now - hr->out.flushed >= FLUSH) {
		err = hybrid_output_flush(&hr->out);
		hr->out.flushed = now;
	}
	hybrid_names_pass(hr);
	if (verbose > 0 && !all)
		hybrid_stats_live(&hr->stats, now, stderr);
	return delivered < 0 ? delivered : err < 0 ? err : delivered;
}
