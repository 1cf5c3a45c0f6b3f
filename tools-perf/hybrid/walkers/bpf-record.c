// SPDX-License-Identifier: GPL-2.0
/* The records that the BPF program writes: which they are, and when they were written. */
#include <string.h>
#include <linux/kernel.h>
#include "../../event.h"
#include "../records/walk-record.h"
#include "bpf.h"

static u64 word_at(const void *from)
{
	u64 word;

	memcpy(&word, from, sizeof(word));
	return word;
}

bool hybrid_bpf__is_record(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	return bpf && header->type == PERF_RECORD_SAMPLE &&
	       header->size >= sizeof(*header) + sizeof(u64) &&
	       hybrid_bpf__is_id(bpf, word_at(header + 1));
}

u64 hybrid_bpf__time(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	return hybrid_walked_time(hybrid_bpf__sample_type(bpf), header);
}

union perf_event *hybrid_bpf__rename_lost(const struct hybrid_bpf *bpf, u64 id,
					  union perf_event *event, void *room)
{
	u16 size = event->header.size;
	union perf_event *renamed = room;

	if (!bpf || size < sizeof(event->lost) + sizeof(u64) ||
	    !hybrid_bpf__is_id(bpf, word_at((const u8 *)event + size - sizeof(u64))))
		return event;
	memcpy(renamed, event, size);
	renamed->lost.id = id;
	memcpy((u8 *)renamed + size - sizeof(u64), &id, sizeof(id));
	return renamed;
}
