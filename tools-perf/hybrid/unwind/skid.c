// SPDX-License-Identifier: GPL-2.0
/*
 * Precise events: which processors give which mixture of moments.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "skid.h"

/*
 * Intel's processors of family 6 before adaptive PEBS (intel-family.h: up to Comet
 * Lake, Goldmont Plus and Knights Mill). What is not here is newer.
 */
static const unsigned char fixed_models[] = {
	0x0f, 0x16, 0x17, 0x1d,						/* Core 2 */
	0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f,			/* Nehalem, Westmere */
	0x2a, 0x2d, 0x3a, 0x3e,						/* Sandy and Ivy Bridge */
	0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56,			/* Haswell, Broadwell */
	0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66,			/* Skylake and after */
	0x1c, 0x26, 0x27, 0x35, 0x36,					/* Bonnell, Saltwell */
	0x37, 0x4a, 0x4d, 0x5a, 0x5d, 0x4c, 0x65, 0x6e, 0x75,		/* Silvermont, Airmont */
	0x5c, 0x5f, 0x7a,						/* Goldmont */
	0x57, 0x85,							/* Xeon Phi */
};

/* Has the processor adaptive or architectural PEBS? */
static bool is_adaptive(unsigned int family, unsigned int model)
{
	size_t i;

	for (i = 0; family == 6 && i < ARRAY_SIZE(fixed_models); i++) {
		if (fixed_models[i] == model)
			return false;
	}
	/* 15 is Pentium 4; 18 and above came later. */
	return family != 15;
}

/*
 * Adaptive PEBS has the registers in its record, as they are asked for. So had the
 * older, but there they replace the interrupt's only for PERF_SAMPLE_REGS_INTR. With
 * precise_ip 1 the address is that behind the instruction, too.
 */
static enum hybrid_skid intel(const struct perf_event_attr *attr, unsigned int family,
			      unsigned int model)
{
	if (!is_adaptive(family, model) && !(attr->sample_type & PERF_SAMPLE_REGS_INTR))
		return HYBRID_SKID_ADDRESS;
	return attr->precise_ip > 1 ? HYBRID_SKID_STACK : HYBRID_SKID_UNKNOWN;
}

bool hybrid_pmu_is_ibs(const char *pmu)
{
	return !strncmp(pmu, "ibs_", 4);
}

enum hybrid_skid hybrid_skid(const struct perf_event_attr *attr, const char *pmu,
			     const char *cpuid)
{
	unsigned int family, model;
	char vendor[16];

	/* These have the address of what they tagged, whether that is asked for or not. */
	if (pmu && hybrid_pmu_is_ibs(pmu))
		return HYBRID_SKID_ADDRESS;
	if (!attr->precise_ip || attr->type == PERF_TYPE_SOFTWARE ||
	    attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT)
		return HYBRID_SKID_NONE;
	if (!cpuid || sscanf(cpuid, "%15[^,],%u,%u", vendor, &family, &model) != 3)
		return HYBRID_SKID_UNKNOWN;
	if (!strcmp(vendor, "AuthenticAMD") || !strcmp(vendor, "HygonGenuine"))
		return HYBRID_SKID_ADDRESS;
	if (!strcmp(vendor, "GenuineIntel"))
		return intel(attr, family, model);
	return HYBRID_SKID_UNKNOWN;
}
