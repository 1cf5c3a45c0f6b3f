// SPDX-License-Identifier: GPL-2.0
/*
 * The table of rules of hybrid_walk.bpf.c.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <linux/kernel.h>
#include "rule-table.h"

/* All of a row but its offset. */
#define RULE(row)	((row) & ~0xffULL)

static u64 *word_at(const struct hybrid_table *table, u32 position)
{
	return &table->chunks[position >> HYBRID_WALK_CHUNK_BITS]
			     [position & (HYBRID_WALK_CHUNK_WORDS - 1)];
}

/* For the program: all that was stored before it is seen before it. */
static void publish(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void publish_head(struct hybrid_table *table, u32 object, u64 head)
{
	__atomic_store_n(&table->objects[object].head, head, __ATOMIC_RELEASE);
}

static int add_chunk(struct hybrid_table *table)
{
	unsigned int number = table->first + table->nr_chunks;
	int err;

	if (table->nr_chunks == table->max_chunks)
		return -ENOSPC;
	err = table->more(table->arg, number, &table->chunks[number]);
	if (err)
		return err;
	table->nr_chunks++;
	table->used = 0;
	return 0;
}

void hybrid_table_begin(struct hybrid_table *table)
{
	if (!table->nr_chunks)
		add_chunk(table);
}

/*
 * Position of @nr words in a row, which nobody has used: in one chunk, or, where there is
 * none so large, in several that follow each other.
 */
static int allocate(struct hybrid_table *table, u32 nr, u32 *position)
{
	int err;

	if (!table->nr_chunks || table->used + nr > HYBRID_WALK_CHUNK_WORDS) {
		err = add_chunk(table);
		if (err)
			return err;
	}
	*position = ((table->first + table->nr_chunks - 1) << HYBRID_WALK_CHUNK_BITS) +
		    table->used;
	for (; nr > HYBRID_WALK_CHUNK_WORDS; nr -= HYBRID_WALK_CHUNK_WORDS) {
		err = add_chunk(table);
		if (err)
			return err;
	}
	table->used += nr;
	return 0;
}

static bool fits(s32 value, unsigned int bits)
{
	return value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

u64 hybrid_table_row(const struct perf_unwind_rule *rule)
{
	switch (rule->kind) {
	case PERF_UNWIND_OUTERMOST:
	case PERF_UNWIND_SIGNAL:
		return (u64)rule->kind << 8;
	case PERF_UNWIND_CFA:
	case PERF_UNWIND_DEREF:
	case PERF_UNWIND_PLT:
	case HYBRID_WALK_REGISTER:
		break;
	case HYBRID_WALK_SAVED_SP:
		if (!fits(rule->fp_off, 16) || !fits(rule->cfa_off, 24))
			return PERF_UNWIND_UNKNOWN << 8;
		return (u64)rule->kind << 8 | (u64)rule->deref_off << 16 |
		       (u64)(u16)rule->fp_off << 24 | (u64)(u32)rule->cfa_off << 40;
	default:
		return PERF_UNWIND_UNKNOWN << 8;
	}
	if (rule->ra != PERF_UNWIND_RA_AT_CFA || rule->ra_off != -8 ||
	    !fits(rule->fp_off, 16) || !fits(rule->cfa_off, 24))
		return PERF_UNWIND_UNKNOWN << 8;
	return (u64)rule->kind << 8 | (u64)rule->base << 11 | (u64)rule->fp << 12 |
	       (u64)rule->deref_off << 16 | (u64)(u16)rule->fp_off << 24 |
	       (u64)(u32)rule->cfa_off << 40;
}

/* Where the blocks of an object are, with room for that of @offset. */
static int find_blocks(struct hybrid_table *table, u32 object, u32 offset, u64 *head)
{
	const u64 most = HYBRID_TABLE_BLOCKS;
	u64 nr = (offset >> HYBRID_WALK_BLOCK_BITS) + 1, old;
	u32 position, i;
	int err;

	*head = table->objects[object].head;
	old = *head >> 32;
	if (nr <= old)
		return 0;
	if (nr > most)
		return -EFBIG;
	/* It grows a few times only: what it leaves behind is lost. */
	nr = max(nr, old + min(old, (u64)HYBRID_WALK_CHUNK_WORDS / 4)) + 64;
	nr = min(nr, most);
	err = allocate(table, nr, &position);
	if (err)
		return err;
	for (i = 0; i < old; i++)
		*word_at(table, position + i) = *word_at(table, (u32)*head + i);
	*head = nr << 32 | position;
	publish_head(table, object, *head);
	return 0;
}

/* Rows of one block, as they are put together. */
struct rows {
	u64	words[HYBRID_WALK_BLOCK];
	u32	nr;
};

static void add_row(struct rows *rows, u32 at, u64 rule)
{
	if (!rows->nr || RULE(rows->words[rows->nr - 1]) != rule)
		rows->words[rows->nr++] = rule | at;
}

/* What a block has had in [from, to); nothing is known where it has no rows. */
static void add_old(const struct hybrid_table *table, u64 block, u32 from, u32 to,
		    struct rows *rows)
{
	u32 nr = block >> 32, i;
	u64 row, rule = 0;

	if (from >= to)
		return;
	for (i = 0; i < nr; i++) {
		row = *word_at(table, (u32)block + i);
		if (HYBRID_WALK_OFFSET(row) > from)
			break;
		rule = RULE(row);
	}
	add_row(rows, from, rule);
	for (; i < nr; i++) {
		row = *word_at(table, (u32)block + i);
		if (HYBRID_WALK_OFFSET(row) >= to)
			break;
		add_row(rows, HYBRID_WALK_OFFSET(row), RULE(row));
	}
}

/* Puts a block's rows where the program finds them, if it does not have them yet. */
static int store_block(struct hybrid_table *table, u64 *block, const struct rows *rows)
{
	size_t size = rows->nr * sizeof(*rows->words);
	u32 position;
	int err;

	if (rows->nr == *block >> 32 && !memcmp(word_at(table, *block), rows->words, size))
		return 0;
	err = allocate(table, rows->nr, &position);
	if (err)
		return err;
	memcpy(word_at(table, position), rows->words, size);
	publish(block, (u64)rows->nr << 32 | position);
	return 0;
}

int hybrid_table_load(struct hybrid_table *table, u32 object,
		      const struct perf_unwind_load *load)
{
	const struct perf_unwind_rule *loaded = (void *)(uintptr_t)load->rules;
	const struct perf_unwind_row *rows = (void *)(uintptr_t)load->rows;
	u64 head, *block, at = load->start, start, end, to;
	const struct perf_unwind_rule *rule = NULL;
	struct rows made;
	u32 next = 0;
	int err;

	err = find_blocks(table, object, load->end - 1, &head);
	while (!err && at < load->end) {
		block = word_at(table, (u32)head + (at >> HYBRID_WALK_BLOCK_BITS));
		start = at & ~(HYBRID_WALK_BLOCK - 1ULL);
		end = min((u64)load->end, start + HYBRID_WALK_BLOCK);
		made.nr = 0;
		add_old(table, *block, 0, at - start, &made);
		for (; at < end; at = to) {
			while (next < load->nr_rows && rows[next].offset <= at)
				rule = &loaded[rows[next++].rule];
			to = next < load->nr_rows ? min_t(u64, rows[next].offset, end) : end;
			if (rule && rule->kind == HYBRID_TABLE_KEEP)
				add_old(table, *block, at - start, to - start, &made);
			else
				add_row(&made, at - start, rule ? hybrid_table_row(rule) : 0);
		}
		add_old(table, *block, end - start, HYBRID_WALK_BLOCK, &made);
		err = store_block(table, block, &made);
	}
	return err;
}

u64 hybrid_table_size(const struct hybrid_table *table, u32 object)
{
	u64 head = table->objects[object].head, size = head >> 32;
	u32 i;

	for (i = 0; i < head >> 32; i++)
		size += *word_at(table, (u32)head + i) >> 32;
	return size;
}

/* Walks go by what was there until all of it is where it goes. */
static void move(struct hybrid_table *table, u32 object)
{
	u64 head = table->objects[object].head, block;
	u32 nr = head >> 32, blocks, rows, i;
	int err;

	err = allocate(table, nr, &blocks);
	for (i = 0; !err && i < nr; i++) {
		block = *word_at(table, (u32)head + i);
		if (!block)
			continue;
		err = allocate(table, block >> 32, &rows);
		if (err)
			break;
		memcpy(word_at(table, rows), word_at(table, (u32)block),
		       (block >> 32) * sizeof(u64));
		*word_at(table, blocks + i) = block >> 32 << 32 | rows;
	}
	publish_head(table, object, err ? 0 : (u64)nr << 32 | blocks);
}

void hybrid_table_compact(struct hybrid_table *table)
{
	u32 object;

	table->first = HYBRID_WALK_CHUNKS / 2 - table->first;
	table->nr_chunks = 0;
	table->used = 0;
	for (object = 0; object < HYBRID_WALK_OBJECTS; object++) {
		if (table->objects[object].head)
			move(table, object);
	}
}

void hybrid_table_give_back(struct hybrid_table *table)
{
	unsigned int first = HYBRID_WALK_CHUNKS / 2 - table->first, i;

	for (i = first; i < first + HYBRID_WALK_CHUNKS / 2; i++) {
		if (table->chunks[i])
			table->less(table->arg, i, table->chunks[i]);
		table->chunks[i] = NULL;
	}
}

u64 hybrid_table_find(const struct hybrid_table *table, u32 object, u64 offset)
{
	u64 head = table->objects[object].head, found = 0, row;
	u64 block = offset >> HYBRID_WALK_BLOCK_BITS;
	u32 i;

	if (block >= head >> 32)
		return 0;
	block = *word_at(table, (u32)head + block);
	for (i = 0; i < block >> 32; i++) {
		row = *word_at(table, (u32)block + i);
		if (HYBRID_WALK_OFFSET(row) > (offset & (HYBRID_WALK_BLOCK - 1)))
			break;
		found = row;
	}
	return found;
}
