// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of any bytes, with any heads and tails, that change while they are read.
 *
 * Input: for each of three rings four bytes of tail and two of head, then one
 * byte of flags; the rest fills the rings.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include "fuzz.h"
#include "sample-layout.h"
#include "ring-order.h"

#define RINGS	3
#define SIZE	1024U

struct setup {
	u32	tail[RINGS];
	u16	used[RINGS];
	u8	flags;
} __packed;

struct world {
	struct hybrid_ring	rings[RINGS];
	u64			head[RINGS];
	u64			tail[RINGS];
	u64			last_time;
	u64			delivered;
	u8			flags;
};

static u64 head(struct hybrid_ring *ring, void *arg)
{
	struct world *w = arg;
	unsigned int i = ring - w->rings;

	/* The kernel writes on. */
	if (w->flags & 1)
		w->head[i] += 8 * (w->flags >> 4);
	return w->head[i];
}

static u64 time_of(const struct perf_event_header *event, void *arg)
{
	u64 time = 0;

	if (arg && event->size >= sizeof(*event) + 8)
		memcpy(&time, event + 1, 8);
	return time;
}

static int deliver(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg)
{
	struct world *w = arg;
	u8 *copy = malloc(event->size + 1);
	bool stop;

	/* All of it must be readable. */
	memcpy(copy, event, event->size);
	stop = w->flags & 2 && copy[event->size - 1] == 77;
	free(copy);
	if (event->size < sizeof(*event) || event->size % 8 || ring->time < w->last_time)
		abort();
	w->last_time = ring->time;
	w->delivered += event->size;
	return stop ? -1 : 0;
}

static void consume(struct hybrid_ring *ring, void *arg)
{
	struct world *w = arg;
	unsigned int i = ring - w->rings;

	/* Forwards, and never past what the kernel has written. */
	if (ring->tail - w->tail[i] > w->head[i] - w->tail[i])
		abort();
	w->tail[i] = ring->tail;
}

static void one_pass(struct world *w, bool all)
{
	static const struct hybrid_order_ops ops = {
		.head = head, .time = time_of, .deliver = deliver, .consume = consume,
	};
	struct hybrid_order order = { .newest = ~0ULL };
	struct hybrid_ring *heap[RINGS];
	unsigned int i;
	int got;

	w->last_time = 0;
	w->delivered = 0;
	for (i = 0; i < RINGS; i++)
		w->rings[i].time = 0;
	/* What an earlier look has found: all, or some. */
	if (!(w->flags & 4))
		order.newest = 1ULL << 32;
	got = hybrid_order_pass(&order, all ? HYBRID_ORDER_ALL : HYBRID_ORDER_HOLD,
				w->rings, RINGS, heap, &ops, w);
	if (order.until > order.newest)
		abort();
	if (w->delivered > RINGS * SIZE || got > (int)(w->delivered / 8))
		abort();
	for (i = 0; all && got >= 0 && i < RINGS; i++) {
		if (w->rings[i].tail != w->rings[i].head)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct world w = {};
	struct setup setup;
	unsigned int i;
	u8 *ring;

	if (size < sizeof(setup))
		return 0;
	memcpy(&setup, data, sizeof(setup));
	data += sizeof(setup);
	size -= sizeof(setup);
	w.flags = setup.flags;
	for (i = 0; i < RINGS; i++) {
		ring = aligned_alloc(8, SIZE);
		w.rings[i].copy = aligned_alloc(8, HYBRID_MAX_RECORD);
		if (!ring || !w.rings[i].copy)
			abort();
		memset(ring, 0, SIZE);
		if (i * SIZE < size)
			memcpy(ring, data + i * SIZE,
			       size - i * SIZE < SIZE ? size - i * SIZE : SIZE);
		w.rings[i].data = ring;
		w.rings[i].mask = SIZE - 1;
		/* Whole words, as the kernel keeps them; near the end of 64 bits, too. */
		w.rings[i].tail = ((u64)(s32)setup.tail[i]) & ~7ULL;
		w.tail[i] = w.rings[i].tail;
		w.head[i] = w.rings[i].tail + (setup.used[i] & ~7U);
	}
	one_pass(&w, false);
	one_pass(&w, true);
	for (i = 0; i < RINGS; i++) {
		free((void *)w.rings[i].data);
		free(w.rings[i].copy);
	}
	return 0;
}
