// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --call-graph hybrid: samples are unwound straight out of the
 * rings, in the time order of all of them, and written with their callchain in
 * place of their stack dump.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/log2.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
#include <perf/mmap.h>
#include "../debug.h"
#include "../event.h"
#include "../evlist.h"
#include "../evsel.h"
#include "../mmap.h"
#include "../record.h"
#include "../util.h"
#include "layout.h"
#include "merge.h"
#include "open.h"
#include "order.h"
#include "process.h"
#include "record.h"
#include "regs.h"
#include "resolve.h"
#include "stats.h"
#include "track.h"

/*
 * Samples read in a row without the ring getting emptier than three quarters,
 * before their dumps are shed, and before they are.
 */
#define SHED_DUMPS	64
#define SHED_SAMPLES	512

/* What is known of one event, by the index of its evsel. */
struct hybrid_event {
	bool			 hybrid;
	bool			 at_probe;
	unsigned int		 max_stack;
	u64			 shed;
	struct hybrid_layout	 layout;
	struct hybrid_regs_map	 regs_64;
	struct hybrid_regs_map	 regs_32;
};

struct hybrid_record {
	struct evlist		*evlist;
	struct hybrid_event	*events;
	int			 nr_events;
	hybrid_write_fn		 write;
	void			*arg;
	struct hybrid_processes	 ps;
	struct hybrid_unwinder	 unwinder;
	struct hybrid_stats	 stats;
	struct hybrid_ring	*rings;
	struct hybrid_ring	**heap;
	int			 nr_rings;
	bool			 draining;
	bool			 shedding;
	unsigned int		 behind;
	size_t			 out_used;
	struct hybrid_frame	 frames[HYBRID_MAX_FRAMES];
	u64			 chain[HYBRID_MAX_RECORD / 8];
	u8			 out[HYBRID_OUT_SIZE] __aligned(8);
};

bool evlist__has_hybrid_callchain(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			return true;
	}
	return false;
}

void hybrid_record__size_rings(struct evlist *evlist, unsigned int *mmap_pages)
{
	unsigned long dump_size = 0, size;
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			dump_size = max_t(unsigned long, dump_size,
					  evsel->core.attr.sample_stack_user);
	}
	/* More than perf_event_mlock_kb is for those who may lock it. */
	if (*mmap_pages == UINT_MAX && perf_event_paranoid_check(-1)) {
		size = min(max(512 * dump_size, 512UL << 10), 16UL << 20);
		*mmap_pages = roundup_pow_of_two(size) / page_size;
	}
	size = evlist__mmap_size(*mmap_pages) - page_size;
	evlist__for_each_entry(evlist, evsel) {
		if (!evsel__has_hybrid_callchain(evsel) || evsel->core.attr.watermark ||
		    evsel->core.attr.wakeup_events)
			continue;
		evsel->core.attr.watermark = 1;
		evsel->core.attr.wakeup_watermark = size / 8;
	}
}

/*
 * An event whose callchain bits perf took back (offcpu-time, call-graph=no)
 * still has the sizes that went with them: they would stand in the file.
 */
static void drop_sizes(struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_REGS_USER))
		attr->sample_regs_user = 0;
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		attr->sample_stack_user = 0;
}

static void event_init(struct hybrid_event *event, struct evsel *evsel,
		       const struct record_opts *opts, unsigned int max_stack)
{
	struct perf_event_attr *attr = &evsel->core.attr;

	drop_sizes(attr);
	if (!evsel__has_hybrid_callchain(evsel))
		return;
	event->hybrid = true;
	event->at_probe = hybrid__at_probe(evsel);
	event->max_stack = min_t(unsigned int, attr->sample_max_stack ?: max_stack,
				 HYBRID_MAX_FRAMES);
	event->layout.attr = *attr;
	event->layout.file_regs = opts->sample_user_regs;
	event->layout.branch_counters = evsel__has_br_stack(evsel) &&
		evsel__leader(evsel) && evsel__leader(evsel)->br_cntr_nr > 0;
	hybrid_regs_map_init(&event->regs_64, attr->sample_regs_user, &hybrid_abi_64);
	hybrid_regs_map_init(&event->regs_32, attr->sample_regs_user, &hybrid_abi_32);

	/* From here on the attr says what the file holds. */
	attr->sample_type &= ~PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = 0;
	if (attr->watermark) {
		attr->watermark = 0;
		attr->wakeup_watermark = 0;
	}
	attr->sample_regs_user = opts->sample_user_regs;
	if (!opts->sample_user_regs)
		attr->sample_type &= ~PERF_SAMPLE_REGS_USER;
}

struct hybrid_record *hybrid_record__new(struct evlist *evlist,
					 const struct record_opts *opts,
					 unsigned int max_stack,
					 hybrid_write_fn write, void *arg)
{
	struct hybrid_record *hr = zalloc(sizeof(*hr));
	struct evsel *evsel;

	if (!hr)
		return NULL;
	hr->nr_events = evlist__nr_entries(evlist);
	hr->events = calloc(hr->nr_events, sizeof(*hr->events));
	if (!hr->events) {
		free(hr);
		return NULL;
	}
	evlist__for_each_entry(evlist, evsel)
		event_init(&hr->events[evsel->core.idx], evsel, opts,
			   max_stack ?: HYBRID_DEFAULT_MAX_STACK);
	hr->evlist = evlist;
	hr->write = write;
	hr->arg = arg;
	hybrid_processes_init(&hr->ps, hybrid_open_live);
	return hr;
}

void hybrid_record__track(struct hybrid_record *hr, const union perf_event *event)
{
	if (hr && hybrid_track(&hr->ps, event))
		pr_warning_once("hybrid: out of memory, callchains will be incomplete\n");
}

static struct mmap *ring_mmap(struct hybrid_ring *ring)
{
	return ring->arg;
}

static int flush(struct hybrid_record *hr)
{
	size_t size = hr->out_used;

	hr->out_used = 0;
	return size ? hr->write(hr->arg, hr->out, size) : 0;
}

/* Room for a record of @size bytes in the output; NULL where writing failed. */
static void *out_room(struct hybrid_record *hr, size_t size)
{
	if (hr->out_used + size > sizeof(hr->out) && flush(hr) < 0)
		return NULL;
	return hr->out + hr->out_used;
}

static int copy_record(struct hybrid_record *hr, const struct perf_event_header *event)
{
	void *out = out_room(hr, event->size);

	if (!out)
		return -EIO;
	memcpy(out, event, event->size);
	hr->out_used += event->size;
	return 0;
}

/*
 * Where the ring fills up although it is being emptied, dumps go first, then
 * samples; records of mmap, fork, exec and exit never do.
 */
static bool must_shed(struct hybrid_record *hr, struct hybrid_ring *ring)
{
	u64 size = ring->mask + 1, used;

	if (hr->draining)
		return false;
	used = perf_mmap__read_head(&ring_mmap(ring)->core) - ring->tail;
	if (used < size - size / 4)
		hr->behind = 0;
	else
		hr->behind++;
	/* A ring that was found full may only have waited for us to be run. */
	hr->shedding = hr->behind > SHED_DUMPS;
	return hr->behind > SHED_SAMPLES;
}

/* The sample's registers and stack; false where there is nothing to unwind. */
static bool prepare(struct hybrid_record *hr, const struct hybrid_event *event,
		    const struct hybrid_sample *sample, struct hybrid_unwind *u)
{
	bool is_64 = sample->regs_abi == PERF_SAMPLE_REGS_ABI_64;
	const struct hybrid_regs_map *map = is_64 ? &event->regs_64 : &event->regs_32;

	if (!sample->regs || !sample->stack_size || !map->complete)
		return false;
	if (hr->shedding) {
		hr->stats.shed_dumps++;
		return false;
	}
	u->abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32;
	hybrid_regs_read(map, sample->regs, &u->regs);
	u->dump = sample->stack;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->stack_size;
	u->max_frames = event->max_stack;
	u->frames = hr->frames;
	hr->stats.dump_bytes += sample->stack_size;
	return true;
}

static int write_sample(struct hybrid_record *hr, struct hybrid_event *event,
			struct hybrid_sample *sample)
{
	struct hybrid_thread *thread = hybrid_thread_find(&hr->ps, sample->pid, sample->tid);
	struct hybrid_merge merge = {
		.kernel		= sample->chain,
		.nr_kernel	= sample->nr_chain,
		.out		= hr->chain,
		.at_probe	= event->at_probe,
		.max		= hybrid_layout_room(&event->layout, sample),
	};
	struct hybrid_unwind unwind = {};
	enum hybrid_outcome outcome;
	void *out;

	if (thread && prepare(hr, event, sample, &unwind)) {
		unwind.space = thread->process->space;
		hybrid_unwind(&hr->unwinder, &unwind);
		merge.unwind = &unwind;
		merge.tail = &thread->tail;
	}
	outcome = hybrid_merge(&hr->unwinder, &merge);
	hybrid_stats_count(&hr->stats, outcome, unwind.culprit);

	out = out_room(hr, HYBRID_MAX_RECORD);
	if (!out)
		return -EIO;
	hr->out_used += hybrid_layout_write(&event->layout, sample, hr->chain, merge.nr, out);
	hr->stats.file_bytes += ((struct perf_event_header *)out)->size;
	return 0;
}

static int deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  const struct perf_event_header *header)
{
	struct evsel *evsel = evlist__event2evsel(hr->evlist, (union perf_event *)header);
	struct hybrid_event *event = evsel ? &hr->events[evsel->core.idx] : NULL;
	struct hybrid_sample sample;

	if (!event || !event->hybrid)
		return copy_record(hr, header);
	hr->stats.read++;
	if (must_shed(hr, ring)) {
		hr->stats.shed++;
		event->shed++;
		return 0;
	}
	if (hybrid_layout_parse(&event->layout, header, &sample)) {
		/* The file's layout is another: it can't be kept as it is. */
		hr->stats.bad++;
		hr->stats.shed++;
		event->shed++;
		return 0;
	}
	return write_sample(hr, event, &sample);
}

static int deliver(struct hybrid_ring *ring, const struct perf_event_header *header, void *arg)
{
	struct hybrid_record *hr = arg;

	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_sample(hr, ring, header);
	hybrid_record__track(hr, (const union perf_event *)header);
	return copy_record(hr, header);
}

static u64 ring_head(struct hybrid_ring *ring, void *arg __maybe_unused)
{
	struct mmap *map = ring_mmap(ring);

	/* Unmapped when its last event was gone: nothing more will come. */
	if (!map->core.base)
		return ring->tail;
	return perf_mmap__read_head(&map->core);
}

static u64 record_time(const struct perf_event_header *header, void *arg)
{
	struct hybrid_record *hr = arg;
	u64 time;

	if (evlist__parse_sample_timestamp(hr->evlist, (union perf_event *)header, &time))
		return 0;
	return time == ~0ULL ? 0 : time;
}

static void consume(struct hybrid_ring *ring, void *arg __maybe_unused)
{
	struct mmap *map = ring_mmap(ring);

	if (!map->core.base)
		return;
	map->core.prev = ring->tail;
	perf_mmap__consume(&map->core);
}

static int rings_init(struct hybrid_record *hr, struct mmap **maps, int nr)
{
	int i;

	hr->rings = calloc(nr, sizeof(*hr->rings));
	hr->heap = calloc(nr, sizeof(*hr->heap));
	if (!hr->rings || !hr->heap)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct hybrid_ring *ring = &hr->rings[i];

		ring->arg = maps[i];
		ring->data = maps[i]->core.base + page_size;
		ring->mask = maps[i]->core.mask;
		ring->tail = maps[i]->core.prev;
		ring->copy = malloc(HYBRID_MAX_RECORD);
		if (!ring->copy)
			return -ENOMEM;
		hr->nr_rings++;
	}
	return 0;
}

int hybrid_record__read(struct hybrid_record *hr, struct mmap **maps, int nr, bool all)
{
	static const struct hybrid_order_ops ops = {
		.head		= ring_head,
		.time		= record_time,
		.deliver	= deliver,
		.consume	= consume,
	};
	int delivered, err;

	if (!hr->rings && rings_init(hr, maps, nr)) {
		pr_err("hybrid: out of memory for %d rings\n", nr);
		return -ENOMEM;
	}
	hr->draining = all;
	delivered = hybrid_order_pass(hr->rings, hr->nr_rings, hr->heap, all, &ops, hr);
	err = flush(hr);
	return delivered < 0 ? delivered : err < 0 ? err : delivered;
}

void hybrid_record__lost(struct hybrid_record *hr, u64 nr)
{
	if (hr)
		hr->stats.lost += nr;
}

u64 hybrid_record__shed(const struct hybrid_record *hr, const struct evsel *evsel)
{
	return hr ? hr->events[evsel->core.idx].shed : 0;
}

void hybrid_record__print(struct hybrid_record *hr, bool failures)
{
	if (!hr)
		return;
	hybrid_stats_print(&hr->stats, stderr);
	if (!failures)
		return;
	hybrid_stats_print_failures(&hr->stats, stderr);
	fprintf(stderr, "hybrid: kept at the end: %u processes, %u threads, ",
		hr->ps.nr_processes, hr->ps.nr_threads);
	fprintf(stderr, "%zu objects, %zu rows\n", hr->ps.objects.nr, hr->ps.objects.nr_rows);
}

void hybrid_record__delete(struct hybrid_record *hr)
{
	int i;

	if (!hr)
		return;
	for (i = 0; i < hr->nr_rings; i++)
		free(hr->rings[i].copy);
	free(hr->rings);
	free(hr->heap);
	hybrid_stats_exit(&hr->stats);
	hybrid_processes_exit(&hr->ps);
	free(hr->events);
	free(hr);
}
