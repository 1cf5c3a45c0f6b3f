// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "../../env.h"
#include "../../evsel.h"
#include "../../header.h"
#include "../../pmu.h"
#include "skid-evsel.h"

/* In a file's header stand "TYPE:NAME", each behind the last one's zero byte. */
static const char *pmu_of_type(const struct perf_env *env, u32 type)
{
	const char *mapping = env->pmu_mappings;
	char *colon;
	int i;

	for (i = 0; mapping && i < env->nr_pmu_mappings; i++) {
		u32 this = strtoul(mapping, &colon, 0);

		if (*colon != ':')
			return NULL;
		if (this == type)
			return colon + 1;
		mapping = colon + 1 + strlen(colon + 1) + 1;
	}
	return NULL;
}

enum hybrid_skid hybrid_skid__evsel(const struct evsel *evsel, const struct perf_env *env)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	struct perf_cpu cpu = { .cpu = -1 };
	char cpuid[128];

	/* Another machine's file names its PMUs and its processor, or nobody does. */
	if (env)
		return hybrid_skid(attr, pmu_of_type(env, attr->type), env->cpuid);
	return hybrid_skid(attr, evsel->pmu ? evsel->pmu->name : NULL,
			   get_cpuid(cpuid, sizeof(cpuid), cpu) ? NULL : cpuid);
}
