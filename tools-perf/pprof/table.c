// SPDX-License-Identifier: GPL-2.0
/*
 * Byte strings by number. Memory comes in chunks, so that a small item costs its
 * size and not an allocation's.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "table.h"

#define CHUNK_SIZE	(64UL << 10)
#define MIN_SLOTS	64

struct pprof_chunk {
	struct pprof_chunk	*next;
	size_t			 used;
	size_t			 size;
	u64			 data[];
};

void pprof_table__init(struct pprof_table *table, size_t data_size)
{
	memset(table, 0, sizeof(*table));
	table->data_size = data_size;
}

void pprof_table__exit(struct pprof_table *table)
{
	struct pprof_chunk *chunk = table->chunk, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(table->items);
	free(table->slots);
	pprof_table__init(table, table->data_size);
}

static u32 hash_bytes(const void *key, size_t size)
{
	u64 hash = size, word;

	for (; size; key += sizeof(word)) {
		size_t some = min(size, sizeof(word));

		word = 0;
		memcpy(&word, key, some);
		hash = (hash ^ word) * GOLDEN_RATIO_64;
		hash ^= hash >> 32;
		size -= some;
	}
	return hash;
}

static void *take(struct pprof_table *table, size_t size)
{
	struct pprof_chunk *chunk = table->chunk;
	size_t room;
	void *taken;

	size = PERF_ALIGN(size, sizeof(u64));
	if (!chunk || chunk->size - chunk->used < size) {
		room = max(size, CHUNK_SIZE);
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->next = table->chunk;
		chunk->used = 0;
		chunk->size = room;
		table->chunk = chunk;
	}
	taken = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return taken;
}

/* The slot of a key, or the empty one where it belongs. */
static u32 *find_slot(const struct pprof_table *table, const void *key, size_t size, u32 hash)
{
	const struct pprof_item *item;
	u32 i = hash & (table->nr_slots - 1);

	/* Half of the slots are empty. */
	while (table->slots[i]) {
		item = &table->items[table->slots[i] - 1];
		if (item->hash == hash && item->size == size && !memcmp(item->key, key, size))
			break;
		i = (i + 1) & (table->nr_slots - 1);
	}
	return &table->slots[i];
}

/* Room for one more, with half of the slots empty. */
static int grow(struct pprof_table *table)
{
	u32 nr_slots = max(2 * table->nr_slots, (u32)MIN_SLOTS), n, i;
	struct pprof_item *items;
	u32 *slots;

	if (table->nr < table->max)
		return 0;
	if (nr_slots > INT_MAX)
		return -ENOMEM;
	items = reallocarray(table->items, nr_slots / 2, sizeof(*items));
	if (!items)
		return -ENOMEM;
	table->items = items;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (n = 0; n < table->nr; n++) {
		i = items[n].hash & (nr_slots - 1);
		while (slots[i])
			i = (i + 1) & (nr_slots - 1);
		slots[i] = n + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr_slots;
	table->max = nr_slots / 2;
	return 0;
}

int pprof_table__number(struct pprof_table *table, const void *key, size_t size, bool *is_new)
{
	u32 hash = hash_bytes(key, size), *slot;
	struct pprof_item *item;

	if (size > INT_MAX || grow(table))
		return -ENOMEM;
	slot = find_slot(table, key, size, hash);
	if (is_new)
		*is_new = !*slot;
	if (*slot)
		return *slot - 1;
	item = &table->items[table->nr];
	item->key = take(table, PERF_ALIGN(size, sizeof(u64)) + table->data_size);
	if (!item->key)
		return -ENOMEM;
	memcpy(item->key, key, size);
	item->size = size;
	item->hash = hash;
	memset(pprof_table__data(table, table->nr), 0, table->data_size);
	*slot = ++table->nr;
	return table->nr - 1;
}
