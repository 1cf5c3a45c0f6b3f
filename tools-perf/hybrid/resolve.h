/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RESOLVE_H
#define __PERF_HYBRID_RESOLVE_H

#include <stdbool.h>

struct evsel;
struct ip_callchain;
struct hybrid_teaching;
struct perf_sample;
struct thread;

/* Frames of a user chain that are kept unless --max-stack says otherwise. */
#define HYBRID_DEFAULT_MAX_STACK	1024

#ifdef HAVE_HYBRID_SUPPORT

/**
 * evsel__has_hybrid_callchain - do the event's samples have both the kernel's
 *	callchain and what it takes to unwind them?
 * @evsel: an event, configured
 *
 * So they have with --call-graph hybrid, as the ring holds them.
 */
bool evsel__has_hybrid_callchain(const struct evsel *evsel);

/**
 * hybrid__at_probe - may the event's samples come from a uprobe?
 * @evsel: an event; see struct hybrid_merge
 */
bool hybrid__at_probe(const struct evsel *evsel);

/**
 * hybrid__resolves - is the sample for the hybrid unwinder to unwind?
 * @sample: of any event
 *
 * Samples with registers and a stack dump are where unwind.style names it
 * first, and always where the kernel gave a user callchain to merge with, as it
 * does for --call-graph hybrid in perf top and perf trace.
 */
bool hybrid__resolves(struct perf_sample *sample);

/**
 * hybrid__keeps - has the sample no stack, so that its callchain is what it will be?
 * @sample: of any event
 *
 * Where hybrid unwinds the others. Who wants addresses alone need not have such a chain
 * resolved, which reads the symbols of the kernel.
 */
bool hybrid__keeps(struct perf_sample *sample);

/**
 * hybrid__callchain - the whole callchain of a sample, kernel and user
 * @thread: that was sampled
 * @sample: hybrid__resolves() it
 * @max_stack: user frames at most
 *
 * Return: the callchain, valid until the next call; NULL where memory is short.
 */
struct ip_callchain *hybrid__callchain(struct thread *thread, struct perf_sample *sample,
				       int max_stack);

/**
 * hybrid__teach - samples may be walked by rules, and those that are not show which to teach
 * @what: attached, the caller's; NULL: no more
 */
void hybrid__teach(struct hybrid_teaching *what);

#else /* HAVE_HYBRID_SUPPORT */

#include <stddef.h>
#include <linux/compiler.h>

static inline bool evsel__has_hybrid_callchain(const struct evsel *evsel __maybe_unused)
{
	return false;
}

static inline bool hybrid__resolves(struct perf_sample *sample __maybe_unused)
{
	return false;
}

static inline bool hybrid__keeps(struct perf_sample *sample __maybe_unused)
{
	return false;
}

static inline struct ip_callchain *
hybrid__callchain(struct thread *thread __maybe_unused,
		  struct perf_sample *sample __maybe_unused, int max_stack __maybe_unused)
{
	return NULL;
}

#endif /* HAVE_HYBRID_SUPPORT */

#endif /* __PERF_HYBRID_RESOLVE_H */
