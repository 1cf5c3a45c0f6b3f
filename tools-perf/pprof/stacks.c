// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "../evlist.h"
#include "../evsel.h"
#include "../hybrid/walk/mark.h"
#include "chain.h"
#include "profile.h"
#include "stacks.h"

/* The values of one sample. */
struct counts {
	u64	samples;
	u64	period;
};

/* How the values of a sample are laid out: the count of samples, and each type's. */
struct layout {
	u32		*slot;		/* by the index of the evsel */
	const char	**name;		/* the event's, by the same */
	s64		*values;
	u32		 nr_values;
	u32		 nr_events;
};

void pprof_stacks__init(struct pprof_stacks *stacks)
{
	pprof_table__init(&stacks->stacks, 0);
	pprof_table__init(&stacks->tasks, 0);
	pprof_table__init(&stacks->samples, sizeof(struct counts));
}

void pprof_stacks__exit(struct pprof_stacks *stacks)
{
	pprof_table__exit(&stacks->stacks);
	pprof_table__exit(&stacks->tasks);
	pprof_table__exit(&stacks->samples);
}

int pprof_stacks__add(struct pprof_stacks *stacks, const struct pprof_chain *chain,
		      const struct pprof_task *task, struct pprof_sample *sample, u64 period)
{
	struct counts *counts;
	int nr;

	nr = pprof_table__number(&stacks->stacks, chain->locations,
				 chain->nr * sizeof(*chain->locations), NULL);
	if (nr < 0)
		return nr;
	sample->stack = nr;
	sample->marks = chain->marks;
	nr = pprof_table__number(&stacks->tasks, task, sizeof(*task), NULL);
	if (nr < 0)
		return nr;
	sample->task = nr;
	nr = pprof_table__number(&stacks->samples, sample, sizeof(*sample), NULL);
	if (nr < 0)
		return nr;
	counts = pprof_table__data(&stacks->samples, nr);
	counts->samples++;
	counts->period += period;
	return 0;
}

const char *pprof_event_type(struct evsel *evsel)
{
	return evsel__is_clock(evsel) ? "cpu" : evsel__name(evsel);
}

const char *pprof_event_unit(const struct evsel *evsel)
{
	return evsel__is_clock(evsel) ? "nanoseconds" : "count";
}

/* Writes the types; events of one name have one. */
static int lay_out(struct layout *layout, struct pprof_profile *profile, struct evlist *evlist)
{
	const char **types;
	struct evsel *evsel;
	u32 i, nr = 0;

	layout->nr_events = evlist__nr_entries(evlist);
	layout->slot = calloc(layout->nr_events, sizeof(*layout->slot));
	layout->name = calloc(layout->nr_events, sizeof(*layout->name));
	layout->values = calloc(layout->nr_events + 1, sizeof(*layout->values));
	types = calloc(layout->nr_events, sizeof(*types));
	if (!layout->slot || !layout->name || !layout->values || !types) {
		free(types);
		return -ENOMEM;
	}
	pprof_profile__write_type(profile, "samples", "count");
	evlist__for_each_entry(evlist, evsel) {
		const char *type = pprof_event_type(evsel);

		if (evsel__is_dummy_event(evsel) || (u32)evsel->core.idx >= layout->nr_events)
			continue;
		for (i = 0; i < nr && strcmp(types[i], type); i++)
			;
		if (i == nr) {
			types[nr++] = type;
			pprof_profile__write_type(profile, type, pprof_event_unit(evsel));
		}
		layout->slot[evsel->core.idx] = i + 1;
		layout->name[evsel->core.idx] = evsel__name(evsel);
	}
	layout->nr_values = nr + 1;
	free(types);
	return 0;
}

static u32 add_marks(struct pprof_profile *profile, struct pprof_label *labels, u32 marks)
{
	static const char * const names[HYBRID_NR_MARKS] = {
		[HYBRID_MARK_CUT_OFF]	= "cut off",
		[HYBRID_MARK_GUESSED]	= "guessed",
	};
	u32 mark, nr = 0;

	for (mark = 0; mark < HYBRID_NR_MARKS; mark++) {
		if (marks & (1U << mark)) {
			labels[nr].key = "callchain";
			labels[nr++].str = pprof_profile__string(profile, names[mark]);
		}
	}
	return nr;
}

static u32 make_labels(struct pprof_profile *profile, struct pprof_label *labels,
		       const struct pprof_sample *sample, const struct pprof_task *task,
		       const char *event)
{
	u32 nr = 0;

	if (task->pid != ~0U)
		labels[nr++] = (struct pprof_label){ .key = "pid", .num = task->pid };
	if (task->tid != ~0U)
		labels[nr++] = (struct pprof_label){ .key = "tid", .num = task->tid };
	if (task->comm)
		labels[nr++] = (struct pprof_label){ .key = "comm", .str = task->comm };
	if (sample->cpu != PPROF_NO_CPU)
		labels[nr++] = (struct pprof_label){ .key = "cpu", .num = sample->cpu };
	if (event)
		labels[nr++] = (struct pprof_label){
			.key = "event", .str = pprof_profile__string(profile, event)
		};
	if (sample->cgroup)
		labels[nr++] = (struct pprof_label){ .key = "cgroup", .str = sample->cgroup };
	return nr + add_marks(profile, labels + nr, sample->marks);
}

static void write_one(struct pprof_stacks *stacks, struct pprof_profile *profile,
		      const struct layout *layout, u32 nr)
{
	const struct pprof_sample *sample = pprof_table__key(&stacks->samples, nr);
	const struct counts *counts = pprof_table__data(&stacks->samples, nr);
	const struct pprof_item *stack = &stacks->stacks.items[sample->stack];
	struct pprof_label labels[PPROF_MAX_LABELS] = {};
	u32 slot = 0, nr_labels;
	const char *name = NULL;

	if (sample->event < layout->nr_events) {
		slot = layout->slot[sample->event];
		name = layout->name[sample->event];
	}
	memset(layout->values, 0, layout->nr_values * sizeof(*layout->values));
	layout->values[slot] = counts->period;
	layout->values[0] = counts->samples;
	nr_labels = make_labels(profile, labels, sample,
				pprof_table__key(&stacks->tasks, sample->task), name);
	pprof_profile__write_sample(profile, stack->key, stack->size / sizeof(u32),
				    layout->values, layout->nr_values, labels, nr_labels);
}

void pprof_stacks__write(struct pprof_stacks *stacks, struct pprof_profile *profile,
			 struct evlist *evlist)
{
	struct layout layout = {};
	u32 i;

	if (lay_out(&layout, profile, evlist))
		profile->error = -ENOMEM;
	for (i = 0; !profile->error && i < stacks->samples.nr; i++)
		write_one(stacks, profile, &layout, i);
	free(layout.slot);
	free(layout.name);
	free(layout.values);
}
