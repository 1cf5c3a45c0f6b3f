/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MARK_H
#define __PERF_HYBRID_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct dso;
struct ip_callchain;
struct perf_event_attr;
struct perf_event_header;

/*
 * What a callchain says of itself, as a frame among the others: every tool shows
 * frames. Their addresses are in pages that no process maps (vm.mmap_min_addr), and
 * that the file maps in each process that has marked chains.
 */
enum hybrid_mark {
	HYBRID_MARK_CUT_OFF,	/* last: the callers of the frame inside are not known */
	HYBRID_MARK_GUESSED,	/* the callers outside of this one are likely, not shown */
	HYBRID_NR_MARKS,
};

#define HYBRID_MARK_START	0x1000ULL
#define HYBRID_MARK_SIZE	0x1000ULL

/* Where the mapping of a mark begins. */
static inline u64 hybrid_mark_start(enum hybrid_mark mark)
{
	return HYBRID_MARK_START + mark * HYBRID_MARK_SIZE;
}

/*
 * The entry of a callchain: inside of the page, as tools take return addresses for
 * the byte before.
 */
static inline u64 hybrid_mark_ip(enum hybrid_mark mark)
{
	return hybrid_mark_start(mark) + HYBRID_MARK_SIZE / 2;
}

/* What a mark is called, as a symbol and as a mapping. */
const char *hybrid_mark_name(enum hybrid_mark mark);

#ifdef HAVE_HYBRID_SUPPORT
/**
 * hybrid_mark_in_chain - does a callchain say that it is not whole, or not sure?
 * @chain: of a sample; NULL for none
 */
bool hybrid_mark_in_chain(const struct ip_callchain *chain);

/**
 * hybrid_mark__fields - what every sample begins with
 * @type: PERF_SAMPLE_* of its event, as the kernel has it
 * @event: the sample
 *
 * Return: as much of it as other records say at their end.
 */
struct perf_sample hybrid_mark__fields(u64 type, const struct perf_event_header *event);

/* A mapping of a mark, with the longest trailer. */
#define HYBRID_MARK_EVENT_SIZE	192

/**
 * hybrid_mark__event - a record that maps a mark in a process
 * @mark: to be mapped
 * @attr: of the sample's event, as the kernel has it
 * @sample: the first of the process that needs it; the record is as old
 * @pid: the process
 * @out: room for HYBRID_MARK_EVENT_SIZE bytes, 8-byte aligned
 *
 * Return: bytes written.
 */
size_t hybrid_mark__event(enum hybrid_mark mark, const struct perf_event_attr *attr,
			  const struct perf_event_header *sample, pid_t pid, void *out);

/**
 * hybrid_mark__load - give a mark's mapping its symbol
 * @dso: any
 *
 * Return: true where @dso is that of a mark.
 */
bool hybrid_mark__load(struct dso *dso);
#else
static inline bool hybrid_mark_in_chain(const struct ip_callchain *chain __maybe_unused)
{
	return false;
}

static inline bool hybrid_mark__load(struct dso *dso __maybe_unused)
{
	return false;
}
#endif

#endif /* __PERF_HYBRID_MARK_H */
