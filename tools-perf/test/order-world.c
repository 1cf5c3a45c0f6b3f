// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sample-layout.h"
#include "order-world.h"
#include "tap.h"

struct world w;

void world_put(unsigned int ring, const void *data, unsigned int size)
{
	u8 *base = (u8 *)w.rings[ring].data;
	unsigned int i;

	for (i = 0; i < size; i++)
		base[(w.head[ring] + i) & (SIZE - 1)] = ((const u8 *)data)[i];
	w.head[ring] += size;
}

/* Returns false where the ring is full. */
bool world_write(unsigned int ring, u64 time, unsigned int size)
{
	static u8 buffer[SIZE];
	struct record *record = (struct record *)buffer;

	if (w.head[ring] + size - w.consumed[ring] > SIZE)
		return false;
	memset(buffer, w.written & 0xff, size);
	record->header = (struct perf_event_header){ .type = 9, .size = size };
	record->time = time;
	record->id = w.written++;
	world_put(ring, buffer, size);
	return true;
}

void world_write_some(unsigned int nr)
{
	while (nr-- && w.written < ARRAY_SIZE(w.seen)) {
		w.time += tap_random() % 3;
		world_write(tap_random() % RINGS, w.time, 24 + 8 * (tap_random() % 40));
	}
}

/* The kernel writes while the heads are read. */
u64 world_head(struct hybrid_ring *ring, void *arg)
{
	struct world *world = arg;

	if (world->bursts)
		world_write_some(tap_random() % world->bursts);
	return world->head[ring - world->rings];
}

u64 world_time(const struct perf_event_header *event, void *arg)
{
	return arg ? ((const struct record *)event)->time : 0;
}

int world_deliver(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg)
{
	const struct record *record = (const struct record *)event;
	struct world *world = arg;
	unsigned int i;

	if (!check(record->id < ARRAY_SIZE(world->seen)))
		return -1;
	if (world->again_in && !--world->again_in)
		return -EAGAIN;
	check(!world->seen[record->id]);
	world->seen[record->id] = true;
	check(record->time >= world->last_time);
	world->last_time = record->time;
	for (i = 0; i < event->size - sizeof(*record); i++)
		check(record->rest[i] == (record->id & 0xff));
	check(ring->tail <= world->head[ring - world->rings]);
	world->delivered++;
	if (world->bursts)
		world_write_some(tap_random() % world->bursts);
	return world->stop_at && world->delivered == (u64)world->stop_at ? -7 : 0;
}

void world_consume(struct hybrid_ring *ring, void *arg)
{
	struct world *world = arg;
	unsigned int i = ring - world->rings;
	u64 pos, end = hybrid_order_consumed(ring);

	check(end >= world->consumed[i] && end >= ring->tail && end <= world->head[i]);
	/* The kernel may overwrite it at once. */
	for (pos = world->consumed[i]; pos < end; pos++)
		((u8 *)ring->data)[pos & (SIZE - 1)] = 0xff;
	world->consumed[i] = end;
}

const struct hybrid_order_ops world_ops = {
	.head = world_head, .time = world_time, .deliver = world_deliver, .consume = world_consume,
};

int world_pass_by(const struct hybrid_order_ops *by, u64 now)
{
	return hybrid_order_pass(&w.order, now, w.rings, RINGS, w.heap, by, &w);
}

/* What the passes before have found is old enough, or not. */
int world_pass(void)
{
	return world_pass_by(&world_ops, w.now += HOLD);
}

int world_pass_at_once(void)
{
	return world_pass_by(&world_ops, w.now);
}

int world_pass_all(void)
{
	return world_pass_by(&world_ops, HYBRID_ORDER_ALL);
}

void world_start(void)
{
	unsigned int i;

	memset(&w, 0, sizeof(w));
	for (i = 0; i < RINGS; i++) {
		/* Positions run on for ever: some wrap around right away. */
		u64 at = i == 1 ? SIZE - 64 : (tap_random() % SIZE) & ~7ULL;

		w.rings[i].data = aligned_alloc(8, SIZE);
		w.rings[i].mask = SIZE - 1;
		w.rings[i].copy = aligned_alloc(8, HYBRID_MAX_RECORD + 8);
		w.rings[i].tail = at;
		w.head[i] = at;
		w.consumed[i] = at;
	}
}

void world_end(void)
{
	unsigned int i;

	for (i = 0; i < RINGS; i++) {
		free((void *)w.rings[i].data);
		free(w.rings[i].copy);
		free(w.rings[i].kept);
	}
}
