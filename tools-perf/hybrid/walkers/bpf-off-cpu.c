// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --off-cpu: the program that walks the stacks of tasks that go to sleep,
 * hybrid_sleep() in bpf_skel/off_cpu.bpf.h. It is run behind that of bpf_off_cpu.c, which
 * makes the samples.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <bpf/libbpf.h>
#include <linux/kernel.h>
#include <internal/evlist.h>
#include <perf/cpumap.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "../../debug.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../off_cpu.h"
#include "../glue/evsel.h"
#include "bpf-private.h"

const struct evsel *hybrid_bpf__off_cpu_evsel(struct evlist *evlist)
{
	const u64 needed = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	struct evsel *evsel;

	if (off_cpu_tasks() < 0 ||
	    perf_cpu_map__has_any_cpu_or_is_empty(evlist__core(evlist)->all_cpus))
		return NULL;
	evlist__for_each_entry(evlist, evsel) {
		if (evsel__is_offcpu_event(evsel))
			return (evsel->core.attr.sample_type & needed) == needed ? evsel : NULL;
	}
	return NULL;
}

/* What is not loaded takes no memory, and must not be refused by the kernel. */
static int leave_out(struct hybrid_walk_bpf *skel)
{
	int err = bpf_program__set_autoload(skel->progs.hybrid_sleep, false);

	err = err ?: bpf_map__set_autocreate(skel->maps.tstamp, false);
	err = err ?: bpf_map__set_autocreate(skel->maps.sleep_states, false);
	err = err ?: bpf_map__set_autocreate(skel->maps.known_chains, false);
	return err ?: bpf_map__set_autocreate(skel->maps.chain_words, false);
}

int hybrid_bpf__prepare_off_cpu(struct hybrid_bpf *bpf)
{
	struct hybrid_walk_bpf *skel = bpf->skel;

	if (!bpf->off_cpu)
		return leave_out(skel);
	bpf_map__set_max_entries(skel->maps.sleep_states, bpf->cpus);
	return bpf_map__reuse_fd(skel->maps.tstamp, off_cpu_tasks());
}

bool hybrid_bpf__attach_off_cpu(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	struct hybrid_walk_bpf *skel = bpf->skel;

	/* Of each ring; the other half is for samples. */
	skel->bss->dump_budget = evlist__core(evlist)->mmap_len / 2;
	skel->links.hybrid_sleep = bpf_program__attach(skel->progs.hybrid_sleep);
	if (!skel->links.hybrid_sleep) {
		pr_debug("hybrid: off-CPU chains are the kernel's: %s\n", strerror(errno));
		return false;
	}
	off_cpu_leave_chains();
	return true;
}

bool hybrid_bpf__is_off_cpu(const struct hybrid_bpf *bpf)
{
	return bpf && bpf->off_cpu;
}

void hybrid_bpf__stop_off_cpu(struct hybrid_bpf *bpf)
{
	if (!hybrid_bpf__is_off_cpu(bpf))
		return;
	bpf_link__destroy(bpf->skel->links.hybrid_sleep);
	bpf->skel->links.hybrid_sleep = NULL;
}

void hybrid_bpf__print_off_cpu(const struct hybrid_bpf *bpf, FILE *out)
{
	struct hybrid_walk_counts counts;

	if (!hybrid_bpf__is_off_cpu(bpf))
		return;
	hybrid_bpf__counts(bpf, bpf->skel->maps.sleep_states, &counts);
	fprintf(out, "hybrid: BPF walked %" PRIu64 " stacks of tasks that went to sleep, left %"
		PRIu64 " to perf; for %" PRIu64 " chains there was no number, for %" PRIu64
		" stacks no room in a ring\n", (u64)counts.whole, (u64)counts.dumped,
		(u64)counts.single, (u64)counts.full);
}
