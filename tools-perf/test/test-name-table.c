// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers by hash: what was added is found, as long as there is room and memory.
 */
#include <errno.h>
#include "name-table.h"
#include "short-memory.h"
#include "tap.h"

/* Slots of the first table; half of them are used before it grows. */
#define FIRST	256U

static struct hybrid_name_table table;

static bool is_number(u32 number, const void *arg)
{
	return number == *(const u32 *)arg;
}

static bool has(u32 hash, u32 number)
{
	return hybrid_name_table__find(&table, hash, is_number, &number) == number;
}

static int add(u32 hash, u32 number)
{
	return hybrid_name_table__add(&table, hash, number);
}

/* A number is found by its hash and not by another one, however large the table is. */
static void found(void)
{
	u32 i;

	check(!has(0, 1));
	/* The first one is in the first slot. */
	for (i = 1; i <= 5000; i++) {
		check(!has((i - 1) * 77, i));
		same(add((i - 1) * 77, i), 0);
		same(table.nr, i);
		check(table.size >= FIRST && table.nr <= table.size / 2);
	}
	for (i = 1; i <= 5000; i++)
		check(has((i - 1) * 77, i) && !has((i - 1) * 77 + 1, i));
	hybrid_name_table__exit(&table);
	check(!table.nr && !table.size && !has(0, 1));
}

/* The last slot is followed by the first one. */
static void wrapped(void)
{
	u32 i;

	for (i = 1; i <= 5; i++)
		same(add(FIRST - 3, i), 0);
	same(add(1, 6), 0);
	for (i = 1; i <= 5; i++)
		check(has(FIRST - 3, i));
	check(has(1, 6) && !has(FIRST - 3, 6) && !has(2 * FIRST - 3, 1));
	same(table.size, FIRST);
	hybrid_name_table__exit(&table);
}

/* As many have one hash as a search looks at. */
static void of_one_hash(void)
{
	u32 i;

	for (i = 1; i <= HYBRID_NAME_PROBES; i++) {
		same(add(0x12345678, i), 0);
		check(has(0x12345678, i));
	}
	same(add(0x12345678, i), -ENOSPC);
	check(!has(0x12345678, i) && has(0x12345678, i - 1));
	same(table.nr, HYBRID_NAME_PROBES);
	same(add(0x123, i), 0);
	check(has(0x123, i));
	hybrid_name_table__exit(&table);
}

/* Neither for the first table nor for a larger one; nothing is lost. */
static void no_memory(void)
{
	u32 i;

	short_memory_begin(0);
	same(add(1, 1), -ENOMEM);
	check(short_memory_end());
	same(table.nr, 0);
	for (i = 1; i <= FIRST / 2; i++)
		same(add(i, i), 0);
	same(table.size, FIRST);
	short_memory_begin(0);
	same(add(i, i), -ENOMEM);
	check(short_memory_end());
	check(!has(i, i));
	for (i = 1; i <= FIRST / 2; i++)
		check(has(i, i));
	same(add(i, i), 0);
	same(table.size, 2 * FIRST);
	check(has(i, i) && has(1, 1));
	hybrid_name_table__exit(&table);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "table: numbers by their hash", found },
		{ "table: from its last slot to its first one", wrapped },
		{ "table: numbers of one hash", of_one_hash },
		{ "table: no memory", no_memory },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
