/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EVSEL_H
#define __PERF_HYBRID_EVSEL_H

#include <stdbool.h>
#include <linux/types.h>

struct evlist;
struct evsel;

/* Frames of a user chain that are kept unless --max-stack gives another number. */
#define HYBRID_DEFAULT_MAX_STACK	1024

#ifdef HAVE_HYBRID_SUPPORT

/**
 * evsel__has_hybrid_callchain - does an event have all that the hybrid unwinder needs?
 * @evsel: an event, configured
 *
 * Return: true if its samples have the kernel's callchain, the user registers and a
 * stack dump, as with --call-graph hybrid.
 */
bool evsel__has_hybrid_callchain(const struct evsel *evsel);

/* Return: true if evsel__has_hybrid_callchain() holds for any event of @evlist. */
bool evlist__has_hybrid_callchain(struct evlist *evlist);

/**
 * evsel__may_be_uprobe - may an event's samples come from a uprobe?
 * @evsel: an event; see struct hybrid_merge
 *
 * Probes are tracepoints, or have a dynamic PMU of their own.
 */
bool evsel__may_be_uprobe(const struct evsel *evsel);

/**
 * evsel__has_default_dump_size - has the user named no dump size, for all events or this one?
 * @evsel: an event, configured
 */
bool evsel__has_default_dump_size(struct evsel *evsel);

/* Return: the largest dump size in bytes that the user has named; 0 if an event has none. */
u32 evlist__named_dump_size(struct evlist *evlist);

#else /* HAVE_HYBRID_SUPPORT */

#include <linux/compiler.h>

static inline bool evsel__has_hybrid_callchain(const struct evsel *evsel __maybe_unused)
{
	return false;
}

static inline bool evlist__has_hybrid_callchain(struct evlist *evlist __maybe_unused)
{
	return false;
}

#endif /* HAVE_HYBRID_SUPPORT */

#endif /* __PERF_HYBRID_EVSEL_H */
