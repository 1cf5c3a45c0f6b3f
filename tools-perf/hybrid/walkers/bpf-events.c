// SPDX-License-Identifier: GPL-2.0
/* Which events the BPF program walks stacks for. */
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../pmu.h"
#include "../glue/evsel.h"
#include "../glue/skid-evsel.h"
#include "bpf-private.h"

/* What the program writes of a sample, and what the reader adds. */
#define SERVED	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
		 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | \
		 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | \
		 PERF_SAMPLE_STACK_USER)
#define NEEDED	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | \
		 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* One that samples the task that runs. The processor's PMUs, and AMD's IBS, do so. */
static bool is_served_type(const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return true;
	case PERF_TYPE_SOFTWARE:
		return attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK;
	default:
		return evsel->pmu && (evsel->pmu->is_core || hybrid_pmu_is_ibs(evsel->pmu->name));
	}
}

/*
 * Of precise events only the callchain tells whether the interrupt was in the kernel. Linux
 * wants all of the chain, too, for a program that calls bpf_get_stack().
 */
static bool has_interrupt(const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	return !attr->exclude_callchain_user &&
	       (!attr->exclude_callchain_kernel ||
		hybrid_skid__evsel(evsel, NULL) == HYBRID_SKID_NONE);
}

/*
 * Of an event of the kernel alone it can't be told how many samples other programs cost
 * (bpf_skel/count.bpf.h). One that has a filter has a program already, and takes no other.
 */
bool hybrid_bpf__is_served(struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	return evsel__has_hybrid_callchain(evsel) && is_served_type(evsel) &&
	       has_interrupt(evsel) && !(attr->sample_type & ~SERVED) &&
	       (attr->sample_type & NEEDED) == NEEDED && attr->sample_id_all &&
	       !attr->exclude_user && !attr->defer_callchain && !attr->aux_output &&
	       !attr->write_backward && !evsel->needs_auxtrace_mmap &&
	       list_empty(&evsel->bpf_filters);
}

const struct perf_event_attr *hybrid_bpf__first_served(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (hybrid_bpf__is_served(evsel))
			return &evsel->core.attr;
	}
	return NULL;
}
