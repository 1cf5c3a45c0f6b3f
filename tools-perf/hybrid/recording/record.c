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
#include <linux/zalloc.h>
#include "../../debug.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../record.h"
#include "../glue/evsel.h"
#include "../glue/helper.h"
#include "../glue/open-file.h"
#include "../process/file-compare.h"
#include "../process/file-user.h"
#include "../process/prefault.h"
#include "../runtime/runtime.h"
#include "../process/priority.h"
#include "../process/track.h"
#include "recording.h"

/*
 * For so long, in ns, the rings are read every few ms: after a page of a stack was missing, as
 * the thread's next samples will lack others; after the start, when all threads are new; and after
 * a runtime was found, as its process may end soon, and with it the names of its functions.
 */
#define EARLY	1000000000ULL
#define START	250000000ULL

/*
 * The command begins in the first ms. If it is an interpreter, BPF is told as soon as its file is
 * mapped: for so long the rings are read so often.
 */
#define EXEC	30000000ULL
#define EXEC_MS	2

/* Where memory is short, files are opened while the rings wait. */
static void start_loading(struct hybrid_record *hr)
{
	static const struct hybrid_loader_ops ops = {
		.find = hybrid_find_live, .open_found = hybrid_open_found_live,
		.open = hybrid_open_live, .start = hybrid_helper__start,
	};
	struct hybrid_objects *objects = &hr->core->ps.objects;

	hybrid_file_budget_init(&hr->files);
	objects->budget = &hr->files;
	objects->user_of = hybrid_file_user_of;
	objects->identify = hybrid_identify_live;
	objects->compare = &hybrid_file_compare;
	hr->loader = hybrid_loader_new(&ops);
	if (!hr->loader)
		return;
	objects->open = hybrid_loader_open;
	objects->open_arg = hr->loader;
	objects->cancel = hybrid_loader_cancel;
	objects->open_path = hybrid_loader_open_path;
	objects->fetch = hybrid_loader_fetch;
}

struct hybrid_record *hybrid_record__new(struct evlist *evlist,
					 const struct record_opts *opts,
					 unsigned int max_stack,
					 hybrid_write_fn write, void *arg)
{
	static const struct hybrid_core_ops ops = { .open = hybrid_open_live };
	struct hybrid_record *hr = zalloc(sizeof(*hr));
	struct evsel *evsel;

	if (!hr)
		return NULL;
	hr->nr_events = evlist__nr_entries(evlist);
	hr->events = calloc(hr->nr_events, sizeof(*hr->events));
	hr->id_size = evlist__id_hdr_size(evlist);
	hr->core = hybrid_core_new(&ops, NULL);
	if (!hr->events || !hr->core ||
	    hybrid_lost_init(&hr->lost, hr->id_size, hybrid_deliver_other, hr)) {
		hybrid_core_delete(hr->core);
		free(hr->events);
		free(hr);
		return NULL;
	}
	hr->evlist = evlist;
	hr->file = 1;
	hr->out.write = write;
	hr->out.arg = arg;
	hr->core->ps.no_build_ids = !opts->build_id;
	start_loading(hr);
	hybrid_hits_init(&hr->hits, hr->loader);
	hybrid_core_set_live(hr->core);
	hr->stacks.prefault = hybrid_prefault_new();
	hybrid_walker__attach(&hr->walker, evlist);
	hybrid_walker__start(&hr->walker, &hr->core->ps.objects);
	hybrid_core_set_functions(hr->core, hr->walker.bpf);
	hr->stats.loaded = hr->walker.compiler;
	evlist__for_each_entry(evlist, evsel)
		hybrid_event__init(&hr->events[evsel->core.idx], evsel, opts,
				   max_stack ?: HYBRID_DEFAULT_MAX_STACK);
	hybrid_off_cpu_init(hr, max_stack ?: HYBRID_DEFAULT_MAX_STACK);
	/* Last: what compiles in the background is not before the workload. */
	hr->raised = hybrid_priority_raise();
	return hr;
}

void hybrid_record__keep_addresses(struct hybrid_record *hr)
{
	hr->names.is_off = true;
	hybrid_core_set_functions(hr->core, false);
}

void hybrid_record__track(struct hybrid_record *hr, const union perf_event *event)
{
	if (!hr)
		return;
	if (hybrid_track(&hr->core->ps, event))
		pr_warning_once("hybrid: out of memory, callchains will be incomplete\n");
	hybrid_hits_record(&hr->hits, event, event->header.type == PERF_RECORD_MMAP2 ?
			   hybrid_process_find(&hr->core->ps, event->mmap2.pid) : NULL);
}

int hybrid_deliver_other(void *arg, union perf_event *event)
{
	struct hybrid_record *hr = arg;

	hybrid_record__track(hr, event);
	if (hybrid_track_is_change(event))
		hr->rings.order.changed = hr->pass.now;
	return hybrid_output_copy(&hr->out, &event->header);
}

/*
 * Threads begin with stacks whose pages are not there. Until one has been seen, and its
 * pages been asked for, each of its samples may lack them.
 */
int hybrid_record__timeout(const struct hybrid_record *hr)
{
	bool mends;

	if (!hr)
		return -1;
	if (hr->walker.bpf && hr->pass.now - hr->pass.began < EXEC)
		return EXEC_MS;
	if (hr->pass.waiting || hr->pass.now - hr->pass.began < START)
		return HYBRID_ORDER_HOLD_MS;
	mends = (hr->stacks.asked && hr->pass.now - hr->stacks.asked < EARLY) ||
		(hr->pass.found && hr->pass.now - hr->pass.found < EARLY);
	return hybrid_order_timeout(&hr->rings.order, hr->pass.now,
				    mends || hybrid_memory_is_asked(hr->core->unwinder.memory));
}

void hybrid_record__lost(struct hybrid_record *hr, const struct evsel *evsel, u64 nr)
{
	if (hr && (hr->events[evsel->core.idx].hybrid || hr->events[evsel->core.idx].off_cpu))
		hr->stats.lost += nr;
}

struct evsel *hybrid_record__first(const struct hybrid_record *hr)
{
	struct evsel *evsel;

	evlist__for_each_entry(hr->evlist, evsel) {
		if (hr->events[evsel->core.idx].hybrid)
			return evsel;
	}
	return NULL;
}

u64 hybrid_record__shed(const struct hybrid_record *hr, const struct evsel *evsel)
{
	struct hybrid_walk_counts walks = {};

	if (!hr)
		return 0;
	if (evsel == hybrid_record__first(hr))
		hybrid_walker__stats(&hr->walker, NULL, &walks);
	return hr->events[evsel->core.idx].shed + walks.full;
}

void hybrid_record__end_file(struct hybrid_record *hr)
{
	if (!hr)
		return;
	hybrid_output_flush(&hr->out);
	hybrid_names_write(hr);
	hybrid_names_keep(hr);
	hr->file++;
}

/* Samples that were lost or left out: the file has a record of them. */
static u64 nr_lost(const struct hybrid_record *hr)
{
	struct hybrid_walk_counts walks = {};

	hybrid_walker__stats(&hr->walker, NULL, &walks);
	return hr->stats.lost + hr->stats.shed + walks.full;
}

bool hybrid_record__hits(struct hybrid_record *hr, struct machine *machine, u64 *nr_samples,
			 u64 *first, u64 *last)
{
	if (!hr)
		return false;
	*nr_samples = hr->hits.nr_samples;
	*first = hr->hits.first;
	*last = hr->hits.last;
	hr->hits.nr_samples = 0;
	if (!hybrid_hits_mark(&hr->hits, machine))
		return false;
	hybrid_hits_warn(&hr->hits, nr_lost(hr));
	return true;
}

void hybrid_record__identify(struct hybrid_record *hr, struct machine *machine)
{
	if (hr)
		hybrid_hits_identify(&hr->hits, machine);
}

void hybrid_record__print(struct hybrid_record *hr, bool failures)
{
	struct hybrid_walk_counts walks = {};
	int i;

	if (!hr)
		return;
	hybrid_compiler_stop(hr->walker.compiler);
	hybrid_walker__stats(&hr->walker, &hr->stats.store, &walks);
	hr->stats.dropped = walks.dropped;
	hr->stats.over_time = walks.over_time;
	hr->stats.lost += walks.full;
	hybrid_stats_print(&hr->stats, failures, stderr);
	hybrid_names_print(hr);
	hybrid_file_budget_print(&hr->files, stderr);
	if (!failures)
		return;
	hybrid_walker__print(&hr->walker);
	hybrid_stats_print_failures(&hr->stats, stderr);
	for (i = 0; i < hr->nr_events; i++)
		hybrid_precise_print(&hr->events[i].precise, stderr);
	fprintf(stderr, "hybrid: in the rings: %" PRIu64 " bytes a sample\n",
		hybrid_stats_ring_bytes(&hr->stats));
	if (hr->lost.nr)
		fprintf(stderr, "hybrid: records were lost: %" PRIu64
			" times a process was synthesized anew\n", hr->lost.nr);
	fprintf(stderr, "hybrid: kept at the end: %u processes, %u threads, ",
		hr->core->ps.nr_processes, hr->core->ps.nr_threads);
	fprintf(stderr, "%zu objects, %zu rows, %zu of them out of use\n", hr->core->ps.objects.nr,
		hr->core->ps.objects.nr_rows, hybrid_objects_out_of_use(&hr->core->ps.objects));
}

void hybrid_record__delete(struct hybrid_record *hr)
{
	int i;

	if (!hr)
		return;
	hybrid_priority_restore(&hr->raised);
	for (i = 0; i < hr->rings.nr; i++) {
		free(hr->rings.ring[i].copy);
		free(hr->rings.ring[i].kept);
		free(hr->rings.ring[i].functions);
	}
	free(hr->rings.ring);
	free(hr->rings.heap);
	hybrid_early_files_exit(&hr->early);
	hybrid_prefault_delete(hr->stacks.prefault);
	hybrid_stats_exit(&hr->stats);
	hybrid_compiler_stop(hr->walker.compiler);
	/* Before the compiler: it owns the files of the objects that go. */
	hybrid_core_delete(hr->core);
	hybrid_hits_exit(&hr->hits);
	hybrid_loader_delete(hr->loader);
	hybrid_walker__exit(&hr->walker);
	hybrid_lost_exit(&hr->lost);
	hybrid_off_cpu_exit(&hr->off_cpu);
	hybrid_names_exit(&hr->names);
	free(hr->events);
	free(hr);
}
