// SPDX-License-Identifier: GPL-2.0
/*
 * The table of unwind rules, as it is, in a program that counts what it allocates: is all
 * of that charged, does it stay within the limits, and who makes room for whom? And does a
 * sample find the rule that was loaded last?
 *
 * usage: test-table [STEPS]
 *
 * Prints TAP.
 */
#include <stdio.h>

#include "../../kmod/table/table.h"
#include "table-state.h"

#define NR_FILES	24
#define NR_STORES	4
#define MAX_ROWS	4000
#define MAX_RULES	3000

static struct super_block disk = { .s_dev = 1 };
static struct inode inodes[NR_FILES];
static struct file file;
/* Changes of all files; and whether all of them have the same hash. */
static unsigned int changes;
static bool same_hash;

static struct unwind_table_subject subject_of(unsigned int nr)
{
	struct unwind_table_subject subject = { .inode = &inodes[nr], .file = &file };

	inodes[nr] = (struct inode) {
		.i_ino = 100 + nr, .i_generation = nr, .i_sb = &disk, .ctime = changes,
	};
	subject.key = perf_unwind_inode_key(&inodes[nr]);
	/* The hash is that of the address. */
	if (same_hash)
		subject.key.address = &inodes[0];
	return subject;
}

/* Rows from @start on, with rules from @rule on, of which there are @nr_rules. */
static int load_rules(struct unwind_table *table, unsigned int nr, u32 start, u32 nr_rows, u32 rule,
		      u32 nr_rules)
{
	static struct perf_unwind_rule rules[MAX_RULES];
	static struct perf_unwind_row rows[3 * MAX_ROWS];
	static u16 index[MAX_RULES];
	struct unwind_table_update update = {
		.start = start, .end = start + nr_rows, .nr_rows = nr_rows, .rows = rows,
	};
	struct unwind_table_subject subject = subject_of(nr);
	size_t bytes = unwind_table_memory(nr_rows * sizeof(*rows)) +
		       unwind_table_memory(nr_rules * sizeof(*rules)) +
		       unwind_table_memory(nr_rules * sizeof(*index));
	int err = unwind_table_begin_update(table, &subject, bytes);
	u32 i;

	jiffies++;
	if (err)
		return err;
	for (i = 0; i < nr_rules; i++)
		rules[i] = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = 8 * (1 + rule + i),
		};
	err = unwind_table_rules_add(table, rules, nr_rules, index);
	for (i = 0; i < nr_rows; i++)
		rows[i] = (struct perf_unwind_row) {
			.offset = start + i, .rule = index[i % nr_rules],
		};
	if (!err)
		err = unwind_table_load(table, &subject, &update);
	unwind_table_end_update(table, bytes);
	return err;
}

static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static struct perf_unwind_object *object_of(struct unwind_table *table, unsigned int nr)
{
	struct unwind_table_subject subject = subject_of(nr);
	struct perf_unwind_object *object;

	hash_for_each_possible(table->base.objects, object, node,
			       perf_unwind_hash_key(&subject.key)) {
		if (perf_unwind_same_key(&object->key, &subject.key))
			return object;
	}
	return NULL;
}

/* What a sample takes for the offset of the CFA there; 0 for none. */
static s32 rule_at(struct unwind_table *table, unsigned int nr, u32 offset)
{
	struct perf_unwind_object *object = object_of(table, nr);
	struct perf_unwind_walk walk = { .end = ULONG_MAX, .rules = table->base.rules };
	const struct perf_unwind_rule *rule;

	walk.rows = object ? object->rows : NULL;
	rule = perf_unwind_find(&walk, offset);
	return rule ? rule->cfa_off : 0;
}

bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	return false;
}

/* Updates over each other, against an array with the rule of each offset. */
static void check_lookup(unsigned int updates)
{
	static s32 model[8 * MAX_ROWS];
	struct unwind_table *table = unwind_table_new();
	unsigned int wrong = 0, asked = 0, i, k;

	if (IS_ERR(table))
		abort();
	for (i = 0; i < updates; i++) {
		u32 start = below(4 * MAX_ROWS), nr_rows = 1 + below(below(2) ? 20 : MAX_ROWS);
		u32 nr_rules = 1 + below(40), rule = below(200);

		if (load_rules(table, 0, start, nr_rows, rule, nr_rules))
			abort();
		for (k = 0; k < nr_rows; k++)
			model[start + k] = 8 * (1 + rule + k % nr_rules);
		for (k = 0; k < 8 * MAX_ROWS; k += 1 + below(64), asked++)
			wrong += rule_at(table, 0, k) != model[k];
	}
	printf("# %u lookups\n", asked);
	report(asked > updates && !wrong, "%u updates: a sample finds the rule loaded last",
	       updates);
	unwind_table_delete(table);
}

/* Of a file that was changed nothing stays, and its object is not the one that others have. */
static void check_changed(void)
{
	struct unwind_table *table = unwind_table_new();
	struct perf_unwind_object *object;

	if (IS_ERR(table))
		abort();
	load_rules(table, 0, 0, MAX_ROWS, 0, 2);
	changes++;
	object = object_of(table, 0);
	report(object && !perf_unwind_is_current(object, &inodes[0]),
	       "a file that was changed has no rules");
	load_rules(table, 0, 2 * MAX_ROWS, MAX_ROWS, 0, 2);
	object = object_of(table, 0);
	report(object && perf_unwind_is_current(object, &inodes[0]) && !rule_at(table, 0, 0) &&
	       rule_at(table, 0, 2 * MAX_ROWS) && table->stats.objects == 1,
	       "... and loaded anew it has those of the update alone");
	unwind_table_delete(table);
}

/* A sample looks at so many with one hash: the coldest makes room for one more. */
static void check_probes(void)
{
	struct unwind_table *table = unwind_table_new();
	unsigned int nr;

	if (IS_ERR(table))
		abort();
	same_hash = true;
	for (nr = 0; nr < NR_FILES; nr++)
		load_rules(table, nr, 0, 2, 0, 2);
	report(table->stats.objects == PERF_UNWIND_MAX_PROBES &&
	       table->stats.evicted == NR_FILES - PERF_UNWIND_MAX_PROBES &&
	       !object_of(table, 0) && object_of(table, NR_FILES - 1),
	       "objects of one hash are no more than a sample looks at");
	same_hash = false;
	unwind_table_delete(table);
}

static u32 rows_of(struct unwind_table *table, unsigned int nr)
{
	struct unwind_table_subject subject = subject_of(nr);
	u64 before = table->stats.rows;

	if (unwind_table_unload(table, &subject.key))
		return 0;
	return before - table->stats.rows;
}

static void set_limits(unsigned int of_table, unsigned int of_user)
{
	*param_table_kbytes = of_table;
	user_kbytes = of_user;
}

/* One that is full of objects, the first of which was used least. */
static struct unwind_table *full_store(void)
{
	struct unwind_table *table = unwind_table_new();
	unsigned int nr;

	if (IS_ERR(table))
		abort();
	for (nr = 0; nr < NR_FILES && !table->stats.evicted; nr++) {
		if (load_rules(table, nr, 0, MAX_ROWS, 0, 2))
			break;
	}
	return table;
}

static void check_room(const char *whose)
{
	struct unwind_table *table = full_store();
	u64 evicted = table->stats.evicted, max = 8 * MAX_ROWS;
	unsigned int coldest = 1;	/* the first has made room for the last */
	int err;

	report(evicted == 1 && table->stats.objects > 3, "%s limit: the table is full", whose);
	err = load_rules(table, coldest, MAX_ROWS, MAX_RULES, 0, MAX_RULES);
	report(!err && table->stats.evicted > evicted && table->stats.rules > MAX_RULES,
	       "%s limit: objects make room for rules", whose);
	report(rows_of(table, coldest) >= MAX_ROWS + MAX_RULES,
	       "%s limit: ... but not the one that is loaded", whose);
	evicted = table->stats.evicted;
	err = load_rules(table, 0, 0, 3 * MAX_ROWS, 0, 2);
	while (!err && max < 1 << 20) {
		err = load_rules(table, 0, max, 3 * MAX_ROWS, 0, 2);
		max += 3 * MAX_ROWS;
	}
	report(err == -EFBIG || err == -EDQUOT, "%s limit: what will not fit is refused", whose);
	unwind_table_delete(table);
}

static void check_empty(void)
{
	struct unwind_table *table = unwind_table_new();

	if (IS_ERR(table))
		abort();
	printf("# an empty table: %zu bytes, charged %llu\n", allocated,
	       (unsigned long long)table->stats.bytes);
	report(allocated == table->stats.bytes, "an empty table is charged");
	unwind_table_delete(table);
	report(!allocated, "nothing is left of it");
}

/* No event has it by then, and no sample. */
static void check_closed(void)
{
	struct unwind_table *table = unwind_table_new();
	unsigned long before;

	if (IS_ERR(table))
		abort();
	load_rules(table, 0, 0, MAX_ROWS, 100, 2);
	load_rules(table, 0, 0, MAX_ROWS, 200, 2);
	before = waits;
	unwind_table_delete(table);
	report(waits == before && !allocated, "a table that is closed waits for no sample");
}

static void one_step(struct unwind_table **table)
{
	struct unwind_table_subject subject = subject_of(below(NR_FILES));

	if (!*table) {
		*table = unwind_table_new();
		if (IS_ERR(*table))
			*table = NULL;
		return;
	}
	switch (below(32)) {
	case 0:
		unwind_table_delete(*table);
		*table = NULL;
		return;
	case 1:
		unwind_table_unload_all(*table);
		return;
	case 2:
		unwind_table_unload(*table, &subject.key);
		return;
	case 3:
		unwind_table_reap(*table, true);
		return;
	default:
		load_rules(*table, below(NR_FILES), below(4) * MAX_ROWS, 1 + below(MAX_ROWS),
			   below(8) ? below(64) : below(60000),
			   1 + below(below(8) ? 64 : MAX_RULES));
	}
}

/* At each step all that is allocated is charged, and within both limits. */
static void check_steps(unsigned int steps)
{
	struct unwind_table *tables[NR_STORES] = {};
	bool charged = true, bounded = true;
	unsigned long evicted = 0;
	unsigned int i, nr;

	for (i = 0; i < steps; i++) {
		u64 bytes = 0;

		one_step(&tables[below(NR_STORES)]);
		for (nr = 0; nr < NR_STORES; nr++) {
			if (!tables[nr])
				continue;
			bytes += tables[nr]->stats.bytes;
			evicted += tables[nr]->stats.evicted;
			bounded &= tables[nr]->stats.bytes <= (u64)*param_table_kbytes << 10;
		}
		bounded &= bytes <= (u64)user_kbytes << 10;
		charged &= allocated == bytes;
	}
	for (nr = 0; nr < NR_STORES; nr++) {
		if (tables[nr])
			unwind_table_delete(tables[nr]);
	}
	report(charged, "%u steps: what is allocated is what is charged", steps);
	report(bounded && evicted, "%u steps: within the limits", steps);
	report(!allocated, "%u steps: nothing is left", steps);
}

int main(int argc, char **argv)
{
	unsigned int steps = argc > 1 ? atoi(argv[1]) : 5000;

	set_limits(64 << 10, 256 << 10);
	check_empty();
	check_closed();
	check_lookup(steps / 50);
	check_changed();
	check_probes();
	set_limits(400, 256 << 10);
	check_room("the table's");
	set_limits(64 << 10, 480);
	check_room("the user's");
	set_limits(400, 1000);
	check_steps(steps);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
