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

/* Does an interpreter run a function in the sampled frame? */
static bool is_first_interpreted(const struct hybrid_current *current)
{
	u64 word;

	if (!current->nr_functions)
		return false;
	memcpy(&word, current->functions, sizeof(word));
	return !(word >> HYBRID_WALK_FUNCTION_BITS);
}

/* With the functions of a runtime, if all was named before. */
static bool named_chain(struct hybrid_record *hr, const struct hybrid_sample *sample,
			struct hybrid_process *process, struct hybrid_namer *namer,
			const struct hybrid_ring_functions *functions, unsigned int max,
			struct hybrid_made *made)
{
	unsigned int first = made->nr_kernel + 3, nr = sample->nr_chain - first, i;
	u64 *out = hr->current.named + made->nr_kernel;
	const u64 *ips = sample->chain + first;

	if (!namer->whole || (!functions && !hr->current.code_hash) ||
	    is_first_interpreted(&hr->current))
		return false;
	memcpy(hr->current.named, sample->chain, made->nr_kernel * sizeof(*out));
	*out++ = PERF_CONTEXT_USER;
	out[0] = ips[0];
	for (i = 1; i < nr; i++)
		out[i] = ips[i] - 1;
	return hybrid_name_known_sample(hr, process, namer, sample, functions,
					made->nr_kernel + 1 + nr, max, made);
}

static bool plain_chain(struct hybrid_record *hr, const struct hybrid_sample *sample,
			struct hybrid_process *process, struct hybrid_made *made)
{
	unsigned int first = made->nr_kernel + 3, nr = sample->nr_chain - first;
	u64 *out = hr->current.chain;

	if (!hybrid_known_walk(&hr->unwinder, process->space, sample->chain + first, nr,
			       out + made->nr_kernel + 1))
		return false;
	memcpy(out, sample->chain, made->nr_kernel * sizeof(*out));
	out[made->nr_kernel] = PERF_CONTEXT_USER;
	made->nr = made->nr_kernel + 1 + nr;
	return true;
}

bool hybrid_known_chain(struct hybrid_record *hr, const struct hybrid_ring *ring,
			const struct hybrid_event *event, const struct hybrid_sample *sample,
			struct hybrid_thread *thread, struct hybrid_made *made)
{
	struct hybrid_process *process = thread->process;
	const struct hybrid_ring_functions *functions;
	unsigned int first = first_of(sample), max;
	struct hybrid_namer *namer;

	if (!first || sample->nr_chain - first > event->max_stack ||
	    !is_sampled(event, sample, sample->chain[first]))
		return false;
	max = hybrid_layout_room(&event->layout, sample);
	if (sample->nr_chain - 2 > max)
		return false;
	*made = (struct hybrid_made) {
		.outcome	= HYBRID_COMPLETE,
		.walked		= true,
		.nr_kernel	= first - 3,
		.is_known	= true,
		.is_whole	= true,
	};
	functions = hr->names.is_off ? NULL : hybrid_find_functions(ring, sample);
	/* Of several languages each names its own. */
	if (functions && functions->language == HYBRID_WALK_SEVERAL)
		return false;
	namer = hybrid_find_namer(hr, process, functions ? functions->language : 0);
	if (functions && !namer)
		return false;
	if (namer && !named_chain(hr, sample, process, namer, functions, max, made))
		return false;
	if (!namer && !hr->names.is_off && hr->current.nr_functions)
		return false;
	if (!namer && !plain_chain(hr, sample, process, made))
		return false;
	hybrid_tail_pass(&thread->tail);
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
