/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_WALK_RECORD_H
#define __PERF_HYBRID_WALK_RECORD_H

#include <stdbool.h>
#include <asm/perf_regs.h>
#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "../runtime/functions.h"
#include "../unwind/kernel-chain.h"
#include "sample-layout.h"

/* What is said of each record, and at its end where it is no sample's. */
#define HYBRID_BPF_TRAILER	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | \
				 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* The registers of tasks that went to sleep: what there is to unwind by. */
#define HYBRID_BPF_REGS	(GENMASK_ULL(PERF_REG_X86_IP, PERF_REG_X86_AX) | \
			 GENMASK_ULL(PERF_REG_X86_R15, PERF_REG_X86_R8))

/**
 * struct hybrid_walked - a record of bpf_skel/hybrid_walk.bpf.c
 * @ids: of the task: hybrid_task_ids()
 * @time: when the record was written
 * @cpu: as samples have it
 * @head: see there
 * @ips: of the chain; they need not be aligned
 * @frames: functions of frames that the walk came through, as HYBRID_WALK_FUNCTION_BITS has them;
 *	they need not be aligned
 * @nr_frames: number of @frames, each two words
 * @code_hash: which code of a JVM the walk came through; 0: none, or unknown
 * @functions: of interpreters; the words are in the record
 * @text: struct hybrid_walk_text, not aligned, if the record is one of a function; NULL: it is not
 * @text_size: bytes of @text
 * @language: of @text; HYBRID_NO_LANGUAGE: it is too short
 * @dump: where registers and stack are; it need not be aligned; NULL: nowhere
 * @stack_room: bytes of stack that were to be copied
 * @stack_size: that were
 * @holes: pages of these that were not, as struct hybrid_walk_dump has them
 * @room_ends: the mapping of the stack ends right after @stack_room bytes
 * @space: the program's number of the address space; 0: it says none
 * @code: around the address at which the walk ended
 */
struct hybrid_walked {
	u64			 ids;
	u64			 time;
	u64			 cpu;
	struct hybrid_walk_head	 head;
	const u8		*ips;
	const u8		*frames;
	u32			 nr_frames;
	u64			 code_hash;
	struct hybrid_sample_functions functions;
	const u8		*text;
	u32			 text_size;
	enum hybrid_language	 language;
	const u8		*dump;
	u32			 stack_room;
	u32			 stack_size;
	u32			 holes;
	bool			 room_ends;
	u64			 space;
	struct hybrid_made_code	 code;
};

/* Process and thread in one word, as records have them. */
static inline u64 hybrid_task_ids(u32 pid, u32 tid)
{
	return pid | (u64)tid << 32;
}

/**
 * hybrid_walked_parse - what a record says
 * @type: of the event that the program writes to, PERF_SAMPLE_*: an identifier, the task, a
 *	time, and at most the CPU before the raw data
 * @header: all of it is readable, and it has an identifier
 * @walked: out; valid for as long as @header is
 *
 * Return: 0, or -EINVAL.
 */
int hybrid_walked_parse(u64 type, const struct perf_event_header *header,
			struct hybrid_walked *walked);

/* When the record was written; 0: it says nothing. Arguments as above. */
u64 hybrid_walked_time(u64 type, const struct perf_event_header *header);

/* Of perf's registers those that a dump has. */
#define HYBRID_BPF_ALL_REGS	(GENMASK_ULL(PERF_REG_X86_SS, PERF_REG_X86_AX) | \
				 GENMASK_ULL(PERF_REG_X86_R15, PERF_REG_X86_R8))

/* Else a sample follows, or the record is of a function. */
static inline bool hybrid_walked_is_sample(const struct hybrid_walked *walked)
{
	return walked->head.kind == HYBRID_WALK_RECORD_SAMPLE ||
	       walked->head.kind == HYBRID_WALK_RECORD_DUMP;
}

/* Words of what a sample has before its callchain, at most; of a callchain; of registers. */
#define HYBRID_WALKED_HEAD	10
#define HYBRID_WALKED_IPS	HYBRID_WALK_IPS
#define HYBRID_WALKED_REGS	24

/**
 * hybrid_walked_head - what the sample of a record begins with
 * @walked: hybrid_walked_is_sample()
 * @type: PERF_SAMPLE_* of its event; hybrid_bpf__first_served() says what is in that
 * @head: out: HYBRID_WALKED_HEAD words: a sample without a callchain, registers and a dump
 * @parts: out: of @head
 */
void hybrid_walked_head(const struct hybrid_walked *walked, u64 type, u64 *head,
			struct hybrid_sample_parts *parts);

/**
 * hybrid_walked_chain - the callchain of a record
 * @walked: the record
 * @ips: out: HYBRID_WALKED_IPS words
 * @chain: out: points into @ips
 */
void hybrid_walked_chain(const struct hybrid_walked *walked, u64 *ips,
			 struct hybrid_kernel_chain *chain);

/**
 * hybrid_walked_regs - the registers of a record with a dump
 * @walked: the record
 * @mask: which, of HYBRID_BPF_ALL_REGS
 * @regs: out: HYBRID_WALKED_REGS words at most, in the order of @mask's bits
 *
 * Return: PERF_SAMPLE_REGS_ABI_*.
 */
u64 hybrid_walked_regs(const struct hybrid_walked *walked, u64 mask, u64 *regs);

/* The stack of a record, which need not be aligned; NULL: it has none. */
static inline const void *hybrid_walked_stack(const struct hybrid_walked *walked)
{
	return walked->dump ? walked->dump + offsetof(struct hybrid_walk_dump, stack) : NULL;
}

/**
 * hybrid_walked_sample - the sample as the kernel would have written it, for who reads that
 * @walked: hybrid_walked_is_sample()
 * @type: PERF_SAMPLE_* of its event; hybrid_bpf__first_served() says what is in that
 * @regs: that samples of the event have, of HYBRID_BPF_ALL_REGS
 * @made: out; 64 KiB will do
 */
void hybrid_walked_sample(const struct hybrid_walked *walked, u64 type, u64 regs,
			  struct perf_event_header *made);

/* The stack pointer that a dump begins at. */
u64 hybrid_walked_sp(const struct hybrid_walked *walked);

/* Has the dump, if any, end at its first hole: for who takes all of it for what was there. */
void hybrid_walked_end_at_hole(struct hybrid_walked *walked);

#endif /* __PERF_HYBRID_WALK_RECORD_H */
