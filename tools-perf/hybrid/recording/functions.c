// SPDX-License-Identifier: GPL-2.0
/*
 * What an interpreter runs in a sample: BPF has written it before the sample, or with it.
 */
#include <stdlib.h>
#include <string.h>
#include "../records/walk-record.h"
#include "../runtime/joined-namer.h"
#include "recording.h"

void hybrid_keep_functions(struct hybrid_ring *ring, const struct hybrid_walked *walked)
{
	struct hybrid_ring_functions *functions = ring->functions ?: malloc(sizeof(*functions));

	ring->functions = functions;
	if (!functions)
		return;
	functions->id = walked->head.id;
	functions->ids = walked->ids;
	functions->ip = walked->head.ip;
	functions->nr = walked->nr_functions;
	functions->functions_are_whole = walked->functions_are_whole;
	functions->language = walked->language;
	memcpy(functions->frames, walked->functions, walked->nr_functions * 2 * sizeof(u64));
}

const struct hybrid_ring_functions *hybrid_find_functions(const struct hybrid_ring *ring,
							  const struct hybrid_sample *sample)
{
	const struct hybrid_ring_functions *functions = ring->functions;

	if (!functions || !functions->nr || functions->ip != sample->ip ||
	    functions->ids != hybrid_task_ids(sample->pid, sample->tid) ||
	    functions->id != *(const u64 *)(sample->event + 1))
		return NULL;
	return functions;
}

unsigned int hybrid_ring_functions_split(const struct hybrid_ring_functions *functions,
					 struct hybrid_functions *parts)
{
	const struct hybrid_functions all = {
		.language = functions ? functions->language : 0,
		.functions = functions ? functions->frames : NULL,
		.nr = functions ? functions->nr : 0,
		.are_whole = functions && functions->functions_are_whole,
	};

	return hybrid_functions__split(&all, parts);
}

void hybrid_forget_functions(struct hybrid_ring *ring)
{
	struct hybrid_ring_functions *functions = ring->functions;

	if (functions)
		functions->nr = 0;
}
