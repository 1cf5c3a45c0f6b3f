/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BPF_RECORD_H
#define __PERF_HYBRID_BPF_RECORD_H

#include <asm/perf_regs.h>
#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "bpf_skel/hybrid_walk.h"

struct perf_event_header;

/* What is said of each record, and at its end where it is no sample's. */
#define HYBRID_BPF_TRAILER	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | \
				 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* The registers of samples that are made of a dump: what there is to unwind by. */
#define HYBRID_BPF_REGS	(GENMASK_ULL(PERF_REG_X86_IP, PERF_REG_X86_AX) | \
			 GENMASK_ULL(PERF_REG_X86_R15, PERF_REG_X86_R8))

/**
 * struct hybrid_bpf_written - a record of the program's
 * @ids: of the task
 * @time: when the record was written
 * @cpu: as samples have it
 * @head: see there
 * @ips: of the chain; they need not be aligned
 * @nr_user: of @ips, behind the kernel's; 0 where the walk did not come to the outermost
 *	frame
 * @dump: where registers and stack are; it need not be aligned; NULL: nowhere
 */
struct hybrid_bpf_written {
	u64			 ids;
	u64			 time;
	u64			 cpu;
	struct hybrid_walk_head	 head;
	const u8		*ips;
	u32			 nr_user;
	const u8		*dump;
};

/**
 * hybrid_bpf__make_sample - a sample as the kernel writes it
 * @written: what it is made of
 * @type: its event's sample_type: what hybrid_bpf__first_served() asks for
 * @made: room for HYBRID_MAX_RECORD bytes
 */
void hybrid_bpf__make_sample(const struct hybrid_bpf_written *written, u64 type,
			     struct perf_event_header *made);

#endif /* __PERF_HYBRID_BPF_RECORD_H */
