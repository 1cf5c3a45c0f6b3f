// SPDX-License-Identifier: GPL-2.0
/*
 * Which walker there is, in this order: a kernel that takes unwind rules from user space,
 * a BPF program, or none. perf record and perf top use the same.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <linux/time64.h>
#include "../../debug.h"
#include "../../off_cpu.h"
#include "../compiler/compiler.h"
#include "../glue/evsel.h"
#include "bpf.h"
#include "kernel-store.h"
#include "walker.h"

/* There is one recording; a store is attached once its events are open. */
static bool is_prepared;

void hybrid_walker__prepare(struct evlist *evlist)
{
	bool has_store = hybrid_store__is_there();

	is_prepared = evlist__has_hybrid_callchain(evlist);
	if (!is_prepared)
		return;
	hybrid_store__set_attr(evlist, has_store);
	/* Kernels with a store do not walk the stacks of tasks that go to sleep. */
	if (off_cpu_tasks() >= 0 || !has_store)
		hybrid_bpf__prepare(evlist, evlist__named_dump_size(evlist));
}

bool hybrid_walker__serves_all(struct evlist *evlist)
{
	return hybrid_bpf__serves_all(evlist);
}

bool hybrid_walker__attach(struct hybrid_walker *walker, struct evlist *evlist)
{
	walker->bpf = hybrid_bpf__attach(evlist);
	walker->store = is_prepared && !walker->bpf ? hybrid_store__open(evlist) : -1;
	hybrid_store__set_attr(evlist, false);
	walker->compiler = NULL;
	return hybrid_walker__is_attached(walker);
}

void hybrid_walker__start(struct hybrid_walker *walker, struct hybrid_objects *objects)
{
	if (walker->bpf)
		walker->compiler = hybrid_compiler_new(objects, hybrid_bpf__ops(), walker->bpf);
	else if (walker->store >= 0)
		walker->compiler = hybrid_compiler_new(objects, &hybrid_store_ops,
						       &walker->store);
	else
		return;
	if (walker->compiler && walker->bpf && !hybrid_bpf__walks(walker->bpf))
		hybrid_compiler_hold(walker->compiler);
	if (walker->compiler && !hybrid_compiler_start(walker->compiler))
		return;
	pr_debug("hybrid: the kernel is given no rules: no thread to compile them\n");
	hybrid_compiler_delete(walker->compiler);
	walker->compiler = NULL;
}

void hybrid_walker__stats(const struct hybrid_walker *walker, struct perf_unwind_stats *stats,
			  struct hybrid_walk_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	if (walker->bpf)
		hybrid_bpf__stats(walker->bpf, stats, counts);
	else if (stats && walker->compiler)
		hybrid_store__stats(walker->store, stats);
}

/*
 * What the samples cost the programs that they interrupted, but for the interrupt itself and the
 * kernel's part of the callchain: only of clock events that is known.
 */
static void print_time(const struct hybrid_walk_counts *counts)
{
	double each;

	if (!counts->timed)
		return;
	each = (double)counts->timed_ns / counts->timed;
	pr_debug("hybrid: each sample took about %.1f us from the program, all %.3f s ",
		 each / NSEC_PER_USEC,
		 each * (counts->whole + counts->dumped + counts->shed) / NSEC_PER_SEC);
	pr_debug("(without the interrupt; %" PRIu64 " were measured)\n", (u64)counts->timed);
}

void hybrid_walker__print(const struct hybrid_walker *walker)
{
	struct hybrid_walk_counts counts;

	if (walker->compiler)
		hybrid_compiler_print(walker->compiler, stderr);
	if (!walker->bpf)
		return;
	hybrid_bpf__stats(walker->bpf, NULL, &counts);
	pr_debug("hybrid: BPF walked %" PRIu64 " samples, left %" PRIu64 " to the kernel, ",
		 (u64)counts.whole, (u64)counts.dumped);
	pr_debug("had no room for the dumps of %" PRIu64 " and lost %" PRIu64 "\n",
		 (u64)counts.shed, (u64)counts.full);
	print_time(&counts);
	hybrid_bpf__print_off_cpu(walker->bpf, stderr);
}

void hybrid_walker__exit(struct hybrid_walker *walker)
{
	hybrid_compiler_delete(walker->compiler);
	hybrid_bpf__delete(walker->bpf);
	if (walker->store >= 0)
		close(walker->store);
}
