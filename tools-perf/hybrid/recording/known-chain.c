// SPDX-License-Identifier: GPL-2.0
/*
 * Most walked samples lead through code that samples before them led through. Their chains are
 * written without a look at each frame.
 */
#include <string.h>
#include <linux/perf_event.h>
#include "../runtime/runtime.h"
#include "../unwind/known-walk.h"
#include "recording.h"

/* Does the walk begin at the sampled address of an event that is not precise? */
static bool is_sampled(const struct hybrid_event *event, const struct hybrid_sample *sample)
{
	return event->precise.moment == HYBRID_SKID_NONE &&
	       (sample->cpumode != PERF_RECORD_MISC_USER || sample->ip == sample->kernel.user[0]);
}

/* Does an interpreter run a function in the sampled frame? */
static bool is_first_interpreted(const struct hybrid_sample *sample)
{
	u64 word;

	if (!sample->nr_frames)
		return false;
	memcpy(&word, sample->frames, sizeof(word));
	return !(word >> HYBRID_WALK_FUNCTION_BITS);
}

/* The kernel's part, and PERF_CONTEXT_USER. Returns where the user part begins. */
static u64 *put_kernel(const struct hybrid_kernel_chain *kernel, u64 *out)
{
	memcpy(out, kernel->kernel, kernel->nr_kernel * sizeof(*out));
	out[kernel->nr_kernel] = PERF_CONTEXT_USER;
	return out + kernel->nr_kernel + 1;
}

/* With the functions of a runtime, if all was named before. */
static bool named_chain(struct hybrid_record *hr, struct hybrid_process *process,
			struct hybrid_namer *namer, struct hybrid_sample *sample)
{
	const struct hybrid_kernel_chain *kernel = &sample->kernel;
	unsigned int i;
	u64 *out;

	if (!namer->whole || (!sample->functions.nr && !sample->code_hash) ||
	    is_first_interpreted(sample))
		return false;
	out = put_kernel(kernel, hr->current.named);
	out[0] = kernel->user[0];
	for (i = 1; i < kernel->nr_user; i++)
		out[i] = kernel->user[i] - 1;
	return hybrid_name_known_sample(hr, process, namer, sample);
}

static bool plain_chain(struct hybrid_record *hr, struct hybrid_process *process,
			struct hybrid_sample *sample)
{
	const struct hybrid_kernel_chain *kernel = &sample->kernel;

	if (!hybrid_known_walk(&hr->core->unwinder, process->space, kernel->user, kernel->nr_user,
			       put_kernel(kernel, sample->chain)))
		return false;
	sample->nr = kernel->nr_kernel + 1 + kernel->nr_user;
	return true;
}

bool hybrid_known_chain(struct hybrid_record *hr, const struct hybrid_event *event,
			struct hybrid_thread *thread, struct hybrid_sample *sample)
{
	const struct hybrid_sample_functions *functions = &sample->functions;
	const struct hybrid_kernel_chain *kernel = &sample->kernel;
	struct hybrid_process *process = thread->process;
	struct hybrid_namer *namer;

	if (!hybrid_kernel_chain_is_whole(kernel) || !kernel->nr_user ||
	    kernel->nr_user > event->max_stack || !is_sampled(event, sample) ||
	    kernel->nr_kernel + 1 + kernel->nr_user > sample->max)
		return false;
	/* Of several languages each names its own. */
	if (!hr->names.is_off &&
	    functions->nr + (sample->nr_frames || sample->code_hash) > 1)
		return false;
	namer = hybrid_find_namer(hr, sample->pid,
				  hybrid_sample_functions__get(functions, 0)->language);
	if (!hr->names.is_off && functions->nr && !namer)
		return false;
	if (namer && !named_chain(hr, process, namer, sample))
		return false;
	if (!namer && !hr->names.is_off && sample->nr_frames)
		return false;
	if (!namer && !plain_chain(hr, process, sample))
		return false;
	sample->outcome = HYBRID_COMPLETE;
	sample->is_known = true;
	hybrid_tail_pass(&thread->tail);
	return true;
}

void hybrid_known_chain_learn(struct hybrid_record *hr, const struct hybrid_event *event,
			      const struct hybrid_sample *sample)
{
	const struct hybrid_kernel_chain *kernel = &sample->kernel;
	struct hybrid_process *process;

	if (!kernel->nr_user || sample->outcome != HYBRID_COMPLETE || sample->is_marked ||
	    sample->nr != kernel->nr_kernel + 1 + kernel->nr_user || !is_sampled(event, sample))
		return;
	process = hybrid_process_find(&hr->core->ps, sample->pid);
	if (process)
		hybrid_known_walk_learn(&hr->core->unwinder, process->space, kernel->user,
					kernel->nr_user, sample->chain + kernel->nr_kernel + 1);
}
