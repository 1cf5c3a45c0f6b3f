/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PROCESS_H
#define __PERF_HYBRID_PROCESS_H

#include "../rules/space.h"
#include "../runtime/names.h"
#include "../unwind/tail.h"

struct hybrid_chain;

#define HYBRID_PROCESS_HASH	1024

/* Threads that are known to be gone: more than end while one of them still runs. */
#define HYBRID_NR_GONE		256

/**
 * struct hybrid_process - an address space and who runs in it
 * @hash: in its table
 * @pid: process
 * @threads: its threads
 * @nr_threads: those that a record told of: with the last of them all go
 * @found: perf found it in /proc, and no record of the kernel's has made it
 * @maps_generation: where @space gets its mappings on demand, the state of perf's
 *	own maps that they are from
 * @space: executable mappings
 * @marks_in: number of the output file that maps what marks callchains in it, see
 *	synthetic-frame.h; 0: none
 * @numbers_in: the same for files that records of the kernel do not tell from others
 * @numbers_gen: state of @space then
 * @numbers: hybrid_met::nr_numbered then
 * @names_in: the same as @marks_in for the names of each runtime
 * @forked: runs what its parent has mapped, without an exec since
 * @ancestors: the processes that it is of, the nearest first; 0: not known
 */
struct hybrid_process {
	struct hlist_node	 hash;
	pid_t			 pid;
	struct list_head	 threads;
	unsigned int		 nr_threads;
	bool			 found;
	u64			 maps_generation;
	struct hybrid_space	*space;
	u32			 marks_in;
	u32			 numbers_in;
	u64			 numbers_gen;
	u64			 numbers;
	u32			 names_in[HYBRID_NR_LANGUAGES];
	bool			 forked;
	pid_t			 ancestors[HYBRID_NR_ANCESTORS];
};

/**
 * struct hybrid_thread - a thread
 * @hash: in its table
 * @tid: thread
 * @process: that it belongs to
 * @siblings: on the list of that
 * @told: a record told of it, and another will tell that it is gone
 * @tail: what it was last seen to be in
 * @asleep: the chain that it went to sleep with last; malloc()ed, NULL for none
 */
struct hybrid_thread {
	struct hlist_node	 hash;
	pid_t			 tid;
	struct hybrid_process	*process;
	struct list_head	 siblings;
	bool			 told;
	struct hybrid_tail	 tail;
	struct hybrid_chain	*asleep;
};

/**
 * struct hybrid_processes - the tasks of a recording, kept current by its
 *	mmap, fork, exec and exit records, in time order
 * @processes: by pid
 * @threads: by tid
 * @nr_processes: of @processes
 * @nr_threads: of @threads
 * @objects: the files they map
 * @no_build_ids: mmap records have none, whatever they say: where another recording asks
 *	for build-ids, kernels set the bit in records of this one, too
 * @gone: threads that ended last
 * @nr_gone: how many did
 */
struct hybrid_processes {
	struct hlist_head	processes[HYBRID_PROCESS_HASH];
	struct hlist_head	threads[HYBRID_PROCESS_HASH];
	unsigned int		nr_processes;
	unsigned int		nr_threads;
	struct hybrid_objects	objects;
	bool			no_build_ids;
	pid_t			gone[HYBRID_NR_GONE];
	unsigned int		nr_gone;
};

void hybrid_processes_init(struct hybrid_processes *ps, hybrid_open_fn open);
void hybrid_processes_exit(struct hybrid_processes *ps);

/**
 * hybrid_thread_get - a thread, made known now if it was not yet
 * @ps: tasks
 * @pid: of its process
 * @tid: of the thread
 *
 * Return: the thread, owned by @ps, or NULL where memory is short.
 */
struct hybrid_thread *hybrid_thread_get(struct hybrid_processes *ps, pid_t pid, pid_t tid);

/**
 * hybrid_thread_find - a thread of a process that is known
 * @ps: tasks
 * @pid: of its process
 * @tid: of the thread
 *
 * Tasks are sampled even behind their exit record. Such a sample must not bring
 * back what nothing would ever take away again. A thread that no record told of
 * goes with its process.
 *
 * Return: the thread, owned by @ps; NULL where the process is not known, the thread
 * is gone, or memory is short.
 */
struct hybrid_thread *hybrid_thread_find(struct hybrid_processes *ps, pid_t pid, pid_t tid);

/**
 * hybrid_process_find - a process that is known
 * @ps: tasks
 * @pid: of the process
 *
 * Return: the process, owned by @ps; NULL: it is not known, or no more.
 */
struct hybrid_process *hybrid_process_find(struct hybrid_processes *ps, pid_t pid);

/**
 * hybrid_process_map - a process has a new mapping
 * @ps: tasks
 * @mapping: its pid says whose; its object is ignored
 * @ident: the file, NULL for memory without one
 * @exec: the mapping is executable
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_process_map(struct hybrid_processes *ps, const struct hybrid_mapping *mapping,
		       const struct hybrid_ident *ident, bool exec);

/**
 * hybrid_process_fork - a task has made another
 * @ps: tasks
 * @pid: of the new task's process
 * @tid: of the new task
 * @ppid: of the old task's process; @pid for a thread
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_process_fork(struct hybrid_processes *ps, pid_t pid, pid_t tid, pid_t ppid);

/**
 * hybrid_process_found - a process runs already; nothing is known to be mapped
 * @ps: tasks
 * @pid: of the process
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_process_found(struct hybrid_processes *ps, pid_t pid);

/**
 * hybrid_process_exec - a process runs another program: nothing stays mapped, and of
 *	its threads the leader alone, whichever of them it was that did it
 * @ps: tasks
 * @pid: of the process
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_process_exec(struct hybrid_processes *ps, pid_t pid);

/**
 * hybrid_thread_exit - a thread is gone, and its process with the last of them
 * @ps: tasks
 * @tid: of the thread
 */
void hybrid_thread_exit(struct hybrid_processes *ps, pid_t tid);

#endif /* __PERF_HYBRID_PROCESS_H */
