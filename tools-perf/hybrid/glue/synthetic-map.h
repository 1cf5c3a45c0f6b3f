/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SYNTHETIC_MAP_H
#define __PERF_HYBRID_SYNTHETIC_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/compiler.h>
#include "../unwind/synthetic-frame.h"

struct dso;
struct ip_callchain;
struct perf_event_attr;
struct perf_event_header;
struct perf_record_mmap2;

#ifdef HAVE_HYBRID_SUPPORT

/**
 * hybrid_synthetic_in_chain - does a callchain say that it is not whole, or not sure?
 * @chain: of a sample; NULL for none
 */
bool hybrid_synthetic_in_chain(const struct ip_callchain *chain);

/**
 * hybrid_synthetic__fields - what every sample begins with
 * @type: PERF_SAMPLE_* of its event, as the kernel has it
 * @event: the sample
 *
 * Return: as much of it as other records say at their end.
 */
struct perf_sample hybrid_synthetic__fields(u64 type, const struct perf_event_header *event);

/**
 * hybrid_map__event - complete a record of an executable mapping
 * @event: all 0 but start, len, pgoff and what identifies the file; has room for the rest
 * @name: of the mapping
 * @attr: of the sample's event, as the kernel has it
 * @sample: gives the record its time
 * @pid: the process
 *
 * Return: bytes of the record.
 */
size_t hybrid_map__event(struct perf_record_mmap2 *event, const char *name,
			 const struct perf_event_attr *attr,
			 const struct perf_event_header *sample, pid_t pid);

/* A mapping of a mark, with the longest trailer. */
#define HYBRID_SYNTHETIC_EVENT_SIZE	192

/**
 * hybrid_synthetic__event - a record that maps a mark in a process
 * @mark: to be mapped
 * @attr: of the sample's event, as the kernel has it
 * @sample: the first of the process that needs it; the record is as old
 * @pid: the process
 * @out: room for HYBRID_SYNTHETIC_EVENT_SIZE bytes, 8-byte aligned
 *
 * Return: bytes written.
 */
size_t hybrid_synthetic__event(enum hybrid_synthetic mark, const struct perf_event_attr *attr,
			       const struct perf_event_header *sample, pid_t pid, void *out);

/**
 * hybrid_synthetic__load - give a mark's mapping its symbol
 * @dso: any
 *
 * Return: true where @dso is that of a mark.
 */
bool hybrid_synthetic__load(struct dso *dso);
#else
static inline bool hybrid_synthetic_in_chain(const struct ip_callchain *chain __maybe_unused)
{
	return false;
}

static inline bool hybrid_synthetic__load(struct dso *dso __maybe_unused)
{
	return false;
}
#endif

#endif /* __PERF_HYBRID_SYNTHETIC_MAP_H */
