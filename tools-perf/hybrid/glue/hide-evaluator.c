// SPDX-License-Identifier: GPL-2.0
/*
 * Callchains without the native frames of interpreters, for readers of perf.data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "../../addr_location.h"
#include "../../event.h"
#include "../../machine.h"
#include "../../sample.h"
#include "../../symbol.h"
#include "../../thread.h"
#include "../runtime/names.h"
#include "hide-evaluator.h"

/* The language of a function in a callchain, by its address. */
static enum hybrid_language language_of(u64 ip)
{
	u64 language = (ip - HYBRID_NAMES_START) / HYBRID_NAMES_SIZE;

	return ip >= HYBRID_NAMES_START && language < HYBRID_NR_LANGUAGES ? language :
									    HYBRID_NO_LANGUAGE;
}

static bool is_function(struct machine *machine, const struct perf_sample *sample, u64 ip,
			const char *name)
{
	struct thread *thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	struct addr_location al;
	struct symbol *symbol;
	bool is = false;

	if (!thread)
		return false;
	addr_location__init(&al);
	symbol = thread__find_symbol(thread, PERF_RECORD_MISC_USER, ip, &al);
	if (symbol)
		is = !strcmp(symbol->name, name);
	addr_location__exit(&al);
	thread__put(thread);
	return is;
}

static bool is_evaluator(struct machine *machine, const struct perf_sample *sample, u64 ip,
			 u64 caller)
{
	const char *evaluator = hybrid_names__evaluator(language_of(caller));

	if (!evaluator || ip >= PERF_CONTEXT_MAX || language_of(ip))
		return false;
	return !*evaluator || is_function(machine, sample, ip, evaluator);
}

static bool has_function(const struct ip_callchain *chain)
{
	u64 i;

	for (i = 0; chain && i < chain->nr; i++) {
		if (language_of(chain->ips[i]))
			return true;
	}
	return false;
}

int hybrid__hide_evaluator(struct perf_sample *sample, struct machine *machine)
{
	const struct ip_callchain *chain = sample->callchain;
	struct ip_callchain *out;
	u64 i;

	if (!has_function(chain))
		return 0;
	out = malloc(sizeof(*out) + chain->nr * sizeof(u64));
	if (!out)
		return -ENOMEM;
	out->nr = 0;
	for (i = 0; i < chain->nr; i++) {
		if (i + 1 == chain->nr ||
		    !is_evaluator(machine, sample, chain->ips[i], chain->ips[i + 1]))
			out->ips[out->nr++] = chain->ips[i];
		else if (chain->ips[i] == sample->ip)
			sample->ip = chain->ips[i + 1];
	}
	if (sample->merged_callchain)
		free(sample->callchain);
	sample->callchain = out;
	sample->merged_callchain = true;
	return 0;
}
