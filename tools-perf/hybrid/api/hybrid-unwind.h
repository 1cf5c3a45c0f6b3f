/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_UNWIND_API_H
#define __PERF_HYBRID_UNWIND_API_H

/*
 * The unwinder for those who do not record: processes and their mappings, registers and a piece
 * of stack go in; callchains come out, and why they ended. Neither perf nor its headers are
 * needed.
 *
 *	core = hybrid_core_new(NULL, NULL);
 *	hybrid_core_map(core, pid, &map);		(for each executable mapping)
 *	hybrid_core_callchain(core, &sample);		(for each sample, in the order of time)
 *	hybrid_core_delete(core);
 */
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>
#include "../rules/ident.h"
#include "../unwind/outcome.h"

struct hybrid_compiler;
struct hybrid_core;
struct hybrid_mapping;
struct hybrid_named_chain;
struct hybrid_namer;
struct hybrid_objects;
struct hybrid_precise;
union perf_event;

/**
 * struct hybrid_core_map - an executable mapping
 * @start: first address
 * @end: address behind the last
 * @pgoff: offset of @start in the file, in bytes
 * @file: that it shows; NULL: memory without a file
 */
struct hybrid_core_map {
	u64			 start;
	u64			 end;
	u64			 pgoff;
	const struct hybrid_ident *file;
};

/**
 * struct hybrid_core_ops - what a core asks of its owner; each may be NULL
 * @open: opens the file that a mapping shows, see hybrid_open_fn. NULL: the file at its path
 * @find_map: adds the mapping that holds an address of the process that is unwound, by
 *	hybrid_core_map(). NULL: all mappings are known
 */
struct hybrid_core_ops {
	int (*open)(const struct hybrid_mapping *mapping);
	void (*find_map)(struct hybrid_core *core, pid_t pid, u64 ip, void *arg);
};

/**
 * hybrid_core_new - an unwinder, with what it knows of processes and files
 * @ops: of the owner; NULL: of none
 * @arg: for @ops
 *
 * Return: NULL if memory is short.
 */
struct hybrid_core *hybrid_core_new(const struct hybrid_core_ops *ops, void *arg);
void hybrid_core_delete(struct hybrid_core *core);

/* For @ops from now on. */
void hybrid_core_set_arg(struct hybrid_core *core, void *arg);

/* Processes and files are unknown again. */
void hybrid_core_forget(struct hybrid_core *core);

/*
 * The processes run: what a dump lacks, and code that no file has, is read from them, and what
 * their runtimes say of it.
 */
void hybrid_core_set_live(struct hybrid_core *core);

/* What was read from processes is read again from now on. */
void hybrid_core_pass(struct hybrid_core *core);

/**
 * hybrid_core_map - a process has a mapping
 * @core: unwinder
 * @pid: of the process, which need not be known
 * @map: the mapping; it takes the place of those at its addresses
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_core_map(struct hybrid_core *core, pid_t pid, const struct hybrid_core_map *map);

/**
 * hybrid_core_maps_of - the mappings of a process are those of a state of @find_map's
 * @core: unwinder
 * @pid: of the process
 * @tid: of a thread
 * @state: any number. If it is another one than the last time, no mapping is known
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_core_maps_of(struct hybrid_core *core, pid_t pid, pid_t tid, u64 state);

/**
 * hybrid_core_fork - a task has made another
 * @core: unwinder
 * @pid: of the new task's process
 * @tid: of the new task
 * @ppid: of the old task's process; @pid for a thread
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_core_fork(struct hybrid_core *core, pid_t pid, pid_t tid, pid_t ppid);

/* A process runs another program: nothing stays mapped. Return: 0, or -ENOMEM. */
int hybrid_core_exec(struct hybrid_core *core, pid_t pid);

/* A thread is gone, and its process with the last of them. */
void hybrid_core_exit(struct hybrid_core *core, pid_t tid);

/* All of that by mmap, fork, exec and exit records: hybrid_track(). */
int hybrid_core_record(struct hybrid_core *core, const union perf_event *event);

/* Threads that are known. */
unsigned int hybrid_core_nr_threads(const struct hybrid_core *core);

/* Do samples with these registers have those that an unwind begins with? */
bool hybrid_core_is_enough(u64 regs_abi, u64 regs_mask);

/**
 * struct hybrid_core_sample - one sample
 * @pid: process
 * @tid: thread
 * @regs_abi: PERF_SAMPLE_REGS_ABI_*
 * @regs_mask: which registers there are, as perf_event_attr::sample_regs_user
 * @regs: their values; NULL: none
 * @stack: a copy of the stack, from the stack pointer on; NULL: none
 * @stack_size: bytes of @stack
 * @kernel: callchain as the kernel made it; NULL: none
 * @nr_kernel: number of @kernel
 * @at_probe: see struct hybrid_merge
 * @walked: @kernel may be of a walk by rules
 * @checks_calls: that has looked for a call before each return address
 * @precise: of a precise event, see precise.h; NULL: all parts are of one moment
 * @max_frames: of the user part
 * @chain: out: the callchain, as PERF_SAMPLE_CALLCHAIN has it; the caller's
 * @max: room in @chain; at least @nr_kernel + 2
 * @nr: out: number of @chain
 * @outcome: out: what became of it
 * @failed_in: out: path of the file at which the chain ended early; NULL: of none. Valid until
 *	the core is told of something else
 */
struct hybrid_core_sample {
	pid_t			 pid;
	pid_t			 tid;
	u64			 regs_abi;
	u64			 regs_mask;
	const u64		*regs;
	const void		*stack;
	u64			 stack_size;
	const u64		*kernel;
	unsigned int		 nr_kernel;
	bool			 at_probe;
	bool			 walked;
	bool			 checks_calls;
	struct hybrid_precise	*precise;
	unsigned int		 max_frames;
	u64			*chain;
	unsigned int		 max;
	unsigned int		 nr;
	enum hybrid_outcome	 outcome;
	const char		*failed_in;
};

/**
 * hybrid_core_callchain - the callchain of a sample
 * @core: unwinder
 * @sample: what goes in and comes out
 *
 * Return: was the user part unwound from registers? Else it is the kernel's.
 */
bool hybrid_core_callchain(struct hybrid_core *core, struct hybrid_core_sample *sample);

/**
 * hybrid_core_namer - who names the frames of the last sample
 * @core: of processes that run
 * @sample: the last one that hybrid_core_callchain() was called for
 * @language: as hybrid_runtime_namer() has it
 * @c: out: the chain and its frames; @out, @max and the functions are the caller's
 *
 * Return: for hybrid_name_chain(); NULL if the process has no runtime.
 */
struct hybrid_namer *hybrid_core_namer(struct hybrid_core *core,
				       const struct hybrid_core_sample *sample,
				       u32 language, struct hybrid_named_chain *c);

/* The files of a core, for who compiles rules of them. */
struct hybrid_objects *hybrid_core_objects(struct hybrid_core *core);

/* Compile rules for what the last sample met, if hybrid_core_callchain() has returned true. */
void hybrid_core_compile(struct hybrid_core *core, struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_UNWIND_API_H */
