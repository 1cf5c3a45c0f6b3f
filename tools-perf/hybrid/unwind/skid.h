/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SKID_H
#define __PERF_HYBRID_SKID_H

#include <stdbool.h>

struct perf_event_attr;

/* Of what moments the address, the user registers and the stack of a sample are. */
enum hybrid_skid {
	HYBRID_SKID_NONE,		/* all of one: no precise event */
	HYBRID_SKID_ADDRESS,	/* the address is earlier: AMD IBS, PEBS before Ice Lake */
	HYBRID_SKID_STACK,		/* registers behind the instruction, stack later */
	HYBRID_SKID_UNKNOWN,		/* a precise event of a processor that is not known */
};

/**
 * hybrid_skid - what an event's samples are of
 * @attr: as it was opened
 * @pmu: name of its PMU; NULL where that is not known
 * @cpuid: of the processor, as get_cpuid() and a file's header have it; NULL: not known
 *
 * See arch/x86/events/amd/ibs.c: perf_ibs_handle_irq(), and intel/ds.c:
 * setup_pebs_fixed_sample_data(), setup_pebs_adaptive_sample_data().
 */
enum hybrid_skid hybrid_skid(const struct perf_event_attr *attr, const char *pmu,
			     const char *cpuid);

/* AMD's ibs_op and ibs_fetch, by their names. */
bool hybrid_pmu_is_ibs(const char *pmu);

#endif /* __PERF_HYBRID_SKID_H */
