// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include "../compiler/compiler.h"
#include "../process/process.h"
#include "../process/track.h"
#include "../runtime/runtime.h"
#include "../unwind/kernel-walk.h"
#include "../unwind/merge.h"
#include "../unwind/precise.h"
#include "../unwind/uretprobe.h"
#include "../x86/abi.h"
#include "../x86/regs.h"
#include "hybrid-unwind.h"

/**
 * struct hybrid_core - an unwinder, with what it knows of processes and files
 * @ops: of the owner
 * @arg: for @ops
 * @ps: processes and files
 * @unwinder: caches
 * @regs_mask: that the maps are of
 * @regs_64: where registers are in a sample of a 64-bit task
 * @regs_32: the same of a 32-bit task
 * @pid: of the process that is unwound
 * @unwind: the last sample
 * @frames: of @unwind
 */
struct hybrid_core {
	struct hybrid_core_ops	ops;
	void			*arg;
	struct hybrid_processes	ps;
	struct hybrid_unwinder	unwinder;
	u64			regs_mask;
	struct hybrid_regs_map	regs_64;
	struct hybrid_regs_map	regs_32;
	pid_t			pid;
	struct hybrid_unwind	unwind;
	struct hybrid_frame	frames[HYBRID_MAX_FRAMES];
};

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
	hybrid_processes_exit(&core->ps);
	hybrid_processes_init(&core->ps, core->ops.open ?: open_path);
	if (is_live)
		hybrid_core_set_live(core);
}

void hybrid_core_set_live(struct hybrid_core *core)
{
	struct hybrid_unwinder *unwinder = &core->unwinder;

	unwinder->memory = unwinder->memory ?: hybrid_memory_new();
	unwinder->runtimes = unwinder->runtimes ?:
		hybrid_runtimes_new(&core->ps.objects, unwinder->memory);
	unwinder->runtime_rule = hybrid_runtime_rule;
	unwinder->runtime_range = hybrid_runtime_range;
}

void hybrid_core_pass(struct hybrid_core *core)
{
	hybrid_memory_forget(core->unwinder.memory);
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
	if (thread->process->maps_generation != state) {
		hybrid_space_clear(thread->process->space);
		thread->process->maps_generation = state;
	}
	return 0;
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

/* Registers and stack; false: the sample has not what an unwind begins with. */
static bool prepare(struct hybrid_core *core, const struct hybrid_core_sample *sample)
{
	bool is_64 = sample->regs_abi == PERF_SAMPLE_REGS_ABI_64;
	struct hybrid_unwind *u = &core->unwind;
	const struct hybrid_regs_map *map = is_64 ? &core->regs_64 : &core->regs_32;

	if (!sample->regs)
		return false;
	if (core->regs_mask != sample->regs_mask) {
		hybrid_regs_map_init(&core->regs_64, sample->regs_mask, &hybrid_abi_64);
		hybrid_regs_map_init(&core->regs_32, sample->regs_mask, &hybrid_abi_32);
		core->regs_mask = sample->regs_mask;
	}
	if (!map->complete)
		return false;
	u->abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32;
	hybrid_regs_read(map, sample->regs, &u->regs);
	u->dump = sample->stack;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->stack_size;
	return true;
}

/* False: the kernel's chain tells more than the registers. */
static bool unwind_regs(struct hybrid_core *core, struct hybrid_core_sample *sample)
{
	struct hybrid_precise one_moment = {};

	hybrid_uretprobe_chain(&core->unwind, sample->kernel, sample->nr_kernel);
	return hybrid_precise_unwind(&core->unwinder, &core->unwind,
				     sample->precise ?: &one_moment);
}

static void merge(struct hybrid_core *core, struct hybrid_core_sample *sample,
		  struct hybrid_thread *thread, bool by_regs, bool walked)
{
	struct hybrid_merge merge = {
		.kernel		= sample->kernel,
		.nr_kernel	= sample->nr_kernel,
		.unwind		= by_regs || walked ? &core->unwind : NULL,
		.at_probe	= sample->at_probe,
		.tail		= by_regs ? &thread->tail : NULL,
		.abi		= sample->regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &hybrid_abi_32 :
										&hybrid_abi_64,
		.out		= sample->chain,
		.max		= sample->max,
	};

	/* If mappings come on demand a call that is not in one of them refutes nothing. */
	if (thread && !core->ops.find_map)
		merge.space = thread->process->space;
	sample->outcome = hybrid_merge(&core->unwinder, &merge);
	sample->nr = merge.nr;
}

bool hybrid_core_callchain(struct hybrid_core *core, struct hybrid_core_sample *sample)
{
	struct hybrid_unwind *u = &core->unwind;
	bool by_regs = false, walked = false;
	struct hybrid_thread *thread;

	thread = hybrid_thread_find(&core->ps, sample->pid, sample->tid);
	*u = (struct hybrid_unwind) {
		.max_frames	= min_t(unsigned int, sample->max_frames, HYBRID_MAX_FRAMES),
		.frames		= core->frames,
		.pid		= core->unwinder.memory ? sample->pid : 0,
	};
	core->pid = sample->pid;
	if (thread) {
		u->space = thread->process->space;
		walked = sample->walked && hybrid_is_kernel_walk(sample->kernel,
								 sample->nr_kernel);
	}
	if (walked) {
		u->abi = &hybrid_abi_64;
		hybrid_kernel_walk_frames(&core->unwinder, u, sample->kernel, sample->nr_kernel,
					  sample->checks_calls);
	} else if (thread && prepare(core, sample)) {
		by_regs = unwind_regs(core, sample);
	}
	merge(core, sample, thread, by_regs, walked);
	sample->failed_in = NULL;
	if (by_regs && sample->outcome > HYBRID_FP_ONLY && u->failed_in)
		sample->failed_in = u->failed_in->ident.path;
	if (sample->precise)
		hybrid_precise_put_first(sample->precise, sample->chain, sample->nr);
	return by_regs;
}

struct hybrid_namer *hybrid_core_namer(struct hybrid_core *core,
				       const struct hybrid_core_sample *sample,
				       u32 language, struct hybrid_named_chain *c)
{
	const struct hybrid_unwind *u = &core->unwind;

	c->chain = sample->chain;
	c->nr = sample->nr;
	c->frames = u->frames;
	c->nr_frames = u->nr;
	c->is_whole = u->stop == HYBRID_STOP_OUTERMOST;
	return u->space ? hybrid_runtime_namer(core->unwinder.runtimes, u->pid, 0, u->space,
					       language) : NULL;
}

void hybrid_core_compile(struct hybrid_core *core, struct hybrid_compiler *compiler)
{
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;

	hybrid_compiler_sample(compiler, &core->unwinder, &core->unwind, 0, 0);
	mapping = hybrid_runtime_interpreter(core->unwinder.runtimes, &core->unwind, &interpreter);
	if (mapping)
		hybrid_compiler_interpreter(compiler, mapping->object, &interpreter, 0);
	hybrid_compiler_pass(compiler);
}
