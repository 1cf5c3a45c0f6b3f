// SPDX-License-Identifier: GPL-2.0
/* Properties of events that decide how their samples are unwound. */
#include <linux/kernel.h>
#include "../../callchain.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../evsel_config.h"
#include "evsel.h"

bool evsel__has_hybrid_callchain(const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	const u64 need = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	/* --call-graph dwarf has no user callchain from the kernel to merge. */
	return (attr->sample_type & need) == need && !attr->exclude_callchain_user;
}

bool evlist__has_hybrid_callchain(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			return true;
	}
	return false;
}

bool evsel__may_be_uprobe(const struct evsel *evsel)
{
	u32 type = evsel->core.attr.type;

	return type == PERF_TYPE_TRACEPOINT || type >= PERF_TYPE_MAX;
}

bool evsel__has_default_dump_size(struct evsel *evsel)
{
	return evsel__has_hybrid_callchain(evsel) && !callchain_hybrid_size_is_given() &&
	       !evsel__get_config_term(evsel, STACK_USER);
}

u32 evlist__named_dump_size(struct evlist *evlist)
{
	struct evsel *evsel;
	u32 size = 0;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_default_dump_size(evsel))
			return 0;
		if (evsel__has_hybrid_callchain(evsel))
			size = max(size, evsel->core.attr.sample_stack_user);
	}
	return size;
}
