// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes have a runtime whose code and frames perf can read.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "../rules/rows.h"
#include "../rules/symbol.h"
#include "java/java.h"
#include "perl/perl.h"
#include "php/php.h"
#include "python/python.h"
#include "ruby/ruby.h"
#include "v8/v8.h"
#include "runtime.h"

/* Processes by pid: of those that share a set the one that was asked for longest ago goes. */
#define SETS		64
#define WAYS		4

/* Files that are looked at in a pass over the rings. */
#define MAX_FILES	32

/* A new runtime is a folder and a line here. */
static const struct hybrid_runtime_ops *const all_ops[] = {
	&hybrid_java_ops,
	&hybrid_perl_ops,
	&hybrid_php_ops,
	&hybrid_python_ops,
	&hybrid_ruby_ops,
	&hybrid_v8_ops,
};

/**
 * struct runtime_process - a process that was asked for
 * @pid: process; 0: none
 * @parent: the process whose copy it was when it was asked for last; 0: none
 * @gen: of its space when it was looked at last
 * @nr_met: of struct hybrid_runtimes, then
 * @object_id: of the runtime's file; 0: it has none
 * @start: of its mapping
 * @asked: when it was asked for last
 * @failed_pass: in which the runtime could not be read; 0: it could
 * @missed_pass: in which a file that it has mapped could not be looked at yet; 0: all could
 * @ops: of the runtime
 * @runtime: that was opened; NULL: none
 */
struct runtime_process {
	pid_t				 pid;
	pid_t				 parent;
	u64				 gen;
	unsigned int			 nr_met;
	u64				 object_id;
	u64				 start;
	u64				 asked;
	u64				 failed_pass;
	u64				 missed_pass;
	const struct hybrid_runtime_ops	*ops;
	void				*runtime;
};

/**
 * struct hybrid_runtimes - what runtimes tell
 * @objects: of the session
 * @memory: reads from processes
 * @pass: counts those over the rings; never 0
 * @asked: counts questions
 * @nr_files: that were looked at in this pass
 * @nr_met: files of runtimes that walks came through
 * @nr_open: of @processes, those with a runtime
 * @nr_opened: how many were opened in all
 * @nr_failed: of those that were in @processes, how many have one that could not be read
 * @failed: the last one of them
 * @processes: those that were asked for
 */
struct hybrid_runtimes {
	struct hybrid_objects	*objects;
	struct hybrid_memory	*memory;
	u64			 pass;
	u64			 asked;
	unsigned int		 nr_files;
	unsigned int		 nr_met;
	unsigned int		 nr_open;
	u64			 nr_opened;
	unsigned int		 nr_failed;
	pid_t			 failed;
	struct runtime_process	 processes[SETS][WAYS];
};

struct hybrid_runtimes *hybrid_runtimes_new(struct hybrid_objects *objects,
					    struct hybrid_memory *memory)
{
	struct hybrid_runtimes *runtimes = calloc(1, sizeof(*runtimes));

	if (runtimes) {
		runtimes->objects = objects;
		runtimes->memory = memory;
		runtimes->pass = 1;
	}
	return runtimes;
}

static void close_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process)
{
	if (process->runtime) {
		process->ops->close(process->runtime);
		runtimes->nr_open--;
	} else if (process->failed_pass) {
		runtimes->nr_failed++;
		runtimes->failed = process->pid;
	}
	process->runtime = NULL;
	process->object_id = 0;
	process->failed_pass = 0;
}

void hybrid_runtimes_delete(struct hybrid_runtimes *runtimes)
{
	unsigned int i;

	if (!runtimes)
		return;
	for (i = 0; i < SETS * WAYS; i++)
		close_runtime(runtimes, &runtimes->processes[i / WAYS][i % WAYS]);
	free(runtimes);
}

void hybrid_runtimes_forget(struct hybrid_runtimes *runtimes)
{
	if (!runtimes)
		return;
	runtimes->pass++;
	runtimes->nr_files = 0;
}

/* Returns false if the file is to be looked at in another pass. */
static bool try_object(struct hybrid_runtimes *runtimes, const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;
	unsigned int i;

	if (object->runtime_tried || object->state == HYBRID_OBJECT_FAILED)
		return true;
	if (runtimes->nr_files == MAX_FILES)
		return false;
	runtimes->nr_files++;
	if (!hybrid_object_use_unawaited(mapping))
		return object->state == HYBRID_OBJECT_FAILED;
	object->runtime_tried = true;
	/* First what takes no time: the other symbols of Node.js take 10 ms for each name. */
	for (i = 0; i < ARRAY_SIZE(all_ops) && !object->runtime; i++) {
		if (hybrid_object_exported(object, all_ops[i]->symbol))
			object->runtime = i + 1;
	}
	for (i = 0; i < ARRAY_SIZE(all_ops) && !object->runtime; i++) {
		if (hybrid_object_symbol(object, all_ops[i]->symbol))
			object->runtime = i + 1;
	}
	return true;
}

/*
 * The mapping of a runtime's file; NULL: the process has none, or @are_all is false. Editors map
 * several interpreters: one that a walk came through, of whatever process, goes before the others.
 */
static const struct hybrid_mapping *find_runtime(struct hybrid_runtimes *runtimes,
						 struct hybrid_space *space, bool *are_all)
{
	const struct hybrid_mapping *mapping, *found = NULL;
	size_t i;

	*are_all = true;
	for (i = 0; i < space->nr; i++) {
		mapping = hybrid_space_find(space, space->mappings[i].start);
		if (!mapping->object)
			continue;
		*are_all &= try_object(runtimes, mapping);
		if (mapping->object->runtime && mapping->object->runtime_met)
			return mapping;
		if (mapping->object->runtime && !found)
			found = mapping;
	}
	return found;
}

static struct hybrid_process_memory memory_of(struct hybrid_runtimes *runtimes, pid_t pid,
					      struct hybrid_space *space)
{
	return (struct hybrid_process_memory) {
		.memory = runtimes->memory, .objects = runtimes->objects, .space = space,
		.pid = pid,
	};
}

static void set_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			void *runtime)
{
	process->runtime = runtime;
	if (!runtime)
		return;
	process->failed_pass = 0;
	runtimes->nr_open++;
	runtimes->nr_opened++;
}

static void open_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			 const struct hybrid_mapping *mapping, struct hybrid_space *space)
{
	const struct hybrid_process_memory pm = memory_of(runtimes, process->pid, space);
	u64 bias;

	process->object_id = mapping->object->id;
	process->start = mapping->start;
	process->ops = all_ops[mapping->object->runtime - 1];
	process->failed_pass = runtimes->pass;
	if (!hybrid_mapping_bias(mapping, &bias) || !hybrid_object_use(mapping))
		return;
	set_runtime(runtimes, process, process->ops->open(&pm, mapping, bias));
}

static struct runtime_process *find_process(struct hybrid_runtimes *runtimes, pid_t pid)
{
	struct runtime_process *set = runtimes->processes[pid % SETS];
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		if (set[i].pid == pid)
			return &set[i];
	}
	return NULL;
}

static struct runtime_process *get_process(struct hybrid_runtimes *runtimes, pid_t pid)
{
	struct runtime_process *set = runtimes->processes[pid % SETS], *oldest = set;
	struct runtime_process *process = find_process(runtimes, pid);
	unsigned int i;

	if (process)
		return process;
	for (i = 1; i < WAYS; i++) {
		if (set[i].asked < oldest->asked)
			oldest = &set[i];
	}
	close_runtime(runtimes, oldest);
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	return oldest;
}

/* Was it in a pass before this one? @pass: 0: in none */
static bool was_before(const struct hybrid_runtimes *runtimes, u64 pass)
{
	return pass && pass != runtimes->pass;
}

/* What the process has mapped may have changed: after exec it is another program. */
static void look_at(struct hybrid_runtimes *runtimes, struct runtime_process *process,
		    struct hybrid_space *space)
{
	bool again = was_before(runtimes, process->failed_pass), are_all;
	const struct hybrid_mapping *mapping = find_runtime(runtimes, space, &are_all);
	u64 id = mapping ? mapping->object->id : 0;

	process->gen = space->gen;
	process->nr_met = runtimes->nr_met;
	process->missed_pass = mapping || are_all ? 0 : runtimes->pass;
	if (id && id == process->object_id && mapping->start == process->start && !again)
		return;
	if (again)
		process->failed_pass = 0;
	close_runtime(runtimes, process);
	if (id)
		open_runtime(runtimes, process, mapping, space);
}

/*
 * May it be found now? A JVM that has just begun may not have its tables yet, and a file may have
 * been opened since.
 */
static bool is_to_be_looked_at(const struct hybrid_runtimes *runtimes,
			       const struct runtime_process *process,
			       const struct hybrid_space *space)
{
	return process->gen != space->gen || process->nr_met != runtimes->nr_met ||
	       was_before(runtimes, process->failed_pass) ||
	       was_before(runtimes, process->missed_pass);
}

/* A copy of a process that was opened has what that has: maybe it has ended before it is read. */
static void fork_runtime(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			 pid_t pid, struct hybrid_space *space)
{
	const struct hybrid_process_memory pm = memory_of(runtimes, process->pid, space);
	const struct runtime_process *parent = pid ? find_process(runtimes, pid) : NULL;
	const struct hybrid_mapping *mapping;
	void *forked;

	process->parent = pid;
	if (!parent || !parent->runtime || !parent->ops->fork)
		return;
	mapping = hybrid_space_find(space, parent->start);
	if (!mapping || !mapping->object || mapping->object->id != parent->object_id)
		return;
	forked = parent->ops->fork(parent->runtime, &pm);
	if (!forked)
		return;
	close_runtime(runtimes, process);
	process->gen = space->gen;
	process->nr_met = runtimes->nr_met;
	process->missed_pass = 0;
	process->object_id = parent->object_id;
	process->start = parent->start;
	process->ops = parent->ops;
	set_runtime(runtimes, process, forked);
}

/* The process of a walk; NULL: it has no runtime, or one that can't be read. */
static struct runtime_process *process_of(struct hybrid_runtimes *runtimes,
					  const struct hybrid_unwind *u)
{
	struct runtime_process *process;

	if (!runtimes || u->pid <= 0 || u->abi->word != sizeof(u64))
		return NULL;
	process = get_process(runtimes, u->pid);
	process->asked = ++runtimes->asked;
	if (is_to_be_looked_at(runtimes, process, u->space))
		look_at(runtimes, process, u->space);
	return process->runtime ? process : NULL;
}

bool hybrid_runtime_rule(void *arg, const struct hybrid_unwind *u, unsigned int at,
			 struct hybrid_rule *rule)
{
	struct hybrid_runtimes *runtimes = arg;
	const struct runtime_process *process = process_of(runtimes, u);

	return process && process->ops->rule &&
	       process->ops->rule(process->runtime, runtimes->pass, u, at, rule);
}

bool hybrid_runtime_range(void *arg, const struct hybrid_unwind *u, unsigned int at,
			  struct hybrid_runtime_range *range)
{
	struct hybrid_runtimes *runtimes = arg;
	const struct runtime_process *process = process_of(runtimes, u);

	return process && process->ops->range &&
	       process->ops->range(process->runtime, runtimes->pass, u, at, range);
}

u64 hybrid_runtimes_opened(const struct hybrid_runtimes *runtimes)
{
	return runtimes ? runtimes->nr_opened : 0;
}

/* The mapping of a frame, if it shows an interpreter of which nobody was told. */
static const struct hybrid_mapping *untold(struct hybrid_runtimes *runtimes,
					   const struct hybrid_unwind *u, unsigned int at)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, u->frames[at].ip);
	struct hybrid_object *object = mapping ? mapping->object : NULL;

	if (!object || object->interpreter_told || object->state != HYBRID_OBJECT_READY)
		return NULL;
	try_object(runtimes, mapping);
	if (!object->runtime_tried)
		return NULL;
	if (object->runtime && !object->runtime_met)
		runtimes->nr_met++;
	object->runtime_met = object->runtime;
	object->interpreter_told = !object->runtime || !all_ops[object->runtime - 1]->interpreter;
	return object->interpreter_told ? NULL : mapping;
}

const struct hybrid_mapping *
hybrid_runtime_interpreter(struct hybrid_runtimes *runtimes, const struct hybrid_unwind *u,
			   struct hybrid_walk_interpreter *interpreter)
{
	const struct hybrid_mapping *mapping = NULL;
	struct runtime_process *process;
	unsigned int i;

	for (i = 0; runtimes && i < u->nr && !mapping; i++)
		mapping = untold(runtimes, u, i);
	if (!mapping)
		return NULL;
	process = process_of(runtimes, u);
	memset(interpreter, 0, sizeof(*interpreter));
	if (!process || process->object_id != mapping->object->id ||
	    !process->ops->interpreter(process->runtime, mapping, interpreter))
		return NULL;
	mapping->object->interpreter_told = true;
	return mapping;
}

bool hybrid_runtime_is_likely(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int i;

	name = name ? name + 1 : path;
	if (strstarts(name, "lib"))
		name += strlen("lib");
	for (i = 0; i < ARRAY_SIZE(all_ops); i++) {
		if (all_ops[i]->program && strstarts(name, all_ops[i]->program))
			return true;
	}
	return false;
}

bool hybrid_runtime_file(struct hybrid_runtimes *runtimes, const struct hybrid_mapping *mapping,
			 struct hybrid_walk_interpreter *interpreter, u64 *vaddr)
{
	struct hybrid_object *object = mapping->object;
	const struct hybrid_runtime_ops *ops;
	u64 bias;

	if (object->interpreter_told)
		return false;
	try_object(runtimes, mapping);
	ops = object->runtime ? all_ops[object->runtime - 1] : NULL;
	memset(interpreter, 0, sizeof(*interpreter));
	if (!ops || !ops->file_interpreter || !hybrid_mapping_bias(mapping, &bias) ||
	    !ops->file_interpreter(mapping, bias, interpreter))
		return false;
	*vaddr = hybrid_object_symbol(object, ops->function ?: ops->symbol);
	object->interpreter_told = true;
	return true;
}

const char *hybrid_runtime_language(const struct hybrid_object *object)
{
	return all_ops[object->runtime - 1]->language;
}

struct hybrid_namer *hybrid_runtime_namer(struct hybrid_runtimes *runtimes, pid_t pid,
					  pid_t parent, struct hybrid_space *space,
					  bool has_functions)
{
	struct runtime_process *process;

	if (!runtimes || pid <= 0 || (!runtimes->nr_open && !has_functions))
		return NULL;
	process = has_functions ? get_process(runtimes, pid) : find_process(runtimes, pid);
	if (!process || (!process->runtime && !has_functions))
		return NULL;
	process->asked = ++runtimes->asked;
	if (process->parent != parent)
		fork_runtime(runtimes, process, parent, space);
	if (is_to_be_looked_at(runtimes, process, space))
		look_at(runtimes, process, space);
	return process->runtime ?
		process->ops->namer(process->runtime, runtimes->pass, space) : NULL;
}

unsigned int hybrid_runtimes_failed(const struct hybrid_runtimes *runtimes, pid_t *pid)
{
	const struct runtime_process *process;
	unsigned int i, nr;

	if (!runtimes)
		return 0;
	nr = runtimes->nr_failed;
	*pid = runtimes->failed;
	for (i = 0; i < SETS * WAYS; i++) {
		process = &runtimes->processes[i / WAYS][i % WAYS];
		if (!process->failed_pass)
			continue;
		nr++;
		*pid = process->pid;
	}
	return nr;
}
