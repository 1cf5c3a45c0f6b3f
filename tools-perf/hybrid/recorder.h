/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORDER_H
#define __PERF_HYBRID_RECORDER_H

#include "bpf.h"
#include "events.h"
#include "lost.h"
#include "off-cpu.h"
#include "record.h"
#include "record/order.h"
#include "record/stats.h"
#include "store/compiler.h"
#include "tasks/load.h"
#include "tasks/process.h"
#include "teach.h"

#define HYBRID_NR_FOUND	256

/**
 * struct hybrid_record - a recording
 * @evlist: its events
 * @events: what is known of each, by its index
 * @nr_events: number of @events
 * @write: where the file's records go
 * @arg: for @write
 * @ps: processes, threads and what they map
 * @unwinder: caches
 * @stats: the account
 * @lost: processes that may have lost records
 * @loader: opens files; NULL where memory is short
 * @touch: makes pages of stacks be there; NULL where memory is short
 * @waiting: the object that samples wait for, NULL: they don't
 * @teaching: what walks stacks by rules, and is taught
 * @off_cpu: chains of tasks that went to sleep, where BPF walks these
 * @order: of the records of all rings
 * @rings: the rings
 * @heap: room for @order, one for each ring
 * @nr_rings: of both
 * @now: of this pass over the rings, in ns
 * @began: the time of the first pass, in ns
 * @mended: of the last one that asked for pages of a stack; 0: none did
 * @holes: of the dump of the sample that is delivered, as struct hybrid_unwind has them
 * @found: threads whose stacks were asked for, by the end of their number
 * @looked: when it was last noted that what processes have compiled may have changed, in ns
 * @raised: the reading thread runs before others, see hybrid_priority_raise()
 * @draining: the recording has ended: this is the last pass
 * @shedding: the sample that is read loses its dump
 * @out_used: bytes of @out
 * @flushed: when @out was last written, in ns
 * @frames: of the sample that is unwound
 * @chain: its callchain
 * @id_size: bytes that each record ends with, by sample_id_all
 * @made: a record that is made of one of BPF's, or is shorter than in its ring
 * @out: records that are to be written
 */
struct hybrid_record {
	struct evlist		*evlist;
	struct hybrid_event	*events;
	int			 nr_events;
	hybrid_write_fn		 write;
	void			*arg;
	struct hybrid_processes	 ps;
	struct hybrid_unwinder	 unwinder;
	struct hybrid_stats	 stats;
	struct hybrid_lost	 lost;
	struct hybrid_loader	*loader;
	struct hybrid_touch	*touch;
	struct hybrid_object	*waiting;
	struct hybrid_teaching	 teaching;
	struct hybrid_off_cpu	 off_cpu;
	struct hybrid_order	 order;
	struct hybrid_ring	*rings;
	struct hybrid_ring	**heap;
	int			 nr_rings;
	u64			 now;
	u64			 began;
	u64			 mended;
	u32			 holes;
	pid_t			 found[HYBRID_NR_FOUND];
	u64			 looked;
	bool			 raised;
	bool			 draining;
	bool			 shedding;
	size_t			 out_used;
	u64			 flushed;
	struct hybrid_frame	 frames[HYBRID_MAX_FRAMES];
	u64			 chain[HYBRID_MAX_RECORD / 8];
	u16			 id_size;
	u8			 made[HYBRID_MAX_RECORD] __aligned(8);
	u8			 out[HYBRID_OUT_SIZE] __aligned(8);
};

/* The event that what BPF has lost counts for: its program is the same for all. */
struct evsel *hybrid_record__first(const struct hybrid_record *hr);

/* Room for a record of @size bytes in the output; NULL where writing failed. */
void *hybrid_out_room(struct hybrid_record *hr, size_t size);

/* Writes what stands there; negative where that failed. */
int hybrid_out_flush(struct hybrid_record *hr);

/* A record as it is; -EIO where writing failed. */
int hybrid_out_copy(struct hybrid_record *hr, const struct perf_event_header *event);

/**
 * struct hybrid_made - the callchain of a sample, as it was made
 * @outcome: what became of it
 * @failed_in: the object that it ended in; NULL for none
 * @walked: there was a walk by taught rules
 * @info: what that says of itself
 * @deeper: a larger dump would show more
 * @nr: words of struct hybrid_record's @chain
 */
struct hybrid_made {
	enum hybrid_outcome		 outcome;
	const struct hybrid_object	*failed_in;
	bool				 walked;
	u64				 info;
	bool				 deeper;
	unsigned int			 nr;
};

/**
 * hybrid_make_chain - the callchain of a sample, in struct hybrid_record's @chain
 * @hr: the recording
 * @ring: that the sample stands in
 * @event: its event
 * @sample: its parts
 * @made: out; the account is the caller's
 *
 * Return: as hybrid_deliver_sample().
 */
int hybrid_make_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
		      struct hybrid_event *event, const struct hybrid_sample *sample,
		      struct hybrid_made *made);

/**
 * hybrid_deliver_sample - one sample, with its callchain in place of its stack
 * @hr: the recording
 * @ring: that it stands in
 * @header: the sample
 * @size: of what stands in the ring for it
 *
 * Return: 0; -EAGAIN where it waits for a file and is to be delivered again; -EIO where
 * writing failed.
 */
int hybrid_deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  const struct perf_event_header *header, u16 size);

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

/* Any other record: @arg is the recording. -EIO where writing failed. */
int hybrid_deliver_other(void *arg, union perf_event *event);

#endif /* __PERF_HYBRID_RECORDER_H */
