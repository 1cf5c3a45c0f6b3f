/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORDING_H
#define __PERF_HYBRID_RECORDING_H

#include "../api/core.h"
#include "../compiler/compiler.h"
#include "../process/early-file.h"
#include "../process/file-loader.h"
#include "../process/new-threads.h"
#include "../process/process.h"
#include "../records/ring-order.h"
#include "../records/stats.h"
#include "../records/walk-record.h"
#include "../walkers/bpf.h"
#include "../walkers/walker.h"
#include "event.h"
#include "hits.h"
#include "lost-records.h"
#include "names.h"
#include "off-cpu.h"
#include "output.h"
#include "record.h"

struct hybrid_walked;
struct perf_record_mmap2;

/**
 * struct hybrid_rings - the ring buffers of all CPUs, or of all threads
 * @order: of their records in time
 * @ring: each one's state
 * @heap: room for @order, one for each
 * @nr: of both
 */
struct hybrid_rings {
	struct hybrid_order	 order;
	struct hybrid_ring	*ring;
	struct hybrid_ring	**heap;
	int			 nr;
};

/**
 * struct hybrid_pass - one pass over the rings
 * @now: when it began, in ns
 * @began: when the first one began, in ns
 * @looked: when it was last noted that what processes have compiled may have changed, in ns
 * @nr_runtimes: hybrid_runtimes_opened() after the last one
 * @found: when a runtime was opened last, in ns; 0: never
 * @draining: the recording has ended: this is the last pass
 * @waiting: the object that samples wait for; NULL: they do not wait
 */
struct hybrid_pass {
	u64			 now;
	u64			 began;
	u64			 looked;
	u64			 nr_runtimes;
	u64			 found;
	bool			 draining;
	struct hybrid_object	*waiting;
};

/* A record that was just found in a ring: it may be of a mapping of an interpreter's file. */
void hybrid_early_found(struct hybrid_record *hr, const struct perf_event_header *header);

/* Looks at the files that were found, and tells BPF of them. In each pass over the rings. */
void hybrid_early_pass(struct hybrid_record *hr);

/**
 * hybrid_early_tell - tell BPF of a file before a process maps it
 * @hr: the recording, with a BPF program
 * @event: a mapping of the file, which perf itself has
 * @load: load all rules of the file, too
 *
 * Return: true if it is an interpreter that BPF did not know.
 */
bool hybrid_early_tell(struct hybrid_record *hr, const struct perf_record_mmap2 *event, bool load);

/**
 * struct hybrid_stack_pages - reads pages of stacks, so that later samples have them
 * @prefault: reads them; NULL if memory is short
 * @asked: when a sample last asked for pages, in ns; 0: never
 * @threads: whose stacks were asked for
 */
struct hybrid_stack_pages {
	struct hybrid_prefault	*prefault;
	u64			 asked;
	struct hybrid_new_threads threads;
};

/**
 * struct hybrid_ring_functions - what an interpreter runs in a sample that follows in a ring
 * @id: of its event
 * @ids: of its task
 * @ip: of the sample
 * @functions: in @words; none once the sample is delivered
 * @words: of all languages
 */
struct hybrid_ring_functions {
	u64			id;
	u64			ids;
	u64			ip;
	struct hybrid_sample_functions functions;
	struct hybrid_walk_function words[HYBRID_WALK_FUNCTIONS];
};

/**
 * hybrid_keep_functions - keep what an interpreter runs, until its sample is delivered
 * @ring: of the record
 * @walked: the record, which has functions of an interpreter
 *
 * Without memory for them the frames have no names.
 */
void hybrid_keep_functions(struct hybrid_ring *ring, const struct hybrid_walked *walked);

/* Their sample was delivered. */
void hybrid_forget_functions(struct hybrid_ring *ring);

/**
 * struct hybrid_current - the sample that is delivered
 * @shedding: it loses its dump
 * @chain: its callchain
 * @named: the same while functions of a runtime are put into it
 * @head: of a record of BPF: what its sample begins with
 * @ips: and its callchain,
 * @regs: and registers, as hybrid_take_walked() has found them
 * @made: a record that is shorter than in its ring
 */
struct hybrid_current {
	bool			 shedding;
	u64			 chain[HYBRID_MAX_RECORD / 8];
	u64			 named[HYBRID_MAX_RECORD / 8];
	u64			 head[HYBRID_WALKED_HEAD];
	u64			 ips[HYBRID_WALKED_IPS];
	u64			 regs[HYBRID_WALKED_REGS];
	u8			 made[HYBRID_MAX_RECORD] __aligned(8);
};

/**
 * struct hybrid_record - a recording
 * @evlist: its events
 * @events: what is known of each, by its index
 * @nr_events: number of @events
 * @id_size: bytes that each record ends with, by sample_id_all
 * @raised: the reading thread runs before others, see hybrid_priority_raise()
 * @core: unwinds, and knows processes, threads and what they map
 * @files: what files may cost
 * @loader: opens files; NULL if memory is short
 * @stats: what became of samples
 * @lost: processes that may have lost records
 * @walker: walks stacks in the kernel
 * @off_cpu: callchains of tasks that went to sleep, if BPF walks these
 * @stacks: their pages
 * @rings: where records come from
 * @pass: over the rings
 * @current: sample
 * @early: interpreters that BPF is told of before they have samples
 * @names: of functions of runtimes
 * @hits: what samples were in
 * @file: number of the output file, from 1
 * @out: where records go
 */
struct hybrid_record {
	struct evlist			*evlist;
	struct hybrid_event		*events;
	int				 nr_events;
	u16				 id_size;
	bool				 raised;
	struct hybrid_core		*core;
	struct hybrid_file_budget	 files;
	struct hybrid_loader		*loader;
	struct hybrid_stats		 stats;
	struct hybrid_lost		 lost;
	struct hybrid_walker		 walker;
	struct hybrid_off_cpu		 off_cpu;
	struct hybrid_stack_pages	 stacks;
	struct hybrid_rings		 rings;
	struct hybrid_pass		 pass;
	struct hybrid_current		 current;
	struct hybrid_early_files	 early;
	struct hybrid_record_names	 names;
	struct hybrid_hits		 hits;
	u32				 file;
	struct hybrid_output		 out;
};

/* The event that what BPF has lost counts for: its program is the same for all. */
struct evsel *hybrid_record__first(const struct hybrid_record *hr);

/* What a sample in its ring says of itself. @sample: out; @parts and the record must stay. */
void hybrid_take_parts(struct hybrid_record *hr, struct hybrid_event *event,
		       const struct hybrid_sample_parts *parts, struct hybrid_sample *sample);

/**
 * hybrid_take_walked - what a record of BPF says of a sample
 * @hr: the recording; struct hybrid_current has what the record lacks
 * @event: of the sample
 * @walked: the record
 * @parts: out: what the file's sample begins with
 * @sample: out
 */
void hybrid_take_walked(struct hybrid_record *hr, struct hybrid_event *event,
			const struct hybrid_walked *walked, struct hybrid_sample_parts *parts,
			struct hybrid_sample *sample);

/* What BPF has said before, of a sample of the kernel or of its own. */
void hybrid_take_notes(const struct hybrid_record *hr, const struct hybrid_ring *ring,
		       const struct hybrid_sample_parts *parts, struct hybrid_sample *sample);

/**
 * hybrid_make_chain - the callchain of a sample
 * @hr: the recording
 * @ring: that the sample stands in
 * @event: its event
 * @parts: where its parts are in its record
 * @sample: by hybrid_take_parts(); the account is the caller's
 *
 * Return: as hybrid_deliver_sample().
 */
int hybrid_make_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
		      struct hybrid_event *event, const struct hybrid_sample_parts *parts,
		      struct hybrid_sample *sample);

/**
 * hybrid_known_chain - the callchain of a walked sample, if all its addresses are known
 * @hr: the recording
 * @event: of the sample
 * @thread: its thread
 * @sample: its chain is made if the walk came to the outermost frame
 *
 * It is what hybrid_core_callchain() makes, and names, by an instruction or ten for each frame.
 *
 * Return: false where it has to be made frame by frame.
 */
bool hybrid_known_chain(struct hybrid_record *hr, const struct hybrid_event *event,
			struct hybrid_thread *thread, struct hybrid_sample *sample);

/**
 * hybrid_known_chain_learn - the next chain through the same addresses is a known one
 * @hr: the recording
 * @event: of the sample
 * @sample: it came to the outermost frame; what it was in has been noted (hybrid_hits_sample())
 */
void hybrid_known_chain_learn(struct hybrid_record *hr, const struct hybrid_event *event,
			      const struct hybrid_sample *sample);

/**
 * hybrid_deliver_sample - one sample, with its callchain in place of its stack
 * @hr: the recording
 * @ring: that it stands in
 * @event: its event; NULL: unknown
 * @header: the sample
 *
 * Return: 0; -EAGAIN where it waits for a file and is to be delivered again; -EIO where
 * writing failed.
 */
int hybrid_deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_event *event, const struct perf_event_header *header);

/* The same of a sample that BPF has walked or copied. @size: bytes of its record */
int hybrid_deliver_walked(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_event *event, const struct hybrid_walked *walked,
			  u16 size);

/**
 * hybrid_find_thread - have the stack of a sample's thread be there
 * @hr: the recording
 * @header: the sample, which need not have been delivered
 *
 * Where it is the first that is seen of the thread: each sample may lack pages until
 * then. Not of a process's first thread: many processes live shortly, with little on
 * the stack.
 */
void hybrid_find_thread(struct hybrid_record *hr, const struct perf_event_header *header);

/* The same of a thread whose stack pointer is known. */
void hybrid_find_stack(struct hybrid_record *hr, pid_t pid, pid_t tid, u64 sp);

/* hybrid_find_thread() of a record of the BPF program. */
void hybrid_find_thread_of_bpf(struct hybrid_record *hr, const struct perf_event_header *header);

/**
 * hybrid_deliver_bpf - a record of the BPF program, as the sample that it stands for
 * @hr: recording
 * @ring: that it is in; notes here what the record says of the sample that follows
 * @header: hybrid_bpf__is_record()
 *
 * Return: as hybrid_deliver_sample().
 */
int hybrid_deliver_bpf(struct hybrid_record *hr, struct hybrid_ring *ring,
		       const struct perf_event_header *header);

/* Any other record: @arg is the recording. -EIO where writing failed. */
int hybrid_deliver_other(void *arg, union perf_event *event);

#endif /* __PERF_HYBRID_RECORDING_H */
