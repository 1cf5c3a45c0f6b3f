// SPDX-License-Identifier: GPL-2.0
/*
 * Several rings, written to while they are read: what is delivered, and when.
 */
#include <string.h>
#include "order-world.h"
#include "tap.h"

static void empty(void)
{
	world_start();
	same(world_pass(), 0);
	same(world_pass_all(), 0);
	check(!hybrid_order_holds(&w.order));
	same(hybrid_order_pass(&w.order, HYBRID_ORDER_ALL, w.rings, 0, w.heap, &world_ops, &w), 0);
	world_end();
}

static void cut_off(void)
{
	world_start();
	/* The newest that a look finds is ring 2's 50. */
	world_write(0, 10, 24);
	world_write(0, 40, 24);
	world_write(2, 20, 24);
	world_write(2, 50, 24);
	world_write(4, 30, 24);
	same(world_pass(), 0);
	check(hybrid_order_holds(&w.order));
	same(world_pass_at_once(), 0);
	same(world_pass(), 5);
	same(w.last_time, 50);
	check(!hybrid_order_holds(&w.order));
	same(w.delivered, w.written);
	world_end();
}

/* Taken before what a look has found, and there only after it. */
static void overtaken(void)
{
	world_start();
	world_write(0, 40, 24);
	world_write(2, 50, 24);
	same(world_pass(), 0);
	world_write(1, 45, 24);
	world_write(1, 60, 24);
	world_write(3, 30, 24);
	same(world_pass_at_once(), 0);
	same(world_pass(), 4);
	same(w.last_time, 50);
	check(!w.seen[3]);
	check(hybrid_order_holds(&w.order));
	/* What was not yet delivered then may be overtaken, too. */
	world_write(3, 55, 24);
	same(world_pass_all(), 2);
	same(w.delivered, 6);
	world_end();
}

/* What is held back goes, though more comes all the time, and none is waited for. */
static void held_back(void)
{
	unsigned int i;

	world_start();
	for (i = 1; i < 100; i++) {
		world_write(i % RINGS, i, 24);
		w.now += HOLD / 4;
		world_pass_at_once();
		check(i < 10 || w.delivered + 10 > i);
	}
	world_pass();
	world_pass();
	same(w.delivered, w.written);
	check(!hybrid_order_holds(&w.order));
	world_end();
}

/* Who took a time that is older than the newest by as much has had that long, too. */
static void old_enough(void)
{
	world_start();
	world_write(0, 5 * HOLD, 24);
	world_write(1, 6 * HOLD, 24);
	world_write(0, 6 * HOLD + 1, 24);
	world_write(2, 7 * HOLD, 24);
	same(world_pass_at_once(), 2);
	same(w.last_time, 6 * HOLD);
	check(hybrid_order_holds(&w.order));
	/* A record of before that may have been finished only now. */
	world_write(3, 6 * HOLD + 1, 24);
	same(world_pass(), 3);
	same(w.last_time, 7 * HOLD);
	check(!hybrid_order_holds(&w.order));
	world_end();
}

/* Samples that come all the time end no sleep, if nothing depends on when they are read. */
static void sleeps(void)
{
	world_start();
	w.now = 2 * HYBRID_ORDER_CALM;
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	same(hybrid_order_timeout(&w.order, w.now, true), HYBRID_ORDER_POLL_MS);
	/* The first: what made it may be gone soon. */
	world_write(0, HOLD, 24);
	world_pass_at_once();
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_HOLD_MS);
	/* More of them, the last of which is always held back; and a pass without any. */
	world_write(0, 3 * HOLD, 24);
	check(world_pass() > 0);
	check(hybrid_order_holds(&w.order));
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	same(hybrid_order_timeout(&w.order, w.now, true), HYBRID_ORDER_HOLD_MS);
	same(world_pass_at_once(), 0);
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	/* A process began. */
	w.order.changed = w.now;
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_POLL_MS);
	same(hybrid_order_timeout(&w.order, w.now + HYBRID_ORDER_CALM, false),
	     HYBRID_ORDER_HOLD_MS);
	world_pass();
	check(!hybrid_order_holds(&w.order));
	same(hybrid_order_timeout(&w.order, w.now + HYBRID_ORDER_CALM, false),
	     HYBRID_ORDER_CALM_MS);
	w.order.changed = w.now;
	w.now += HYBRID_ORDER_CALM - 1;
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_POLL_MS);
	same(hybrid_order_timeout(&w.order, w.now + 1, false), HYBRID_ORDER_CALM_MS);
	world_end();
}

/* A look goes on where the last one has ended: what waits is not gone through once more. */
static void looked_at_once(void)
{
	u8 *second;
	unsigned int i;

	world_start();
	world_write(0, 1, 24);
	second = (u8 *)w.rings[0].data + (w.head[0] & (SIZE - 1));
	world_write(0, 2, 24);
	world_write(0, 3, 24);
	same(world_pass_at_once(), 0);
	/* Who begins anew comes no further than to this one. */
	memset(second, 0, 8);
	for (i = 4; i < 50; i++) {
		world_write(0, i, 24);
		same(world_pass_at_once(), 0);
		same(w.rings[0].looked - w.rings[0].tail, (i - 1) * 24);
	}
	memcpy(second, &(struct perf_event_header){ .type = 9, .size = 24 }, 8);
	world_pass();
	world_pass();
	same(w.delivered, w.written);
	world_end();
}

/* The writer goes on all the time, in time order: so must be what comes out. */
static void concurrent(void)
{
	unsigned int round, i;

	world_start();
	w.bursts = 8;
	for (round = 0; round < 3000; round++)
		check(world_pass() >= 0);
	w.bursts = 0;
	world_pass_all();
	check(w.written > 20000);
	same(w.delivered, w.written);
	for (i = 0; i < w.written; i++)
		check(w.seen[i]);
	for (i = 0; i < RINGS; i++)
		same(w.consumed[i], w.head[i]);
	world_end();
}

/*
 * Writers that are interrupted between a record's time and its copy, for less than
 * the rings are held back: other CPUs write on meanwhile, and the rings are read.
 */
static void interrupted(void)
{
	struct { u64 time, until; } open[RINGS] = {};
	unsigned int step, ring;

	world_start();
	for (step = 1; step < 60000; step++) {
		w.time = step * (HOLD / 100);
		for (ring = 0; ring < RINGS; ring++) {
			if (open[ring].time && open[ring].until <= w.time) {
				world_write(ring, open[ring].time, 24);
				open[ring].time = 0;
			}
		}
		ring = tap_random() % RINGS;
		if (!open[ring].time) {
			open[ring].time = w.time;
			open[ring].until = w.time + HOLD / 100 * (tap_random() % 95);
		}
		w.now = w.time;
		if (!(tap_random() % 20))
			world_pass_at_once();
	}
	check(w.delivered > 2000);
	world_pass_all();
	same(w.delivered, w.written);
	world_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "order: nothing to read", empty },
		{ "order: sorted up to the cut-off", cut_off },
		{ "order: what comes late", overtaken },
		{ "order: what was held back is delivered", held_back },
		{ "order: what is old enough is not held back", old_enough },
		{ "order: perf sleeps unless something needs it", sleeps },
		{ "order: a look goes on where the last one ended", looked_at_once },
		{ "order: a writer that goes on", concurrent },
		{ "order: writers that are interrupted", interrupted },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
