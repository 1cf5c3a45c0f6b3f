// SPDX-License-Identifier: GPL-2.0
/*
 * Several rings, written to while they are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "layout.h"
#include "order.h"
#include "tap.h"

#define RINGS	5
#define SIZE	4096U

#define HOLD	HYBRID_ORDER_HOLD

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
	struct hybrid_order	order;
	u64			now;
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
	int			again_in;
	unsigned int		copied;
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
		write_some(tap_random() % world->bursts);
	return world->stop_at && world->delivered == (u64)world->stop_at ? -7 : 0;
}

static void consume(struct hybrid_ring *ring, void *arg)
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

static const struct hybrid_order_ops ops = {
	.head = head, .time = time_of, .deliver = deliver, .consume = consume,
};

static int pass_by(const struct hybrid_order_ops *by, u64 now)
{
	return hybrid_order_pass(&w.order, now, w.rings, RINGS, w.heap, by, &w);
}

/* What the passes before have found is old enough, or not. */
static int pass(void)
{
	return pass_by(&ops, w.now += HOLD);
}

static int pass_at_once(void)
{
	return pass_by(&ops, w.now);
}

static int pass_all(void)
{
	return pass_by(&ops, HYBRID_ORDER_ALL);
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
		free(w.rings[i].kept);
	}
}

static void empty(void)
{
	start();
	same(pass(), 0);
	same(pass_all(), 0);
	check(!hybrid_order_holds(&w.order));
	same(hybrid_order_pass(&w.order, HYBRID_ORDER_ALL, w.rings, 0, w.heap, &ops, &w), 0);
	end();
}

static void cut_off(void)
{
	start();
	/* The newest that a look finds is ring 2's 50. */
	write_record(0, 10, 24);
	write_record(0, 40, 24);
	write_record(2, 20, 24);
	write_record(2, 50, 24);
	write_record(4, 30, 24);
	same(pass(), 0);
	check(hybrid_order_holds(&w.order));
	same(pass_at_once(), 0);
	same(pass(), 5);
	same(w.last_time, 50);
	check(!hybrid_order_holds(&w.order));
	same(w.delivered, w.written);
	end();
}

/* Taken before what a look has found, and there only after it. */
static void overtaken(void)
{
	start();
	write_record(0, 40, 24);
	write_record(2, 50, 24);
	same(pass(), 0);
	write_record(1, 45, 24);
	write_record(1, 60, 24);
	write_record(3, 30, 24);
	same(pass_at_once(), 0);
	same(pass(), 4);
	same(w.last_time, 50);
	check(!w.seen[3]);
	check(hybrid_order_holds(&w.order));
	/* What was not yet delivered then may be overtaken, too. */
	write_record(3, 55, 24);
	same(pass_all(), 2);
	same(w.delivered, 6);
	end();
}

/* What is held back goes, though more comes all the time, and none is waited for. */
static void held_back(void)
{
	unsigned int i;

	start();
	for (i = 1; i < 100; i++) {
		write_record(i % RINGS, i, 24);
		w.now += HOLD / 4;
		pass_at_once();
		check(i < 10 || w.delivered + 10 > i);
	}
	pass();
	pass();
	same(w.delivered, w.written);
	check(!hybrid_order_holds(&w.order));
	end();
}

/* Who took a time that is older than the newest by as much has had that long, too. */
static void old_enough(void)
{
	start();
	write_record(0, 5 * HOLD, 24);
	write_record(1, 6 * HOLD, 24);
	write_record(0, 6 * HOLD + 1, 24);
	write_record(2, 7 * HOLD, 24);
	same(pass_at_once(), 2);
	same(w.last_time, 6 * HOLD);
	check(hybrid_order_holds(&w.order));
	/* A record of before that may have been finished only now. */
	write_record(3, 6 * HOLD + 1, 24);
	same(pass(), 3);
	same(w.last_time, 7 * HOLD);
	check(!hybrid_order_holds(&w.order));
	end();
}

/* Samples that come all the time end no sleep, if nothing depends on when they are read. */
static void sleeps(void)
{
	start();
	w.now = 2 * HYBRID_ORDER_CALM;
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	same(hybrid_order_timeout(&w.order, w.now, true), HYBRID_ORDER_POLL_MS);
	/* The first: what made it may be gone soon. */
	write_record(0, HOLD, 24);
	pass_at_once();
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_HOLD_MS);
	/* More of them, the last of which is always held back; and a pass without any. */
	write_record(0, 3 * HOLD, 24);
	check(pass() > 0);
	check(hybrid_order_holds(&w.order));
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	same(hybrid_order_timeout(&w.order, w.now, true), HYBRID_ORDER_HOLD_MS);
	same(pass_at_once(), 0);
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_CALM_MS);
	/* A process began. */
	w.order.changed = w.now;
	same(hybrid_order_timeout(&w.order, w.now, false), HYBRID_ORDER_POLL_MS);
	same(hybrid_order_timeout(&w.order, w.now + HYBRID_ORDER_CALM, false),
	     HYBRID_ORDER_HOLD_MS);
	pass();
	check(!hybrid_order_holds(&w.order));
	same(hybrid_order_timeout(&w.order, w.now + HYBRID_ORDER_CALM, false),
	     HYBRID_ORDER_CALM_MS);
	end();
}

/* A look goes on where the last one has ended: what waits is not gone through once more. */
static void looked_at_once(void)
{
	u8 *second;
	unsigned int i;

	start();
	write_record(0, 1, 24);
	second = (u8 *)w.rings[0].data + (w.head[0] & (SIZE - 1));
	write_record(0, 2, 24);
	write_record(0, 3, 24);
	same(pass_at_once(), 0);
	/* Who begins anew comes no further than to this one. */
	memset(second, 0, 8);
	for (i = 4; i < 50; i++) {
		write_record(0, i, 24);
		same(pass_at_once(), 0);
		same(w.rings[0].looked - w.rings[0].tail, (i - 1) * 24);
	}
	memcpy(second, &(struct perf_event_header){ .type = 9, .size = 24 }, 8);
	pass();
	pass();
	same(w.delivered, w.written);
	end();
}

/* A ring that fills up is not left to. */
static void filled(void)
{
	start();
	write_record(0, 10, 24);
	write_record(1, 20, SIZE / 2);
	same(pass(), 0);
	write_record(1, 30, 24);
	same(pass_at_once(), 3);
	check(!hybrid_order_holds(&w.order));
	end();
}

/* The writer goes on all the time, in time order: so must be what comes out. */
static void concurrent(void)
{
	unsigned int round, i;

	start();
	w.bursts = 8;
	for (round = 0; round < 3000; round++)
		check(pass() >= 0);
	w.bursts = 0;
	pass_all();
	check(w.written > 20000);
	same(w.delivered, w.written);
	for (i = 0; i < w.written; i++)
		check(w.seen[i]);
	for (i = 0; i < RINGS; i++)
		same(w.consumed[i], w.head[i]);
	end();
}

/*
 * Writers that are interrupted between a record's time and its copy, for less than
 * the rings are held back: other CPUs write on meanwhile, and the rings are read.
 */
static void interrupted(void)
{
	struct { u64 time, until; } open[RINGS] = {};
	unsigned int step, ring;

	start();
	for (step = 1; step < 60000; step++) {
		w.time = step * (HOLD / 100);
		for (ring = 0; ring < RINGS; ring++) {
			if (open[ring].time && open[ring].until <= w.time) {
				write_record(ring, open[ring].time, 24);
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
			pass_at_once();
	}
	check(w.delivered > 2000);
	pass_all();
	same(w.delivered, w.written);
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
		.head = head, .time = time_of, .found = find, .deliver = deliver,
		.consume = consume,
	};
	unsigned int i;

	start();
	memset(found, 0, sizeof(found));
	for (i = 0; i < RINGS; i++)
		w.rings[i].looked = w.rings[i].tail - 1;
	write_record(0, 5, 24);
	write_record(1, 7, 24);
	pass_by(&by_found, ++w.now);
	check(found[0] && found[1]);
	write_record(0, 9, 24);
	write_record(0, 10, 32);
	pass_by(&by_found, ++w.now);
	check(found[2] && found[3]);
	pass_by(&by_found, w.now += HOLD);
	pass_by(&by_found, w.now += HOLD);
	same(w.delivered, 4);
	write_record(0, 12, 24);
	pass_by(&by_found, ++w.now);
	check(found[4]);
	end();
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
	same(pass_by(&by_id, HYBRID_ORDER_ALL), 5);
	/* And does not hold back what comes behind it. */
	write_record(0, 0, 24);
	same(pass_by(&by_id, HYBRID_ORDER_ALL), 1);
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
		same(pass_all(), 1);
	}
	/* One that fills the ring. */
	check(write_record(1, w.time, SIZE));
	same(pass_all(), 1);
	end();
}

static void stops(void)
{
	start();
	write_some(40);
	w.stop_at = 3;
	same(pass_all(), -7);
	same(w.delivered, 3);
	w.stop_at = 0;
	pass_all();
	same(w.delivered, w.written);
	end();
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
		consume(&w.rings[i], &w);
		same(w.head[i] - w.consumed[i], full ? 0 : used);
		w.copied += full;
	}
}

/* What can't be delivered yet leaves a ring that fills up; none of it is lost or late. */
static void keeps(void)
{
	unsigned int round, i;
	u64 before;

	start();
	for (round = 0; round < 300; round++) {
		/* All that is asked for fits: no ring is full before it. */
		before = w.written;
		write_some(6);
		same(w.written, before + 6);
		w.again_in = 1 + tap_random() % 4;
		check(pass() >= 0);
		if (round % 20 < 18)
			keep_all();
		else
			check(pass_all() >= 0);
	}
	check(w.copied >= 20 && w.copied < 500);
	for (i = 0; i < 3; i++) {
		write_some(6);
		w.again_in = 5;
		same(pass_all(), 4);
		keep_all();
	}
	w.again_in = 0;
	check(pass_all() >= 0);
	same(w.delivered, w.written);
	for (i = 0; i < RINGS; i++)
		check(!w.rings[i].kept && w.rings[i].tail == w.head[i]);
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
		same(pass_all(), 2);
		check(w.seen[0] && w.seen[2]);
		same(pass_all(), 0);
		end();
	}
	/* A head that is more than a ring ahead of the tail, or behind it. */
	start();
	w.head[0] += SIZE + 8;
	write_record(1, 1, 24);
	same(pass(), 1);
	w.head[2] -= 64;
	write_record(3, 2, 24);
	same(pass_all(), 1);
	end();
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
		{ "order: each record is found once", found_once },
		{ "order: a ring fills up", filled },
		{ "order: a writer that goes on", concurrent },
		{ "order: writers that are interrupted", interrupted },
		{ "order: records without a time", odd_times },
		{ "order: records that wrap around", wraps },
		{ "order: the owner ends a pass", stops },
		{ "order: records that can't be delivered yet", keeps },
		{ "order: garbage", garbage },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
