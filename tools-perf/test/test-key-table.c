// SPDX-License-Identifier: GPL-2.0
/*
 * Tables by a key.
 */
#include <linux/hash.h>
#include "key-table.h"
#include "tap.h"

struct entry {
	u64	key;
	u32	value;
};

static void put(struct hybrid_key_table *table, u64 key, u32 value)
{
	const struct entry entry = { .key = key, .value = value }, *kept;

	kept = hybrid_key_table__put(table, &entry);
	check(kept && kept->key == key && kept->value == value);
}

static void keys(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	const struct entry *found;
	u32 i;

	check(!hybrid_key_table__find(&table, 1));
	for (i = 1; i <= 40000; i++)
		put(&table, i * 8, i);
	put(&table, 16, 7);
	same(table.nr, 40000);
	for (i = 1; i <= 40000; i++) {
		found = hybrid_key_table__find(&table, i * 8);
		check(found && found->value == (i == 2 ? 7 : i));
	}
	check(!hybrid_key_table__find(&table, 4));
	hybrid_key_table__exit(&table);
	check(!hybrid_key_table__find(&table, 8));
	put(&table, 8, 1);
	hybrid_key_table__exit(&table);
}

/* What is more than that begins anew. */
static void many(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	u32 i;

	for (i = 1; i <= 3U << (HYBRID_KEY_TABLE_BITS - 2); i++)
		put(&table, i, i);
	check(hybrid_key_table__find(&table, 1));
	put(&table, i, i);
	same(table.nr, 1);
	check(!hybrid_key_table__find(&table, 1) && hybrid_key_table__find(&table, i));
	same(table.bits, HYBRID_KEY_TABLE_BITS);
	hybrid_key_table__exit(&table);
}

static u32 nr_dropped;

static void count(void *entry)
{
	nr_dropped += ((struct entry *)entry)->value;
}

/* What an entry owns goes with it, once. */
static void dropped(void)
{
	struct hybrid_key_table table = {
		.size = sizeof(struct entry), .most_bits = 9, .drop = count,
	};
	u32 i;

	nr_dropped = 0;
	for (i = 1; i <= 384; i++)
		put(&table, i, 1);
	same(nr_dropped, 0);
	put(&table, 7, 1);
	/* There were 384: the table was full, and all went. */
	same(nr_dropped, 384);
	same(table.bits, 9);
	put(&table, 7, 1);
	same(nr_dropped, 385);
	hybrid_key_table__exit(&table);
	same(nr_dropped, 386);
}

/* Keys that belong to one place, of which a process has made many: a search ends soon. */
static void lies(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	u64 key = 0;
	u32 i;

	for (i = 0; i < 150; i++) {
		do {
			key++;
		} while (hash_64(key, 16));
		put(&table, key, i);
		check(hybrid_key_table__find(&table, key));
	}
	check(table.nr <= 150);
	hybrid_key_table__exit(&table);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "keys",			keys },
		{ "too many of them",		many },
		{ "what entries own",		dropped },
		{ "keys of one place",		lies },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
