// SPDX-License-Identifier: GPL-2.0
/*
 * The table of rules that a BPF program reads: what is found is what was loaded last.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "rule-table.h"
#include "tap.h"

#define OBJECTS		3
#define BYTES		8192

static struct hybrid_table table;
static struct hybrid_walk_object objects[HYBRID_WALK_OBJECTS];
static int no_more;

static int more(void *arg, unsigned int number, u64 **words)
{
	same((uintptr_t)arg, (uintptr_t)&table);
	same(number, table.first + table.nr_chunks);
	if (no_more)
		return no_more;
	*words = calloc(HYBRID_WALK_CHUNK_WORDS, sizeof(u64));
	return *words ? 0 : -ENOMEM;
}

/* Nothing may lead there any more. */
static void less(void *arg, unsigned int number, u64 *words)
{
	same((uintptr_t)arg, (uintptr_t)&table);
	same((uintptr_t)words, (uintptr_t)table.chunks[number]);
	memset(words, 0xff, HYBRID_WALK_CHUNK_WORDS * sizeof(u64));
	free(words);
}

static void begin(void)
{
	no_more = 0;
	memset(objects, 0, sizeof(objects));
	memset(&table, 0, sizeof(table));
	table.objects = objects;
	table.max_chunks = HYBRID_WALK_CHUNKS / 2;
	table.more = more;
	table.less = less;
	table.arg = &table;
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < HYBRID_WALK_CHUNKS; i++)
		free(table.chunks[i]);
}

static int load(u32 object, u32 start, u32 last, const struct perf_unwind_row *rows, u32 nr_rows,
		const struct perf_unwind_rule *rules, u32 nr_rules)
{
	struct perf_unwind_load update = {
		.start		= start,
		.end		= last,
		.rows		= (uintptr_t)rows,
		.rules		= (uintptr_t)rules,
		.nr_rows	= nr_rows,
		.nr_rules	= nr_rules,
	};

	return hybrid_table_load(&table, object, &update);
}

/* One rule for [start, last). */
static int load_one(u32 object, u32 start, u32 last, const struct perf_unwind_rule *rule)
{
	struct perf_unwind_row row = { .offset = start };

	return load(object, start, last, &row, 1, rule, 1);
}

static const struct perf_unwind_rule plain = {
	.kind = PERF_UNWIND_CFA, .cfa_off = 16, .ra_off = -8,
};

static u64 kind_at(u32 object, u64 offset)
{
	return HYBRID_WALK_KIND(hybrid_table_find(&table, object, offset));
}

static void holds(const struct perf_unwind_rule *rule)
{
	u64 row;

	begin();
	same(load_one(0, 0x130, 0x131, rule), 0);
	row = hybrid_table_find(&table, 0, 0x130);
	same(HYBRID_WALK_KIND(row), rule->kind);
	same(HYBRID_WALK_BASE(row), rule->base);
	same(HYBRID_WALK_BP(row), rule->fp);
	same(HYBRID_WALK_DEREF_OFF(row), rule->deref_off);
	same(HYBRID_WALK_CFA_OFF(row), rule->cfa_off);
	same(HYBRID_WALK_BP_OFF(row), rule->fp_off);
	end();
}

static void test_rules(void)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16,
		  .ra_off = -8, .fp = PERF_UNWIND_FP_AT_CFA, .fp_off = -16 },
		{ .kind = PERF_UNWIND_DEREF, .base = PERF_UNWIND_BASE_FP, .cfa_off = -8388608,
		  .ra_off = -8, .deref_off = 255, .fp = PERF_UNWIND_FP_AT_FP, .fp_off = -32768 },
		{ .kind = PERF_UNWIND_PLT, .cfa_off = 8388607, .ra_off = -8,
		  .fp = PERF_UNWIND_FP_UNDEFINED, .fp_off = 32767 },
		{ .kind = HYBRID_WALK_REGISTER, .deref_off = 6, .cfa_off = 266256, .ra_off = -8,
		  .fp = PERF_UNWIND_FP_AT_CFA, .fp_off = -16 },
		{ .kind = HYBRID_WALK_SAVED_SP, .cfa_off = -8, .deref_off = 24, .fp_off = -64 },
		{ .kind = PERF_UNWIND_SIGNAL },
		{ .kind = PERF_UNWIND_OUTERMOST },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		holds(&rules[i]);
}

/* Between two functions: what their code has told. */
static void test_keep(void)
{
	static const struct perf_unwind_row rows[] = {
		{ .offset = 0x40, .rule = 1 }, { .offset = 0x80 }, { .offset = 0x150, .rule = 1 },
	};
	static const struct perf_unwind_rule rules[] = {
		{ .kind = HYBRID_TABLE_KEEP },
		{ .kind = PERF_UNWIND_DEREF, .cfa_off = 8, .ra_off = -8 },
	};
	u32 at;

	begin();
	same(load_one(0, 0x70, 0x90, &plain), 0);
	same(load_one(0, 0x140, 0x160, &plain), 0);
	same(load(0, 0x40, 0x180, rows, ARRAY_SIZE(rows), rules, ARRAY_SIZE(rules)), 0);
	for (at = 0x40; at < 0x180; at++)
		same(kind_at(0, at), at < 0x80 || at >= 0x150 ? PERF_UNWIND_DEREF :
		     at < 0x90 || at >= 0x140 ? PERF_UNWIND_CFA : PERF_UNWIND_UNKNOWN);
	end();
}

/* What the words can't say must not be said otherwise. */
static void test_no_words(void)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_UNKNOWN, .cfa_off = 8, .ra_off = -8 },
		{ .kind = HYBRID_WALK_SAVED_SP + 1, .cfa_off = 8, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -16 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8,
		  .ra = PERF_UNWIND_RA_IN_REGISTER },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8388608, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = -8388609, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8, .fp_off = 32768 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8, .fp_off = -32769 },
	};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		same(load_one(0, 0, 0x100, &plain), 0);
		same(load_one(0, 0x10, 0x20, &rules[i]), 0);
		same(kind_at(0, 0xf), PERF_UNWIND_CFA);
		same(kind_at(0, 0x10), PERF_UNWIND_UNKNOWN);
		same(kind_at(0, 0x1f), PERF_UNWIND_UNKNOWN);
		same(kind_at(0, 0x20), PERF_UNWIND_CFA);
	}
	end();
}

static void test_unknown(void)
{
	begin();
	same(hybrid_table_find(&table, 0, 0), 0);
	same(load_one(1, 0x1ff, 0x301, &plain), 0);
	same(kind_at(1, 0x1fe), PERF_UNWIND_UNKNOWN);
	same(kind_at(1, 0x1ff), PERF_UNWIND_CFA);
	same(kind_at(1, 0x300), PERF_UNWIND_CFA);
	same(kind_at(1, 0x301), PERF_UNWIND_UNKNOWN);
	same(kind_at(1, ~0ULL), PERF_UNWIND_UNKNOWN);
	same(kind_at(0, 0x200), PERF_UNWIND_UNKNOWN);
	same(kind_at(2, 0x200), PERF_UNWIND_UNKNOWN);
	end();
}

/* Updates at random, against a plain array. */
static s32 expected[OBJECTS][BYTES];

static void random_update(void)
{
	struct perf_unwind_rule rules[64] = {};
	struct perf_unwind_row rows[64] = {};
	u32 object = tap_random() % OBJECTS, start = tap_random() % (BYTES - 1), at = start, nr = 0;
	u32 last = start + 1 + tap_random() % min(BYTES - start - 1, 1500U), i;

	while (nr < ARRAY_SIZE(rows) && at < last) {
		rules[nr] = plain;
		rules[nr].cfa_off = tap_random() % 50 * 8;
		rows[nr] = (struct perf_unwind_row){ .offset = at, .rule = nr };
		for (i = at; i < last; i++)
			expected[object][i] = rules[nr].cfa_off;
		nr++;
		at += 1 + tap_random() % 60;
	}
	same(load(object, start, last, rows, nr, rules, nr), 0);
}

static void as_expected(void)
{
	u32 object, at;
	u64 row;

	for (object = 0; object < OBJECTS; object++) {
		for (at = 0; at < BYTES; at++) {
			row = hybrid_table_find(&table, object, at);
			if (expected[object][at] == -1)
				same(HYBRID_WALK_KIND(row), PERF_UNWIND_UNKNOWN);
			else
				same(HYBRID_WALK_CFA_OFF(row), expected[object][at]);
		}
	}
}

static void test_random(void)
{
	u32 update;

	begin();
	tap_seed(1);
	memset(expected, 0xff, sizeof(expected));
	for (update = 0; update < 300; update++)
		random_update();
	as_expected();
	end();
}

static void compact(void)
{
	hybrid_table_compact(&table);
	hybrid_table_give_back(&table);
}

/* What objects have stays, and what they had before takes no room. */
static void test_compact(void)
{
	u32 update, used;

	begin();
	tap_seed(2);
	memset(expected, 0xff, sizeof(expected));
	for (update = 0; update < 300; update++) {
		random_update();
		if (update % 100 == 50)
			compact();
	}
	used = table.used;
	compact();
	as_expected();
	check(table.used < used);
	same(table.used, hybrid_table_size(&table, 0) + hybrid_table_size(&table, 1) +
			 hybrid_table_size(&table, 2));
	used = table.used - hybrid_table_size(&table, 1);
	table.objects[1].head = 0;
	memset(expected[1], 0xff, sizeof(expected[1]));
	compact();
	as_expected();
	same(table.used, used);
	end();
}

/* Full again and again: it goes on, in the room that there is. */
static void test_full(void)
{
	const u32 large = (HYBRID_WALK_CHUNK_WORDS - 100) << HYBRID_WALK_BLOCK_BITS;
	u32 i;

	begin();
	table.max_chunks = 2;
	same(load_one(0, 0x100, 0x110, &plain), 0);
	for (i = 0; i < 10; i++) {
		same(load_one(1, large - 1, large, &plain), 0);
		same(load_one(2, large - 1, large, &plain), -ENOSPC);
		table.objects[1].head = 0;
		compact();
		same(kind_at(0, 0x100), PERF_UNWIND_CFA);
		same(kind_at(1, large - 1), PERF_UNWIND_UNKNOWN);
		same(table.nr_chunks, 1);
	}
	same(load_one(1, large - 1, large, &plain), 0);
	no_more = -ENOMEM;
	compact();
	same(table.objects[0].head | table.objects[1].head, 0);
	end();
}

/* What is there already takes no room. */
static void test_again(void)
{
	u32 used;

	begin();
	same(load_one(0, 0x80, 0x380, &plain), 0);
	used = table.used;
	same(load_one(0, 0x80, 0x380, &plain), 0);
	same(load_one(0, 0x100, 0x110, &plain), 0);
	same(table.used, used);
	end();
}

/* One that has more blocks than a chunk has words, as browsers and compilers are. */
static void test_large(void)
{
	const u32 chunk = HYBRID_WALK_CHUNK_WORDS << HYBRID_WALK_BLOCK_BITS;
	u32 at;

	begin();
	same(load_one(1, 0x100, 0x110, &plain), 0);
	same(load_one(0, chunk - 0x80, chunk, &plain), 0);
	same(load_one(0, chunk - 0x40, chunk + 0x80, &plain), 0);
	same(load_one(0, 3 * chunk - 1, 3 * chunk + 1, &plain), 0);
	same(load_one(1, 0x200, 0x210, &plain), 0);
	for (at = chunk - 0x80; at < chunk + 0x80; at++)
		same(kind_at(0, at), PERF_UNWIND_CFA);
	same(kind_at(0, chunk - 0x81), PERF_UNWIND_UNKNOWN);
	same(kind_at(0, chunk + 0x80), PERF_UNWIND_UNKNOWN);
	same(kind_at(0, 3 * chunk - 1), PERF_UNWIND_CFA);
	same(kind_at(0, 3 * chunk), PERF_UNWIND_CFA);
	same(kind_at(0, 3 * chunk + 1), PERF_UNWIND_UNKNOWN);
	same(kind_at(1, 0x100), PERF_UNWIND_CFA);
	same(kind_at(1, 0x200), PERF_UNWIND_CFA);
	end();
}

static void test_no_room(void)
{
	const u32 large = HYBRID_TABLE_BLOCKS << HYBRID_WALK_BLOCK_BITS;
	u32 object = 1;
	int err;

	begin();
	same(load_one(0, large - 1, large, &plain), 0);
	same(kind_at(0, large - 1), PERF_UNWIND_CFA);
	same(load_one(0, large, large + 1, &plain), -EFBIG);
	while (!(err = load_one(object, large - 1, large, &plain)) &&
	       check(object < HYBRID_WALK_CHUNKS))
		object++;
	same(err, -ENOSPC);
	same(kind_at(object, large - 1), PERF_UNWIND_UNKNOWN);
	same(kind_at(1, large - 1), PERF_UNWIND_CFA);
	end();

	begin();
	no_more = -EPERM;
	same(load_one(0, 0, 1, &plain), -EPERM);
	end();
}

/* What a row has room for, and one more. */
static void test_row_bounds(void)
{
	static const struct {
		s32	fp_off, cfa_off, ra_off;
		bool	fits, fits_saved;
	} cases[] = {
		{ 0, 0, -8, true, true }, { 0, 0, -16, false, true }, { 0, 0, 0, false, true },
		{ -32768, 0, -8, true, true }, { -32769, 0, -8, false, false },
		{ 32767, 0, -8, true, true }, { 32768, 0, -8, false, false },
		{ -1, -8388608, -8, true, true }, { -1, -8388609, -8, false, false },
		{ -1, 8388607, -8, true, true }, { -1, 8388608, -8, false, false },
	};
	unsigned int kind, i;

	for (kind = 0; kind < 8; kind++) {
		bool is_saved = kind == HYBRID_WALK_SAVED_SP;
		bool is_end = kind == PERF_UNWIND_OUTERMOST || kind == PERF_UNWIND_SIGNAL;
		bool is_rule = kind == PERF_UNWIND_CFA || kind == PERF_UNWIND_DEREF ||
			       kind == PERF_UNWIND_PLT || kind == HYBRID_WALK_REGISTER;

		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			const struct perf_unwind_rule rule = {
				.kind = kind, .base = 1, .fp = 3, .deref_off = 0xa5,
				.fp_off = cases[i].fp_off, .cfa_off = cases[i].cfa_off,
				.ra_off = cases[i].ra_off,
			};
			u64 want = (u64)PERF_UNWIND_UNKNOWN << 8;
			u64 offs = (u64)0xa5 << 16 | (u64)(u16)cases[i].fp_off << 24 |
				   (u64)cases[i].cfa_off << 40;

			if (is_end)
				want = (u64)kind << 8;
			else if (is_rule && cases[i].fits)
				want = (u64)kind << 8 | 1 << 11 | 3 << 12 | offs;
			else if (is_saved && cases[i].fits_saved)
				want = (u64)kind << 8 | offs;
			same(hybrid_table_row(&rule), want);
		}
	}
}

/* The first chunk may be made in advance; nothing else is. */
static void test_begin(void)
{
	begin();
	hybrid_table_begin(&table);
	same(table.nr_chunks, 1);
	hybrid_table_begin(&table);
	same(table.nr_chunks, 1);
	same(table.used, 0);
	end();
	begin();
	no_more = -ENOMEM;
	hybrid_table_begin(&table);
	same(table.nr_chunks, 0);
	end();
}

/* The list of an object's blocks has room for 64 more than it needs, and moves when it is full. */
static void room_for_blocks(void)
{
	u64 head, last = (64ULL << HYBRID_WALK_BLOCK_BITS) + 0x10, used;

	begin();
	same(load_one(0, 0x10, 0x20, &plain), 0);
	head = objects[0].head;
	same(head >> 32, 65);
	used = table.used;
	same(load_one(0, last, last + 0x10, &plain), 0);
	same(objects[0].head, head);
	/* Three rows: what is before the rule, the rule, and where it ends. */
	same(table.used, used + 3);
	same(kind_at(0, last), PERF_UNWIND_CFA);
	last += 1ULL << HYBRID_WALK_BLOCK_BITS;
	same(load_one(0, last, last + 0x10, &plain), 0);
	check(objects[0].head >> 32 > 65);
	same(kind_at(0, last), PERF_UNWIND_CFA);
	same(kind_at(0, 0x10), PERF_UNWIND_CFA);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "table: room for blocks", room_for_blocks },
		{ "rules stay what they are", test_rules },
		{ "what a row can't say is unknown", test_no_words },
		{ "what lies between functions stays", test_keep },
		{ "what was not loaded is unknown", test_unknown },
		{ "updates at random", test_random },
		{ "the same once more takes no room", test_again },
		{ "an object of many chunks", test_large },
		{ "no room", test_no_room },
		{ "compacted, all is where it was", test_compact },
		{ "full again and again", test_full },
		{ "rule table: what a row has room for", test_row_bounds },
		{ "rule table: the first chunk", test_begin },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
