// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of a sample. pprof wants the address of the call where perf may have the
 * return address: the byte before that is in the call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "../addr_location.h"
#include "../callchain.h"
#include "../env.h"
#include "../event.h"
#include "../evsel.h"
#include "../hybrid/glue/synthetic-map.h"
#include "../machine.h"
#include "../map.h"
#include "../sample.h"
#include "../thread.h"
#include "../util.h"
#include "chain.h"
#include "profile.h"

/*
 * How the chains were recorded, by the command line that the file keeps. hybrid writes
 * addresses of calls, and so does perf inject --convert-callchain, for dwarf. Where this
 * is wrong an address is one byte off, still in its call.
 */
static bool recorded_calls(const struct perf_env *env)
{
	const char *arg, *mode;
	int i;

	for (i = 0; i < env->nr_cmdline; i++) {
		arg = env->cmdline_argv[i];
		if (!strcmp(arg, "-g"))
			return false;
		if (strncmp(arg, "--call-graph", 12))
			continue;
		mode = arg + 12;
		if (*mode == '=')
			mode++;
		else if (!*mode && i + 1 < env->nr_cmdline)
			mode = env->cmdline_argv[i + 1];
		else
			continue;
		return strstarts(mode, "hybrid") || strstarts(mode, "dwarf");
	}
	return false;
}

/* Where perf unwinds the sample now, its unwinders give addresses of calls. */
static bool has_calls(struct pprof_chain *chain, const struct evsel *evsel,
		      const struct perf_env *env)
{
	if (evsel->core.attr.sample_type & PERF_SAMPLE_STACK_USER)
		return true;
	if (chain->has_calls < 0)
		chain->has_calls = recorded_calls(env);
	return chain->has_calls;
}

static int add(struct pprof_chain *chain, int location)
{
	u32 *locations;
	u32 max;

	if (location < 0)
		return location;
	if (chain->nr == chain->max) {
		max = max(2 * chain->max, 128U);
		locations = reallocarray(chain->locations, max, sizeof(*locations));
		if (!locations)
			return -ENOMEM;
		chain->locations = locations;
		chain->max = max;
	}
	chain->locations[chain->nr++] = location;
	return 0;
}

static bool note_mark(struct pprof_chain *chain, u64 ip)
{
	unsigned int mark;

	for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
		if (ip == hybrid_synthetic_ip(mark)) {
			chain->marks |= 1U << mark;
			return true;
		}
	}
	return false;
}

static int add_frames(struct pprof_chain *chain, struct pprof_profile *profile,
		      struct machine *machine, struct callchain_cursor *cursor, bool calls)
{
	const struct callchain_cursor_node *node;
	bool first = true, was_kernel = false;
	int err = 0;

	callchain_cursor_commit(cursor);
	for (; !err && (node = callchain_cursor_current(cursor));
	     callchain_cursor_advance(cursor)) {
		bool kernel = machine__kernel_ip(machine, node->ip);
		struct map *map = node->ms.map;
		u64 ip = node->ip;

		if (note_mark(chain, ip))
			continue;
		/* Nobody called from where user space entered the kernel. */
		if (!first && (kernel || !calls) && kernel == was_kernel &&
		    ip > (map ? map__start(map) : 0))
			ip--;
		first = false;
		was_kernel = kernel;
		err = add(chain, pprof_profile__location(profile, map, ip));
	}
	return err;
}

/* A sample without a callchain. */
static int add_ip(struct pprof_chain *chain, struct pprof_profile *profile,
		  struct thread *thread, const struct perf_sample *sample)
{
	struct addr_location al;
	int err;

	addr_location__init(&al);
	thread__find_map(thread, sample->cpumode, sample->ip, &al);
	err = add(chain, pprof_profile__location(profile, al.map, sample->ip));
	addr_location__exit(&al);
	return err;
}

int pprof_chain__read(struct pprof_chain *chain, struct pprof_profile *profile,
		      struct machine *machine, struct thread *thread,
		      struct perf_sample *sample)
{
	struct callchain_cursor *cursor = get_tls_callchain_cursor();
	u64 type = sample->evsel->core.attr.sample_type;
	int max_stack, err;

	chain->nr = 0;
	chain->marks = 0;
	if (!cursor)
		return -ENOMEM;
	if (sample->callchain) {
		/* What is in the file is there to be shown; perf unwinds as far as it records. */
		max_stack = min_t(u64, sample->callchain->nr, INT_MAX);
		if (type & PERF_SAMPLE_STACK_USER) {
			/* It is read from /proc. */
			chain->max_stack = chain->max_stack ?: sysctl__max_stack();
			max_stack = chain->max_stack;
		}
		err = __thread__resolve_callchain(thread, cursor, sample, NULL, NULL, max_stack,
						  /*symbols=*/false);
		if (err)
			return err;
		err = add_frames(chain, profile, machine, cursor,
				 has_calls(chain, sample->evsel, machine->env));
		if (err || chain->nr)
			return err;
	}
	return type & PERF_SAMPLE_IP ? add_ip(chain, profile, thread, sample) : 0;
}
