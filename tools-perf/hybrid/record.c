// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --call-graph hybrid: samples are unwound straight out of the
 * rings, in the time order of all of them, and written with their callchain in
 * place of their stack dump.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
#include <perf/mmap.h>
#include "../debug.h"
#include "../event.h"
#include "../evlist.h"
#include "../evsel.h"
#include "../mmap.h"
#include "../time-utils.h"
#include "../util.h"
#include "events.h"
#include "lost.h"
#include "walk/merge.h"
#include "tasks/load.h"
#include "tasks/open.h"
#include "record/order.h"
#include "tasks/process.h"
#include "record.h"
#include "resolve.h"
#include "record/stats.h"
#include "store/store.h"
#include "walk/taught.h"
#include "store/compiler.h"
#include "tasks/track.h"
#include "walk/uretprobe.h"

/*
 * Halves of a ring's size, read from it in a row without the ring getting emptier
 * than three quarters, before dumps are shed, and before samples are. A ring that
 * was found full may only have waited for us to be run: half of it has been read
 * without an end only where it fills half as fast as it is read, or faster.
 */
#define SHED_DUMPS	1
#define SHED_SAMPLES	4

/* Bytes of records that wait in memory for a file, at most. */
#define KEPT_SIZE	(64ULL << 20)

/*
 * How long perf record sleeps at most, in ms: until what was held back may be
 * delivered; and until the rings are looked at anew, however little they hold, as
 * files and code are read of processes that still run.
 */
#define HYBRID_HOLD_MS	((int)(HYBRID_ORDER_HOLD / 1000000))
#define HYBRID_POLL_MS	100

/* How long records wait to be written together, in ns: as long as in a ring. */
#define HYBRID_FLUSH	(HYBRID_POLL_MS * 1000000ULL)

struct hybrid_record {
	struct evlist		*evlist;
	struct hybrid_event	*events;
	int			 nr_events;
	hybrid_write_fn		 write;
	void			*arg;
	struct hybrid_processes	 ps;
	struct hybrid_unwinder	 unwinder;
	struct hybrid_stats	 stats;
	struct hybrid_lost	 lost;
	struct hybrid_loader	*loader;
	struct hybrid_object	*waiting;
	int			 store;
	struct hybrid_compiler	*compiler;
	struct hybrid_order	 order;
	struct hybrid_ring	*rings;
	struct hybrid_ring	**heap;
	int			 nr_rings;
	u64			 now;
	bool			 draining;
	bool			 shedding;
	size_t			 out_used;
	u64			 flushed;
	struct hybrid_frame	 frames[HYBRID_MAX_FRAMES];
	u64			 chain[HYBRID_MAX_RECORD / 8];
	u8			 out[HYBRID_OUT_SIZE] __aligned(8);
};

/* Where memory is short, files are opened while the rings wait. */
static void start_loading(struct hybrid_record *hr)
{
	struct hybrid_objects *objects = &hr->ps.objects;

	hr->loader = hybrid_loader_new(hybrid_open_live);
	if (!hr->loader)
		return;
	objects->open = hybrid_loader_open;
	objects->open_arg = hr->loader;
	objects->cancel = hybrid_loader_cancel;
}

/* Where there is no store, samples have their dumps as ever. */
static void start_teaching(struct hybrid_record *hr)
{
	hr->store = hybrid_record__kernel_asked() ? hybrid_store__open(hr->evlist) : -1;
	if (hr->store < 0)
		return;
	hr->compiler = hybrid_compiler_new(&hr->ps.objects, &hybrid_store_ops, &hr->store);
	if (hr->compiler && !hybrid_compiler_start(hr->compiler)) {
		hr->stats.taught = true;
		return;
	}
	pr_debug("hybrid: the kernel is taught nothing: no thread to do it\n");
	hybrid_compiler_delete(hr->compiler);
	hr->compiler = NULL;
}

static int deliver_other(void *arg, union perf_event *event);

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
	if (!hr->events || hybrid_lost_init(&hr->lost, evlist__id_hdr_size(evlist),
					    deliver_other, hr)) {
		free(hr->events);
		free(hr);
		return NULL;
	}
	hr->evlist = evlist;
	hr->write = write;
	hr->arg = arg;
	hybrid_processes_init(&hr->ps, hybrid_open_live);
	start_loading(hr);
	hr->unwinder.memory = hybrid_memory_new();
	start_teaching(hr);
	evlist__for_each_entry(evlist, evsel)
		hybrid_event__init(&hr->events[evsel->core.idx], evsel, opts,
				   max_stack ?: HYBRID_DEFAULT_MAX_STACK);
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
static bool must_shed(struct hybrid_record *hr, struct hybrid_ring *ring, u16 record_size)
{
	u64 size = ring->mask + 1, used;

	hr->shedding = false;
	if (hr->draining)
		return false;
	used = perf_mmap__read_head(&ring_mmap(ring)->core) - hybrid_order_consumed(ring);
	if (used < size - size / 4)
		ring->behind = 0;
	else
		ring->behind += record_size;
	hr->shedding = ring->behind > size / 2 * SHED_DUMPS;
	return ring->behind > size / 2 * SHED_SAMPLES;
}

/* The sample's registers and stack; false where there is nothing to unwind. */
static bool prepare(struct hybrid_record *hr, const struct hybrid_event *event,
		    const struct hybrid_sample *sample, bool taught, struct hybrid_unwind *u)
{
	bool is_64 = sample->regs_abi != PERF_SAMPLE_REGS_ABI_32;
	const struct hybrid_regs_map *map = is_64 ? &event->regs_64 : &event->regs_32;

	if (!taught && (!sample->regs || !map->complete))
		return false;
	if (!taught && hr->shedding) {
		hr->stats.shed_dumps++;
		return false;
	}
	u->abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32;
	if (sample->regs)
		hybrid_regs_read(map, sample->regs, &u->regs);
	u->dump = sample->stack;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->stack_size;
	u->max_frames = event->max_stack;
	u->frames = hr->frames;
	return true;
}

/* Before the first chain of a process that has a mark. */
static int map_marks(struct hybrid_record *hr, struct hybrid_process *process,
		     const struct hybrid_event *event, const struct perf_event_header *sample)
{
	unsigned int mark;
	void *out;

	if (process->marks_mapped)
		return 0;
	process->marks_mapped = true;
	for (mark = 0; mark < HYBRID_NR_MARKS; mark++) {
		out = out_room(hr, HYBRID_MARK_EVENT_SIZE);
		if (!out)
			return -EIO;
		hr->out_used += hybrid_mark__event(mark, &event->layout.attr, sample,
						   process->pid, out);
	}
	return 0;
}

/* What the kernel says of its walk by taught rules, @info, goes to the account. */
static bool is_walked(const struct hybrid_record *hr, const struct hybrid_sample *sample,
		      u64 *info)
{
	*info = 0;
	return hybrid_record__kernel_asked() && hr->store >= 0 &&
	       hybrid_chain_info(sample->chain, sample->nr_chain, info);
}

/*
 * execve() gives up the address space before it has another (begin_new_exec(), mm_release()):
 * where vfork() had made the process, its parent runs on the stack meanwhile.
 */
static bool may_be_overwritten(const struct hybrid_process *process,
			       const struct hybrid_sample *sample)
{
	return process->forked && (sample->event->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
				  PERF_RECORD_MISC_KERNEL;
}

/* Returns 0 where the kernel's chain tells more than the sample's registers. */
static int unwind_once(struct hybrid_record *hr, struct hybrid_event *event,
		       const struct hybrid_sample *sample, bool taught, struct hybrid_unwind *u)
{
	event->precise.first = 0;
	if (!taught && event->precise.moment != HYBRID_MOMENT_SAME)
		return hybrid_precise_unwind(&hr->unwinder, u, &event->precise);
	if (taught)
		hybrid_taught(&hr->unwinder, u, sample->chain, sample->nr_chain);
	else
		hybrid_unwind(&hr->unwinder, u);
	return 1;
}

/* The same; where a file is not there yet the sample waits for it, up to a bound: -EAGAIN. */
static int unwind_sample(struct hybrid_record *hr, struct hybrid_event *event,
			 const struct hybrid_sample *sample, bool taught,
			 struct hybrid_unwind *u)
{
	struct hybrid_objects *objects = &hr->ps.objects;
	enum hybrid_load_state state;
	int unwound;

	do {
		objects->waiting = NULL;
		unwound = unwind_once(hr, event, sample, taught, u);
		state = objects->waiting ?
			hybrid_loader_state(objects->waiting, hr->draining) : HYBRID_LOAD_LATE;
	} while (state == HYBRID_LOAD_DONE);
	if (state == HYBRID_LOAD_LATE)
		return unwound;
	hr->waiting = objects->waiting;
	return -EAGAIN;
}

/* Makes the sample's callchain, hr->chain. */
static int make_chain(struct hybrid_record *hr, struct hybrid_event *event,
		      const struct hybrid_sample *sample, struct hybrid_merge *merge)
{
	struct hybrid_thread *thread = hybrid_thread_find(&hr->ps, sample->pid, sample->tid);
	struct hybrid_unwind unwind = {};
	enum hybrid_outcome outcome;
	bool walked, taught;
	int unwound;
	u64 info;

	walked = is_walked(hr, sample, &info);
	taught = PERF_HYBRID_INFO_END(info) == PERF_HYBRID_END_OUTERMOST;
	if (thread)
		merge->space = thread->process->space;
	if (thread && prepare(hr, event, sample, taught, &unwind)) {
		unwind.space = thread->process->space;
		unwind.pid = sample->pid;
		unwind.overwritten = may_be_overwritten(thread->process, sample);
		hybrid_uretprobe_chain(&unwind, sample->chain, sample->nr_chain);
		unwound = unwind_sample(hr, event, sample, taught, &unwind);
		if (unwound < 0)
			return unwound;
		hr->stats.dump_bytes += sample->stack_size;
		if (unwound) {
			merge->unwind = &unwind;
			merge->tail = &thread->tail;
		}
	}
	outcome = hybrid_merge(&hr->unwinder, merge);
	hybrid_precise_put_first(&event->precise, hr->chain, merge->nr);
	hybrid_stats_count(&hr->stats, outcome, unwind.failed_in);
	if (outcome == HYBRID_TRUNCATED && unwind.stop == HYBRID_STOP_DUMP_END &&
	    unwind.dump_size == event->layout.attr.sample_stack_user)
		hybrid_stats_deeper(&hr->stats, unwind.dump_size);
	if (walked)
		hybrid_stats_walk(&hr->stats, info);
	if (hr->compiler && merge->unwind && !taught)
		hybrid_compiler_sample(hr->compiler, &hr->unwinder, &unwind, info);
	return merge->marked && thread ?
		map_marks(hr, thread->process, event, sample->event) : 0;
}

static int write_sample(struct hybrid_record *hr, struct hybrid_event *event,
			struct hybrid_sample *sample)
{
	struct hybrid_merge merge = {
		.kernel		= sample->chain,
		.nr_kernel	= sample->nr_chain,
		.out		= hr->chain,
		.at_probe	= event->at_probe,
		.max		= hybrid_layout_room(&event->layout, sample),
		.pid		= sample->pid,
		.abi		= sample->regs_abi == PERF_SAMPLE_REGS_ABI_32 ?
				  &hybrid_abi_32 : &hybrid_abi_64,
	};
	void *out;
	int err;

	if (hybrid_lost_sample(&hr->lost, &event->layout.attr, sample->event, sample->pid,
			       sample->tid))
		return -EIO;
	err = make_chain(hr, event, sample, &merge);
	if (err)
		return err;
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
	int err;

	if (!event || !event->hybrid)
		return copy_record(hr, header);
	hybrid_stats_read(&hr->stats, header->size);
	if (must_shed(hr, ring, header->size)) {
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
	err = write_sample(hr, event, &sample);
	if (err == -EAGAIN)
		hybrid_stats_unread(&hr->stats, header->size);
	return err;
}

/* Any record that is not a sample. */
static int deliver_other(void *arg, union perf_event *event)
{
	struct hybrid_record *hr = arg;

	hybrid_record__track(hr, event);
	return copy_record(hr, &event->header);
}

static int deliver(struct hybrid_ring *ring, const struct perf_event_header *header, void *arg)
{
	struct hybrid_record *hr = arg;

	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_sample(hr, ring, header);
	if (header->type == PERF_RECORD_LOST)
		hybrid_lost_seen(&hr->lost, hr->now);
	return deliver_other(hr, (union perf_event *)header);
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
	map->core.prev = hybrid_order_consumed(ring);
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

/*
 * While samples wait for a file the rings are emptied into memory. Returns false where
 * they wait no more.
 */
static bool keep_rings(struct hybrid_record *hr)
{
	u64 kept = 0;
	int i;

	if (hybrid_loader_state(hr->waiting, false) != HYBRID_LOAD_WAIT)
		return false;
	for (i = 0; i < hr->nr_rings; i++) {
		struct hybrid_ring *ring = &hr->rings[i];

		if (!ring_mmap(ring)->core.base)
			continue;
		if (hybrid_order_keep(ring, ring_head(ring, hr)) < 0)
			kept = KEPT_SIZE;
		consume(ring, hr);
		kept += ring->kept_end - ring->kept_start;
	}
	if (kept < KEPT_SIZE)
		return true;
	hybrid_loader_give_up(hr->waiting);
	return false;
}

int hybrid_record__read(struct hybrid_record *hr, struct mmap **maps, int nr, bool all)
{
	static const struct hybrid_order_ops ops = {
		.head		= ring_head,
		.time		= record_time,
		.deliver	= deliver,
		.consume	= consume,
	};
	u64 now = rdclock();
	int delivered, err = 0;

	if (!hr->rings && rings_init(hr, maps, nr)) {
		pr_err("hybrid: out of memory for %d rings\n", nr);
		return -ENOMEM;
	}
	if (hr->waiting && !all && keep_rings(hr))
		return 0;
	hr->waiting = NULL;
	hr->draining = all;
	hr->now = now;
	hybrid_lost_pass(&hr->lost, now);
	hybrid_memory_forget(hr->unwinder.memory);
	delivered = hybrid_order_pass(&hr->order, all ? HYBRID_ORDER_ALL : now, hr->rings,
				      hr->nr_rings, hr->heap, &ops, hr);
	hybrid_compiler_pass(hr->compiler);
	if (all || now - hr->flushed >= HYBRID_FLUSH) {
		err = flush(hr);
		hr->flushed = now;
	}
	if (verbose > 0 && !all)
		hybrid_stats_live(&hr->stats, now, stderr);
	return delivered < 0 ? delivered : err < 0 ? err : delivered;
}

int hybrid_record__timeout(const struct hybrid_record *hr)
{
	if (!hr)
		return -1;
	return hr->waiting || hybrid_order_holds(&hr->order) ? HYBRID_HOLD_MS : HYBRID_POLL_MS;
}

void hybrid_record__lost(struct hybrid_record *hr, const struct evsel *evsel, u64 nr)
{
	if (hr && hr->events[evsel->core.idx].hybrid)
		hr->stats.lost += nr;
}

u64 hybrid_record__shed(const struct hybrid_record *hr, const struct evsel *evsel)
{
	return hr ? hr->events[evsel->core.idx].shed : 0;
}

void hybrid_record__print(struct hybrid_record *hr, bool failures)
{
	int i;

	if (!hr)
		return;
	hybrid_compiler_stop(hr->compiler);
	if (hr->stats.taught)
		hybrid_store__stats(hr->store, &hr->stats.store);
	hybrid_stats_print(&hr->stats, failures, stderr);
	if (!failures)
		return;
	if (hr->compiler)
		hybrid_compiler_print(hr->compiler, stderr);
	hybrid_stats_print_failures(&hr->stats, stderr);
	for (i = 0; i < hr->nr_events; i++)
		hybrid_precise_print(&hr->events[i].precise, stderr);
	fprintf(stderr, "hybrid: in the rings: %" PRIu64 " bytes a sample\n",
		hybrid_stats_ring_bytes(&hr->stats));
	if (hr->lost.nr)
		fprintf(stderr, "hybrid: records were lost: %" PRIu64
			" times a process was synthesized anew\n", hr->lost.nr);
	fprintf(stderr, "hybrid: kept at the end: %u processes, %u threads, ",
		hr->ps.nr_processes, hr->ps.nr_threads);
	fprintf(stderr, "%zu objects, %zu rows\n", hr->ps.objects.nr, hr->ps.objects.nr_rows);
}

void hybrid_record__delete(struct hybrid_record *hr)
{
	int i;

	if (!hr)
		return;
	for (i = 0; i < hr->nr_rings; i++) {
		free(hr->rings[i].copy);
		free(hr->rings[i].kept);
	}
	free(hr->rings);
	free(hr->heap);
	hybrid_memory_delete(hr->unwinder.memory);
	hybrid_stats_exit(&hr->stats);
	hybrid_compiler_stop(hr->compiler);
	/* Before the compiler: it owns the files of the objects that go. */
	hybrid_processes_exit(&hr->ps);
	hybrid_loader_delete(hr->loader);
	hybrid_compiler_delete(hr->compiler);
	if (hr->store >= 0)
		close(hr->store);
	hybrid_lost_exit(&hr->lost);
	free(hr->events);
	free(hr);
}
