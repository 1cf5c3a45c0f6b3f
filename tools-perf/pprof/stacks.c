// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "../evlist.h"
#include "../evsel.h"
#include "../hybrid/glue/synthetic-map.h"
#include "chain.h"
#include "profile.h"
#include "stacks.h"

/* A frame of a stack: the same address called by others is another one. */
struct frame {
	u32	location;
	u32	caller;		/* number + 1, or 0 */
};

/* Samples that are alike. */
struct sample {
	u32	stack;		/* number of a frame + 1, or 0 */
	u32	whose;
};

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
	memset(stacks, 0, sizeof(*stacks));
	pprof_table__init(&stacks->frames, sizeof(struct frame), 0);
	pprof_table__init(&stacks->whose, sizeof(struct pprof_whose), 0);
	pprof_table__init(&stacks->samples, sizeof(struct sample), sizeof(struct counts));
}

void pprof_stacks__exit(struct pprof_stacks *stacks)
{
	pprof_table__exit(&stacks->frames);
	pprof_table__exit(&stacks->whose);
	pprof_table__exit(&stacks->samples);
	zfree(&stacks->path);
}

static int grow_path(struct pprof_stacks *stacks, u32 nr)
{
	u32 *path;

	if (nr <= stacks->path_max)
		return 0;
	path = reallocarray(stacks->path, nr, sizeof(*path));
	if (!path)
		return -ENOMEM;
	stacks->path = path;
	stacks->path_max = nr;
	return 0;
}

/* Makes the path that of a chain; most have much of the last one's. */
static int find_path(struct pprof_stacks *stacks, const struct pprof_chain *chain)
{
	struct frame frame = {};
	u32 depth;
	int nr;

	if (grow_path(stacks, chain->nr))
		return -ENOMEM;
	for (depth = 0; depth < chain->nr; depth++) {
		frame.location = chain->locations[chain->nr - 1 - depth];
		if (depth < stacks->path_nr) {
			const struct frame *last;

			last = pprof_table__key(&stacks->frames, stacks->path[depth]);
			if (last->location == frame.location) {
				frame.caller = stacks->path[depth] + 1;
				continue;
			}
		}
		/* What is further in has another caller. */
		stacks->path_nr = depth;
		nr = pprof_table__number(&stacks->frames, &frame, sizeof(frame), NULL);
		if (nr < 0)
			return nr;
		stacks->path[depth] = nr;
		frame.caller = nr + 1;
	}
	stacks->path_nr = chain->nr;
	return 0;
}

int pprof_stacks__add(struct pprof_stacks *stacks, const struct pprof_chain *chain,
		      struct pprof_whose *whose, u64 period)
{
	struct sample sample = {};
	struct counts *counts;
	int nr;

	nr = find_path(stacks, chain);
	if (nr < 0)
		return nr;
	if (chain->nr)
		sample.stack = stacks->path[chain->nr - 1] + 1;
	whose->marks = chain->marks;
	nr = pprof_table__number(&stacks->whose, whose, sizeof(*whose), NULL);
	if (nr < 0)
		return nr;
	sample.whose = nr;
	nr = pprof_table__number(&stacks->samples, &sample, sizeof(sample), NULL);
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
	static const char * const names[HYBRID_NR_SYNTHETIC] = {
		[HYBRID_SYNTHETIC_CUT_OFF]	= "cut off",
		[HYBRID_SYNTHETIC_GUESSED]	= "guessed",
	};
	u32 mark, nr = 0;

	for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
		if (marks & (1U << mark)) {
			labels[nr].key = "callchain";
			labels[nr++].str = pprof_profile__string(profile, names[mark]);
		}
	}
	return nr;
}

static u32 make_labels(struct pprof_profile *profile, struct pprof_label *labels,
		       const struct pprof_whose *whose, const char *event)
{
	u32 nr = 0;

	if (whose->pid != ~0U)
		labels[nr++] = (struct pprof_label){ .key = "pid", .num = whose->pid };
	if (whose->tid != ~0U)
		labels[nr++] = (struct pprof_label){ .key = "tid", .num = whose->tid };
	if (whose->comm)
		labels[nr++] = (struct pprof_label){ .key = "comm", .str = whose->comm };
	if (whose->cpu != PPROF_NO_CPU)
		labels[nr++] = (struct pprof_label){ .key = "cpu", .num = whose->cpu };
	if (event)
		labels[nr++] = (struct pprof_label){
			.key = "event", .str = pprof_profile__string(profile, event)
		};
	if (whose->cgroup)
		labels[nr++] = (struct pprof_label){ .key = "cgroup", .str = whose->cgroup };
	return nr + add_marks(profile, labels + nr, whose->marks);
}

/* Puts the locations of a stack in place of the path, which is as long as the longest. */
static u32 list_locations(struct pprof_stacks *stacks, u32 stack)
{
	u32 nr = 0;

	while (stack && nr < stacks->path_max) {
		const struct frame *frame = pprof_table__key(&stacks->frames, stack - 1);

		stacks->path[nr++] = frame->location;
		stack = frame->caller;
	}
	return nr;
}

static void write_one(struct pprof_stacks *stacks, struct pprof_profile *profile,
		      const struct layout *layout, u32 nr)
{
	const struct sample *sample = pprof_table__key(&stacks->samples, nr);
	const struct counts *counts = pprof_table__data(&stacks->samples, nr);
	const struct pprof_whose *whose = pprof_table__key(&stacks->whose, sample->whose);
	struct pprof_label labels[PPROF_MAX_LABELS] = {};
	u32 slot = 0, nr_labels, nr_locations;
	const char *name = NULL;

	if (whose->event < layout->nr_events) {
		slot = layout->slot[whose->event];
		name = layout->name[whose->event];
	}
	memset(layout->values, 0, layout->nr_values * sizeof(*layout->values));
	layout->values[slot] = counts->period;
	layout->values[0] = counts->samples;
	nr_labels = make_labels(profile, labels, whose, name);
	nr_locations = list_locations(stacks, sample->stack);
	pprof_profile__write_sample(profile, stacks->path, nr_locations, layout->values,
				    layout->nr_values, labels, nr_labels);
}

/* Several samples may be of one stack. */
static int count_stacks(struct pprof_stacks *stacks)
{
	unsigned long *seen = bitmap_zalloc(stacks->frames.nr + 1);
	u32 i;

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < stacks->samples.nr; i++) {
		const struct sample *sample = pprof_table__key(&stacks->samples, i);

		stacks->nr += !__test_and_set_bit(sample->stack, seen);
	}
	bitmap_free(seen);
	return 0;
}

void pprof_stacks__write(struct pprof_stacks *stacks, struct pprof_profile *profile,
			 struct evlist *evlist)
{
	struct layout layout = {};
	u32 i;

	if (count_stacks(stacks) || lay_out(&layout, profile, evlist))
		profile->error = -ENOMEM;
	stacks->path_nr = 0;
	for (i = 0; !profile->error && i < stacks->samples.nr; i++)
		write_one(stacks, profile, &layout, i);
	free(layout.slot);
	free(layout.name);
	free(layout.values);
}
