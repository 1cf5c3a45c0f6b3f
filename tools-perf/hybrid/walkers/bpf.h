/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BPF_H
#define __PERF_HYBRID_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>
#include "../bpf_skel/hybrid_walk.h"

struct evlist;
struct hybrid_bpf;
struct hybrid_store_ops;
struct perf_unwind_stats;

#ifdef HAVE_BPF_SKEL

/**
 * hybrid_bpf__prepare - load the program, where it is asked for and may be
 * @evlist: events, configured and not open; they get ids in their samples
 * @dump_size: bytes of a dump, at most; 0: the user has named none
 *
 * Without it, all goes on with stack dumps.
 */
void hybrid_bpf__prepare(struct evlist *evlist, u32 dump_size);

/**
 * hybrid_bpf__serves_all - will samples need no dump, but for some?
 * @evlist: events, configured; hybrid_bpf__prepare() has seen them
 *
 * Return: true where the program is loaded, and walks for all events that
 * evsel__has_hybrid_callchain().
 */
bool hybrid_bpf__serves_all(struct evlist *evlist);

/**
 * hybrid_bpf__attach - have the program walk the stacks of the events
 * @evlist: events, open, their rings mapped
 *
 * Return: what hybrid_bpf__prepare() has loaded, to be given to hybrid_bpf__delete();
 * NULL where that is nothing, or no event takes it.
 */
struct hybrid_bpf *hybrid_bpf__attach(struct evlist *evlist);

/* Are its walks chains? Else it finds the functions of interpreters, and nothing else. */
bool hybrid_bpf__walks(const struct hybrid_bpf *bpf);

/**
 * hybrid_bpf__is_id - is a record of the program's?
 * @bpf: attached
 * @id: of the event that wrote it
 */
bool hybrid_bpf__is_id(const struct hybrid_bpf *bpf, u64 id);

/* What its records have, PERF_SAMPLE_*: an id, the task, a time, and at most the CPU. */
u64 hybrid_bpf__sample_type(const struct hybrid_bpf *bpf);

/* What the table holds (@stats may be NULL), and what became of samples. */
void hybrid_bpf__stats(const struct hybrid_bpf *bpf, struct perf_unwind_stats *stats,
		       struct hybrid_walk_counts *counts);

/* Are the chains of perf record --off-cpu its? */
bool hybrid_bpf__is_off_cpu(const struct hybrid_bpf *bpf);

/* The recording has ended: tasks that go to sleep from now on have no chain. */
void hybrid_bpf__stop_off_cpu(struct hybrid_bpf *bpf);

/* What became of the walks of tasks that went to sleep, a line. */
void hybrid_bpf__print_off_cpu(const struct hybrid_bpf *bpf, FILE *out);

void hybrid_bpf__delete(struct hybrid_bpf *bpf);

/* Is a BPF program one of these? @id: as the kernel numbers programs. */
bool hybrid_bpf__is_own(u32 id);

/* For hybrid_compiler_new(); its store is the struct hybrid_bpf. */
const struct hybrid_store_ops *hybrid_bpf__ops(void);

#else /* HAVE_BPF_SKEL */

#include <linux/compiler.h>

static inline void hybrid_bpf__prepare(struct evlist *evlist __maybe_unused,
				       u32 dump_size __maybe_unused)
{
}

static inline bool hybrid_bpf__serves_all(struct evlist *evlist __maybe_unused)
{
	return false;
}

static inline struct hybrid_bpf *hybrid_bpf__attach(struct evlist *evlist __maybe_unused)
{
	return NULL;
}

static inline bool hybrid_bpf__walks(const struct hybrid_bpf *bpf __maybe_unused)
{
	return false;
}

static inline bool hybrid_bpf__is_id(const struct hybrid_bpf *bpf __maybe_unused,
				     u64 id __maybe_unused)
{
	return false;
}

static inline u64 hybrid_bpf__sample_type(const struct hybrid_bpf *bpf __maybe_unused)
{
	return 0;
}

static inline void hybrid_bpf__stats(const struct hybrid_bpf *bpf __maybe_unused,
				     struct perf_unwind_stats *stats __maybe_unused,
				     struct hybrid_walk_counts *counts __maybe_unused)
{
}

static inline bool hybrid_bpf__is_own(u32 id __maybe_unused)
{
	return false;
}

static inline const struct hybrid_store_ops *hybrid_bpf__ops(void)
{
	return NULL;
}

static inline bool hybrid_bpf__is_off_cpu(const struct hybrid_bpf *bpf __maybe_unused)
{
	return false;
}

static inline void hybrid_bpf__stop_off_cpu(struct hybrid_bpf *bpf __maybe_unused)
{
}

static inline void hybrid_bpf__print_off_cpu(const struct hybrid_bpf *bpf __maybe_unused,
					     FILE *out __maybe_unused)
{
}

static inline void hybrid_bpf__delete(struct hybrid_bpf *bpf __maybe_unused)
{
}

#endif /* HAVE_BPF_SKEL */

struct perf_event_header;
union perf_event;

/* Has the program written it? @bpf: NULL: no. */
bool hybrid_bpf__is_record(const struct hybrid_bpf *bpf, const struct perf_event_header *header);

/* When the sample was taken that one of its records tells of; 0 where that can't be parsed. */
u64 hybrid_bpf__time(const struct hybrid_bpf *bpf, const struct perf_event_header *header);

/**
 * hybrid_bpf__rename_lost - a PERF_RECORD_LOST with the id of an event that perf knows
 * @bpf: attached; NULL: no record is the program's
 * @id: of that event
 * @event: PERF_RECORD_LOST
 * @room: for a copy
 *
 * Where records of the program's own event were lost the kernel gives that one's id.
 *
 * Return: @room, or @event itself where that names another.
 */
union perf_event *hybrid_bpf__rename_lost(const struct hybrid_bpf *bpf, u64 id,
					  union perf_event *event, void *room);

#endif /* __PERF_HYBRID_BPF_H */
