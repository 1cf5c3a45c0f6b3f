/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RESOLVE_H
#define __PERF_HYBRID_RESOLVE_H

#include <stdbool.h>
#include "../glue/evsel.h"

struct ip_callchain;
struct hybrid_walker;
struct perf_sample;
struct thread;

#ifdef HAVE_HYBRID_SUPPORT

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
 * hybrid__named_ip - the function of a runtime that a sample was in
 *
 * Of the chain that hybrid__callchain() has returned last.
 *
 * Return: the synthetic address that the sampled one becomes; 0: none.
 */
u64 hybrid__named_ip(void);

/**
 * hybrid__set_walker - samples may be walked by rules, and those that are not show which to load
 * @what: attached, the caller's; NULL: no more
 */
void hybrid__set_walker(struct hybrid_walker *what);

#else /* HAVE_HYBRID_SUPPORT */

#include <stddef.h>
#include <linux/compiler.h>
#include <linux/types.h>

static inline u64 hybrid__named_ip(void)
{
	return 0;
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
