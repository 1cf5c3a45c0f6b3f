/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BPF_RECORD_H
#define __PERF_HYBRID_BPF_RECORD_H

#include <stdbool.h>
#include <asm/perf_regs.h>
#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "bpf_skel/hybrid_walk.h"

struct hybrid_bpf;
struct perf_event_header;

/* What is said of each record, and at its end where it is no sample's. */
#define HYBRID_BPF_TRAILER	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | \
				 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* The registers of samples that are made of a dump: what there is to unwind by. */
#define HYBRID_BPF_REGS	(GENMASK_ULL(PERF_REG_X86_IP, PERF_REG_X86_AX) | \
			 GENMASK_ULL(PERF_REG_X86_R15, PERF_REG_X86_R8))

/**
 * struct hybrid_bpf_record - one of the program's
 * @ids: of the task
 * @time: when the record was written
 * @cpu: as samples have it
 * @head: see there
 * @ips: of the chain; they need not be aligned
 * @nr_user: of @ips, behind the kernel's; 0 where the walk did not come to the outermost
 *	frame
 * @dump: where registers and stack are; it need not be aligned; NULL: nowhere
 */
struct hybrid_bpf_record {
	u64			 ids;
	u64			 time;
	u64			 cpu;
	struct hybrid_walk_head	 head;
	const u8		*ips;
	u32			 nr_user;
	const u8		*dump;
};

/* 0, or -EINVAL where the record's sizes contradict each other. */
int hybrid_bpf__parse(const struct hybrid_bpf *bpf, const struct perf_event_header *header,
		      struct hybrid_bpf_record *written);

/* Else the sample follows, and the record says why it was not walked. */
static inline bool hybrid_bpf__is_sample(const struct hybrid_bpf_record *record)
{
	return record->nr_user || record->head.nr_kernel;
}

/**
 * hybrid_bpf__make_sample - as the kernel writes it
 * @written: hybrid_bpf__is_sample()
 * @type: PERF_SAMPLE_* of its event, one that the program serves
 * @made: out: room for HYBRID_MAX_RECORD bytes
 */
void hybrid_bpf__make_sample(const struct hybrid_bpf_record *written, u64 type,
			     struct perf_event_header *made);

#endif /* __PERF_HYBRID_BPF_RECORD_H */
