/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_STATS_H
#define __PERF_HYBRID_STATS_H

#include <stdio.h>
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include "../unwind/merge.h"
#include "no-rule.h"

struct hybrid_failure;

/**
 * struct hybrid_live - what was there at the last line of hybrid_stats_live()
 * @start: when it was called first, in ns; 0: never
 * @last: of the last line, in ns
 * @read: of struct hybrid_stats
 * @complete: of struct hybrid_stats
 * @stitched: of struct hybrid_stats
 * @shed: of struct hybrid_stats
 */
struct hybrid_live {
	u64			 start;
	u64			 last;
	u64			 read;
	u64			 complete;
	u64			 stitched;
	u64			 shed;
};

/**
 * struct hybrid_stats - an account of every sample that was read
 * @read: samples read from the rings; what @outcomes and @shed add up to
 * @outcomes: samples written, by enum hybrid_outcome
 * @shed_dumps: of HYBRID_FP_ONLY, those with a dump that there was no time for
 * @shed: samples left out: there was no time even to write them, or @bad
 * @bad: of @shed, samples whose sizes contradict each other
 * @dropped: samples of clock events that the kernel dropped as it ran another BPF program
 * @over_time: samples that were not walked, as walks took too much of the task's time
 * @lost: samples of the events with a hybrid callchain that the kernel had no room for
 * @ring_bytes: of samples read, as the kernel wrote them, by when they came: see
 *	@first
 * @deeper: of HYBRID_TRUNCATED, those whose dump is full and can be larger
 * @deeper_than: bytes of such a dump, the largest
 * @dump_bytes: of stack that were unwound
 * @file_bytes: of samples written
 * @loaded: a walker in the kernel gets rules
 * @without_dump: of HYBRID_COMPLETE, those that the kernel walked by what it was
 *	loaded
 * @first: of @without_dump by when they came: [N] counts those among samples
 *	2^N to 2^(N+1) - 1
 * @no_stack: samples of what has no user stack (kernel threads, the idle task), by when they
 *	came: see @first
 * @ends: why the kernel's walks by rules ended, by enum perf_unwind_end
 * @no_rules: where they ended without a rule
 * @store: what the kernel's store holds at the end
 * @live: where hybrid_stats_live() stands
 * @failures: where samples ended that are not complete
 * @nr_failures: of @failures
 * @alloc_failures: room in @failures
 */
struct hybrid_stats {
	u64			 read;
	u64			 outcomes[HYBRID_NR_OUTCOMES];
	u64			 shed_dumps;
	u64			 shed;
	u64			 bad;
	u64			 lost;
	u64			 dropped;
	u64			 over_time;
	u64			 ring_bytes[64];
	u64			 deeper;
	u32			 deeper_than;
	u64			 dump_bytes;
	u64			 file_bytes;
	bool			 loaded;
	u64			 without_dump;
	u64			 first[64];
	u64			 no_stack[64];
	u64			 ends[PERF_UNWIND_END_BUSY + 1];
	struct hybrid_no_rules	 no_rules;
	struct perf_unwind_stats store;
	struct hybrid_live	 live;
	struct hybrid_failure	*failures;
	size_t			 nr_failures;
	size_t			 alloc_failures;
};

/**
 * hybrid_stats_read - account for a sample that is read
 * @stats: totals
 * @size: of its record in the ring, in bytes
 */
void hybrid_stats_read(struct hybrid_stats *stats, u16 size);

/* It was not read after all: it will be once more. */
void hybrid_stats_unread(struct hybrid_stats *stats, u16 size);

/* What a sample took in the ring, on average. */
u64 hybrid_stats_ring_bytes(const struct hybrid_stats *stats);

/**
 * hybrid_stats_count - account for a sample that is written
 * @stats: totals
 * @outcome: what became of its chain
 * @failed_in: the object that it ended in, NULL for none
 */
void hybrid_stats_count(struct hybrid_stats *stats, enum hybrid_outcome outcome,
			const struct hybrid_object *failed_in);

/* The same, where hybrid_stats_failure() tells of the object. */
void hybrid_stats_outcome(struct hybrid_stats *stats, enum hybrid_outcome outcome);

/**
 * hybrid_stats_failure - account for where a chain ended that several samples may have
 * @stats: totals
 * @outcome: what became of it
 * @failed_in: the object that it ended in, NULL for none
 */
void hybrid_stats_failure(struct hybrid_stats *stats, enum hybrid_outcome outcome,
			  const struct hybrid_object *failed_in);

/**
 * hybrid_stats_deeper - account for a stack that a larger dump would show more of
 * @stats: totals
 * @size: of its dump, in bytes
 */
void hybrid_stats_deeper(struct hybrid_stats *stats, u32 size);

/**
 * hybrid_stats_walk - account for a walk of the kernel's by rules
 * @stats: totals; the sample is the last of @stats->read
 * @info: the word behind PERF_CONTEXT_USER_RULES
 */
void hybrid_stats_walk(struct hybrid_stats *stats, u64 info);

/* The same, of a sample that no stack can be walked or copied for. */
void hybrid_stats_no_stack(struct hybrid_stats *stats);

/**
 * hybrid_stats_live - a line while recording, if the last is a second old
 * @stats: totals
 * @now: ns, of a clock that never goes back
 * @out: stream
 *
 * It says what became of the samples since the line before.
 */
void hybrid_stats_live(struct hybrid_stats *stats, u64 now, FILE *out);

/**
 * hybrid_stats_print - the closing line of a recording, and what to ask for where
 *	many stacks were deeper than their dumps
 * @stats: totals
 * @all: the classes that no sample is in, too
 * @out: stream
 */
void hybrid_stats_print(const struct hybrid_stats *stats, bool all, FILE *out);

/**
 * hybrid_stats_print_failures - the objects behind the failures, most first,
 *	and how long loading took
 * @stats: totals; sorted here
 * @out: stream
 */
void hybrid_stats_print_failures(struct hybrid_stats *stats, FILE *out);

void hybrid_stats_exit(struct hybrid_stats *stats);

#endif /* __PERF_HYBRID_STATS_H */
