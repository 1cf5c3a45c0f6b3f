// SPDX-License-Identifier: GPL-2.0
/*
 * What is in one ring: found once, in its order, whatever it looks like; and what is kept
 * of a ring that fills up.
 */
#include <errno.h>
#include <string.h>
#include "order-world.h"
#include "short-memory.h"
#include "tap.h"

static int deliver_id(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg)
{
	const struct record *record = (const struct record *)event;
	struct world *world = arg;

	/* Each as it was written: the test writes them in the order that is to be. */
	same(record->id, world->delivered++);
	return ring ? 0 : -1;
}

static const struct hybrid_order_ops by_id = {
	.head = world_head, .time = world_time, .deliver = deliver_id, .consume = world_consume,
};

static bool found[16];

static void find(const struct perf_event_header *event, void *arg)
{
	const struct record *record = (const struct record *)event;
	struct world *world = arg;

	if (!check(record->id < ARRAY_SIZE(found)))
		return;
	check(!found[record->id] && !world->seen[record->id]);
	found[record->id] = true;
}

/* Each record once, and before it is delivered, however long it is held back. */
static void found_once(void)
{
	static const struct hybrid_order_ops by_found = {
		.head = world_head, .time = world_time, .found = find, .deliver = world_deliver,
		.consume = world_consume,
	};
	unsigned int i;

	world_start();
	memset(found, 0, sizeof(found));
	for (i = 0; i < RINGS; i++)
		w.rings[i].looked = w.rings[i].tail - 1;
	world_write(0, 5, 24);
	world_write(1, 7, 24);
	world_pass_by(&by_found, ++w.now);
	check(found[0] && found[1]);
	world_write(0, 9, 24);
	world_write(0, 10, 32);
	world_pass_by(&by_found, ++w.now);
	check(found[2] && found[3]);
	world_pass_by(&by_found, w.now += HOLD);
	world_pass_by(&by_found, w.now += HOLD);
	same(w.delivered, 4);
	world_write(0, 12, 24);
	world_pass_by(&by_found, ++w.now);
	check(found[4]);
	world_end();
}

/* A ring that fills up is not left to. */
static void filled(void)
{
	world_start();
	world_write(0, 10, 24);
	world_write(1, 20, SIZE / 2);
	same(world_pass(), 0);
	world_write(1, 30, 24);
	same(world_pass_at_once(), 3);
	check(!hybrid_order_holds(&w.order));
	world_end();
}

/* A record without a time, or with an old one, keeps its place in its ring. */
static void odd_times(void)
{
	world_start();
	world_write(1, 7, 24);
	world_write(0, 10, 24);
	world_write(0, 0, 24);
	world_write(0, 5, 24);
	world_write(1, 11, 24);
	same(world_pass_by(&by_id, HYBRID_ORDER_ALL), 5);
	/* And does not hold back what comes behind it. */
	world_write(0, 0, 24);
	same(world_pass_by(&by_id, HYBRID_ORDER_ALL), 1);
	world_end();
}

/* A ring that ends with such a record, and has no room for another one, is emptied. */
static void filled_and_odd(void)
{
	static const u64 times[] = { 0, 15, 40 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		world_start();
		world_write(1, 20, 24);
		world_pass_by(&by_id, w.now += HOLD);
		world_write(0, 30, SIZE / 2);
		world_write(0, times[i], SIZE / 2 - 24);
		world_pass_by(&by_id, ++w.now);
		same(w.delivered, 3);
		same(w.consumed[0], w.head[0]);
		world_end();
	}
}

/* What comes before a record without a time does not wait for one that has one. */
static void no_time(void)
{
	world_start();
	world_write(0, 10, 24);
	world_write(0, 0, 24);
	world_pass_by(&by_id, w.now += HOLD);
	world_pass_by(&by_id, w.now += HOLD);
	same(w.delivered, 2);
	world_end();
}

static void wraps(void)
{
	unsigned int round, size;

	world_start();
	for (round = 0; round < 2000; round++) {
		size = 24 + 8 * (tap_random() % (SIZE / 8 - 3));
		w.time++;
		check(world_write(round % RINGS, w.time, size));
		same(world_pass_all(), 1);
	}
	/* One that fills the ring. */
	check(world_write(1, w.time, SIZE));
	same(world_pass_all(), 1);
	world_end();
}

static void stops(void)
{
	world_start();
	world_write_some(40);
	w.stop_at = 3;
	same(world_pass_all(), -7);
	same(w.delivered, 3);
	w.stop_at = 0;
	world_pass_all();
	same(w.delivered, w.written);
	world_end();
}

static void keep_all(void)
{
	unsigned int i;
	bool full;
	u64 used;

	for (i = 0; i < RINGS; i++) {
		used = w.head[i] - hybrid_order_consumed(&w.rings[i]);
		full = used > HYBRID_ORDER_KEEP(SIZE);
		same(hybrid_order_keep(&w.rings[i], w.head[i]), full ? used : 0);
		world_consume(&w.rings[i], &w);
		same(w.head[i] - w.consumed[i], full ? 0 : used);
		w.copied += full;
	}
}

/* What can't be delivered yet leaves a ring that fills up; none of it is lost or late. */
static void keeps(void)
{
	unsigned int round, i;
	u64 before;

	world_start();
	for (round = 0; round < 300; round++) {
		/* All that is asked for fits: no ring is full before it. */
		before = w.written;
		world_write_some(6);
		same(w.written, before + 6);
		w.again_in = 1 + tap_random() % 4;
		check(world_pass() >= 0);
		if (round % 20 < 18)
			keep_all();
		else
			check(world_pass_all() >= 0);
	}
	check(w.copied >= 20 && w.copied < 500);
	for (i = 0; i < 3; i++) {
		world_write_some(6);
		w.again_in = 5;
		same(world_pass_all(), 4);
		keep_all();
	}
	w.again_in = 0;
	check(world_pass_all() >= 0);
	same(w.delivered, w.written);
	for (i = 0; i < RINGS; i++)
		check(!w.rings[i].kept && w.rings[i].tail == w.head[i]);
	world_end();
}

/* Memory is short as a ring's records are kept: they stay in the ring, and are kept later. */
static void short_of_memory(void)
{
	struct hybrid_ring *ring = &w.rings[0];
	unsigned int i;

	world_start();
	for (i = 0; i < 2; i++) {
		w.time++;
		check(world_write(0, w.time, HYBRID_ORDER_KEEP(SIZE)));
	}
	short_memory_begin(0);
	same(hybrid_order_keep(ring, w.head[0]), (u64)-ENOMEM);
	check(short_memory_end());
	same(hybrid_order_consumed(ring), ring->tail);
	same(hybrid_order_keep(ring, w.head[0]), 2 * HYBRID_ORDER_KEEP(SIZE));
	same(world_pass_all(), 2);
	world_end();
}

static u64 any_time(const struct perf_event_header *event __maybe_unused, void *arg __maybe_unused)
{
	return 1;
}

static int deliver_head(struct hybrid_ring *ring __maybe_unused,
			const struct perf_event_header *event, void *arg __maybe_unused)
{
	same(event->size, sizeof(*event));
	return 0;
}

/* The smallest record is its header alone. */
static void smallest(void)
{
	static const struct hybrid_order_ops by_head = {
		.head = world_head, .time = any_time, .deliver = deliver_head,
		.consume = world_consume,
	};
	const struct perf_event_header header = { .type = 9, .size = sizeof(header) };

	world_start();
	world_put(0, &header, sizeof(header));
	world_put(0, &header, sizeof(header));
	same(world_pass_by(&by_head, HYBRID_ORDER_ALL), 2);
	same(w.consumed[0], w.head[0]);
	world_end();
}

/* What can't be a record ends its ring, and no other. */
static void garbage(void)
{
	static const u16 sizes[] = { 0, 1, 7, 9, 12, 4104, 65535, 65528 };
	struct perf_event_header header = { .type = 9 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		world_start();
		world_write(0, 1, 24);
		header.size = sizes[i];
		world_put(0, &header, sizeof(header));
		world_write(0, 2, 24);
		world_write(3, 3, 24);
		same(world_pass_all(), 2);
		check(w.seen[0] && w.seen[2]);
		same(world_pass_all(), 0);
		world_end();
	}
	/* A head that is more than a ring ahead of the tail, or behind it. */
	world_start();
	w.head[0] += SIZE + 8;
	world_write(1, 1, 24);
	same(world_pass(), 1);
	w.head[2] -= 64;
	world_write(3, 2, 24);
	same(world_pass_all(), 1);
	world_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "order: each record is found once", found_once },
		{ "order: a ring fills up", filled },
		{ "order: records without a time", odd_times },
		{ "order: a full ring whose last record has none", filled_and_odd },
		{ "order: nothing waits for a time", no_time },
		{ "order: records that wrap around", wraps },
		{ "order: the owner ends a pass", stops },
		{ "order: records that can't be delivered yet", keeps },
		{ "order: memory is short for what is kept", short_of_memory },
		{ "order: the smallest record", smallest },
		{ "order: garbage", garbage },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
