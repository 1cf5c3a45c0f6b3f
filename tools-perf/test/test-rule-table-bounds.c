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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "rule table: a chunk is used to its last word", full_chunk },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
