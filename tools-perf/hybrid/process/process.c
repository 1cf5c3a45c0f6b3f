// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../rules/arch.h"
#include "../rules/keyed-hash.h"
#include "process.h"

static struct hlist_head *bucket(struct hlist_head *table, pid_t id)
{
	return &table[hybrid_hash(id, 10)];
}

void hybrid_processes_init(struct hybrid_processes *ps, hybrid_open_fn open)
{
	unsigned int i;

	for (i = 0; i < HYBRID_PROCESS_HASH; i++) {
		INIT_HLIST_HEAD(&ps->processes[i]);
		INIT_HLIST_HEAD(&ps->threads[i]);
	}
	ps->nr_processes = 0;
	ps->nr_threads = 0;
	ps->no_build_ids = false;
	memset(ps->gone, 0, sizeof(ps->gone));
	ps->nr_gone = 0;
	hybrid_objects_init(&ps->objects, open, hybrid_x86_abi);
}

static void drop_thread(struct hybrid_processes *ps, struct hybrid_thread *thread)
{
	hlist_del(&thread->hash);
	list_del(&thread->siblings);
	hybrid_tail_exit(&thread->tail);
	free(thread->asleep);
	free(thread);
	ps->nr_threads--;
}

static void free_process(struct hybrid_processes *ps, struct hybrid_process *process)
{
	struct hybrid_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &process->threads, siblings)
		drop_thread(ps, thread);
	hlist_del(&process->hash);
	hybrid_space_put(process->space);
	free(process);
	ps->nr_processes--;
}

static void free_thread(struct hybrid_processes *ps, struct hybrid_thread *thread)
{
	struct hybrid_process *process = thread->process;
	bool told = thread->told;

	drop_thread(ps, thread);
	if (told && !--process->nr_threads)
		free_process(ps, process);
}

void hybrid_processes_exit(struct hybrid_processes *ps)
{
	struct hybrid_process *process;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < HYBRID_PROCESS_HASH; i++) {
		hlist_for_each_entry_safe(process, next, &ps->processes[i], hash)
			free_process(ps, process);
	}
	hybrid_objects_exit(&ps->objects);
}

struct hybrid_process *hybrid_process_find(struct hybrid_processes *ps, pid_t pid)
{
	struct hybrid_process *process;

	hlist_for_each_entry(process, bucket(ps->processes, pid), hash) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static struct hybrid_process *get_process(struct hybrid_processes *ps, pid_t pid)
{
	struct hybrid_process *process = hybrid_process_find(ps, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	INIT_LIST_HEAD(&process->threads);
	process->space = hybrid_space_new();
	if (!process->space) {
		free(process);
		return NULL;
	}
	hlist_add_head(&process->hash, bucket(ps->processes, pid));
	ps->nr_processes++;
	return process;
}

static struct hybrid_thread *find_thread(struct hybrid_processes *ps, pid_t tid)
{
	struct hybrid_thread *thread;

	hlist_for_each_entry(thread, bucket(ps->threads, tid), hash) {
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

static struct hybrid_thread *new_thread(struct hybrid_processes *ps,
					struct hybrid_process *process, pid_t tid)
{
	struct hybrid_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->process = process;
	list_add(&thread->siblings, &process->threads);
	hlist_add_head(&thread->hash, bucket(ps->threads, tid));
	ps->nr_threads++;
	return thread;
}

/* The thread, if it is of that process still, or again. */
static struct hybrid_thread *current_thread(struct hybrid_processes *ps, pid_t pid, pid_t tid)
{
	struct hybrid_thread *thread = find_thread(ps, tid);

	if (!thread || thread->process->pid == pid)
		return thread;
	/* Another process by now: its exit was not seen, or lost. */
	free_thread(ps, thread);
	return NULL;
}

struct hybrid_thread *hybrid_thread_get(struct hybrid_processes *ps, pid_t pid, pid_t tid)
{
	struct hybrid_thread *thread = current_thread(ps, pid, tid);
	struct hybrid_process *process;

	if (!thread) {
		process = get_process(ps, pid);
		thread = process ? new_thread(ps, process, tid) : NULL;
	}
	if (thread && !thread->told) {
		thread->told = true;
		thread->process->nr_threads++;
	}
	return thread;
}

static bool is_gone(const struct hybrid_processes *ps, pid_t tid)
{
	unsigned int i;

	for (i = 0; i < HYBRID_NR_GONE; i++) {
		if (ps->gone[i] == tid)
			return true;
	}
	return false;
}

struct hybrid_thread *hybrid_thread_find(struct hybrid_processes *ps, pid_t pid, pid_t tid)
{
	struct hybrid_thread *thread = current_thread(ps, pid, tid);
	struct hybrid_process *process;

	if (thread)
		return thread;
	process = hybrid_process_find(ps, pid);
	return process && !is_gone(ps, tid) ? new_thread(ps, process, tid) : NULL;
}

/* A space of the process alone, as one that is to change must be. */
static struct hybrid_space *own_space(struct hybrid_process *process)
{
	struct hybrid_space *copy;

	if (process->space->refs == 1)
		return process->space;
	copy = hybrid_space_copy(process->space);
	if (!copy)
		return NULL;
	hybrid_space_put(process->space);
	process->space = copy;
	return copy;
}

int hybrid_process_map(struct hybrid_processes *ps, const struct hybrid_mapping *mapping,
		       const struct hybrid_ident *ident, bool exec)
{
	struct hybrid_process *process = get_process(ps, mapping->pid);
	struct hybrid_mapping new = *mapping;
	struct hybrid_space *space;
	int err;

	space = process ? own_space(process) : NULL;
	if (!space)
		return -ENOMEM;
	new.object = NULL;
	new.record = NULL;
	new.is_moved = false;
	memcpy(new.ancestors, process->ancestors, sizeof(new.ancestors));
	if (exec && ident) {
		new.object = hybrid_object_get(&ps->objects, ident);
		if (!new.object)
			return -ENOMEM;
	}
	err = hybrid_space_map(space, &new, exec);
	if (new.object)
		hybrid_object_put(new.object);
	return err;
}

static void forget_task(struct hybrid_processes *ps, pid_t tid)
{
	struct hybrid_thread *thread = find_thread(ps, tid);
	struct hybrid_process *process;

	if (thread) {
		free_thread(ps, thread);
		return;
	}
	process = hybrid_process_find(ps, tid);
	if (process && !process->nr_threads)
		free_process(ps, process);
}

int hybrid_process_fork(struct hybrid_processes *ps, pid_t pid, pid_t tid, pid_t ppid)
{
	struct hybrid_process *parent, *child;

	if (pid == ppid)
		return hybrid_thread_get(ps, pid, tid) ? 0 : -ENOMEM;

	/* Made before it was found: it has what it had then, and not what its parent has. */
	child = hybrid_process_find(ps, pid);
	if (child && child->found) {
		child->found = false;
		return 0;
	}
	parent = get_process(ps, ppid);
	if (!parent)
		return -ENOMEM;
	/*
	 * The number is free to be used again: what is known of it is old. It may be
	 * the last thread that is known of the parent, which stays.
	 */
	parent->nr_threads++;
	forget_task(ps, tid);
	parent->nr_threads--;
	if (!hybrid_thread_get(ps, pid, tid))
		return -ENOMEM;
	child = hybrid_process_find(ps, pid);
	parent->space->refs++;
	hybrid_space_put(child->space);
	child->space = parent->space;
	child->forked = true;
	child->ancestors[0] = ppid;
	memcpy(child->ancestors + 1, parent->ancestors,
	       sizeof(parent->ancestors) - sizeof(parent->ancestors[0]));
	return 0;
}

int hybrid_process_exec(struct hybrid_processes *ps, pid_t pid)
{
	struct hybrid_process *process = get_process(ps, pid);
	struct hybrid_thread *thread, *other, *next;
	struct hybrid_space *space;

	space = process ? hybrid_space_new() : NULL;
	if (!space)
		return -ENOMEM;
	hybrid_space_put(process->space);
	process->space = space;
	process->marks_in = 0;
	memset(process->names_in, 0, sizeof(process->names_in));
	process->forked = false;
	/* The leader may only wait, unsampled, while the others come and go. */
	thread = hybrid_thread_get(ps, pid, pid);
	if (!thread)
		return -ENOMEM;
	hybrid_tail_exit(&thread->tail);
	/* One that was not the leader is it now, and had no exit of its own. */
	list_for_each_entry_safe(other, next, &process->threads, siblings) {
		if (other != thread)
			free_thread(ps, other);
	}
	return 0;
}

int hybrid_process_found(struct hybrid_processes *ps, pid_t pid)
{
	int err = hybrid_process_exec(ps, pid);

	if (!err)
		hybrid_process_find(ps, pid)->found = true;
	return err;
}

void hybrid_thread_exit(struct hybrid_processes *ps, pid_t tid)
{
	ps->gone[ps->nr_gone++ % HYBRID_NR_GONE] = tid;
	forget_task(ps, tid);
}
