// SPDX-License-Identifier: GPL-2.0
/*
 * Records that were lost: a process whose mmap records may be among them is read
 * anew from /proc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../event.h"
#include "../../sample.h"
#include "../../symbol_conf.h"
#include "../../synthetic-events.h"
#include "../glue/synthetic-map.h"
#include "lost-records.h"

/* Of a perf that can't keep up, in ns: more often it would only be more behind. */
#define AGAIN		100000000ULL

#define PIDS_BITS	12

int hybrid_lost_init(struct hybrid_lost *lost, u16 id_hdr_size, hybrid_found_fn found,
		     void *arg)
{
	memset(lost, 0, sizeof(*lost));
	lost->found = found;
	lost->arg = arg;
	if (machine__init(&lost->host, "", HOST_KERNEL_ID))
		return -ENOMEM;
	lost->host.id_hdr_size = id_hdr_size;
	return 0;
}

void hybrid_lost_exit(struct hybrid_lost *lost)
{
	machine__exit(&lost->host);
}

static void begin(struct hybrid_lost *lost, u64 now)
{
	memset(lost->pids, 0, sizeof(lost->pids));
	lost->pending = false;
	lost->any = true;
	lost->since = now;
}

void hybrid_lost_pass(struct hybrid_lost *lost, u64 now)
{
	if (lost->pending && now - lost->since >= AGAIN)
		begin(lost, now);
}

void hybrid_lost_seen(struct hybrid_lost *lost, u64 now)
{
	lost->pending = true;
	hybrid_lost_pass(lost, now);
}

/* With the time of the sample, so that it counts from there on for who reads the file. */
static int deliver_found(const struct perf_tool *tool, union perf_event *event,
			 struct perf_sample *sample __maybe_unused, struct machine *machine)
{
	struct hybrid_lost *lost = container_of(tool, struct hybrid_lost, tool);
	struct perf_sample fields;

	if (lost->attr->sample_id_all && machine->id_hdr_size) {
		fields = hybrid_synthetic__fields(lost->attr->sample_type, lost->sample);
		perf_event__synthesize_id_sample((void *)event + event->header.size -
						 machine->id_hdr_size,
						 lost->attr->sample_type, &fields);
	}
	lost->err = lost->found(lost->arg, event);
	return lost->err;
}

/* Where two processes share a place, the older one is read once more. */
static bool is_known(struct hybrid_lost *lost, pid_t pid)
{
	pid_t *known = &lost->pids[hash_32(pid, PIDS_BITS)];

	BUILD_BUG_ON(HYBRID_LOST_PROCESSES != 1 << PIDS_BITS);
	if (*known == pid)
		return true;
	*known = pid;
	return false;
}

int hybrid_lost_sample(struct hybrid_lost *lost, const struct perf_event_attr *attr,
		       const struct perf_event_header *sample, pid_t pid, pid_t tid)
{
	bool no_build_ids = symbol_conf.no_buildid_mmap2;
	union perf_event *event;

	if (!lost->any || pid <= 0 || is_known(lost, pid))
		return 0;
	event = calloc(1, sizeof(event->mmap2) + lost->host.id_hdr_size);
	if (!event)
		return 0;
	lost->attr = attr;
	lost->sample = sample;
	lost->err = 0;
	/* They would be read from files, which may not answer soon. */
	symbol_conf.no_buildid_mmap2 = true;
	if (!perf_event__synthesize_mmap_events(&lost->tool, event, tid, pid,
						deliver_found, &lost->host, false))
		lost->nr++;
	symbol_conf.no_buildid_mmap2 = no_build_ids;
	free(event);
	return lost->err;
}
