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

/* Of which runtime is a function in a callchain? HYBRID_NR_RUNTIMES: it is something else. */
static enum hybrid_runtime runtime_of(u64 ip)
{
	u64 runtime = (ip - HYBRID_NAMES_START) / HYBRID_NAMES_SIZE;

	return ip >= HYBRID_NAMES_START && runtime < HYBRID_NR_RUNTIMES ? runtime :
									  HYBRID_NR_RUNTIMES;
}

/*
 * V8's builtins are followed by the function that has called them, but only this one interprets.
 * The bytecode handler that it jumps to is a frame of its own.
 */
static bool is_trampoline(struct machine *machine, const struct perf_sample *sample, u64 ip)
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
		is = !strcmp(symbol->name, "Builtins_InterpreterEntryTrampoline");
	addr_location__exit(&al);
	thread__put(thread);
	return is;
}

static bool is_evaluator(struct machine *machine, const struct perf_sample *sample, u64 ip,
			 u64 caller)
{
	if (ip >= PERF_CONTEXT_MAX || runtime_of(ip) != HYBRID_NR_RUNTIMES)
		return false;
	switch (runtime_of(caller)) {
	case HYBRID_RUNTIME_PYTHON:
	case HYBRID_RUNTIME_RUBY:
	case HYBRID_RUNTIME_PERL:
	case HYBRID_RUNTIME_PHP:
		return true;
	case HYBRID_RUNTIME_V8:
		return is_trampoline(machine, sample, ip);
	/* Its interpreted frames are methods already, without a native frame. */
	case HYBRID_RUNTIME_JAVA:
	case HYBRID_NR_RUNTIMES:
		break;
	}
	return false;
}

static bool has_function(const struct ip_callchain *chain)
{
	u64 i;

	for (i = 0; chain && i < chain->nr; i++) {
		if (runtime_of(chain->ips[i]) != HYBRID_NR_RUNTIMES)
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
