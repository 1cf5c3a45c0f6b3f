/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TRACK_H
#define __PERF_HYBRID_TRACK_H

struct hybrid_processes;
union perf_event;

/**
 * hybrid_track - keep the tasks current
 * @ps: tasks
 * @event: any record; those but mmap, mmap2, comm, fork and exit are ignored
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_track(struct hybrid_processes *ps, const union perf_event *event);

#endif /* __PERF_HYBRID_TRACK_H */
