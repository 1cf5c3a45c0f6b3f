/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SAMPLE_LAYOUT_H
#define __PERF_HYBRID_SAMPLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/* Records have a 16-bit size and are multiples of 8 bytes. */
#define HYBRID_MAX_RECORD	65528

/**
 * struct hybrid_layout - how an event's samples look, in the ring and the file
 * @attr: as the kernel has it
 * @file_regs: user registers that the file's samples have; 0: none, and no
 *	PERF_SAMPLE_REGS_USER
 * @branch_counters: a counter follows for each branch (evsel__has_branch_counters())
 */
struct hybrid_layout {
	struct perf_event_attr	attr;
	u64			file_regs;
	bool			branch_counters;
};

/**
 * struct hybrid_sample_parts - the parts of a sample that unwinding is about
 * @event: the record, 8-byte aligned
 * @ip: the sampled address; 0 where the layout has none
 * @pid: process; -1 where the layout has none
 * @tid: thread
 * @time: when; ~0 where the layout has none
 * @chain_at: offset in @event of the callchain's count
 * @chain: the callchain; NULL where the layout has none
 * @nr_chain: number of @chain
 * @regs_at: offset of the user registers; where @chain ends, for a layout
 *	without them, or a little further
 * @regs_abi: PERF_SAMPLE_REGS_ABI_*
 * @regs: as many as the layout's sample_regs_user has bits; NULL for none
 * @rest_at: offset behind the stack dump
 * @stack: the dump; NULL for none
 * @stack_size: bytes of @stack that hold the task's stack
 * @stack_room: bytes that it has room for
 */
struct hybrid_sample_parts {
	const struct perf_event_header	*event;
	u64				 ip;
	s32				 pid;
	s32				 tid;
	u64				 time;
	u32				 chain_at;
	const u64			*chain;
	u32				 nr_chain;
	u32				 regs_at;
	u64				 regs_abi;
	const u64			*regs;
	u32				 rest_at;
	const u8			*stack;
	u64				 stack_size;
	u64				 stack_room;
};

/**
 * hybrid_layout_parse - find the parts of a sample
 * @layout: of its event
 * @event: a PERF_RECORD_SAMPLE, all header.size bytes of it readable
 * @sample: out; points into @event
 *
 * Return: 0, or -EINVAL where the record's sizes contradict each other.
 */
int hybrid_layout_parse(const struct hybrid_layout *layout,
			const struct perf_event_header *event,
			struct hybrid_sample_parts *sample);

/**
 * hybrid_layout_room - how long a callchain the sample can get
 * @layout: of its event
 * @sample: from hybrid_layout_parse()
 *
 * Return: words of callchain with which the record is still a valid one.
 */
unsigned int hybrid_layout_room(const struct hybrid_layout *layout,
				const struct hybrid_sample_parts *sample);

/**
 * hybrid_layout_write - the sample as the file gets it
 * @layout: of its event
 * @sample: from hybrid_layout_parse()
 * @chain: the callchain
 * @nr: number of @chain, at most hybrid_layout_room()
 * @out: room for HYBRID_MAX_RECORD bytes, 8-byte aligned
 *
 * Everything else stays as it is, but that the stack dump is gone, and those
 * user registers that only unwinding needed.
 *
 * Return: bytes written.
 */
size_t hybrid_layout_write(const struct hybrid_layout *layout,
			   const struct hybrid_sample_parts *sample,
			   const u64 *chain, unsigned int nr, void *out);

/**
 * hybrid_layout_set_ip - change the sampled address of a sample
 * @layout: of its event
 * @event: the sample; unchanged if the layout has no address
 * @ip: the new address
 */
void hybrid_layout_set_ip(const struct hybrid_layout *layout, void *event, u64 ip);

#endif /* __PERF_HYBRID_SAMPLE_LAYOUT_H */
