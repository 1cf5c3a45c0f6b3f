// SPDX-License-Identifier: GPL-2.0
/*
 * Several rings, written to while they are read.
 */
#include <stdlib.h>
#include <string.h>
#include "layout.h"
#include "order.h"
#include "tap.h"

#define RINGS	5
#define SIZE	4096U

struct record {
	struct perf_event_header	header;
	u64				time;
	u64				id;
	u8				rest[];
};

/* A writer and what it wrote; the kernel's side of the rings. */
struct world {
	struct hybrid_ring	rings[RINGS];
	struct hybrid_ring	*heap[RINGS];
	u64			head[RINGS];
	u64			consumed[RINGS];
	u64			time;
	u64			written;
	u64			delivered;
	u64			last_time;
	u64			newest_head_time;
	unsigned int		heads_read;
	unsigned int		bursts;
	bool			seen[200000];
	int			stop_at;
};

static struct world w;

static void put(unsigned int ring, const void *data, unsigned int size)
{
	u8 *base = (u8 *)w.rings[ring].data;
	unsigned int i;

	for (i = 0; i < size; i++)
		base[(w.head[ring] + i) & (SIZE - 1)] = ((const u8 *)data)[i];
	w.head[ring] += size;
}

/* Returns false where the ring is full. */
static bool write_record(unsigned int ring, u64 time, unsigned int size)
{
	static u8 buffer[SIZE];
	struct record *record = (struct record *)buffer;

	if (w.head[ring] + size - w.consumed[ring] > SIZE)
		return false;
	memset(buffer, w.written & 0xff, size);
	record->header = (struct perf_event_header){ .type = 9, .size = size };
	record->time = time;
	record->id = w.written++;
	put(ring, buffer, size);
	return true;
}

static void write_some(unsigned int nr)
{
	while (nr-- && w.written < ARRAY_SIZE(w.seen)) {
		w.time += tap_random() % 3;
		write_record(tap_random() % RINGS, w.time, 24 + 8 * (tap_random() % 40));
	}
}

/* The kernel writes while the heads are read. */
static u64 head(struct hybrid_ring *ring, void *arg)
{
	struct world *world = arg;

	world->heads_read++;
	if (world->bursts)
		write_some(tap_random() % world->bursts);
	return world->head[ring - world->rings];
}

static u64 time_of(const struct perf_event_header *event, void *arg)
{
	return arg ? ((const struct record *)event)->time : 0;
}

static int deliver(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg)
{
	const struct record *record = (const struct record *)event;
	struct world *world = arg;
	unsigned int i;

	if (!check(record->id < ARRAY_SIZE(world->seen)))
		return -1;
	check(!world->seen[record->id]);
	world->seen[record->id] = true;
	check(record->time >= world->last_time);
	world->last_time = record->time;
	for (i = 0; i < event->size - sizeof(*record); i++)
		check(record->rest[i] == (record->id & 0xff));
	check(ring->tail <= world->head[ring - world->rings]);
	world->delivered++;
	if (world->bursts)
		write_some(tap_random() % world->bursts);
	return world->stop_at && world->delivered == (u64)world->stop_at ? -7 : 0;
}

static void consume(struct hybrid_ring *ring, void *arg)
{
	struct world *world = arg;
	unsigned int i = ring - world->rings;
	u64 pos;

	check(ring->tail > world->consumed[i]);
	/* The kernel may overwrite it at once. */
	for (pos = world->consumed[i]; pos < ring->tail; pos++)
		((u8 *)ring->data)[pos & (SIZE - 1)] = 0xff;
	world->consumed[i] = ring->tail;
}

static const struct hybrid_order_ops ops = {
	.head = head, .time = time_of, .deliver = deliver, .consume = consume,
};

static int pass(bool all)
{
	return hybrid_order_pass(w.rings, RINGS, w.heap, all, &ops, &w);
}

static void start(void)
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

static void end(void)
{
	unsigned int i;

	for (i = 0; i < RINGS; i++) {
		free((void *)w.rings[i].data);
		free(w.rings[i].copy);
	}
}

static void empty(void)
{
	start();
	same(pass(false), 0);
	same(pass(true), 0);
	same(hybrid_order_pass(w.rings, 0, w.heap, true, &ops, &w), 0);
	end();
}

static void cut_off(void)
{
	start();
	/* The newest that a first look finds is ring 2's 50. */
	write_record(0, 10, 24);
	write_record(0, 40, 24);
	write_record(2, 20, 24);
	write_record(2, 50, 24);
	write_record(4, 30, 24);
	same(pass(false), 5);
	same(w.last_time, 50);
	/* Not all: only what is not newer than the oldest known ring's end. */
	same(w.delivered, w.written);
	end();
}

static u64 late_head(struct hybrid_ring *ring, void *arg)
{
	struct world *world = arg;

	/* Behind the first look: one that is in time, one that is not. */
	if (++world->heads_read == RINGS + 1) {
		write_record(1, 45, 24);
		write_record(1, 60, 24);
		write_record(3, 55, 24);
	}
	return world->head[ring - world->rings];
}

static void behind_the_cut_off(void)
{
	static const struct hybrid_order_ops late = {
		.head = late_head, .time = time_of, .deliver = deliver, .consume = consume,
	};

	start();
	write_record(0, 40, 24);
	write_record(2, 50, 24);
	same(hybrid_order_pass(w.rings, RINGS, w.heap, false, &late, &w), 3);
	same(w.last_time, 50);
	check(!w.seen[3] && !w.seen[4]);
	same(pass(true), 2);
	same(w.delivered, 5);
	end();
}

/* The writer goes on all the time, in time order: so must be what comes out. */
static void concurrent(void)
{
	unsigned int round, i;

	start();
	w.bursts = 8;
	for (round = 0; round < 3000; round++)
		check(pass(false) >= 0);
	w.bursts = 0;
	pass(true);
	check(w.written > 20000);
	same(w.delivered, w.written);
	for (i = 0; i < w.written; i++)
		check(w.seen[i]);
	for (i = 0; i < RINGS; i++)
		same(w.consumed[i], w.head[i]);
	end();
}

static int deliver_id(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg)
{
	const struct record *record = (const struct record *)event;
	struct world *world = arg;

	/* Each as it was written: the test writes them in the order that is to be. */
	same(record->id, world->delivered++);
	return ring ? 0 : -1;
}

/* A record without a time, or with an old one, keeps its place in its ring. */
static void odd_times(void)
{
	static const struct hybrid_order_ops by_id = {
		.head = head, .time = time_of, .deliver = deliver_id, .consume = consume,
	};

	start();
	write_record(1, 7, 24);
	write_record(0, 10, 24);
	write_record(0, 0, 24);
	write_record(0, 5, 24);
	write_record(1, 11, 24);
	same(hybrid_order_pass(w.rings, RINGS, w.heap, true, &by_id, &w), 5);
	/* And does not hold back what comes behind it. */
	write_record(0, 0, 24);
	same(hybrid_order_pass(w.rings, RINGS, w.heap, true, &by_id, &w), 1);
	end();
}

static void wraps(void)
{
	unsigned int round, size;

	start();
	for (round = 0; round < 2000; round++) {
		size = 24 + 8 * (tap_random() % (SIZE / 8 - 3));
		w.time++;
		check(write_record(round % RINGS, w.time, size));
		same(pass(true), 1);
	}
	/* One that fills the ring. */
	check(write_record(1, w.time, SIZE));
	same(pass(true), 1);
	end();
}

static void stops(void)
{
	start();
	write_some(40);
	w.stop_at = 3;
	same(pass(true), -7);
	same(w.delivered, 3);
	w.stop_at = 0;
	pass(true);
	same(w.delivered, w.written);
	end();
}

/* What can't be a record ends its ring, and no other. */
static void garbage(void)
{
	static const u16 sizes[] = { 0, 1, 7, 9, 12, 4104, 65535, 65528 };
	struct perf_event_header header = { .type = 9 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		start();
		write_record(0, 1, 24);
		header.size = sizes[i];
		put(0, &header, sizeof(header));
		write_record(0, 2, 24);
		write_record(3, 3, 24);
		same(pass(true), 2);
		check(w.seen[0] && w.seen[2]);
		same(pass(true), 0);
		end();
	}
	/* A head that is more than a ring ahead of the tail, or behind it. */
	start();
	w.head[0] += SIZE + 8;
	write_record(1, 1, 24);
	same(pass(false), 1);
	w.head[2] -= 64;
	write_record(3, 2, 24);
	same(pass(true), 1);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "order: nothing to read", empty },
		{ "order: sorted up to the cut-off", cut_off },
		{ "order: what is newer stays", behind_the_cut_off },
		{ "order: a writer that goes on", concurrent },
		{ "order: records without a time", odd_times },
		{ "order: records that wrap around", wraps },
		{ "order: the owner ends a pass", stops },
		{ "order: garbage", garbage },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
