// SPDX-License-Identifier: GPL-2.0
/*
 * What processes, files and records have, by a key.
 */
#include <stdlib.h>
#include <string.h>
#include "keyed-hash.h"
#include "key-table.h"

#define FIRST_BITS	6

static u64 key_of(const void *entry)
{
	u64 key;

	memcpy(&key, entry, sizeof(key));
	return key;
}

/* The entry of the key, or the one whose place it takes: a free one, if there is one near. */
static u8 *slot_of(const struct hybrid_key_table *table, u64 key)
{
	u32 first = hybrid_hash(key, table->bits), mask = (1U << table->bits) - 1, i;
	u8 *slot;

	for (i = 0; i < HYBRID_KEY_TABLE_PROBES; i++) {
		slot = table->entries + ((first + i) & mask) * table->size;
		if (!key_of(slot) || key_of(slot) == key)
			return slot;
	}
	return table->entries + first * table->size;
}

static void drop_entry(const struct hybrid_key_table *table, u8 *entry)
{
	if (table->drop && key_of(entry))
		table->drop(entry);
}

static void drop_entries(const struct hybrid_key_table *table)
{
	u32 i;

	for (i = 0; table->bits && i < 1U << table->bits; i++)
		drop_entry(table, table->entries + i * table->size);
}

/* In place of the entry that is there. */
static u8 *place_entry(const struct hybrid_key_table *table, const void *entry)
{
	u8 *slot = slot_of(table, key_of(entry));

	drop_entry(table, slot);
	return memcpy(slot, entry, table->size);
}

static bool grow_table(struct hybrid_key_table *table)
{
	struct hybrid_key_table larger = *table;
	const u8 *entry;
	u32 i;

	larger.bits = table->bits ? table->bits + 1 : FIRST_BITS;
	larger.entries = calloc(1U << larger.bits, larger.size);
	if (!larger.entries)
		return false;
	for (i = 0; table->bits && i < 1U << table->bits; i++) {
		entry = table->entries + i * table->size;
		if (key_of(entry))
			place_entry(&larger, entry);
	}
	free(table->entries);
	*table = larger;
	return true;
}

/* Of four slots one stays free. */
static bool make_room_for_entry(struct hybrid_key_table *table)
{
	if (table->bits && table->nr < 3U << (table->bits - 2))
		return true;
	if (table->bits < (table->most_bits ?: HYBRID_KEY_TABLE_BITS))
		return grow_table(table);
	drop_entries(table);
	memset(table->entries, 0, table->size << table->bits);
	table->nr = 0;
	return true;
}

void *hybrid_key_table__find(const struct hybrid_key_table *table, u64 key)
{
	u8 *slot = key && table->bits ? slot_of(table, key) : NULL;

	return slot && key_of(slot) == key ? slot : NULL;
}

void *hybrid_key_table__put(struct hybrid_key_table *table, const void *entry)
{
	if (!key_of(entry) || !make_room_for_entry(table))
		return NULL;
	table->nr += !key_of(slot_of(table, key_of(entry)));
	return place_entry(table, entry);
}

/* What a table of numbers has. */
struct number {
	u64	key;
	u32	number;
};

u32 hybrid_key_table__number(const struct hybrid_key_table *table, u64 key)
{
	const struct number *found = hybrid_key_table__find(table, key);

	return found ? found->number : 0;
}

bool hybrid_key_table__put_number(struct hybrid_key_table *table, unsigned int most_bits, u64 key,
				  u32 number)
{
	const struct number new = { .key = key, .number = number };

	table->size = sizeof(new);
	table->most_bits = most_bits;
	return hybrid_key_table__put(table, &new);
}

void hybrid_key_table__copy(struct hybrid_key_table *table, const struct hybrid_key_table *from)
{
	size_t size = from->size << from->bits;
	u8 *entries = from->bits ? malloc(size) : NULL;

	if (!entries)
		return;
	*table = *from;
	table->entries = memcpy(entries, from->entries, size);
}

void hybrid_key_table__exit(struct hybrid_key_table *table)
{
	drop_entries(table);
	free(table->entries);
	*table = (struct hybrid_key_table) {
		.size = table->size, .most_bits = table->most_bits, .drop = table->drop,
	};
}
