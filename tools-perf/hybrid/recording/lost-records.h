/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_LOST_RECORDS_H
#define __PERF_HYBRID_LOST_RECORDS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>
#include "../../machine.h"
#include "../../tool.h"

struct perf_event_attr;
struct perf_event_header;
union perf_event;

/* Processes that are synthesized anew behind one loss, at most. */
#define HYBRID_LOST_PROCESSES	4096

/**
 * typedef hybrid_found_fn - takes a record that /proc gave
 * @arg: the owner's
 * @event: to be tracked and written
 *
 * Return: 0, or negative.
 */
typedef int (*hybrid_found_fn)(void *arg, union perf_event *event);

/**
 * struct hybrid_lost - what follows from records that the kernel had no room for
 * @tool: for perf's own synthesis
 * @host: the same
 * @found: takes its records
 * @arg: for @found
 * @attr: of the event of the sample that is delivered
 * @sample: that sample: what is synthesized is as old
 * @since: when the last loss was acted upon, in ns
 * @pending: there was one since
 * @any: there was one
 * @pids: processes that are known to be up to date, by hash; 0: none
 * @nr: how many were synthesized anew
 * @err: what @found returned last
 */
struct hybrid_lost {
	struct perf_tool		 tool;
	struct machine			 host;
	hybrid_found_fn			 found;
	void				*arg;
	const struct perf_event_attr	*attr;
	const struct perf_event_header	*sample;
	u64				 since;
	bool				 pending;
	bool				 any;
	pid_t				 pids[HYBRID_LOST_PROCESSES];
	u64				 nr;
	int				 err;
};

/**
 * hybrid_lost_init - nothing was lost yet
 * @lost: out: state
 * @id_hdr_size: bytes of what records have at their end, evlist__id_hdr_size()
 * @found: takes the records of processes that are synthesized anew
 * @arg: for @found
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_lost_init(struct hybrid_lost *lost, u16 id_hdr_size, hybrid_found_fn found,
		     void *arg);

void hybrid_lost_exit(struct hybrid_lost *lost);

/**
 * hybrid_lost_seen - the kernel has told of records that it had no room for
 * @lost: state
 * @now: ns, of a clock that never goes back
 *
 * It does not say which records, nor whose: a mapping of any process may be among
 * them. So each process is taken to be out of date until it is read anew, which is
 * when it is sampled next. That is not done more than ten times a second.
 */
void hybrid_lost_seen(struct hybrid_lost *lost, u64 now);

/**
 * hybrid_lost_pass - act upon what was seen too early
 * @lost: state
 * @now: ns, of the same clock
 */
void hybrid_lost_pass(struct hybrid_lost *lost, u64 now);

/**
 * hybrid_lost_sample - bring the process of a sample up to date
 * @lost: state
 * @attr: of its event, as the kernel has it
 * @sample: about to be delivered
 * @pid: its process
 * @tid: its thread
 *
 * Return: 0, or negative where a record could not be written. That the process is
 * gone is no error.
 */
int hybrid_lost_sample(struct hybrid_lost *lost, const struct perf_event_attr *attr,
		       const struct perf_event_header *sample, pid_t pid, pid_t tid);

#endif /* __PERF_HYBRID_LOST_RECORDS_H */
