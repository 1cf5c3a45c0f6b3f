// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include "../compiler/compiler.h"
#include "../process/await.h"
#include "../process/track.h"
#include "../runtime/runtime.h"
#include "../unwind/kernel-walk.h"
#include "../unwind/live-stack.h"
#include "../unwind/merge.h"
#include "../unwind/precise.h"
#include "core.h"

static int open_path(const struct hybrid_mapping *mapping)
{
	return open(hybrid_mapping_ident(mapping)->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void find_map(struct hybrid_space *space __maybe_unused, u64 ip, void *arg)
{
	struct hybrid_core *core = arg;

	core->ops.find_map(core, core->pid, ip, core->arg);
}

struct hybrid_core *hybrid_core_new(const struct hybrid_core_ops *ops, void *arg)
{
	struct hybrid_core *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	if (ops)
		core->ops = *ops;
	core->arg = arg;
	if (core->ops.find_map)
		core->unwinder.add_mapping = find_map;
	core->unwinder.add_mapping_arg = core;
	hybrid_processes_init(&core->ps, core->ops.open ?: open_path);
	return core;
}

void hybrid_core_delete(struct hybrid_core *core)
{
	if (!core)
		return;
	hybrid_runtimes_delete(core->unwinder.runtimes);
	hybrid_jit_delete(core->unwinder.jit);
	hybrid_processes_exit(&core->ps);
	hybrid_memory_delete(core->unwinder.memory);
	free(core);
}

void hybrid_core_set_arg(struct hybrid_core *core, void *arg)
{
	core->arg = arg;
}

void hybrid_core_forget(struct hybrid_core *core)
{
	bool is_live = core->unwinder.memory;

	hybrid_runtimes_delete(core->unwinder.runtimes);
	core->unwinder.runtimes = NULL;
	hybrid_jit_delete(core->unwinder.jit);
	core->unwinder.jit = NULL;
	hybrid_processes_exit(&core->ps);
	hybrid_processes_init(&core->ps, core->ops.open ?: open_path);
	if (is_live)
		hybrid_core_set_live(core);
}

void hybrid_core_set_live(struct hybrid_core *core)
{
	struct hybrid_unwinder *unwinder = &core->unwinder;

	unwinder->memory = unwinder->memory ?: hybrid_memory_new();
	unwinder->jit = unwinder->jit ?: hybrid_jit_new(&core->ps.objects, unwinder->memory);
	unwinder->runtimes = unwinder->runtimes ?:
		hybrid_runtimes_new(&core->ps.objects, unwinder->memory);
	unwinder->runtime_rule = hybrid_runtime_rule;
	unwinder->runtime_range = hybrid_runtime_range;
}

void hybrid_core_set_functions(struct hybrid_core *core, bool reads_functions)
{
	core->reads_functions = reads_functions;
}

void hybrid_core_pass(struct hybrid_core *core)
{
	hybrid_memory_forget(core->unwinder.memory);
	hybrid_jit_forget(core->unwinder.jit);
	hybrid_runtimes_forget(core->unwinder.runtimes);
}

int hybrid_core_map(struct hybrid_core *core, pid_t pid, const struct hybrid_core_map *map)
{
	const struct hybrid_mapping mapping = {
		.start		= map->start,
		.end		= map->end,
		.pgoff		= map->pgoff,
		.pid		= pid,
		.is_uprobes	= map->file && strstarts(map->file->path, HYBRID_UPROBES),
	};

	return hybrid_process_map(&core->ps, &mapping, map->file, true);
}

int hybrid_core_maps_of(struct hybrid_core *core, pid_t pid, pid_t tid, u64 state)
{
	struct hybrid_thread *thread = hybrid_thread_get(&core->ps, pid, tid);

	if (!thread)
		return -ENOMEM;
	if (thread->process->maps_generation == state)
		return 0;
	hybrid_space_clear(thread->process->space);
	thread->process->maps_generation = state;
	return 1;
}

void hybrid_core_set_forked(struct hybrid_core *core, pid_t pid, bool forked)
{
	struct hybrid_process *process = hybrid_process_find(&core->ps, pid);

	if (process)
		process->forked = forked;
}

int hybrid_core_fork(struct hybrid_core *core, pid_t pid, pid_t tid, pid_t ppid)
{
	return hybrid_process_fork(&core->ps, pid, tid, ppid);
}

int hybrid_core_exec(struct hybrid_core *core, pid_t pid)
{
	return hybrid_process_exec(&core->ps, pid);
}

void hybrid_core_exit(struct hybrid_core *core, pid_t tid)
{
	hybrid_thread_exit(&core->ps, tid);
}

int hybrid_core_record(struct hybrid_core *core, const union perf_event *event)
{
	return hybrid_track(&core->ps, event);
}

unsigned int hybrid_core_nr_threads(const struct hybrid_core *core)
{
	return core->ps.nr_threads;
}

struct hybrid_objects *hybrid_core_objects(struct hybrid_core *core)
{
	return &core->ps.objects;
}

bool hybrid_core_is_enough(u64 regs_abi, u64 regs_mask)
{
	struct hybrid_regs_map map;

	hybrid_regs_map_init(&map, regs_mask, regs_abi == PERF_SAMPLE_REGS_ABI_32 ?
			     &hybrid_abi_32 : &hybrid_abi_64);
	return map.complete;
}

static const struct hybrid_abi *abi_of(u64 regs_abi)
{
	return regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &hybrid_abi_32 : &hybrid_abi_64;
}

/* A mask without registers is none: it has no place. */
static const struct hybrid_regs_map *map_of(struct hybrid_core *core, u64 regs_abi, u64 mask)
{
	struct hybrid_core_regs *regs = NULL;
	unsigned int i;

	for (i = 0; i < HYBRID_CORE_MASKS && !regs; i++) {
		if (core->regs[i].mask == mask)
			regs = &core->regs[i];
	}
	if (!regs) {
		regs = &core->regs[core->next_regs++ % HYBRID_CORE_MASKS];
		regs->mask = mask;
		hybrid_regs_map_init(&regs->of_64, mask, &hybrid_abi_64);
		hybrid_regs_map_init(&regs->of_32, mask, &hybrid_abi_32);
	}
	return regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &regs->of_32 : &regs->of_64;
}

u64 hybrid_core_sp(struct hybrid_core *core, u64 regs_abi, u64 regs_mask, const u64 *regs)
{
	const struct hybrid_regs_map *map = map_of(core, regs_abi, regs_mask);
	struct hybrid_regs read;

	if (!regs || !map->complete)
		return 0;
	hybrid_regs_read(map, regs, &read);
	return read.value[abi_of(regs_abi)->sp];
}

/*
 * execve() gives up the address space before it has another (begin_new_exec(), mm_release()):
 * where vfork() had made the process, its parent runs on the stack meanwhile.
 */
static bool may_be_overwritten(const struct hybrid_process *process,
			       const struct hybrid_sample *sample)
{
	const struct hybrid_kernel_chain *kernel = &sample->kernel;

	/* The mode of a precise event's sample says where the sampled address is. */
	return process->forked &&
	       (sample->cpumode == PERF_RECORD_MISC_KERNEL ||
		(kernel->nr_kernel && kernel->kernel[0] == PERF_CONTEXT_KERNEL));
}

/* Registers and stack; false: the sample has not what an unwind begins with. */
static bool prepare(struct hybrid_core *core, const struct hybrid_sample *sample,
		    struct hybrid_thread *thread)
{
	const struct hybrid_regs_map *map = map_of(core, sample->regs_abi, sample->regs_mask);
	struct hybrid_unwind *u = &core->unwind;

	if (!hybrid_kernel_chain_is_whole(&sample->kernel) && (!sample->regs || !map->complete))
		return false;
	u->abi = abi_of(sample->regs_abi);
	u->space = thread->process->space;
	u->overwritten = may_be_overwritten(thread->process, sample);
	u->walker_space = sample->space;
	if (sample->regs)
		hybrid_regs_read(map, sample->regs, &u->regs);
	u->dump = sample->stack;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->stack_size;
	u->dump_room = sample->stack_room;
	u->holes = sample->holes;
	u->room_ends = sample->room_ends;
	u->user = sample->kernel.user;
	u->nr_user = sample->kernel.nr_user;
	u->code = sample->code;
	u->functions = sample->frames;
	u->nr_functions = sample->nr_frames;
	return true;
}

/* False: the kernel's chain tells more than the registers. */
static bool unwind_once(struct hybrid_core *core, const struct hybrid_sample *sample,
			struct hybrid_precise *precise)
{
	struct hybrid_unwinder *unwinder = &core->unwinder;
	struct hybrid_unwind *u = &core->unwind;

	if (!sample->kernel.is_walked)
		return hybrid_precise_unwind(unwinder, u, precise);
	if (hybrid_kernel_chain_is_whole(&sample->kernel))
		hybrid_kernel_walk_frames(unwinder, u, &sample->kernel, sample->checks_calls);
	else
		hybrid_unwind(unwinder, u);
	hybrid_precise_walked(unwinder, u, precise, sample->ip);
	return true;
}

/* In each one a file has come: more than the chain of a sample leads through. */
#define MAX_ROUNDS	256

/*
 * The same. If a file is not there yet, or is compared with another
 * one, the sample waits for that, up to a bound: -EAGAIN.
 */
static int unwind_sample(struct hybrid_core *core, const struct hybrid_sample *sample,
			 struct hybrid_precise *precise)
{
	struct hybrid_objects *objects = &core->ps.objects;
	const struct hybrid_regs regs = core->unwind.regs;
	enum hybrid_load_state state;
	unsigned int rounds = 0;

	do {
		/* Of a precise event's sample another moment's may stand there. */
		core->unwind.regs = regs;
		objects->waiting = NULL;
		core->is_unwound = unwind_once(core, sample, precise);
		state = objects->waiting ? hybrid_await(objects->waiting, sample->waits) :
					   HYBRID_LOAD_LATE;
	} while (state == HYBRID_LOAD_DONE && ++rounds < MAX_ROUNDS);
	return state == HYBRID_LOAD_WAIT ? -EAGAIN : 0;
}

/* Are there frames that BPF found by bp among the functions? */
static bool has_links(const struct hybrid_functions *of)
{
	struct hybrid_walk_function function;
	unsigned int i;

	for (i = 0; i < of->nr; i++) {
		memcpy(&function, (const u8 *)of->words + i * sizeof(function), sizeof(function));
		if (HYBRID_WALK_IS_NATIVE_LINK(function.function))
			return true;
	}
	return false;
}

/* BPF has followed bp only where its walk has ended before the outermost frame. */
static struct hybrid_links links_of(const struct hybrid_sample *sample)
{
	const struct hybrid_functions *of = sample->functions.of;
	unsigned int i;

	if (hybrid_kernel_chain_is_whole(&sample->kernel))
		return (struct hybrid_links) {};
	for (i = 0; i < sample->functions.nr; i++) {
		if (has_links(&of[i]))
			return (struct hybrid_links) { .words = of[i].words, .nr = of[i].nr };
	}
	return (struct hybrid_links) {};
}

static void merge(struct hybrid_core *core, struct hybrid_sample *sample,
		  struct hybrid_thread *thread)
{
	struct hybrid_merge merge = {
		.kernel		= &sample->kernel,
		.unwind		= core->is_unwound ? &core->unwind : NULL,
		.at_probe	= sample->at_probe,
		.tail		= core->is_unwound ? &thread->tail : NULL,
		.pid		= core->unwind.pid,
		.abi		= abi_of(sample->regs_abi),
		.links		= links_of(sample),
		.out		= sample->chain,
		.max		= sample->max,
	};

	/* If mappings come on demand a call that is not in one of them refutes nothing. */
	if (thread && !core->ops.find_map)
		merge.space = thread->process->space;
	sample->outcome = hybrid_merge(&core->unwinder, &merge);
	sample->nr = merge.nr;
	sample->is_marked = merge.marked;
}

int hybrid_core_callchain(struct hybrid_core *core, struct hybrid_sample *sample)
{
	struct hybrid_thread *thread = hybrid_thread_find(&core->ps, sample->pid, sample->tid);
	struct hybrid_precise one_moment = {}, *precise = sample->precise ?: &one_moment;
	int err;

	core->pid = sample->pid;
	core->unwind = (struct hybrid_unwind) {
		.max_frames	= min_t(unsigned int, sample->max_frames, HYBRID_MAX_FRAMES),
		.frames		= core->frames,
		.pid		= core->unwinder.memory ? sample->pid : 0,
	};
	/* Not that of the sample before, where this one is not unwound. */
	precise->first = 0;
	core->is_unwound = false;
	if (thread && prepare(core, sample, thread)) {
		err = unwind_sample(core, sample, precise);
		if (err)
			return err;
	}
	core->nr_unwound = core->unwind.nr;
	merge(core, sample, thread);
	sample->by_regs = core->is_unwound && !hybrid_kernel_chain_is_whole(&sample->kernel);
	hybrid_precise_put_first(precise, sample->chain, sample->nr);
	return 0;
}

const char *hybrid_core_failed_in(const struct hybrid_core *core,
				  const struct hybrid_sample *sample)
{
	const struct hybrid_object *object = core->unwind.failed_in;

	return sample->by_regs && sample->outcome > HYBRID_FP_ONLY && object ?
	       object->ident.path : NULL;
}

struct hybrid_namer *hybrid_core_namer(struct hybrid_core *core, pid_t pid,
				       enum hybrid_language language)
{
	const struct hybrid_process *process = hybrid_process_find(&core->ps, pid);

	if (!process)
		return NULL;
	return hybrid_runtime_namer(core->unwinder.runtimes, pid,
				    process->forked ? process->ancestors[0] : 0, process->space,
				    language);
}

/* The space's state if the chain is complete by what the walk in the kernel found alone; else 0. */
static u64 lasting_gen(const struct hybrid_core *core, const struct hybrid_sample *sample)
{
	return core->is_unwound && !sample->by_regs && sample->outcome == HYBRID_COMPLETE &&
	       !sample->is_marked ? core->unwind.space->gen : 0;
}

void hybrid_core_named_chain(const struct hybrid_core *core, const struct hybrid_sample *sample,
			     struct hybrid_named_chain *c)
{
	const struct hybrid_unwind *u = &core->unwind;

	c->chain = sample->chain;
	c->nr = sample->nr;
	c->frames = core->is_unwound ? u->frames : NULL;
	c->nr_frames = core->is_unwound ? u->nr : 0;
	c->is_whole = core->is_unwound && u->stop == HYBRID_STOP_OUTERMOST;
	c->code_hash = sample->code_hash;
	c->gen = lasting_gen(core, sample);
	c->walked = sample->frames;
	c->nr_walked = sample->nr_frames;
}

/* Frames that BPF is told of, but that were not shown by the sample. */
static unsigned int guess(struct hybrid_core *core, struct hybrid_compiler *compiler)
{
	struct hybrid_unwind *u = &core->unwind;

	if (core->nr_unwound != u->nr || u->stop != HYBRID_STOP_DUMP_END ||
	    !hybrid_compiler_may_guess(compiler))
		return 0;
	return hybrid_live_stack_guess(&core->unwinder, u);
}

void hybrid_core_compile(struct hybrid_core *core, const struct hybrid_sample *sample,
			 struct hybrid_compiler *compiler)
{
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;

	if (!sample->by_regs)
		return;
	hybrid_compiler_sample(compiler, &core->unwinder, &core->unwind, guess(core, compiler),
			       sample->kernel.info);
	if (!core->reads_functions)
		return;
	mapping = hybrid_runtime_interpreter(core->unwinder.runtimes, &core->unwind, &interpreter);
	if (mapping)
		hybrid_compiler_interpreter(compiler, mapping->object, &interpreter, 0);
}
