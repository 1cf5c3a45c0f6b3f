// SPDX-License-Identifier: GPL-2.0
/*
 * The namer of a process with an interpreter: each language says where the evaluator is, and which
 * address the frame of a function gets.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "run-namer.h"

/* Bytes of made code that have one range. */
#define RANGE	0x10000U

static struct hybrid_run_namer *run_namer_of(struct hybrid_namer *namer)
{
	return container_of(namer, struct hybrid_run_namer, namer);
}

static u64 unknown_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names)
{
	const struct hybrid_function function = { .name = run_namer->language->unknown, .size = 1 };
	u64 start = hybrid_names__function(names, &run_namer->quota, &function);

	return start ? hybrid_names_ip(start, function.size, 0) : 0;
}

static u64 ip_or_unknown(void *arg, struct hybrid_names *names, u64 function, u64 position)
{
	struct hybrid_run_namer *run_namer = arg;
	u64 ip = run_namer->language->ip_of(run_namer, names, function, position);

	run_namer->namer.nr_unread += !ip;
	return ip ?: unknown_ip(run_namer, names);
}

static const void *language_functions(void *arg, const struct hybrid_named_chain *c,
				      unsigned int *nr)
{
	struct hybrid_run_namer *run_namer = arg;

	return run_namer->language->functions(run_namer, c, nr);
}

static const struct hybrid_named_chain *
language_first(void *arg, const struct hybrid_named_chain *c, unsigned int *nr)
{
	struct hybrid_run_namer *run_namer = arg;

	return run_namer->language->first(run_namer, c, nr);
}

static struct hybrid_run_names names_of(struct hybrid_run_namer *run_namer,
					struct hybrid_names *names)
{
	return (struct hybrid_run_names) {
		.names = names, .ip_of = ip_or_unknown, .arg = run_namer,
		.functions = run_namer->language->functions ? language_functions : NULL,
		.first = run_namer->language->first ? language_first : NULL,
	};
}

void hybrid_run_namer__begin(struct hybrid_run_namer *run_namer,
			     const struct hybrid_named_chain *c)
{
	hybrid_runs__begin(&run_namer->runs, &run_namer->evaluator, run_namer->pm.space, c);
}

static void begin_chain(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	hybrid_run_namer__begin(run_namer_of(namer), c);
}

static unsigned int name_frame(struct hybrid_namer *namer, struct hybrid_names *names,
			       const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *out,
			       unsigned int room)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, names);

	return hybrid_runs__name(&run_namer->runs, &how, ip, out, room);
}

static bool name_whole(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, names);

	run_namer->runs.evaluator = &run_namer->evaluator;
	run_namer->runs.space = run_namer->pm.space;
	return hybrid_run_chains__whole(&run_namer->chains, &run_namer->runs, &how, namer, c);
}

static void keep_chain(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, NULL);

	hybrid_run_chains__keep(&run_namer->chains, &run_namer->runs, &how, namer, c);
}

static void take_text(struct hybrid_namer *namer, struct hybrid_names *names, const void *raw,
		      size_t size)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	struct hybrid_told_text told;

	if (hybrid_told_text_read(&told, raw, size))
		run_namer->language->told(run_namer, names, &told);
}

static struct hybrid_run_namer *new_namer(const struct hybrid_run_language *language,
					  const struct hybrid_process_memory *pm)
{
	struct hybrid_run_namer *run_namer = calloc(1, language->size);

	if (!run_namer)
		return NULL;
	run_namer->language = language;
	run_namer->pm = *pm;
	run_namer->chains.names_first = language->names_first;
	run_namer->chains.lasts = language->lasts;
	run_namer->namer = (struct hybrid_namer) {
		.language = language->language, .begin = language->begin ?: begin_chain,
		.whole = name_whole, .keep = keep_chain, .text = language->text ?: take_text,
		.name = name_frame,
	};
	return run_namer;
}

void *hybrid_run_namer__open(const struct hybrid_run_language *language,
			     const struct hybrid_process_memory *pm,
			     const struct hybrid_mapping *mapping, u64 bias)
{
	struct hybrid_run_namer *run_namer = new_namer(language, pm);

	if (!run_namer)
		return NULL;
	run_namer->bias = bias;
	if (language->open(run_namer, mapping, bias))
		return run_namer;
	hybrid_run_namer__close(run_namer);
	return NULL;
}

void *hybrid_run_namer__fork(const void *data, const struct hybrid_process_memory *pm)
{
	const struct hybrid_run_namer *parent = data;
	struct hybrid_run_namer *run_namer = new_namer(parent->language, pm);

	if (!run_namer)
		return NULL;
	run_namer->bias = parent->bias;
	run_namer->evaluator = parent->evaluator;
	parent->language->fork(run_namer, parent);
	/* It may have ended. */
	hybrid_process_memory_map(&run_namer->pm);
	return run_namer;
}

void hybrid_run_namer__close(void *data)
{
	struct hybrid_run_namer *run_namer = data;

	hybrid_process_memory_exit(&run_namer->pm);
	run_namer->language->close(run_namer);
	hybrid_run_chains__exit(&run_namer->chains);
	free(run_namer);
}

struct hybrid_namer *hybrid_run_namer__of(void *data, u64 pass __maybe_unused,
					  struct hybrid_space *space)
{
	struct hybrid_run_namer *run_namer = data;

	run_namer->pm.space = space;
	return &run_namer->namer;
}

bool hybrid_run_namer__range(const struct hybrid_run_namer *run_namer, u64 ret,
			     struct hybrid_runtime_range *range)
{
	u64 start = ret & ~(u64)(RANGE - 1);

	range->start = max(start, run_namer->evaluator.made_start);
	range->end = min(start + RANGE, run_namer->evaluator.made_end);
	range->compiled = NULL;
	return ret >= range->start && ret < range->end;
}
