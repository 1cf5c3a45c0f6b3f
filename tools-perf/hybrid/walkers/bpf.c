// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF program that walks the stacks of samples, bpf_skel/hybrid_walk.bpf.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <perf/cpumap.h>
#include <perf/threadmap.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "../../config.h"
#include "../../debug.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../glue/evsel.h"
#include "../records/walk-record.h"
#include "bpf-private.h"

/* What is asked for: for each MiB of rows so many objects. */
#define MB_OBJECTS	32
#define MAX_MB		(HYBRID_WALK_OBJECTS / MB_OBJECTS)

/* There is one recording: what is loaded before its events are open. */
static struct hybrid_bpf *prepared;

/* Of its programs. */
static u32 own_ids[8];

static int print_nothing(enum libbpf_print_level level __maybe_unused,
			 const char *format __maybe_unused, va_list args __maybe_unused)
{
	return 0;
}

/* What the kernel says of a program; zeroes if it does not. */
static struct bpf_prog_info program_info(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &size))
		memset(&info, 0, sizeof(info));
	return info;
}

static void keep_own_ids(const struct bpf_object *object)
{
	struct bpf_program *program;
	struct bpf_prog_info info;
	unsigned int i = 0;
	u32 verified = 0;

	bpf_object__for_each_program(program, object) {
		info = program_info(program);
		verified += info.verified_insns;
		if (i < ARRAY_SIZE(own_ids))
			own_ids[i++] = info.id;
	}
	pr_debug("hybrid: the kernel looked at %u instructions of the BPF programs\n", verified);
}

/* The program has what struct pt_regs has: no vector registers. */
static bool may_dump_samples(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (hybrid_bpf__is_served(evsel) &&
		    evsel->core.attr.sample_regs_user & ~HYBRID_BPF_ALL_REGS)
			return false;
	}
	return true;
}

static int configure(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	u32 nr = bpf->by_thread ? (u32)perf_thread_map__nr(evlist__core(evlist)->threads) :
		 (u32)bpf->cpus;

	bpf_map__set_max_entries(bpf->skel->maps.states, bpf->cpus);
	bpf_map__set_max_entries(bpf->skel->maps.output, nr);
	bpf_map__set_max_entries(bpf->skel->maps.waking, nr);
	bpf->skel->rodata->by_thread = bpf->by_thread;
	/* The stack pointer may be in any place of the first one. */
	bpf->skel->rodata->dump_pages = DIV_ROUND_UP(bpf->dump_size, HYBRID_WALK_PAGE) + 1;
	bpf->skel->rodata->may_dump_samples = may_dump_samples(evlist);
	return hybrid_bpf__prepare_traced(bpf, evlist) ?: hybrid_bpf__prepare_off_cpu(bpf);
}

/* @types: by hybrid_bpf__types() */
static int open_and_load(struct hybrid_bpf *bpf, struct evlist *evlist, int types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[32];
	int err;

	if (types >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
		opts.btf_custom_path = path;
	}
	bpf->skel = hybrid_walk_bpf__open_opts(&opts);
	if (!bpf->skel)
		return -errno;
	err = configure(bpf, evlist);
	err = err ?: hybrid_walk_bpf__load(bpf->skel);
	if (err)
		return err;
	keep_own_ids(bpf->skel->obj);
	return hybrid_bpf__map_table(bpf);
}

static int load(struct hybrid_bpf *bpf, struct evlist *evlist)
{
	size_t size;
	const void *image = hybrid_walk_bpf__elf_bytes(&size);
	int types = hybrid_bpf__types(image, size), err;

	err = open_and_load(bpf, evlist, types);
	if (types >= 0)
		close(types);
	return err;
}

bool hybrid_bpf__is_own(u32 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(own_ids); i++) {
		if (id && id == own_ids[i])
			return true;
	}
	return false;
}

/* How many samples other programs cost: where that can't be told, the rest is the same. */
static void count_lost(struct hybrid_bpf *bpf)
{
	u32 walk_id = program_info(bpf->skel->progs.hybrid_walk).id;
	int err = walk_id ? 0 : -EINVAL;

	if (!err) {
		bpf->skel->bss->walk_id = walk_id;
		bpf->skel->links.hybrid_fired = bpf_program__attach(bpf->skel->progs.hybrid_fired);
		err = bpf->skel->links.hybrid_fired ? 0 : -errno;
	}
	if (err)
		pr_debug("hybrid: samples that other BPF programs cost are not counted: %s\n",
			 strerror(-err));
}

/* What BPF does apart from the samples that it writes itself. */
#define OFF_CPU	1
#define TRACED	2

static void print_missing(unsigned int what, int err)
{
	const char *name = what & TRACED ? "samples with dumps have no functions" :
			   what & OFF_CPU ? "off-CPU chains are the kernel's" :
			   "samples have stack dumps";

	pr_debug("hybrid: %s: the BPF program can't be loaded: %s\n", name, strerror(-err));
}

/* @what: OFF_CPU, TRACED */
static struct hybrid_bpf *hybrid_bpf__new(struct evlist *evlist, unsigned int what, u32 dump_size)
{
	libbpf_print_fn_t print = verbose > 1 ? NULL : libbpf_set_print(print_nothing);
	const struct perf_evlist *core = evlist__core(evlist);
	struct hybrid_bpf *bpf = calloc(1, sizeof(*bpf));
	int err = -ENOMEM;

	if (bpf) {
		INIT_LIST_HEAD(&bpf->files);
		bpf->off_cpu = what & OFF_CPU;
		bpf->traced = what & TRACED;
		bpf->dump_size = dump_size ?: HYBRID_WALK_STACK;
		bpf->by_thread = perf_cpu_map__has_any_cpu_or_is_empty(core->all_cpus);
		bpf->cpus = libbpf_num_possible_cpus();
		err = bpf->cpus < 0 ? bpf->cpus : load(bpf, evlist);
	}
	if (!err && hybrid_bpf__first_served(evlist))
		count_lost(bpf);
	if (print)
		libbpf_set_print(print);
	if (!err)
		return bpf;
	print_missing(what, err);
	hybrid_bpf__delete(bpf);
	return NULL;
}

/**
 * struct config - what perf config says
 * @wanted: on unless it is turned off
 * @mb: of rows, at most
 */
struct config {
	bool	wanted;
	u64	mb;
};

static int read_config(const char *var, const char *value, void *arg)
{
	struct config *config = arg;

	if (!strcmp(var, "record.hybrid-bpf"))
		config->wanted = perf_config_bool(var, value);
	else if (!strcmp(var, "record.hybrid-bpf-memory"))
		return perf_config_u64(&config->mb, var, value);
	return 0;
}

static void set_limits(struct hybrid_bpf *bpf, u64 mb)
{
	mb = min_t(u64, max_t(u64, mb, HYBRID_BPF_CHUNK_SIZE >> 20), MAX_MB);
	bpf->table.max_chunks = mb / (HYBRID_BPF_CHUNK_SIZE >> 20);
	bpf->max_objects = mb * MB_OBJECTS;
}

/* perf leaves the time out where rings are of threads: its records need none to be ordered. */
static void set_time(struct evlist *evlist, bool set)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (set)
			evsel__set_sample_bit(evsel, TIME);
		else
			evsel__reset_sample_bit(evsel, TIME);
	}
}

static bool lacks_time(struct evlist *evlist)
{
	struct evsel *evsel;

	if (!perf_cpu_map__has_any_cpu_or_is_empty(evlist__core(evlist)->all_cpus))
		return false;
	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.attr.sample_type & PERF_SAMPLE_TIME)
			return false;
	}
	return true;
}

void hybrid_bpf__prepare(struct evlist *evlist, u32 dump_size)
{
	bool untimed = lacks_time(evlist);
	unsigned int what;
	struct config config = { .wanted = true, .mb = MAX_MB };
	struct evsel *evsel;
	bool served;

	perf_config(read_config, &config);
	if (!config.wanted)
		return;
	if (untimed)
		set_time(evlist, true);
	served = hybrid_bpf__first_served(evlist);
	if (!served)
		pr_debug("hybrid: samples have stack dumps: no event that BPF serves\n");
	what = hybrid_bpf__off_cpu_evsel(evlist) ? OFF_CPU : 0;
	if (hybrid_bpf__first_traced(evlist))
		prepared = hybrid_bpf__new(evlist, what | TRACED, dump_size);
	if (!prepared && what)
		prepared = hybrid_bpf__new(evlist, what, dump_size);
	if (!prepared && served)
		prepared = hybrid_bpf__new(evlist, 0, dump_size);
	if (!prepared) {
		if (untimed)
			set_time(evlist, false);
		return;
	}
	set_limits(prepared, config.mb);
	/* They tell its records from others. */
	evlist__for_each_entry(evlist, evsel)
		evsel__set_sample_id(evsel, true);
	evlist__set_id_pos(evlist);
}

bool hybrid_bpf__serves_all(struct evlist *evlist)
{
	struct evsel *evsel;

	if (!prepared)
		return false;
	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel) && !hybrid_bpf__is_served(evsel))
			return false;
	}
	return true;
}

struct hybrid_bpf *hybrid_bpf__take(void)
{
	struct hybrid_bpf *bpf = prepared;

	prepared = NULL;
	return bpf;
}

void hybrid_bpf__stats(const struct hybrid_bpf *bpf, struct perf_unwind_stats *stats,
		       struct hybrid_walk_counts *counts)
{
	if (stats)
		*stats = bpf->stats;
	hybrid_bpf__counts(bpf, bpf->skel->maps.states, counts);
}

void hybrid_bpf__delete(struct hybrid_bpf *bpf)
{
	unsigned int i;

	if (!bpf)
		return;
	for (i = 0; i < bpf->nr_ids; i++)
		close(bpf->fds[i]);
	for (i = 0; i < bpf->nr_links; i++)
		close(bpf->links[i]);
	hybrid_bpf__unmap_table(bpf);
	hybrid_walk_bpf__destroy(bpf->skel);
	hybrid_bpf__free_files(bpf);
	free(bpf->fds);
	free(bpf->links);
	free(bpf->ids);
	free(bpf);
}
