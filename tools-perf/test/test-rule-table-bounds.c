// SPDX-License-Identifier: GPL-2.0
/*
 * The table of rules that a BPF program reads: a chunk is used to its last word.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "rule-table.h"
#include "tap.h"

/* Blocks for which an object's list has room, beyond those that it needs. */
#define MORE_BLOCKS	64

static struct hybrid_table table;
static struct hybrid_walk_object objects[HYBRID_WALK_OBJECTS];

static int more(void *arg __maybe_unused, unsigned int number __maybe_unused, u64 **words)
{
	*words = calloc(HYBRID_WALK_CHUNK_WORDS, sizeof(u64));
	return *words ? 0 : -ENOMEM;
}

static void begin(void)
{
	memset(objects, 0, sizeof(objects));
	memset(&table, 0, sizeof(table));
	table.objects = objects;
	table.max_chunks = HYBRID_WALK_CHUNKS / 2;
	table.more = more;
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < HYBRID_WALK_CHUNKS; i++)
		free(table.chunks[i]);
}

/* One rule in block @block. */
static void load(u32 object, u32 block)
{
	const struct perf_unwind_rule rule = {
		.kind = PERF_UNWIND_CFA, .cfa_off = 16, .ra_off = -8,
	};
	const u32 start = (block << HYBRID_WALK_BLOCK_BITS) + 0x10;
	const struct perf_unwind_row row = { .offset = start };
	struct perf_unwind_load update = {
		.start = start, .end = start + 0x10, .rows = (uintptr_t)&row, .nr_rows = 1,
		.rules = (uintptr_t)&rule, .nr_rules = 1,
	};

	same(hybrid_table_load(&table, object, &update), 0);
	same(HYBRID_WALK_KIND(hybrid_table_find(&table, object, start)), PERF_UNWIND_CFA);
}

/* Rows that end with the last word of a chunk, and those that have one word too many. */
static void full_chunk(void)
{
	unsigned int beyond;
	u32 used, block;

	for (beyond = 0; beyond <= 1; beyond++) {
		begin();
		load(0, 0);
		used = table.used;
		/* The same rows need a list that is longer by so many blocks. */
		check(used > MORE_BLOCKS + 1);
		block = HYBRID_WALK_CHUNK_WORDS - 2 * used + beyond;
		load(1, block);
		same(table.nr_chunks, 1 + beyond);
		same(table.used, beyond ? used - MORE_BLOCKS - 1 : HYBRID_WALK_CHUNK_WORDS);
		load(2, 0);
		same(table.nr_chunks, 2);
		end();
	}
}

#define MOST_ROWS	HYBRID_WALK_BLOCK

static int load_rows(u32 start, u32 end)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 16, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 24, .ra_off = -8 },
	};
	struct perf_unwind_row rows[MOST_ROWS];
	struct perf_unwind_load update = {
		.start = start, .end = end, .rows = (uintptr_t)rows, .nr_rows = end - start,
		.rules = (uintptr_t)rules, .nr_rules = ARRAY_SIZE(rules),
	};
	u32 i;

	/* Each address has another rule than the one before. */
	for (i = 0; i < update.nr_rows; i++)
		rows[i] = (struct perf_unwind_row) { .offset = start + i, .rule = (start + i) % 2 };
	return hybrid_table_load(&table, 0, &update);
}

/* What a block has already is not stored once more, if it has a row for each address, too. */
static void most_rows(void)
{
	u32 used, at;

	begin();
	same(load_rows(0, MOST_ROWS), 0);
	same(hybrid_table_size(&table, 0), MORE_BLOCKS + 1 + MOST_ROWS);
	used = table.used;
	for (at = 0; at < MOST_ROWS; at++) {
		same(load_rows(at, at + 1), 0);
		same(load_rows(at, MOST_ROWS), 0);
	}
	same(table.used, used);
	end();
	/* Where a rule ends the old one begins, and that is one row. */
	begin();
	same(load_rows(16, 17), 0);
	same(load_rows(15, 16), 0);
	same(hybrid_table_size(&table, 0), MORE_BLOCKS + 1 + 4);
	end();
}

/* Rows for which there is no chunk are not stored, and what was there is found. */
static void no_chunk(void)
{
	u32 left;

	/* Three rows: what is before the rule, the rule, and where it ends. */
	for (left = 2; left <= 3; left++) {
		begin();
		table.max_chunks = 1;
		load(0, 0);
		table.used = HYBRID_WALK_CHUNK_WORDS - left;
		same(load_rows(MOST_ROWS + 8, MOST_ROWS + 9), left < 3 ? (u64)-ENOSPC : 0);
		same(table.used, HYBRID_WALK_CHUNK_WORDS - (left < 3 ? left : 0));
		same(HYBRID_WALK_KIND(hybrid_table_find(&table, 0, MOST_ROWS + 8)),
		     left < 3 ? PERF_UNWIND_UNKNOWN : PERF_UNWIND_CFA);
		same(HYBRID_WALK_KIND(hybrid_table_find(&table, 0, 0x10)), PERF_UNWIND_CFA);
		end();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "rule table: a chunk is used to its last word", full_chunk },
		{ "rule table: a block with a row for each address", most_rows },
		{ "rule table: no chunk for the rows", no_chunk },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
