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
#include "../bpf_skel/made-code.h"
#include "../rules/ident.h"
#include "../runtime/functions.h"
#include "../unwind/kernel-chain.h"
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

/* Does the walker read functions of interpreters? Then hybrid_core_compile() tells it of these. */
void hybrid_core_set_functions(struct hybrid_core *core, bool reads_functions);

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
 * Return: 1 if no mapping is known, 0 if they are as before, or -ENOMEM.
 */
int hybrid_core_maps_of(struct hybrid_core *core, pid_t pid, pid_t tid, u64 state);

/* Does a process run what its parent has mapped, without an exec since? If it is known. */
void hybrid_core_set_forked(struct hybrid_core *core, pid_t pid, bool forked);

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
 * struct hybrid_sample - one sample, whoever has taken it
 * @pid: process
 * @tid: thread
 * @ip: the sampled address; 0: unknown
 * @cpumode: PERF_RECORD_MISC_*: what @ip is in
 * @at_probe: see struct hybrid_merge
 * @kernel: callchain as the kernel made it, or BPF. @is_walked only if rules were loaded
 * @regs_abi: PERF_SAMPLE_REGS_ABI_*
 * @regs_mask: which registers there are, as perf_event_attr::sample_regs_user
 * @regs: their values; NULL: none
 * @stack: a copy of the stack, from the stack pointer on; NULL: none
 * @stack_size: bytes of @stack
 * @stack_room: bytes that it has room for; 0: unknown
 * @holes: see struct hybrid_unwind
 * @room_ends: the same
 * @checks_calls: a walk by rules has looked for a call before each return address
 * @space: what the walker knows the address space by; 0: unknown
 * @code: around where its walk has ended, as it has read it
 * @frames: functions that some of its frames run: @functions of struct hybrid_unwind
 * @nr_frames: number of @frames, each two words
 * @code_hash: which code of a JVM it came through; 0: none, or unknown
 * @functions: that interpreters run
 * @precise: of a precise event, see precise.h; NULL: all parts are of one moment
 * @max_frames: of the user part
 * @waits: files that the sample needs are waited for here: there is nothing else to do
 * @chain: out: the callchain, as PERF_SAMPLE_CALLCHAIN has it; the caller's
 * @max: room in @chain; at least 2 more than the words of @kernel
 * @nr: out: number of @chain
 * @outcome: out: what became of it
 * @is_marked: out: there is a mark in @chain
 * @by_regs: out: the user part was unwound from registers; else it is the kernel's
 * @is_known: out, of who has another way: samples before led through all addresses of the user part
 * @named_ip: out, of who names frames: what the sampled address is to be; 0: what it is
 */
struct hybrid_sample {
	pid_t			   pid;
	pid_t			   tid;
	u64			   ip;
	u16			   cpumode;
	bool			   at_probe;
	struct hybrid_kernel_chain kernel;
	u64			   regs_abi;
	u64			   regs_mask;
	const u64		  *regs;
	const void		  *stack;
	u64			   stack_size;
	u64			   stack_room;
	u32			   holes;
	bool			   room_ends;
	bool			   checks_calls;
	u64			   space;
	struct hybrid_made_code	   code;
	const void		  *frames;
	unsigned int		   nr_frames;
	u64			   code_hash;
	struct hybrid_sample_functions functions;
	struct hybrid_precise	  *precise;
	unsigned int		   max_frames;
	bool			   waits;

	u64			  *chain;
	unsigned int		   max;
	unsigned int		   nr;
	enum hybrid_outcome	   outcome;
	bool			   is_marked;
	bool			   by_regs;
	bool			   is_known;
	u64			   named_ip;
};

/**
 * hybrid_core_callchain - the callchain of a sample
 * @core: unwinder
 * @sample: what goes in and comes out
 *
 * This is the one way from registers, a walk in the kernel, or frame pointers to a callchain.
 *
 * Return: 0; -EAGAIN where a file is not there yet, and the sample is to be tried again.
 */
int hybrid_core_callchain(struct hybrid_core *core, struct hybrid_sample *sample);

/* Path of the file at which the chain of the last sample ended early; NULL: of none. */
const char *hybrid_core_failed_in(const struct hybrid_core *core,
				  const struct hybrid_sample *sample);

/* The stack pointer of a sample with these registers; 0 if an unwind can't begin with them. */
u64 hybrid_core_sp(struct hybrid_core *core, u64 regs_abi, u64 regs_mask, const u64 *regs);

/**
 * hybrid_core_namer - who names the frames of a process
 * @core: of processes that run
 * @pid: of the process
 * @language: whose functions BPF has read in it, or HYBRID_NO_LANGUAGE
 *
 * Return: for hybrid_name_chain(); NULL if the process has no runtime, or is not known.
 */
struct hybrid_namer *hybrid_core_namer(struct hybrid_core *core, pid_t pid,
				       enum hybrid_language language);

/**
 * hybrid_core_named_chain - the chain of the last sample, to be named
 * @core: unwinder
 * @sample: the last one that hybrid_core_callchain() was called for
 * @c: out: what goes in there, but for the functions, @out and @max
 */
void hybrid_core_named_chain(const struct hybrid_core *core, const struct hybrid_sample *sample,
			     struct hybrid_named_chain *c);

/* The files of a core, for who compiles rules of them. */
struct hybrid_objects *hybrid_core_objects(struct hybrid_core *core);

/**
 * hybrid_core_compile - compile rules for what the last sample met
 * @core: unwinder
 * @sample: the last one that hybrid_core_callchain() was called for; nothing is done for one that
 *	was walked to the outermost frame, or had no registers
 * @compiler: of the walker's rules
 *
 * The interpreter that it came through, if any, is told to the compiler.
 */
void hybrid_core_compile(struct hybrid_core *core, const struct hybrid_sample *sample,
			 struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_UNWIND_API_H */
