// SPDX-License-Identifier: GPL-2.0
/*
 * The unwinder for samples that are already in perf's session: perf report,
 * script, inject, top and trace. Mappings come from perf's own maps, as they
 * are asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include "../../callchain.h"
#include "../../comm.h"
#include "../../debug.h"
#include "../../dso.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../machine.h"
#include "../../map.h"
#include "../../maps.h"
#include "../../perf_regs.h"
#include "../../sample.h"
#include "../../session.h"
#include "../../symbol.h"
#include "../../thread.h"
#include "../../unwind.h"
#include "../api/hybrid-unwind.h"
#include "../compiler/compiler.h"
#include "../glue/open-file.h"
#include "../glue/skid-evsel.h"
#include "../records/kept-functions.h"
#include "../records/walk-record.h"
#include "../runtime/name-chain.h"
#include "../unwind/precise.h"
#include "../walkers/walker.h"
#include "names.h"
#include "resolve.h"

/* perf top runs for days: what is known of so many tasks is dropped at once. */
#define MAX_THREADS	16384

/* Samples before code that processes made is read again. */
#define SAMPLES_A_PASS	64

/* More than fits into a sample of 64 KiB. */
#define MAX_FRAMES	8000

/* Events that are remembered. */
#define MAX_EVENTS	32

struct event {
	const struct evsel	*evsel;
	struct hybrid_precise	 precise;
};

struct resolver {
	struct hybrid_core	*core;
	bool			is_live;
	bool			has_rules;
	unsigned int		nr_samples;
	struct event		events[MAX_EVENTS];
	u64			chain[1 + MAX_FRAMES + 256];
	u64			named[1 + MAX_FRAMES + 256];
	u64			named_ip;
};

static struct resolver *resolver;

/* Of perf top: what walks by rules; NULL: nothing. */
static struct hybrid_walker *walker;

static bool has_stack(const struct perf_sample *sample)
{
	u64 type = sample->evsel->core.attr.sample_type;

	return type & PERF_SAMPLE_REGS_USER && type & PERF_SAMPLE_STACK_USER &&
	       sample->user_regs && sample->user_regs->regs && sample->user_stack.size;
}

/* Without a stack, as it was walked, or as there was no room for it. */
static bool may_be_walked(struct perf_sample *sample)
{
	return walker && sample->callchain && evsel__has_hybrid_callchain(sample->evsel);
}

bool hybrid__resolves(struct perf_sample *sample)
{
	if (may_be_walked(sample))
		return true;
	return has_stack(sample) && (symbol_conf.unwind_style[0] == UNWIND_STYLE_HYBRID ||
				     evsel__has_hybrid_callchain(sample->evsel));
}

bool hybrid__keeps(struct perf_sample *sample)
{
	return symbol_conf.unwind_style[0] == UNWIND_STYLE_HYBRID && !has_stack(sample);
}

static void ident_of(struct dso *dso, struct hybrid_ident *ident)
{
	const struct dso_id *id = dso__id_const(dso);

	memset(ident, 0, sizeof(*ident));
	ident->path = dso__long_name(dso);
	if (dso__has_build_id(dso)) {
		ident->build_id_size = min_t(u8, dso__bid(dso)->size, HYBRID_BUILD_ID_SIZE);
		memcpy(ident->build_id, dso__bid(dso)->data, ident->build_id_size);
	} else if (id->mmap2_valid) {
		ident->maj = id->maj;
		ident->min = id->min;
		ident->ino = id->ino;
		ident->ino_generation = id->ino_generation;
	}
}

/*
 * Files of --call-graph dwarf tell of data, too. perf inject --jit has the mode of
 * the file where the protection should be.
 */
static bool is_data(const struct map *map)
{
	u32 prot = map__prot(map);

	return !(prot & ~(PROT_READ | PROT_WRITE));
}

struct maps_of {
	struct hybrid_core	*core;
	pid_t			 pid;
};

static void add_map(const struct maps_of *of, struct map *map)
{
	struct hybrid_core_map found = {};
	struct hybrid_ident ident;

	if (is_data(map))
		return;
	found.start = map__start(map);
	found.end = map__end(map);
	found.pgoff = map__pgoff(map);
	ident_of(map__dso(map), &ident);
	/* That is how perf calls memory that no file backs. */
	if (!is_perf_pid_map_name(ident.path))
		found.file = &ident;
	hybrid_core_map(of->core, of->pid, &found);
}

static int add_file(struct map *map, void *data)
{
	if (!is_perf_pid_map_name(dso__long_name(map__dso(map))))
		add_map(data, map);
	return 0;
}

/*
 * Adds the mapping that holds @ip, from perf's maps. A runtime may have made what no file backs: it
 * is known by one of the process's files.
 */
static void find_map(struct hybrid_core *core, pid_t pid, u64 ip, void *arg)
{
	struct thread *thread = arg;
	struct map *map = maps__find(thread__maps(thread), ip);
	struct maps_of of = { core, pid };

	if (!map)
		return;
	if (resolver->is_live && is_perf_pid_map_name(dso__long_name(map__dso(map))))
		maps__for_each_map(thread__maps(thread), add_file, &of);
	add_map(&of, map);
	map__put(map);
}

/* perf top and trace: what was sampled may still run, and be asked. */
static bool is_live(const struct evsel *evsel)
{
	const struct perf_session *session = evlist__session(evsel->evlist);

	return !session || !session->data;
}

/* The files of objects that go are the compiler's. */
static void forget_processes(void)
{
	hybrid_compiler_stop(walker ? walker->compiler : NULL);
	hybrid_core_forget(resolver->core);
	if (walker && walker->compiler) {
		hybrid_compiler_delete(walker->compiler);
		walker->compiler = NULL;
	}
	resolver->has_rules = false;
}

void hybrid__set_walker(struct hybrid_walker *what)
{
	if (!what && resolver)
		forget_processes();
	walker = what;
}

static bool resolver_init(const struct evsel *evsel)
{
	static const struct hybrid_core_ops ops = {
		.open = hybrid_open_stored, .find_map = find_map,
	};

	if (resolver && hybrid_core_nr_threads(resolver->core) > MAX_THREADS)
		forget_processes();
	if (resolver)
		return true;
	resolver = zalloc(sizeof(*resolver));
	if (!resolver)
		return false;
	resolver->core = hybrid_core_new(&ops, NULL);
	if (!resolver->core) {
		zfree(&resolver);
		return false;
	}
	resolver->is_live = is_live(evsel);
	if (resolver->is_live)
		hybrid_core_set_live(resolver->core);
	return true;
}

static void load(const struct hybrid_sample *sample)
{
	if (!walker)
		return;
	if (!resolver->has_rules) {
		hybrid_walker__start(walker, hybrid_core_objects(resolver->core));
		hybrid_core_set_functions(resolver->core, walker->bpf);
	}
	resolver->has_rules = true;
	if (!walker->compiler || !sample->by_regs)
		return;
	hybrid_core_compile(resolver->core, sample, walker->compiler);
	hybrid_compiler_pass(walker->compiler);
}

/* Without its stack the kernel's chain is all that there is. */
static void take_regs(struct hybrid_sample *to, const struct perf_sample *sample)
{
	const struct regs_dump *regs = sample->user_regs;

	if (!has_stack(sample))
		return;
	to->regs_abi = regs->abi;
	to->regs_mask = regs->mask;
	to->regs = regs->regs;
	to->stack = sample->user_stack.data;
	to->stack_size = sample->user_stack.size;
}

/* A file of --call-graph dwarf does not say where the interrupt was. */
static void warn(const struct evsel *evsel, enum hybrid_skid moment)
{
	if (moment == HYBRID_SKID_NONE || evsel__has_hybrid_callchain(evsel))
		return;
	pr_warning("%s: address, registers and stack are of different moments: callers that ",
		   evsel__name((struct evsel *)evsel));
	pr_warning("do not fit are cut off; record with --call-graph hybrid to have them\n");
}

/* Events of equal remainders share a place: what is learned of them is learned anew. */
static struct hybrid_precise *precise_of(const struct evsel *evsel)
{
	struct event *event = &resolver->events[evsel->core.idx % MAX_EVENTS];

	if (event->evsel != evsel) {
		memset(event, 0, sizeof(*event));
		event->evsel = evsel;
		event->precise.moment = hybrid_skid__evsel(evsel, is_live(evsel) ? NULL :
				perf_session__env(evlist__session(evsel->evlist)));
		warn(evsel, event->precise.moment);
	}
	return &event->precise;
}

u64 hybrid__named_ip(void)
{
	return resolver ? resolver->named_ip : 0;
}

static void put_names(struct thread *thread, struct hybrid_sample *sample)
{
	struct hybrid_named_chain c = { .out = resolver->named, .max = sample->max };

	hybrid_session_names__put(resolver->core, sample, thread, &c);
	if (!c.is_named)
		return;
	memcpy(sample->chain, c.out, c.nr_out * sizeof(*c.out));
	sample->nr = c.nr_out;
	resolver->named_ip = c.first;
}

/* What the kernel, or BPF, has found. Without a walker no chain is of a walk by rules. */
static void take_chain(struct hybrid_sample *to, const struct perf_sample *sample)
{
	const struct ip_callchain *chain = sample->callchain;

	hybrid_kernel_chain_parse(chain ? chain->ips : NULL, chain ? chain->nr : 0, &to->kernel);
	if (!walker) {
		to->kernel.is_walked = false;
		to->kernel.info = 0;
		return;
	}
	to->checks_calls = hybrid_walker__checks_calls(walker);
	hybrid_kept_functions__take(hybrid_task_ids(to->pid, to->tid), sample->time,
				    &to->functions);
}

/* Does a process run what its parent has mapped, without an exec since? */
static bool is_forked(struct thread *thread)
{
	struct comm *comm, *first = NULL;
	bool has_exec = false;

	down_read(thread__comm_lock(thread));
	list_for_each_entry(comm, thread__comm_list(thread), list) {
		has_exec |= comm->exec;
		first = comm;
	}
	up_read(thread__comm_lock(thread));
	/* Of a process that was there before perf the first has no time. */
	return first && first->start && !has_exec;
}

/* If its mappings are not those of the last sample, all that is known of the process is old. */
static void meet_process(struct thread *thread)
{
	struct maps *maps = thread__maps(thread);
	pid_t pid = thread__pid(thread);
	struct thread *leader;

	if (hybrid_core_maps_of(resolver->core, pid, thread__tid(thread),
				maps__generation(maps)) <= 0)
		return;
	/* Each thread has names of its own, and has not done the exec. */
	leader = machine__find_thread(maps__machine(maps), pid, pid);
	hybrid_core_set_forked(resolver->core, pid, is_forked(leader ?: thread));
	thread__put(leader);
}

struct ip_callchain *hybrid__callchain(struct thread *thread, struct perf_sample *sample,
				       int max_stack)
{
	struct hybrid_sample unwound = {
		.pid		= thread__pid(thread),
		.tid		= thread__tid(thread),
		.ip		= sample->ip,
		.cpumode	= sample->cpumode,
		.at_probe	= evsel__may_be_uprobe(sample->evsel),
		.max_frames	= max_stack,
		.waits		= true,
	};
	struct ip_callchain *chain;

	if (max_stack < 1 || !resolver_init(sample->evsel))
		return sample->callchain;
	chain = (struct ip_callchain *)resolver->chain;
	unwound.precise = precise_of(sample->evsel);
	unwound.chain = chain->ips;
	unwound.max = ARRAY_SIZE(resolver->chain) - 1;
	take_regs(&unwound, sample);
	take_chain(&unwound, sample);
	resolver->named_ip = 0;
	if (resolver->nr_samples++ % SAMPLES_A_PASS == 0)
		hybrid_core_pass(resolver->core);
	hybrid_core_set_arg(resolver->core, thread);
	meet_process(thread);
	if (hybrid_core_callchain(resolver->core, &unwound))
		return sample->callchain;
	load(&unwound);
	put_names(thread, &unwound);
	chain->nr = unwound.nr;
	return chain;
}

static int add_entry(unwind_entry_cb_t cb, void *arg, struct thread *thread, u64 ip)
{
	struct unwind_entry entry = { .ip = ip };
	struct addr_location al;
	int ret;

	addr_location__init(&al);
	thread__find_symbol(thread, PERF_RECORD_MISC_USER, ip, &al);
	entry.ms.thread = thread__get(al.thread);
	entry.ms.map = map__get(al.map);
	entry.ms.sym = al.sym;
	ret = cb(&entry, arg);
	map_symbol__exit(&entry.ms);
	addr_location__exit(&al);
	return ret;
}

/* For those who ask unwind__get_entries() for the user part alone. */
int hybrid__get_entries(unwind_entry_cb_t cb, void *arg, struct thread *thread,
			struct perf_sample *data, int max_stack)
{
	struct ip_callchain *chain = hybrid__callchain(thread, data, max_stack);
	u64 first = 0, i, nr;
	int ret;

	if (!chain)
		return -ENOMEM;
	for (i = 0; i < chain->nr; i++) {
		if (chain->ips[i] == PERF_CONTEXT_USER)
			first = i + 1;
	}
	if (!first)
		return 0;
	nr = chain->nr - first;
	for (i = 0; i < nr; i++) {
		u64 at = callchain_param.order == ORDER_CALLER ? nr - 1 - i : i;

		ret = add_entry(cb, arg, thread, chain->ips[first + at]);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	return nr;
}
