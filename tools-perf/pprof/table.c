// SPDX-License-Identifier: GPL-2.0
/*
 * Byte strings by number. No hash is kept: it is computed again when the slots grow.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "table.h"

#define MIN_SLOTS	64
#define MIN_SIZE	4096

/* A row whose key has a size of its own. */
struct pprof_string {
	u32	size;
	char	key[];
};

void pprof_table__init(struct pprof_table *table, size_t key_size, size_t data_size)
{
	memset(table, 0, sizeof(*table));
	table->key_size = key_size;
	table->data_size = data_size;
}

void pprof_table__exit(struct pprof_table *table)
{
	free(table->rows);
	free(table->starts);
	free(table->slots);
	pprof_table__init(table, table->key_size, table->data_size);
}

static size_t row_size(const struct pprof_table *table, size_t key_size)
{
	if (!table->key_size)
		return PERF_ALIGN(sizeof(struct pprof_string) + key_size, sizeof(u64));
	if (!table->data_size)
		return key_size;
	return PERF_ALIGN(key_size, sizeof(u64)) + PERF_ALIGN(table->data_size, sizeof(u64));
}

static void *row(const struct pprof_table *table, u32 number)
{
	if (table->key_size)
		return table->rows + number * row_size(table, table->key_size);
	return table->rows + table->starts[number] * sizeof(u64);
}

void *pprof_table__key(const struct pprof_table *table, u32 number)
{
	void *at = row(table, number);

	return table->key_size ? at : ((struct pprof_string *)at)->key;
}

void *pprof_table__data(const struct pprof_table *table, u32 number)
{
	return row(table, number) + PERF_ALIGN(table->key_size, sizeof(u64));
}

static size_t key_size(const struct pprof_table *table, u32 number)
{
	return table->key_size ?: ((struct pprof_string *)row(table, number))->size;
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

/* The slot of a key, or the empty one where it belongs. */
static u32 *find_slot(const struct pprof_table *table, const void *key, size_t size)
{
	u32 i = hash_bytes(key, size) & (table->nr_slots - 1);

	/* Half of the slots are empty. */
	while (table->slots[i]) {
		u32 number = table->slots[i] - 1;

		if (key_size(table, number) == size &&
		    !memcmp(pprof_table__key(table, number), key, size))
			break;
		i = (i + 1) & (table->nr_slots - 1);
	}
	return &table->slots[i];
}

/* Room for the number of one more, with half of the slots empty. */
static int grow_slots(struct pprof_table *table)
{
	u32 nr_slots = max(2 * table->nr_slots, (u32)MIN_SLOTS), n, i;
	u32 *slots, *starts;

	if (table->nr < table->max)
		return 0;
	if (nr_slots > INT_MAX)
		return -ENOMEM;
	if (!table->key_size) {
		starts = reallocarray(table->starts, nr_slots / 2, sizeof(*starts));
		if (!starts)
			return -ENOMEM;
		table->starts = starts;
	}
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (n = 0; n < table->nr; n++) {
		i = hash_bytes(pprof_table__key(table, n), key_size(table, n)) & (nr_slots - 1);
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

static int grow_rows(struct pprof_table *table, size_t more)
{
	size_t size = max(table->size + table->size / 2, (size_t)MIN_SIZE);
	char *rows;

	if (table->used + more <= table->size)
		return 0;
	size = max(size, table->used + more);
	if (!table->key_size && size / sizeof(u64) > UINT_MAX)
		return -ENOMEM;
	rows = realloc(table->rows, size);
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	table->size = size;
	return 0;
}

static void write_row(struct pprof_table *table, const void *key, size_t size)
{
	struct pprof_string *string;

	if (!table->key_size) {
		table->starts[table->nr] = table->used / sizeof(u64);
		string = row(table, table->nr);
		string->size = size;
	}
	memcpy(pprof_table__key(table, table->nr), key, size);
	if (table->data_size)
		memset(pprof_table__data(table, table->nr), 0, table->data_size);
	table->used += row_size(table, size);
}

int pprof_table__number(struct pprof_table *table, const void *key, size_t size, bool *is_new)
{
	u32 *slot;

	if (size > INT_MAX || grow_slots(table))
		return -ENOMEM;
	slot = find_slot(table, key, size);
	if (is_new)
		*is_new = !*slot;
	if (*slot)
		return *slot - 1;
	if (grow_rows(table, row_size(table, size)))
		return -ENOMEM;
	write_row(table, key, size);
	*slot = ++table->nr;
	return table->nr - 1;
}
