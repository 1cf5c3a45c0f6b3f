/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RING_ORDER_H
#define __PERF_HYBRID_RING_ORDER_H

#include <stdbool.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * struct hybrid_ring - a kernel ring that is read in place
 * @data: behind the control page
 * @mask: size - 1; the size is a power of two
 * @tail: position of the first record that was not delivered
 * @head: position behind the last record that may be
 * @time: of the record at @tail, never less than of the one before
 * @looked: position of the last record that was found in it; not used once @tail is
 *	behind that
 * @behind: bytes read while it was nearly full, the owner's
 * @copy: HYBRID_MAX_RECORD bytes for a record that wraps around
 * @kept: records that were taken out of the ring, see hybrid_order_keep(); to be freed
 *	by the owner
 * @kept_start: position of the first
 * @kept_end: position behind the last; @kept_start where there are none
 * @kept_size: room in @kept, in bytes
 * @full_at: the head at which it was found full, the owner's; 0: it was not
 * @note: what was said of a sample that follows, the owner's
 * @note_id: of the event whose sample that is, the owner's
 * @functions: that an interpreter runs in a sample that follows, the owner's
 * @arg: the owner's
 */
struct hybrid_ring {
	const u8	*data;
	u64		 mask;
	u64		 tail;
	u64		 head;
	u64		 time;
	u64		 looked;
	u64		 behind;
	void		*copy;
	u8		*kept;
	u64		 kept_start;
	u64		 kept_end;
	u64		 kept_size;
	u64		 full_at;
	u64		 note;
	u64		 note_id;
	void		*functions;
	void		*arg;
};

/**
 * hybrid_order_consumed - up to which position a ring may be overwritten
 * @ring: where hybrid_order_pass() has come to
 */
static inline u64 hybrid_order_consumed(const struct hybrid_ring *ring)
{
	bool is_kept = ring->tail - ring->kept_start < ring->kept_end - ring->kept_start;

	return is_kept ? ring->kept_end : ring->tail;
}

/**
 * struct hybrid_order_ops - what ordering asks of the owner of the rings
 * @head: the ring's current head, read with acquire semantics
 * @time: a record's timestamp; 0 for none
 * @found: a record that was not there at the last pass, before it is delivered, and in no
 *	order; NULL: nobody wants to know
 * @deliver: the next record in time order; the ring's tail is behind it when
 *	this returns and may be given to the kernel then (@consume). Negative ends
 *	the pass; -EAGAIN: it is delivered once more by the next pass
 * @consume: all before hybrid_order_consumed() may be overwritten
 */
struct hybrid_order_ops {
	u64 (*head)(struct hybrid_ring *ring, void *arg);
	u64 (*time)(const struct perf_event_header *event, void *arg);
	void (*found)(const struct perf_event_header *event, void *arg);
	int (*deliver)(struct hybrid_ring *ring, const struct perf_event_header *event,
		       void *arg);
	void (*consume)(struct hybrid_ring *ring, void *arg);
};

/*
 * How old, in ns, a look at the rings is before what it has found is delivered; or how
 * much older than the newest record one is.
 */
#define HYBRID_ORDER_HOLD	10000000ULL

#define HYBRID_ORDER_HOLD_MS	((int)(HYBRID_ORDER_HOLD / 1000000))

/*
 * How long nobody looks at the rings, in ms, however little they hold: files are read of
 * processes that still run. And the same where none of them has changed for CALM ns.
 */
#define HYBRID_ORDER_POLL_MS	100
#define HYBRID_ORDER_CALM_MS	250
#define HYBRID_ORDER_CALM	1000000000ULL

/* The time of a pass that delivers all there is. */
#define HYBRID_ORDER_ALL	(~0ULL)

/* What the rings of a recording take together, unless -m says otherwise. */
#define HYBRID_RINGS_SIZE	(512UL << 20)

/**
 * hybrid_order_ring_size - how large a ring is made
 * @dump_size: bytes of stack in a sample, the largest of all events
 * @nr: rings of the recording
 *
 * A ring has room for 512 samples, 32 MiB at most. Where that is more than
 * HYBRID_RINGS_SIZE in all, rings get smaller, down to two samples.
 *
 * Return: bytes, a power of two.
 */
unsigned long hybrid_order_ring_size(unsigned long dump_size, unsigned long nr);

/**
 * hybrid_order_few_dumps_ring - the same, where few samples have a dump
 * @dump_size: bytes of stack in these
 * @nr: rings of the recording
 *
 * Twice as much, as the BPF program writes dumps as long as the stack is, a quarter of
 * HYBRID_RINGS_SIZE in all, and not less than 512 KiB, which rings have that hold no dumps.
 *
 * Return: bytes, a power of two.
 */
unsigned long hybrid_order_few_dumps_ring(unsigned long dump_size, unsigned long nr);

/* What hybrid_order_ring_size() comes to at most. */
unsigned long hybrid_order_most_ring(unsigned long nr);

/*
 * The least stack that a sample copies where the user names no size, and the most: the
 * kernel makes room in a record of 64 KiB for what stands before the stack, and not for
 * what is behind it, such as the registers of --intr-regs.
 */
#define HYBRID_ORDER_DUMP	8192UL
#define HYBRID_ORDER_MOST_DUMP	61440UL

/**
 * hybrid_order_dump_size - how much of the stack a sample copies
 * @ring_size: bytes of a ring
 *
 * Room in the ring is what a large dump costs: the kernel copies what the stack has,
 * and leaves the rest as it is. So it is as large as leaves room for 256 samples.
 *
 * Return: bytes.
 */
u32 hybrid_order_dump_size(unsigned long ring_size);

/**
 * struct hybrid_order - how far the rings may be delivered; begins as zero
 * @until: newest timestamp that may be
 * @newest: the newest that a look at the rings has found
 * @looked: when that look began, on the caller's clock
 * @delivered: when a pass has last delivered something
 * @changed: when a process has last begun, ended or mapped something; the owner's
 */
struct hybrid_order {
	u64	until;
	u64	newest;
	u64	looked;
	u64	delivered;
	u64	changed;
};

/**
 * hybrid_order_holds - is a pass to come soon, for what the last one has held back?
 * @order: the state
 */
static inline bool hybrid_order_holds(const struct hybrid_order *order)
{
	return order->newest > order->until;
}

/**
 * hybrid_order_timeout - how long may perf sleep before the next pass?
 * @order: the state
 * @now: of the last pass
 * @asked: samples may need what only the process has, and is gone with it
 *
 * The kernel wakes perf up where a ring fills up.
 *
 * Return: milliseconds.
 */
int hybrid_order_timeout(const struct hybrid_order *order, u64 now, bool asked);

/*
 * Bytes that records may take in a ring of that size before they are copied. It is less than
 * half of the ring: where that much is used the BPF program writes no more dumps.
 */
#define HYBRID_ORDER_KEEP(size)	((size) / 4)

/**
 * hybrid_order_keep - make room in a ring whose records can't be delivered yet
 * @ring: to be emptied, if it fills up
 * @head: of the ring, read with acquire semantics
 *
 * Once its records take more than HYBRID_ORDER_KEEP() they are copied, and later passes
 * deliver them from there, in the same order. Before that they stay: most waits are over
 * first, and the copies would cost more than all else.
 *
 * Return: bytes that were copied, or -ENOMEM.
 */
s64 hybrid_order_keep(struct hybrid_ring *ring, u64 head);

/**
 * hybrid_order_pass - deliver the records of all rings in time order
 * @order: the state
 * @now: on any clock that goes on, in ns; HYBRID_ORDER_ALL
 * @rings: to read
 * @nr: number of @rings
 * @heap: room for @nr pointers, the caller's
 * @ops: see there
 * @arg: for @ops
 *
 * The kernel takes a record's timestamp before it copies the record to the ring,
 * and may be interrupted between: so a ring gets records that are older than what
 * another one showed before. Nothing says how much older: a virtual machine's CPU
 * may not be run for a while. The newest timestamp that is found by a look at the
 * rings is delivered HYBRID_ORDER_HOLD later: who took an earlier one has had that
 * long to finish the record. So has who took one that is earlier by as much than the
 * newest: that is delivered at once. One that takes longer comes late, behind newer ones of
 * other rings. Where a ring is more than half full nothing is held back.
 *
 * In a ring a record stays behind those that were written before it: if its time is
 * earlier, as where an NMI came between time and copy, it counts as of theirs.
 *
 * This needs no clock of the kernel's that user space can read (perf's own is none,
 * on virtual machines), and what it leaves in the rings a later pass delivers:
 * nothing is copied or queued. What follows from an event comes after its record, as
 * the task does not go on before that is finished. So an mmap record is seen before
 * the samples that need it, whichever CPU's ring it is in.
 *
 * Return: records delivered, or what @ops->deliver returned where that is negative and
 * not -EAGAIN.
 */
int hybrid_order_pass(struct hybrid_order *order, u64 now,
		      struct hybrid_ring *rings, unsigned int nr, struct hybrid_ring **heap,
		      const struct hybrid_order_ops *ops, void *arg);

#endif /* __PERF_HYBRID_RING_ORDER_H */
