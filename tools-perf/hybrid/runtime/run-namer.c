// SPDX-License-Identifier: GPL-2.0
/*
 * The namer of a process with an interpreter: each language says where the evaluator is, and which
 * address the frame of a function gets.
 */
#include <linux/kernel.h>
#include "run-namer.h"

static struct hybrid_run_namer *run_namer_of(struct hybrid_namer *namer)
{
	return container_of(namer, struct hybrid_run_namer, namer);
}

static u64 ip_of(void *arg, struct hybrid_names *names, u64 function, u64 position)
{
	struct hybrid_run_namer *run_namer = arg;
	u64 ip = run_namer->language->ip_of(run_namer, names, function, position);

	run_namer->namer.nr_unread += !ip;
	return ip ?: run_namer->language->unknown(run_namer, names);
}

static const void *functions(void *arg, const struct hybrid_named_chain *c, unsigned int *nr)
{
	struct hybrid_run_namer *run_namer = arg;

	return run_namer->language->functions(run_namer, c, nr);
}

static const struct hybrid_named_chain *first(void *arg, const struct hybrid_named_chain *c,
					      unsigned int *nr)
{
	struct hybrid_run_namer *run_namer = arg;

	return run_namer->language->first(run_namer, c, nr);
}

static struct hybrid_run_names names_of(struct hybrid_run_namer *run_namer,
					struct hybrid_names *names)
{
	return (struct hybrid_run_names) {
		.names = names, .ip_of = ip_of, .arg = run_namer,
		.functions = run_namer->language->functions ? functions : NULL,
		.first = run_namer->language->first ? first : NULL,
	};
}

void hybrid_run_namer__begin(struct hybrid_run_namer *run_namer,
			     const struct hybrid_named_chain *c)
{
	hybrid_runs__begin(&run_namer->runs, run_namer->evaluator, run_namer->space, c);
}

static void begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	hybrid_run_namer__begin(run_namer_of(namer), c);
}

static unsigned int name(struct hybrid_namer *namer, struct hybrid_names *names,
			 const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *out,
			 unsigned int room)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, names);

	return hybrid_runs__name(&run_namer->runs, &how, ip, out, room);
}

static bool whole(struct hybrid_namer *namer, struct hybrid_names *names,
		  struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, names);

	run_namer->runs.evaluator = run_namer->evaluator;
	run_namer->runs.space = run_namer->space;
	if (hybrid_run_chains__whole(&run_namer->chains, &run_namer->runs, &how, namer, c))
		return true;
	/* It is named once more. */
	namer->nr_unread = run_namer->chains.unread;
	return false;
}

static void keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *run_namer = run_namer_of(namer);
	const struct hybrid_run_names how = names_of(run_namer, NULL);

	hybrid_run_chains__keep(&run_namer->chains, &run_namer->runs, &how, namer, c);
}

void hybrid_run_namer__init(struct hybrid_run_namer *run_namer,
			    const struct hybrid_run_language *language,
			    const struct hybrid_evaluator *evaluator)
{
	run_namer->language = language;
	run_namer->evaluator = evaluator;
	run_namer->chains.names_first = language->names_first;
	run_namer->chains.lasts = language->lasts;
	run_namer->namer = (struct hybrid_namer) {
		.language = language->language, .begin = language->begin ?: begin, .whole = whole,
		.keep = keep, .text = language->text, .name = name,
	};
}

void hybrid_run_namer__exit(struct hybrid_run_namer *run_namer)
{
	hybrid_run_chains__exit(&run_namer->chains);
}
