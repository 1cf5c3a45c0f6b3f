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
#include "../../debug.h"
#include "../../dso.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../map.h"
#include "../../maps.h"
#include "../../perf_regs.h"
#include "../../sample.h"
#include "../../session.h"
#include "../../symbol.h"
#include "../../thread.h"
#include "../../unwind.h"
#include "../compiler/compiler.h"
#include "../glue/open-file.h"
#include "../glue/skid-evsel.h"
#include "../process/process.h"
#include "../runtime/name-chain.h"
#include "../runtime/runtime.h"
#include "../unwind/kernel-walk.h"
#include "../unwind/memory.h"
#include "../unwind/merge.h"
#include "../unwind/precise.h"
#include "../unwind/uretprobe.h"
#include "../walkers/walker.h"
#include "../x86/abi.h"
#include "../x86/regs.h"
#include "names.h"
#include "resolve.h"

/* perf top runs for days: what is known of so many tasks is dropped at once. */
#define MAX_THREADS	16384

/* Samples before code that processes made is read again. */
#define SAMPLES_A_PASS	64

/* Events that are remembered. */
#define MAX_EVENTS	32

struct event {
	const struct evsel	*evsel;
	struct hybrid_precise	 precise;
};

struct resolver {
	struct hybrid_processes	ps;
	struct hybrid_unwinder	unwinder;
	bool			is_taught;
	unsigned int		nr_samples;
	u64			regs_mask;
	struct event		events[MAX_EVENTS];
	struct hybrid_regs_map	regs_64;
	struct hybrid_regs_map	regs_32;
	struct hybrid_frame	frames[HYBRID_MAX_FRAMES];
	u64			chain[1 + HYBRID_MAX_FRAMES + 256];
	u64			named[1 + HYBRID_MAX_FRAMES + 256];
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

/* Returns true if no file backs it. */
static bool add_map(struct hybrid_space *space, const struct thread *thread, struct map *map)
{
	struct hybrid_mapping mapping = { .pid = thread__pid(thread) };
	struct hybrid_ident ident;

	if (is_data(map))
		return false;
	mapping.start = map__start(map);
	mapping.end = map__end(map);
	mapping.pgoff = map__pgoff(map);
	ident_of(map__dso(map), &ident);
	mapping.is_uprobes = strstarts(ident.path, HYBRID_UPROBES);
	/* That is how perf calls memory that no file backs. */
	if (!is_perf_pid_map_name(ident.path))
		mapping.object = hybrid_object_get(&resolver->ps.objects, &ident);
	hybrid_space_map(space, &mapping, true);
	if (mapping.object)
		hybrid_object_put(mapping.object);
	return !mapping.object;
}

struct all_maps {
	struct hybrid_space	*space;
	const struct thread	*thread;
};

static int add_file(struct map *map, void *data)
{
	const struct all_maps *all = data;

	if (!is_perf_pid_map_name(dso__long_name(map__dso(map))))
		add_map(all->space, all->thread, map);
	return 0;
}

/*
 * Adds the mapping that holds @ip to @space, from perf's maps. A runtime may have made what no file
 * backs: it is known by one of the process's files.
 */
static void add_mapping(struct hybrid_space *space, u64 ip, void *arg)
{
	struct thread *thread = arg;
	struct all_maps all = { space, thread };
	struct map *map = maps__find(thread__maps(thread), ip);

	if (!map)
		return;
	if (resolver->unwinder.runtimes && is_perf_pid_map_name(dso__long_name(map__dso(map))))
		maps__for_each_map(thread__maps(thread), add_file, &all);
	add_map(space, thread, map);
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
	hybrid_runtimes_delete(resolver->unwinder.runtimes);
	resolver->unwinder.runtimes = NULL;
	hybrid_compiler_stop(walker ? walker->compiler : NULL);
	hybrid_processes_exit(&resolver->ps);
	if (walker && walker->compiler) {
		hybrid_compiler_delete(walker->compiler);
		walker->compiler = NULL;
	}
	resolver->is_taught = false;
}

void hybrid__set_walker(struct hybrid_walker *what)
{
	if (!what && resolver) {
		forget_processes();
		hybrid_processes_init(&resolver->ps, hybrid_open_stored);
	}
	walker = what;
}

/* What runtimes say is of now: in perf top and trace alone that is of the sample, too. */
static void start_runtimes(const struct evsel *evsel)
{
	if (!is_live(evsel) || resolver->unwinder.runtimes)
		return;
	resolver->unwinder.runtimes = hybrid_runtimes_new(&resolver->ps.objects,
							  resolver->unwinder.memory);
	resolver->unwinder.runtime_rule = hybrid_runtime_rule;
	resolver->unwinder.runtime_range = hybrid_runtime_range;
}

static bool resolver_init(const struct evsel *evsel)
{
	if (resolver && resolver->ps.nr_threads > MAX_THREADS) {
		forget_processes();
		hybrid_processes_init(&resolver->ps, hybrid_open_stored);
	}
	if (resolver) {
		start_runtimes(evsel);
		return true;
	}
	resolver = zalloc(sizeof(*resolver));
	if (!resolver)
		return false;
	hybrid_processes_init(&resolver->ps, hybrid_open_stored);
	resolver->unwinder.add_mapping = add_mapping;
	if (is_live(evsel))
		resolver->unwinder.memory = hybrid_memory_new();
	start_runtimes(evsel);
	return true;
}

/* The thread, with a space that is empty where perf's maps have changed. */
static struct hybrid_thread *current_thread(struct thread *thread)
{
	struct hybrid_thread *ht;
	u64 generation = maps__generation(thread__maps(thread));

	ht = hybrid_thread_get(&resolver->ps, thread__pid(thread), thread__tid(thread));
	if (!ht)
		return NULL;
	if (ht->process->maps_generation != generation) {
		hybrid_space_clear(ht->process->space);
		ht->process->maps_generation = generation;
	}
	return ht;
}

static void teach(const struct hybrid_unwind *u)
{
	if (!walker)
		return;
	if (!resolver->is_taught)
		hybrid_walker__start(walker, &resolver->ps.objects);
	resolver->is_taught = true;
	if (!walker->compiler)
		return;
	hybrid_compiler_sample(walker->compiler, &resolver->unwinder, u, 0, 0);
	hybrid_compiler_pass(walker->compiler);
}

static bool prepare(struct hybrid_unwind *u, const struct perf_sample *sample)
{
	const struct regs_dump *regs = sample->user_regs;
	bool is_64 = regs->abi == PERF_SAMPLE_REGS_ABI_64;
	const struct hybrid_regs_map *map;

	if (resolver->regs_mask != regs->mask) {
		hybrid_regs_map_init(&resolver->regs_64, regs->mask, &hybrid_abi_64);
		hybrid_regs_map_init(&resolver->regs_32, regs->mask, &hybrid_abi_32);
		resolver->regs_mask = regs->mask;
	}
	map = is_64 ? &resolver->regs_64 : &resolver->regs_32;
	if (!map->complete)
		return false;
	u->abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32;
	hybrid_regs_read(map, regs->regs, &u->regs);
	u->dump = (const u8 *)sample->user_stack.data;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->user_stack.size;
	return true;
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
	event->precise.first = 0;
	return &event->precise;
}

u64 hybrid__named_ip(void)
{
	return resolver ? resolver->named_ip : 0;
}

static void put_names(struct thread *thread, const struct hybrid_unwind *u,
		      struct hybrid_merge *merge)
{
	struct hybrid_namer *namer;
	struct hybrid_named_chain c = {
		.chain = merge->out, .nr = merge->nr, .frames = u->frames, .nr_frames = u->nr,
		.out = resolver->named, .max = merge->max,
	};

	namer = u->space ? hybrid_runtime_namer(resolver->unwinder.runtimes, u->pid, u->space) :
			   NULL;
	if (!namer)
		return;
	hybrid_session_names__put(namer, thread, &c);
	if (!c.is_named)
		return;
	memcpy(merge->out, c.out, c.nr_out * sizeof(*c.out));
	merge->nr = c.nr_out;
	resolver->named_ip = c.first;
}

struct ip_callchain *hybrid__callchain(struct thread *thread, struct perf_sample *sample,
				       int max_stack)
{
	struct hybrid_merge merge = {
		.kernel		= sample->callchain ? sample->callchain->ips : NULL,
		.nr_kernel	= sample->callchain ? sample->callchain->nr : 0,
		.at_probe	= evsel__may_be_uprobe(sample->evsel),
	};
	struct hybrid_unwind unwind = {};
	struct hybrid_precise *precise;
	struct ip_callchain *chain;
	struct hybrid_thread *ht;

	if (max_stack < 1 || !resolver_init(sample->evsel))
		return sample->callchain;
	precise = precise_of(sample->evsel);
	resolver->named_ip = 0;
	if (resolver->nr_samples++ % SAMPLES_A_PASS == 0) {
		hybrid_memory_forget(resolver->unwinder.memory);
		hybrid_runtimes_forget(resolver->unwinder.runtimes);
	}
	ht = current_thread(thread);
	chain = (struct ip_callchain *)resolver->chain;
	merge.out = chain->ips;
	merge.max = ARRAY_SIZE(resolver->chain) - 1;
	unwind.max_frames = min(max_stack, HYBRID_MAX_FRAMES);
	unwind.frames = resolver->frames;
	resolver->unwinder.add_mapping_arg = thread;
	if (ht) {
		unwind.space = ht->process->space;
		unwind.pid = thread__pid(thread);
	}
	if (ht && walker && hybrid_is_kernel_walk(merge.kernel, merge.nr_kernel)) {
		unwind.abi = &hybrid_abi_64;
		hybrid_kernel_walk_frames(&resolver->unwinder, &unwind, merge.kernel,
					  merge.nr_kernel, hybrid_walker__checks_calls(walker));
		merge.unwind = &unwind;
	} else if (ht && has_stack(sample) && prepare(&unwind, sample)) {
		hybrid_uretprobe_chain(&unwind, merge.kernel, merge.nr_kernel);
		if (hybrid_precise_unwind(&resolver->unwinder, &unwind, precise)) {
			merge.unwind = &unwind;
			merge.tail = &ht->tail;
			teach(&unwind);
		}
	}
	hybrid_merge(&resolver->unwinder, &merge);
	hybrid_precise_put_first(precise, merge.out, merge.nr);
	if (merge.unwind)
		put_names(thread, &unwind, &merge);
	chain->nr = merge.nr;
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
