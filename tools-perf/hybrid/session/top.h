/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TOP_H
#define __PERF_HYBRID_TOP_H

struct evlist;
union perf_event;

/*
 * perf top or trace --call-graph hybrid: the kernel or BPF walks the stacks, as for perf record.
 * What is sampled is unwound, and its rules are loaded, by resolve.c.
 */

#ifdef HAVE_HYBRID_SUPPORT

/**
 * hybrid_top__prepare - ask for it
 * @evlist: events, configured and not open
 */
void hybrid_top__prepare(struct evlist *evlist);

/**
 * hybrid_top__attach - have it
 * @evlist: events, open, their rings mapped
 */
void hybrid_top__attach(struct evlist *evlist);

/**
 * hybrid_top__event - a record as the kernel would have written it
 * @evlist: the events
 * @event: from a ring
 *
 * Return: @event, or what a record of BPF's stands for, valid until the next call; NULL where
 * that is nothing.
 */
union perf_event *hybrid_top__event(struct evlist *evlist, union perf_event *event);

/* No more events come, and none is resolved any more. */
void hybrid_top__exit(void);

#else /* HAVE_HYBRID_SUPPORT */

#include <linux/compiler.h>

static inline void hybrid_top__prepare(struct evlist *evlist __maybe_unused)
{
}

static inline void hybrid_top__attach(struct evlist *evlist __maybe_unused)
{
}

static inline union perf_event *hybrid_top__event(struct evlist *evlist __maybe_unused,
						  union perf_event *event)
{
	return event;
}

static inline void hybrid_top__exit(void)
{
}

#endif /* HAVE_HYBRID_SUPPORT */

#endif /* __PERF_HYBRID_TOP_H */
