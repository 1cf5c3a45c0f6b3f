/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ORDER_H
#define __PERF_HYBRID_ORDER_H

#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * struct hybrid_ring - a kernel ring that is read in place
 * @data: behind the control page
 * @mask: size - 1; the size is a power of two
 * @tail: position of the first record that was not delivered
 * @head: position behind the last record that may be
 * @time: of the record at @tail, never less than of the one before
 * @behind: bytes read while it was nearly full, the owner's
 * @copy: HYBRID_MAX_RECORD bytes for a record that wraps around
 * @arg: the owner's
 */
struct hybrid_ring {
	const u8	*data;
	u64		 mask;
	u64		 tail;
	u64		 head;
	u64		 time;
	u64		 behind;
	void		*copy;
	void		*arg;
};

/**
 * struct hybrid_order_ops - what ordering asks of the owner of the rings
 * @head: the ring's current head, read with acquire semantics
 * @time: a record's timestamp; 0 for none
 * @deliver: the next record in time order; the ring's tail is behind it when
 *	this returns and may be given to the kernel then (@consume). Not 0 ends
 *	the pass
 * @consume: all before the ring's tail may be overwritten
 */
struct hybrid_order_ops {
	u64 (*head)(struct hybrid_ring *ring, void *arg);
	u64 (*time)(const struct perf_event_header *event, void *arg);
	int (*deliver)(struct hybrid_ring *ring, const struct perf_event_header *event,
		       void *arg);
	void (*consume)(struct hybrid_ring *ring, void *arg);
};

/**
 * hybrid_order_pass - deliver the records of all rings in time order
 * @rings: to read
 * @nr: number of @rings
 * @heap: room for @nr pointers, the caller's
 * @all: deliver all there is; false: up to a time behind which no ring can get
 *	another record
 * @ops: see there
 * @arg: for @ops
 *
 * That time is the newest timestamp found in the rings by a first look: who
 * wrote a record with an earlier one had done so before the first look ended,
 * so the heads, read again after it, have it. This needs no clock that user
 * space can read (perf's own is none, on virtual machines), and what it leaves
 * in the rings the next pass delivers. So an mmap record is always seen before
 * the samples that need it, whichever CPU's ring it is in, and nothing is
 * copied or queued.
 *
 * Return: records delivered, or what @ops->deliver returned where that is
 * negative.
 */
int hybrid_order_pass(struct hybrid_ring *rings, unsigned int nr,
		      struct hybrid_ring **heap, bool all,
		      const struct hybrid_order_ops *ops, void *arg);

#endif /* __PERF_HYBRID_ORDER_H */
