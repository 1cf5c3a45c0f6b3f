/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TRACK_H
#define __PERF_HYBRID_TRACK_H

#include <stdbool.h>

struct hybrid_ident;
struct hybrid_processes;
struct perf_record_mmap2;
union perf_event;

/**
 * hybrid_track - keep the tasks current
 * @ps: tasks
 * @event: any record; those but mmap, mmap2, comm, fork and exit are ignored
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_track(struct hybrid_processes *ps, const union perf_event *event);

/*
 * Is a process told to begin, to end, or to map something? Such a one may be short, and
 * what it has can be read as long as it runs.
 */
bool hybrid_track_is_change(const union perf_event *event);

/* Which file a record says that a process has mapped; without its path. @ident: out, cleared. */
void hybrid_track_ident(const struct hybrid_processes *ps, const struct perf_record_mmap2 *event,
			struct hybrid_ident *ident);

#endif /* __PERF_HYBRID_TRACK_H */
