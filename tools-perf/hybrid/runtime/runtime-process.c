// SPDX-License-Identifier: GPL-2.0
/*
 * The runtimes of a process: editors, web servers and databases have several.
 */
#include <string.h>
#include "../rules/rows.h"
#include "runtime-private.h"

const struct hybrid_runtime_ops *const hybrid_all_runtimes[HYBRID_NR_LANGUAGES] = {
#define HYBRID_LANGUAGE(name, folder, ...)	[HYBRID_LANGUAGE_##name] = &hybrid_##folder##_ops,
#include "languages.h"
};

static void close_runtime(struct hybrid_runtimes *runtimes, struct open_runtime *of,
			  unsigned int kind)
{
	if (of->runtime) {
		hybrid_all_runtimes[kind]->close(of->runtime);
		runtimes->nr_open--;
	}
	memset(of, 0, sizeof(*of));
}

bool hybrid_runtime_process__has_failed(const struct runtime_process *process)
{
	unsigned int kind;

	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++) {
		if (process->runtimes[kind].failed_pass)
			return true;
	}
	return false;
}

void hybrid_runtime_process__close(struct hybrid_runtimes *runtimes,
				   struct runtime_process *process)
{
	unsigned int kind;

	if (hybrid_runtime_process__has_failed(process)) {
		runtimes->nr_failed++;
		runtimes->failed = process->pid;
	}
	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++)
		close_runtime(runtimes, &process->runtimes[kind], kind);
}

static struct hybrid_process_memory memory_of(struct hybrid_runtimes *runtimes, pid_t pid,
					      struct hybrid_space *space)
{
	return (struct hybrid_process_memory) {
		.memory = runtimes->memory, .objects = runtimes->objects, .space = space,
		.pid = pid,
	};
}

static void set_runtime(struct hybrid_runtimes *runtimes, struct open_runtime *of, void *runtime)
{
	of->runtime = runtime;
	if (!runtime)
		return;
	of->failed_pass = 0;
	runtimes->nr_open++;
	runtimes->nr_opened++;
}

static void open_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			 unsigned int kind, const struct hybrid_mapping *mapping,
			 struct hybrid_space *space)
{
	const struct hybrid_process_memory pm = memory_of(runtimes, process->pid, space);
	struct open_runtime *of = &process->runtimes[kind];
	u64 bias;

	of->object_id = mapping->object->id;
	of->start = mapping->start;
	of->failed_pass = runtimes->pass;
	if (!hybrid_mapping_bias(mapping, &bias) || !hybrid_object_use(mapping))
		return;
	set_runtime(runtimes, of, hybrid_all_runtimes[kind]->open(&pm, mapping, bias));
}

void hybrid_runtime_process__check(struct hybrid_runtimes *runtimes,
				   struct runtime_process *process, unsigned int kind,
				   const struct hybrid_mapping *mapping,
				   struct hybrid_space *space)
{
	struct open_runtime *of = &process->runtimes[kind];

	if (mapping && mapping->object->id == of->object_id && mapping->start == of->start &&
	    !was_before(runtimes, of->failed_pass))
		return;
	/* The process has become another program, before it could be read. */
	if (of->failed_pass && !was_before(runtimes, of->failed_pass)) {
		runtimes->nr_failed++;
		runtimes->failed = process->pid;
	}
	close_runtime(runtimes, of, kind);
	if (mapping)
		open_runtime(runtimes, process, kind, mapping, space);
}

/* Returns true if the process has what its parent has. */
static bool fork_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			 unsigned int kind, const struct open_runtime *parent,
			 struct hybrid_space *space)
{
	const struct hybrid_process_memory pm = memory_of(runtimes, process->pid, space);
	struct open_runtime *of = &process->runtimes[kind];
	const struct hybrid_mapping *mapping;
	void *forked;

	if (!parent->runtime || !hybrid_all_runtimes[kind]->fork)
		return false;
	mapping = hybrid_space_find(space, parent->start);
	if (!mapping || !mapping->object || mapping->object->id != parent->object_id)
		return false;
	forked = hybrid_all_runtimes[kind]->fork(parent->runtime, &pm);
	if (!forked)
		return false;
	close_runtime(runtimes, of, kind);
	process->looked_for |= 1U << kind;
	process->wanted |= 1U << kind;
	of->object_id = parent->object_id;
	of->start = parent->start;
	set_runtime(runtimes, of, forked);
	return true;
}

void hybrid_runtime_process__fork(struct hybrid_runtimes *runtimes,
				  struct runtime_process *process,
				  const struct runtime_process *parent,
				  struct hybrid_space *space)
{
	bool is_forked = false;
	unsigned int kind;

	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++)
		is_forked |= fork_runtime(runtimes, process, kind, &parent->runtimes[kind], space);
	if (!is_forked)
		return;
	/* The parent may have loaded the runtime again since it was looked at. */
	process->gen = parent->gen;
	process->nr_met = runtimes->nr_met;
	process->missed_pass = 0;
}
