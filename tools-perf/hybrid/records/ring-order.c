// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include "ring-order.h"
#include "sample-layout.h"

/*
 * Samples that a ring has room for: as it is sized for a dump; where few need one, which is
 * then as long as the stack; at least, where a larger dump is chosen for the ring; and with
 * many rings. And bytes of a sample beside its dump.
 */
#define RING_SAMPLES	512UL
#define FEW_DUMPS_SAMPLES	1024UL
#define MANY_SAMPLES	256UL
#define LEAST_SAMPLES	2UL
#define SAMPLE_HEAD	4096UL

/* Of what rings take, those that few dumps come to. */
#define FEW_DUMPS_SIZE	(HYBRID_RINGS_SIZE / 4)

/* Bytes of a sample that are mostly read, and what a CPU reads at once. */
#define FETCHED		1024
#define CACHE_LINE	64

#define LEAST_RING	(512UL << 10)
#define MOST_RING	(32UL << 20)

static unsigned long ring_size(unsigned long dump_size, unsigned long samples,
			       unsigned long least, unsigned long nr, unsigned long most)
{
	unsigned long size = min(max(samples * dump_size, LEAST_RING), MOST_RING);

	size = roundup_pow_of_two(size);
	while (size / 2 >= max(least, LEAST_SAMPLES * (dump_size + SAMPLE_HEAD)) &&
	       size * nr > most)
		size /= 2;
	return size;
}

unsigned long hybrid_order_ring_size(unsigned long dump_size, unsigned long nr)
{
	return ring_size(dump_size, RING_SAMPLES, 0, nr, HYBRID_RINGS_SIZE);
}

unsigned long hybrid_order_few_dumps_ring(unsigned long dump_size, unsigned long nr)
{
	return ring_size(dump_size, FEW_DUMPS_SAMPLES, LEAST_RING, nr, FEW_DUMPS_SIZE);
}

unsigned long hybrid_order_most_ring(unsigned long nr)
{
	return min(HYBRID_RINGS_SIZE / max(nr, 1UL), MOST_RING);
}

u32 hybrid_order_dump_size(unsigned long ring_size)
{
	unsigned long size = HYBRID_ORDER_DUMP;

	while (2 * size * MANY_SAMPLES <= ring_size && size < HYBRID_ORDER_MOST_DUMP)
		size *= 2;
	return min(size, HYBRID_ORDER_MOST_DUMP);
}

static bool is_kept(const struct hybrid_ring *ring, u64 pos)
{
	return pos - ring->kept_start < ring->kept_end - ring->kept_start;
}

/* The record at @pos, in place or, where it wraps around, copied. */
static const struct perf_event_header *record_at(struct hybrid_ring *ring, u64 pos)
{
	u64 at = pos & ring->mask, first = ring->mask + 1 - at;
	const struct perf_event_header *event = (const void *)(ring->data + at);

	if (is_kept(ring, pos))
		return (const void *)(ring->kept + (pos - ring->kept_start));
	if (event->size <= first)
		return event;
	memcpy(ring->copy, event, first);
	memcpy(ring->copy + first, ring->data, event->size - first);
	return ring->copy;
}

/* Bytes of the record at @pos; 0 where there is no whole one before @head. */
static u16 size_at(const struct hybrid_ring *ring, u64 pos, u64 head)
{
	const struct perf_event_header *event;

	if (is_kept(ring, pos)) {
		event = (const void *)(ring->kept + (pos - ring->kept_start));
		return event->size;
	}
	if (head - pos < sizeof(*event) || head - pos > ring->mask + 1)
		return 0;
	event = (const void *)(ring->data + (pos & ring->mask));
	if (event->size < sizeof(*event) || event->size > head - pos ||
	    event->size > HYBRID_MAX_RECORD || event->size % 8)
		return 0;
	return event->size;
}

/* Room for @size bytes more than there are. */
static int keep_room(struct hybrid_ring *ring, u64 size)
{
	u64 used = ring->kept_end - ring->kept_start, room = ring->kept_size;
	u8 *more;

	if (used + size <= room)
		return 0;
	room = max(2 * room, used + size);
	more = realloc(ring->kept, room);
	if (!more)
		return -ENOMEM;
	ring->kept = more;
	ring->kept_size = room;
	return 0;
}

s64 hybrid_order_keep(struct hybrid_ring *ring, u64 head)
{
	u64 pos = hybrid_order_consumed(ring), from = pos;
	u16 size;

	if (head - pos <= HYBRID_ORDER_KEEP(ring->mask + 1))
		return 0;
	if (ring->kept_start == ring->kept_end) {
		ring->kept_start = pos;
		ring->kept_end = pos;
	}
	while ((size = size_at(ring, pos, head)) != 0) {
		const struct perf_event_header *event = record_at(ring, pos);

		if (keep_room(ring, size))
			return -ENOMEM;
		memcpy(ring->kept + (pos - ring->kept_start), event, size);
		pos += size;
		ring->kept_end = pos;
	}
	return pos - from;
}

/* All that was kept is delivered. */
static void forget_kept(struct hybrid_ring *ring)
{
	if (ring->kept_start == ring->kept_end || ring->tail != ring->kept_end)
		return;
	free(ring->kept);
	ring->kept = NULL;
	ring->kept_size = 0;
	ring->kept_start = ring->kept_end;
}

/*
 * Asks for the next sample while this one is unwound: it was written long ago, maybe by
 * another CPU, and is in no cache. What is read of it are the head, the registers and the
 * first bytes of the stack, and its last word, where it is as long as this one (@size).
 */
static void fetch_next(const struct hybrid_ring *ring, u64 pos, u16 size)
{
	const u8 *next = ring->data + (pos & ring->mask);
	u64 i, room = ring->mask + 1 - (pos & ring->mask);

	for (i = 0; i < min_t(u64, room, FETCHED); i += CACHE_LINE)
		__builtin_prefetch(next + i);
	if (size <= room)
		__builtin_prefetch(next + size - 8);
}

static u64 last_time(struct hybrid_ring *ring, u64 head,
		     const struct hybrid_order_ops *ops, void *arg)
{
	u64 pos = ring->tail, last, known = pos - 1;
	u16 size;

	/* What an earlier look has gone through is far apart in memory: not once more. */
	if (ring->looked - ring->tail < head - ring->tail) {
		pos = ring->looked;
		known = pos;
	}
	last = pos;
	while ((size = size_at(ring, pos, head)) != 0) {
		if (ops->found && pos != known)
			ops->found(record_at(ring, pos), arg);
		last = pos;
		pos += size;
	}
	ring->looked = last;
	return pos == last ? 0 : ops->time(record_at(ring, last), arg);
}

/* Of all records: the last one may have no time, or that of before an NMI. */
static u64 newest_of(struct hybrid_ring *ring, u64 head, const struct hybrid_order_ops *ops,
		     void *arg)
{
	u64 pos = ring->tail, newest = 0;
	u16 size;

	while ((size = size_at(ring, pos, head)) != 0) {
		newest = max(newest, ops->time(record_at(ring, pos), arg));
		pos += size;
	}
	return newest;
}

/* Reads the time of the ring's next record; false where there is none. */
static bool peek(struct hybrid_ring *ring, const struct hybrid_order_ops *ops, void *arg)
{
	if (!size_at(ring, ring->tail, ring->head)) {
		/* Nothing, or nothing that can be parsed: give it up. */
		ring->tail = ring->head;
		return false;
	}
	ring->time = max(ring->time, ops->time(record_at(ring, ring->tail), arg));
	return true;
}

static void sift_down(struct hybrid_ring **heap, unsigned int nr, unsigned int i)
{
	while (2 * i + 1 < nr) {
		unsigned int child = 2 * i + 1;
		struct hybrid_ring *tmp;

		if (child + 1 < nr && heap[child + 1]->time < heap[child]->time)
			child++;
		if (heap[i]->time <= heap[child]->time)
			return;
		tmp = heap[i];
		heap[i] = heap[child];
		heap[child] = tmp;
		i = child;
	}
}

/* The newest time there is now; @filled: is a ring more than half full? */
static u64 newest_time(struct hybrid_ring *rings, unsigned int nr, bool *filled,
		       const struct hybrid_order_ops *ops, void *arg)
{
	u64 newest = 0, head, time;
	unsigned int i;
	bool is_filled;

	*filled = false;
	for (i = 0; i < nr; i++) {
		head = ops->head(&rings[i], arg);
		is_filled = head - hybrid_order_consumed(&rings[i]) > (rings[i].mask + 1) / 2;
		time = last_time(&rings[i], head, ops, arg);
		/* What was not delivered of a full ring would keep the kernel from writing. */
		if (is_filled || !time)
			time = newest_of(&rings[i], head, ops, arg);
		newest = max(newest, time);
		*filled |= is_filled;
	}
	return newest;
}

/*
 * What the last look has found may be delivered when that is old enough; and what is as
 * much older than the newest record that there is.
 */
static void look(struct hybrid_order *order, u64 now, struct hybrid_ring *rings,
		 unsigned int nr, const struct hybrid_order_ops *ops, void *arg)
{
	bool filled;
	u64 newest = newest_time(rings, nr, &filled, ops, arg);

	if (now - order->looked >= HYBRID_ORDER_HOLD)
		order->until = max(order->until, order->newest);
	if (newest > HYBRID_ORDER_HOLD)
		order->until = max_t(u64, order->until, (newest - HYBRID_ORDER_HOLD));
	if (newest > order->newest && (filled || !hybrid_order_holds(order))) {
		order->newest = newest;
		order->looked = now;
	}
	if (filled)
		order->until = order->newest;
}

int hybrid_order_timeout(const struct hybrid_order *order, u64 now, bool asked)
{
	/* Where samples come all the time some always are held back: for the next ones. */
	bool streams = now - order->delivered < HYBRID_ORDER_POLL_MS * 1000000ULL;

	if (hybrid_order_holds(order) && (asked || !streams))
		return HYBRID_ORDER_HOLD_MS;
	if (asked || now - order->changed < HYBRID_ORDER_CALM)
		return HYBRID_ORDER_POLL_MS;
	return HYBRID_ORDER_CALM_MS;
}

int hybrid_order_pass(struct hybrid_order *order, u64 now,
		      struct hybrid_ring *rings, unsigned int nr, struct hybrid_ring **heap,
		      const struct hybrid_order_ops *ops, void *arg)
{
	u64 until = HYBRID_ORDER_ALL;
	unsigned int i, queued = 0;
	int delivered = 0, err;

	if (now != HYBRID_ORDER_ALL) {
		look(order, now, rings, nr, ops, arg);
		until = order->until;
	}
	for (i = 0; i < nr; i++) {
		rings[i].head = ops->head(&rings[i], arg);
		if (peek(&rings[i], ops, arg))
			heap[queued++] = &rings[i];
	}
	for (i = queued / 2; i-- > 0;)
		sift_down(heap, queued, i);

	while (queued && heap[0]->time <= until) {
		struct hybrid_ring *ring = heap[0];
		const struct perf_event_header *event = record_at(ring, ring->tail);
		u16 size = event->size;

		ring->tail += size;
		fetch_next(ring, ring->tail, size);
		err = ops->deliver(ring, event, arg);
		if (err == -EAGAIN) {
			ring->tail -= size;
			break;
		}
		forget_kept(ring);
		ops->consume(ring, arg);
		if (err < 0)
			return err;
		delivered++;
		order->delivered = now;
		if (!peek(ring, ops, arg))
			heap[0] = heap[--queued];
		sift_down(heap, queued, 0);
	}
	return delivered;
}
