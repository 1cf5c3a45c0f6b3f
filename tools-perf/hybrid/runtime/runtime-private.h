/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUNTIME_PRIVATE_H
#define __PERF_HYBRID_RUNTIME_PRIVATE_H

/* What runtime.c and runtime-process.c share. */
#include "names.h"
#include "runtime.h"

/* Processes by pid: of those that share a set the one that was asked for longest ago goes. */
#define SETS		64
#define WAYS		4

/* By language; HYBRID_NO_LANGUAGE has NULL. */
extern const struct hybrid_runtime_ops *const hybrid_all_runtimes[HYBRID_NR_LANGUAGES];

/**
 * struct open_runtime - a runtime of a process
 * @object_id: of its file; 0: the process has none, or nobody has asked for it
 * @start: of its mapping
 * @failed_pass: in which it could not be read; 0: it could
 * @runtime: that was opened; NULL: none
 */
struct open_runtime {
	u64	 object_id;
	u64	 start;
	u64	 failed_pass;
	void	*runtime;
};

/**
 * struct runtime_process - a process that was asked for
 * @pid: process; 0: none
 * @parent: the process whose copy it was when it was asked for last; 0: none
 * @gen: of its space when it was looked at last
 * @nr_met: of struct hybrid_runtimes, then
 * @asked: when it was asked for last
 * @missed_pass: in which a file that it has mapped could not be looked at yet; 0: all could
 * @wanted: a bit for each of @runtimes: the process has run functions of its language
 * @looked_for: @wanted when it was looked at last
 * @runtimes: by their language
 */
struct runtime_process {
	pid_t			 pid;
	pid_t			 parent;
	u64			 gen;
	unsigned int		 nr_met;
	u64			 asked;
	u64			 missed_pass;
	unsigned int		 wanted;
	unsigned int		 looked_for;
	struct open_runtime	 runtimes[HYBRID_NR_LANGUAGES];
};

/**
 * struct hybrid_runtimes - what runtimes tell
 * @objects: of the session
 * @memory: reads from processes
 * @pass: counts those over the rings; never 0
 * @asked: counts questions
 * @nr_files: that were looked at in this pass
 * @nr_met: files of runtimes that walks came through
 * @nr_open: runtimes of @processes that are open
 * @nr_opened: how many were opened in all
 * @nr_failed: of the processes that were in @processes, how many have one that could not be read
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

/* Was it in a pass before this one? @pass: 0: in none */
static inline bool was_before(const struct hybrid_runtimes *runtimes, u64 pass)
{
	return pass && pass != runtimes->pass;
}

/* Can one of its runtimes not be read? */
bool hybrid_runtime_process__has_failed(const struct runtime_process *process);

/* Close all that it has. It is counted if one of its runtimes could not be read. */
void hybrid_runtime_process__close(struct hybrid_runtimes *runtimes,
				   struct runtime_process *process);

/**
 * hybrid_runtime_process__check - open a runtime, if it is not open, or is another one now
 * @runtimes: of the process
 * @process: process
 * @kind: the language
 * @mapping: of its file; NULL: the process has none, and it is closed
 * @space: of the process
 */
void hybrid_runtime_process__check(struct hybrid_runtimes *runtimes,
				   struct runtime_process *process, unsigned int kind,
				   const struct hybrid_mapping *mapping,
				   struct hybrid_space *space);

/**
 * hybrid_runtime_process__fork - have the runtimes of a process whose copy this one is
 * @runtimes: of both
 * @process: the copy; it may have ended
 * @parent: the other one
 * @space: of the copy
 */
void hybrid_runtime_process__fork(struct hybrid_runtimes *runtimes,
				  struct runtime_process *process,
				  const struct runtime_process *parent,
				  struct hybrid_space *space);

#endif /* __PERF_HYBRID_RUNTIME_PRIVATE_H */
