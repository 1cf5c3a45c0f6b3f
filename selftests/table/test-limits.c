// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of a table and of its user, to the byte: what fits exactly, and one byte more. And
 * what is charged if an object or its rows don't fit.
 *
 * Prints TAP.
 */
#include <stdio.h>
#include <linux/jhash.h>

#include "../../kmod/table/table.h"
#include "table-state.h"

#define NR_FILES	4
#define MAX_ROWS	4000

/* UNWIND_TABLE_MAX_RETIRED, which is private to objects.c */
#define MAX_RETIRED	(4 << 20)

static struct super_block disk = { .s_dev = 1 };
static struct inode inodes[NR_FILES];
static struct file file;

static struct unwind_table_subject subject_of(unsigned int nr)
{
	inodes[nr] = (struct inode) { .i_ino = 100 + nr, .i_generation = nr, .i_sb = &disk };
	return (struct unwind_table_subject) {
		.key = perf_unwind_inode_key(&inodes[nr]), .inode = &inodes[nr], .file = &file,
	};
}

/* Rows of one file, without a copy that is charged. */
static int load(struct unwind_table *table, unsigned int nr, u32 nr_rows)
{
	/* In turn: rows of one rule would become one. */
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 16 },
	};
	static struct perf_unwind_row rows[MAX_ROWS];
	struct unwind_table_update update = { .end = nr_rows, .nr_rows = nr_rows, .rows = rows };
	struct unwind_table_subject subject = subject_of(nr);
	int err = unwind_table_begin_update(table, &subject, 0);
	u16 index[2] = {};
	u32 i;

	jiffies++;
	if (!err)
		err = unwind_table_rules_add(table, rules, 2, index);
	for (i = 0; i < nr_rows; i++)
		rows[i] = (struct perf_unwind_row) { .offset = i, .rule = index[i % 2] };
	if (!err)
		err = unwind_table_load(table, &subject, &update);
	unwind_table_end_update(table, 0);
	return err;
}

static struct unwind_table *new_table(void)
{
	struct unwind_table *table;

	*param_table_kbytes = 1 << 10;
	user_kbytes = 4 << 10;
	table = unwind_table_new();
	if (IS_ERR(table))
		abort();
	return table;
}

/* With objects. Returns the bytes of each. */
static size_t fill(struct unwind_table *table)
{
	unsigned int nr;
	u64 before;

	if (load(table, 0, 100))
		abort();
	before = table->stats.bytes;
	for (nr = 1; nr < NR_FILES; nr++) {
		if (load(table, nr, 100))
			abort();
	}
	return (table->stats.bytes - before) / (NR_FILES - 1);
}

/* Bytes for which @evicted objects make room, of the table or of the user. */
static u64 room_for(struct unwind_table *table, bool is_user, u64 evicted, size_t size)
{
	u64 room = is_user ? unwind_table_user_room(table) :
			     unwind_table_max_bytes() - table->stats.bytes;

	return room + evicted * size;
}

static void check_exact(bool is_user)
{
	const char *whose = is_user ? "the user's" : "the table's";
	struct unwind_table *table;
	unsigned int nr, more;
	bool ok = true;
	size_t size;
	u64 bytes;
	int err;

	for (nr = 0; nr <= NR_FILES; nr++) {
		for (more = 0; more < 2; more++) {
			table = new_table();
			size = fill(table);
			if (is_user)
				user_kbytes = 512;
			bytes = room_for(table, is_user, nr, size) + more;
			err = unwind_table_charge(table, bytes);
			if (nr + more > NR_FILES)
				ok &= err == (is_user ? -EDQUOT : -EFBIG) && !table->stats.evicted;
			else
				ok &= !err && table->stats.evicted == nr + more;
			if (!err)
				unwind_table_uncharge(table, bytes);
			unwind_table_delete(table);
		}
	}
	report(ok, "%s limit: no more objects are removed than needed, or none", whose);
}

/* The object does not fit, or its rows do not. */
static void check_refused(void)
{
	const size_t object = unwind_table_memory(sizeof(struct perf_unwind_object));
	struct unwind_table *table;
	bool ok = true;
	u64 left, all, before;
	size_t size;

	table = new_table();
	if (load(table, 0, 100))
		abort();
	unwind_table_remove_all(table);
	unwind_table_reap(table, true);
	before = table->stats.bytes;
	if (load(table, 0, 100))
		abort();
	size = table->stats.bytes - before;
	unwind_table_remove_all(table);
	unwind_table_reap(table, true);
	for (left = 0; left <= size; left++) {
		all = unwind_table_max_bytes() - table->stats.bytes - left;
		if (unwind_table_charge(table, all))
			abort();
		ok &= load(table, 0, 100) == (left < size ? -EFBIG : 0);
		unwind_table_reap(table, true);
		ok &= table->stats.objects == (left == size);
		ok &= table->stats.bytes == before + all + (left == size ? size : 0);
		unwind_table_uncharge(table, all);
	}
	report(ok && object < size, "an object that does not fit, or whose rows do not, is gone");
	unwind_table_delete(table);
	report(!allocated, "nothing is left of it");
}

/* Memory that waits for a grace period is bounded, and no load waits before. */
static void check_retired(void)
{
	struct unwind_table *table = new_table();
	unsigned long before;
	bool ok = true;
	u64 most = 0;
	int i;

	*param_table_kbytes = 64 << 10;
	user_kbytes = 64 << 10;
	before = waits;
	for (i = 0; i < 1000; i++) {
		ok &= !load(table, 0, MAX_ROWS);
		ok &= waits == before || most > MAX_RETIRED;
		most = max(most, table->retired_bytes);
	}
	report(ok && waits > before && most < MAX_RETIRED + (1 << 20),
	       "memory that was replaced is bounded");
	unwind_table_delete(table);
}

/*
 * Of rules with one hash a load compares 256: the others become rules once more, but a table has
 * no more than it may.
 */
static void check_same_hash(void)
{
	static struct perf_unwind_rule rules[300];
	static u16 index[ARRAY_SIZE(rules)], again[ARRAY_SIZE(rules)];
	struct unwind_table *table = new_table();
	struct perf_unwind_rule rule = { .kind = PERF_UNWIND_CFA };
	unsigned int nr;
	bool ok;

	for (nr = 0; nr < ARRAY_SIZE(rules); rule.cfa_off++)
		if (!(jhash(&rule, sizeof(rule), 0) >> (32 - UNWIND_TABLE_RULE_HASH_BITS)))
			rules[nr++] = rule;
	mutex_lock(&table->lock);
	/* The last 256 are found. */
	ok = !unwind_table_rules_add(table, rules, nr, index) && table->stats.rules == 1 + nr;
	ok &= !unwind_table_rules_add(table, rules + nr - 256, 256, again);
	ok &= table->stats.rules == 1 + nr;
	ok &= !memcmp(again, index + nr - 256, 256 * sizeof(*index));
	ok &= !unwind_table_rules_add(table, rules, 1, again) && again[0] == 1 + nr;
	ok &= table->stats.rules == 2 + nr;
	mutex_unlock(&table->lock);
	report(ok, "of rules with one hash 256 are compared");
	unwind_table_delete(table);
}

/* Two users of a namespace share what its creator may lock, unless they may lock all. */
static void check_namespace(void)
{
	struct user_namespace space = { .ucounts = &table_user, .max = 100 };
	struct ucounts first = { .ns = &space }, second = { .ns = &space };
	bool ok;

	user_kbytes = 70 * 4;
	ok = !perf_unwind_user_charge(&first, 60) && perf_unwind_user_room(&first) == 10 &&
	     perf_unwind_user_room(&second) == 40;
	ok &= perf_unwind_user_charge(&second, 41) == -EDQUOT && !second.locked;
	ok &= !perf_unwind_user_charge(&second, 40) && table_user.locked == 100;
	ok &= perf_unwind_user_charge(&first, 1) == -EDQUOT && !perf_unwind_user_room(&first);
	table_capable = true;
	ok &= perf_unwind_user_room(&first) == PERF_UNWIND_MAX_PAGES;
	ok &= !perf_unwind_user_charge(&first, 1000) && first.locked == 1060;
	table_capable = false;
	ok &= perf_unwind_user_room(&first) == -1000;
	perf_unwind_user_uncharge(&first, 1060);
	ok &= perf_unwind_user_room(&second) == 30 && table_user.locked == 40;
	perf_unwind_user_uncharge(&second, 40);
	report(ok && !table_user.locked, "users of a namespace have a limit together");
	user_kbytes = 256 << 10;
}

/* The sum of a table is in whole pages, which are free again when it is closed. */
static void check_pages(void)
{
	struct unwind_table *table = new_table();
	bool ok = true;
	size_t bytes;

	for (bytes = 1; bytes < 3 * PAGE_SIZE; bytes += 511) {
		ok &= !unwind_table_charge(table, bytes);
		ok &= table->user_bytes == table->stats.bytes;
		ok &= (u64)table_user.locked << PAGE_SHIFT == PAGE_ALIGN(table->user_bytes);
		unwind_table_uncharge(table, bytes);
	}
	unwind_table_delete(table);
	report(ok && !table_user.locked && !table_user.refs, "the user is charged in pages");
}

/* Rule 0 is that of addresses that have none. */
static void check_rules(void)
{
	struct unwind_table *table = new_table();

	report(table->stats.rules == 1, "an empty table has a rule");
	load(table, 0, 1);
	report(table->stats.rules == 3, "... and those that were loaded");
	load(table, 0, 1);
	report(table->stats.rules == 3, "... once");
	unwind_table_delete(table);
}

/* A row has an offset and a rule, four rows have a block, and two blocks are more than these. */
static void check_size(void)
{
	size_t empty = sizeof(struct perf_unwind_rows) + 2 * sizeof(u32);
	bool ok = true;
	u32 nr;

	for (nr = 0; nr < 4 * MAX_ROWS; nr += 4)
		ok &= unwind_table_rows_size(nr) == empty + nr * 7;
	report(ok, "a row takes 7 bytes");
}

bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	return false;
}

int main(void)
{
	check_exact(false);
	check_exact(true);
	check_refused();
	check_retired();
	check_rules();
	check_size();
	check_same_hash();
	check_namespace();
	check_pages();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
