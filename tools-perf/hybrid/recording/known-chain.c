// SPDX-License-Identifier: GPL-2.0
/*
 * Most walked samples lead through code that samples before them led through. Their chains are
 * written without a look at each frame.
 */
#include <string.h>
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include "../runtime/runtime.h"
#include "../unwind/known-walk.h"
#include "recording.h"

/* Which is the sampled address in a chain by loaded rules? 0: it can't be told. */
static unsigned int first_of(const struct hybrid_sample *sample)
{
	const u64 *chain = sample->chain;
	unsigned int i;

	for (i = 0; i + 3 < sample->nr_chain; i++) {
		/* The walk's info follows. */
		if (chain[i] == PERF_CONTEXT_USER_RULES)
			return chain[i + 2] == PERF_CONTEXT_USER ? i + 3 : 0;
	}
	return 0;
}

/* Is it the sampled address of an event that is not precise? */
static bool is_sampled(const struct hybrid_event *event, const struct hybrid_sample *sample,
		       u64 first)
{
	u16 cpumode = sample->event->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return event->precise.moment == HYBRID_SKID_NONE &&
	       (cpumode != PERF_RECORD_MISC_USER || sample->ip == first);
}

/* Are there functions of a runtime in the chain? */
static bool has_functions(struct hybrid_record *hr, const struct hybrid_ring *ring,
			  const struct hybrid_sample *sample,
			  const struct hybrid_process *process)
{
	if (hr->names.is_off)
		return false;
	return hr->current.nr_functions || hybrid_find_functions(ring, sample) ||
	       hybrid_find_namer(hr, process, false);
}

bool hybrid_known_chain(struct hybrid_record *hr, const struct hybrid_ring *ring,
			const struct hybrid_event *event, const struct hybrid_sample *sample,
			struct hybrid_thread *thread, struct hybrid_made *made)
{
	struct hybrid_space *space = thread->process->space;
	unsigned int first = first_of(sample), nr = sample->nr_chain - first, nr_kernel;
	const u64 *ips = sample->chain + first;
	u64 *out = hr->current.chain;

	if (!first || nr > event->max_stack || !is_sampled(event, sample, ips[0]) ||
	    has_functions(hr, ring, sample, thread->process))
		return false;
	nr_kernel = first - 3;
	if (nr_kernel + 1 + nr > hybrid_layout_room(&event->layout, sample) ||
	    !hybrid_known_walk(&hr->unwinder, space, ips, nr, out + nr_kernel + 1))
		return false;
	memcpy(out, sample->chain, nr_kernel * sizeof(*out));
	out[nr_kernel] = PERF_CONTEXT_USER;
	hybrid_tail_pass(&thread->tail);
	*made = (struct hybrid_made) {
		.outcome	= HYBRID_COMPLETE,
		.walked		= true,
		.nr		= nr_kernel + 1 + nr,
		.nr_kernel	= nr_kernel,
		.is_known	= true,
		.is_whole	= true,
	};
	return true;
}

void hybrid_known_chain_learn(struct hybrid_record *hr, const struct hybrid_event *event,
			      const struct hybrid_sample *sample, const struct hybrid_made *made)
{
	unsigned int first = first_of(sample), nr = sample->nr_chain - first;
	struct hybrid_process *process;

	if (!first || made->outcome != HYBRID_COMPLETE || made->is_marked ||
	    made->nr != sample->nr_chain - 2 ||
	    !is_sampled(event, sample, sample->chain[first]))
		return;
	process = hybrid_process_find(&hr->ps, sample->pid);
	if (process)
		hybrid_known_walk_learn(&hr->unwinder, process->space, sample->chain + first, nr,
					hr->current.chain + first - 2);
}
