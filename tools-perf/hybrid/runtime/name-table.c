// SPDX-License-Identifier: GPL-2.0
/* Numbers by hash. */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include "name-table.h"

#define MIN_SIZE	256U

static struct hybrid_name_slot *first_slot(const struct hybrid_name_table *table, u32 hash)
{
	return &table->slots[hash & (table->size - 1)];
}

static struct hybrid_name_slot *next_slot(const struct hybrid_name_table *table,
					  struct hybrid_name_slot *slot)
{
	return ++slot == table->slots + table->size ? table->slots : slot;
}

u32 hybrid_name_table__find(const struct hybrid_name_table *table, u32 hash,
			    bool (*same)(u32 number, const void *arg), const void *arg)
{
	struct hybrid_name_slot *slot;
	unsigned int i;

	if (!table->size)
		return 0;
	slot = first_slot(table, hash);
	for (i = 0; slot->number && i < HYBRID_NAME_PROBES; i++) {
		if (slot->hash == hash && same(slot->number, arg))
			return slot->number;
		slot = next_slot(table, slot);
	}
	return 0;
}

static bool put(struct hybrid_name_table *table, u32 hash, u32 number)
{
	struct hybrid_name_slot *slot = first_slot(table, hash);
	unsigned int i;

	for (i = 0; slot->number; i++) {
		if (i == HYBRID_NAME_PROBES - 1)
			return false;
		slot = next_slot(table, slot);
	}
	slot->hash = hash;
	slot->number = number;
	return true;
}

static int grow(struct hybrid_name_table *table)
{
	struct hybrid_name_table larger = { .size = max(MIN_SIZE, table->size * 2) };
	u32 i;

	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (i = 0; i < table->size; i++) {
		/* What has no place is not found again: then it is added once more. */
		if (table->slots[i].number)
			put(&larger, table->slots[i].hash, table->slots[i].number);
	}
	free(table->slots);
	table->slots = larger.slots;
	table->size = larger.size;
	return 0;
}

int hybrid_name_table__add(struct hybrid_name_table *table, u32 hash, u32 number)
{
	/* Half of the slots are free, so that each search ends soon. */
	if (table->nr >= table->size / 2 && grow(table))
		return -ENOMEM;
	if (!put(table, hash, number))
		return -ENOSPC;
	table->nr++;
	return 0;
}

void hybrid_name_table__exit(struct hybrid_name_table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->size = 0;
	table->nr = 0;
}
