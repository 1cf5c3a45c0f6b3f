// SPDX-License-Identifier: GPL-2.0
/*
 * How large rings and dumps are made where nobody asked for a size.
 */
#include "ring-order.h"
#include "tap.h"

/* Many rings are smaller ones, so that all of them together are no more than is told. */
static void ring_sizes(void)
{
	static const unsigned long dumps[] = { 8, 1024, 8192, 65528 };
	static const unsigned long most[] = { 512 << 10, 512 << 10, 4 << 20, 32 << 20 };
	unsigned long nr, size;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		same(hybrid_order_ring_size(dumps[i], 1), most[i]);
		for (nr = 1; nr <= 1024; nr++) {
			size = hybrid_order_ring_size(dumps[i], nr);
			check(size * nr <= HYBRID_RINGS_SIZE && size <= most[i]);
			check(!(size & (size - 1)) && size >= 2 * dumps[i]);
		}
		/* A sample has to fit, however many rings there are. */
		check(hybrid_order_ring_size(dumps[i], 1000000) >= 2 * dumps[i]);
	}
	same(hybrid_order_ring_size(8192, 128), 4 << 20);
	same(hybrid_order_ring_size(8192, 256), 2 << 20);
	same(hybrid_order_ring_size(65528, 300), 1 << 20);
}

/* Where few samples have dumps: no less than others have that never do. */
static void few_dumps(void)
{
	unsigned long nr, size;

	same(hybrid_order_few_dumps_ring(8192, 1), 8 << 20);
	same(hybrid_order_few_dumps_ring(8192, 16), 8 << 20);
	same(hybrid_order_few_dumps_ring(8192, 17), 4 << 20);
	same(hybrid_order_few_dumps_ring(8192, 64), 2 << 20);
	same(hybrid_order_few_dumps_ring(8192, 128), 1 << 20);
	same(hybrid_order_few_dumps_ring(8192, 256), 512 << 10);
	same(hybrid_order_few_dumps_ring(8192, 100000), 512 << 10);
	same(hybrid_order_few_dumps_ring(65528, 1), 32 << 20);
	for (nr = 1; nr <= 1024; nr++) {
		size = hybrid_order_few_dumps_ring(65528, nr);
		check(size >= 512 << 10 && (size == 512 << 10 || size * nr <= 128 << 20));
	}
}

/* Without a size: as much as leaves room for many samples. */
static void dump_sizes(void)
{
	unsigned long nr, ring;
	u32 dump;

	same(hybrid_order_dump_size(0), 8192);
	same(hybrid_order_dump_size(512 << 10), 8192);
	same(hybrid_order_dump_size(4 << 20), 16384);
	same(hybrid_order_dump_size(8 << 20), 32768);
	same(hybrid_order_dump_size(32 << 20), 61440);
	same(hybrid_order_most_ring(0), 32 << 20);
	for (nr = 1; nr <= 1024; nr++) {
		dump = hybrid_order_dump_size(hybrid_order_most_ring(nr));
		ring = hybrid_order_ring_size(dump, nr);
		check(dump >= 8192 && dump <= 61440 && !(dump % 8));
		check(dump == 8192 || ring >= 256 * dump);
	}
	same(hybrid_order_dump_size(hybrid_order_most_ring(32)), 61440);
	same(hybrid_order_dump_size(hybrid_order_most_ring(128)), 16384);
	same(hybrid_order_dump_size(hybrid_order_most_ring(256)), 8192);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "ring-size: rings", ring_sizes },
		{ "ring-size: dumps", dump_sizes },
		{ "ring-size: few dumps", few_dumps },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
