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
#include "runtime-private.h"

/* Files that are looked at in a pass over the rings. */
#define MAX_FILES	32

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

void hybrid_runtimes_delete(struct hybrid_runtimes *runtimes)
{
	unsigned int i;

	if (!runtimes)
		return;
	for (i = 0; i < SETS * WAYS; i++)
		hybrid_runtime_process__close(runtimes, &runtimes->processes[i / WAYS][i % WAYS]);
	free(runtimes);
}

void hybrid_runtimes_forget(struct hybrid_runtimes *runtimes)
{
	if (!runtimes)
		return;
	runtimes->pass++;
	runtimes->nr_files = 0;
}

/* What can't be read is found, too, so that perf can say so. */
static bool exports(const struct hybrid_object *object, const struct hybrid_runtime_ops *ops)
{
	unsigned int i;

	if (hybrid_object_exported(object, ops->symbol))
		return true;
	for (i = 0; i < HYBRID_UNREADABLE && ops->unreadable[i]; i++) {
		if (hybrid_object_exported(object, ops->unreadable[i]))
			return true;
	}
	return false;
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
	for (i = 1; i < HYBRID_NR_LANGUAGES && !object->runtime; i++) {
		if (exports(object, hybrid_all_runtimes[i]))
			object->runtime = i;
	}
	for (i = 1; i < HYBRID_NR_LANGUAGES && !object->runtime; i++) {
		if (hybrid_object_symbol(object, hybrid_all_runtimes[i]->symbol))
			object->runtime = i;
	}
	return true;
}

/**
 * struct found_runtimes - which files of runtimes a process has mapped
 * @mappings: by language; NULL: none
 * @first: which is read if none is wanted: one that a walk came through, of whatever process, or
 *	the first one; HYBRID_NO_LANGUAGE: there is none
 * @are_all: all files could be looked at
 */
struct found_runtimes {
	const struct hybrid_mapping	*mappings[HYBRID_NR_LANGUAGES];
	enum hybrid_language		 first;
	bool				 are_all;
};

static bool is_met(const struct found_runtimes *found, enum hybrid_language kind)
{
	return found->mappings[kind] && found->mappings[kind]->object->runtime_met;
}

static void add_found(struct found_runtimes *found, const struct hybrid_mapping *mapping)
{
	enum hybrid_language kind = mapping->object->runtime;

	if (!found->mappings[kind] || (mapping->object->runtime_met && !is_met(found, kind)) ||
	    hybrid_mapping_replaces(mapping, found->mappings[kind]))
		found->mappings[kind] = mapping;
	if (!found->first || (is_met(found, kind) && !is_met(found, found->first)))
		found->first = kind;
}

/* Editors, web servers and databases map several interpreters. */
static void find_runtimes(struct hybrid_runtimes *runtimes, struct hybrid_space *space,
			  struct found_runtimes *found)
{
	const struct hybrid_mapping *mapping;
	size_t i;

	memset(found, 0, sizeof(*found));
	found->are_all = true;
	for (i = 0; i < space->nr; i++) {
		if (!space->mappings[i].object)
			continue;
		mapping = hybrid_space_find(space, space->mappings[i].start);
		if (!mapping || !mapping->object)
			continue;
		found->are_all &= try_object(runtimes, mapping);
		if (mapping->object->runtime)
			add_found(found, mapping);
	}
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
	hybrid_runtime_process__close(runtimes, oldest);
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	return oldest;
}

/* What the process has mapped may have changed: after exec it is another program. */
static void look_at(struct hybrid_runtimes *runtimes, struct runtime_process *process,
		    struct hybrid_space *space)
{
	unsigned int wanted = process->wanted, kind;
	struct found_runtimes found;

	find_runtimes(runtimes, space, &found);
	process->gen = space->gen;
	process->nr_met = runtimes->nr_met;
	process->looked_for = wanted;
	process->missed_pass = 0;
	if (!wanted)
		wanted = 1U << found.first;
	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++) {
		if (hybrid_all_runtimes[kind]->rule && is_met(&found, kind))
			wanted |= 1U << kind;
		if (wanted >> kind & 1 && !found.mappings[kind] && !found.are_all)
			process->missed_pass = runtimes->pass;
		if (wanted >> kind & 1 || process->runtimes[kind].object_id)
			hybrid_runtime_process__check(runtimes, process, kind,
						      found.mappings[kind], space);
	}
	if (!found.first && !found.are_all)
		process->missed_pass = runtimes->pass;
}

/*
 * May it be found now? A JVM that has just begun may not have its tables yet, and a file may have
 * been opened since.
 */
static bool is_to_be_looked_at(const struct hybrid_runtimes *runtimes,
			       const struct runtime_process *process,
			       const struct hybrid_space *space)
{
	unsigned int kind;

	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++) {
		if (was_before(runtimes, process->runtimes[kind].failed_pass))
			return true;
	}
	return process->gen != space->gen || process->nr_met != runtimes->nr_met ||
	       process->looked_for != process->wanted ||
	       was_before(runtimes, process->missed_pass);
}

/* A copy of a process that was opened has what that has: maybe it has ended before it is read. */
static void fork_process(struct hybrid_runtimes *runtimes, struct runtime_process *process,
			 pid_t pid, struct hybrid_space *space)
{
	const struct runtime_process *parent = pid ? find_process(runtimes, pid) : NULL;

	process->parent = pid;
	if (parent)
		hybrid_runtime_process__fork(runtimes, process, parent, space);
}

/* The process of a walk; NULL: it is of no process that has a runtime. */
static struct runtime_process *process_of(struct hybrid_runtimes *runtimes,
					  const struct hybrid_unwind *u, unsigned int wanted)
{
	struct runtime_process *process;

	if (!runtimes || u->pid <= 0 || u->abi->word != sizeof(u64))
		return NULL;
	process = get_process(runtimes, u->pid);
	process->asked = ++runtimes->asked;
	process->wanted |= wanted;
	if (is_to_be_looked_at(runtimes, process, u->space))
		look_at(runtimes, process, u->space);
	return process;
}

/* The rule of a frame, or the range that it is in: that of @rule and @range that is not NULL. */
static bool find_code(struct hybrid_runtimes *runtimes, const struct hybrid_unwind *u,
		      unsigned int at, struct hybrid_rule *rule, struct hybrid_runtime_range *range)
{
	const struct runtime_process *process = process_of(runtimes, u, 0);
	const struct hybrid_runtime_ops *ops;
	unsigned int kind;
	void *runtime;

	for (kind = 1; process && kind < HYBRID_NR_LANGUAGES; kind++) {
		runtime = process->runtimes[kind].runtime;
		ops = hybrid_all_runtimes[kind];
		if (!runtime)
			continue;
		if (rule && ops->rule && ops->rule(runtime, runtimes->pass, u, at, rule))
			return true;
		if (range && ops->range && ops->range(runtime, runtimes->pass, u, at, range))
			return true;
	}
	return false;
}

bool hybrid_runtime_rule(void *runtimes, const struct hybrid_unwind *u, unsigned int at,
			 struct hybrid_rule *rule)
{
	return find_code(runtimes, u, at, rule, NULL);
}

bool hybrid_runtime_range(void *runtimes, const struct hybrid_unwind *u, unsigned int at,
			  struct hybrid_runtime_range *range)
{
	return find_code(runtimes, u, at, NULL, range);
}

u64 hybrid_runtimes_opened(const struct hybrid_runtimes *runtimes)
{
	return runtimes ? runtimes->nr_opened : 0;
}

/* @object: has a runtime. */
static const struct hybrid_runtime_ops *ops_of(const struct hybrid_object *object)
{
	return hybrid_all_runtimes[object->runtime];
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
	object->interpreter_told = !object->runtime || !ops_of(object)->interpreter;
	return object->interpreter_told ? NULL : mapping;
}

const struct hybrid_mapping *
hybrid_runtime_interpreter(struct hybrid_runtimes *runtimes, const struct hybrid_unwind *u,
			   struct hybrid_walk_interpreter *interpreter)
{
	const struct hybrid_mapping *mapping = NULL;
	const struct runtime_process *process;
	const struct open_runtime *of;
	unsigned int i;
	u64 bias;

	for (i = 0; runtimes && i < u->nr && !mapping; i++)
		mapping = untold(runtimes, u, i);
	if (!mapping)
		return NULL;
	i = mapping->object->runtime;
	process = process_of(runtimes, u, 1U << i);
	memset(interpreter, 0, sizeof(*interpreter));
	of = process ? &process->runtimes[i] : NULL;
	if (!of || !of->runtime || of->object_id != mapping->object->id ||
	    !hybrid_mapping_bias(mapping, &bias) ||
	    !hybrid_all_runtimes[i]->interpreter(of->runtime, mapping, bias, interpreter))
		return NULL;
	mapping->object->interpreter_told = true;
	return mapping;
}

bool hybrid_runtime_is_likely(const char *path)
{
	const char *name = strrchr(path, '/'), *program;
	unsigned int i;

	name = name ? name + 1 : path;
	if (strstarts(name, "lib"))
		name += strlen("lib");
	for (i = 1; i < HYBRID_NR_LANGUAGES; i++) {
		program = hybrid_all_runtimes[i]->program;
		if (program && strstarts(name, program))
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
	ops = object->runtime ? ops_of(object) : NULL;
	memset(interpreter, 0, sizeof(*interpreter));
	if (!ops || !ops->interpreter || !hybrid_mapping_bias(mapping, &bias) ||
	    !ops->interpreter(NULL, mapping, bias, interpreter))
		return false;
	*vaddr = hybrid_object_symbol(object, ops->function ?: ops->symbol);
	object->interpreter_told = true;
	return true;
}

const char *hybrid_runtime_language(const struct hybrid_object *object)
{
	return ops_of(object)->language;
}

/* The first of a process's runtimes that is open; HYBRID_NO_LANGUAGE: none is. */
static enum hybrid_language first_open(const struct runtime_process *process)
{
	unsigned int kind;

	for (kind = 1; kind < HYBRID_NR_LANGUAGES; kind++) {
		if (process->runtimes[kind].runtime)
			return kind;
	}
	return HYBRID_NO_LANGUAGE;
}

struct hybrid_namer *hybrid_runtime_namer(struct hybrid_runtimes *runtimes, pid_t pid,
					  pid_t parent, struct hybrid_space *space,
					  enum hybrid_language language)
{
	struct runtime_process *process;

	if (!runtimes || pid <= 0 || language >= HYBRID_NR_LANGUAGES ||
	    (!language && !runtimes->nr_open))
		return NULL;
	process = language ? get_process(runtimes, pid) : find_process(runtimes, pid);
	if (!process || (!language && !first_open(process)))
		return NULL;
	process->asked = ++runtimes->asked;
	if (process->parent != parent)
		fork_process(runtimes, process, parent, space);
	if (language)
		process->wanted |= 1U << language;
	if (is_to_be_looked_at(runtimes, process, space))
		look_at(runtimes, process, space);
	if (!language)
		language = first_open(process);
	if (!language || !process->runtimes[language].runtime)
		return NULL;
	return hybrid_all_runtimes[language]->namer(process->runtimes[language].runtime,
						    runtimes->pass, space);
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
		if (!hybrid_runtime_process__has_failed(process))
			continue;
		nr++;
		*pid = process->pid;
	}
	return nr;
}
