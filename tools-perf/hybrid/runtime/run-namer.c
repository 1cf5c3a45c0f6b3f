// SPDX-License-Identifier: GPL-2.0
/*
 * The namer of a process with an interpreter: each language says where the evaluator is, and what
 * the address of a function's frame is.
 */
#include <linux/kernel.h>
#include "run-namer.h"

static struct hybrid_run_namer *run_namer(struct hybrid_namer *namer)
{
	return container_of(namer, struct hybrid_run_namer, namer);
}

static u64 ip_of(void *arg, struct hybrid_names *names, u64 function, u64 position)
{
	struct hybrid_run_namer *by = arg;
	u64 ip = by->ip_of(by, names, function, position);

	by->namer.nr_unread += !ip;
	return ip ?: by->unknown(by, names);
}

static struct hybrid_run_names names_of(struct hybrid_run_namer *by, struct hybrid_names *names)
{
	return (struct hybrid_run_names) { .names = names, .ip_of = ip_of, .arg = by };
}

void hybrid_run_namer__begin(struct hybrid_run_namer *by, const struct hybrid_named_chain *c)
{
	hybrid_runs__begin(&by->runs, by->evaluator, by->space, c);
}

static void begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	hybrid_run_namer__begin(run_namer(namer), c);
}

static unsigned int name(struct hybrid_namer *namer, struct hybrid_names *names,
			 const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *out,
			 unsigned int room)
{
	struct hybrid_run_namer *by = run_namer(namer);
	const struct hybrid_run_names how = names_of(by, names);

	return hybrid_runs__name(&by->runs, &how, ip, out, room);
}

static bool whole(struct hybrid_namer *namer, struct hybrid_names *names,
		  struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *by = run_namer(namer);
	const struct hybrid_run_names how = names_of(by, names);

	by->runs.evaluator = by->evaluator;
	by->runs.space = by->space;
	return hybrid_run_chains__whole(&by->chains, &by->runs, &how, namer, c);
}

static void keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct hybrid_run_namer *by = run_namer(namer);

	hybrid_run_chains__keep(&by->chains, &by->runs, namer, c);
}

void hybrid_run_namer__init(struct hybrid_run_namer *by, enum hybrid_runtime runtime)
{
	by->namer = (struct hybrid_namer) {
		.runtime = runtime, .begin = begin, .whole = whole, .keep = keep, .name = name,
	};
}

void hybrid_run_namer__exit(struct hybrid_run_namer *by)
{
	hybrid_run_chains__exit(&by->chains);
}
