// SPDX-License-Identifier: GPL-2.0
/*
 * What /dev/perf_unwind_rules makes of a load: members, rules and rows at their bounds and one
 * beyond, and loads over each other; each access to user memory and each allocation fails once.
 * Prints TAP.
 */
#include "device-state.h"

static int load_with(u32 start, u32 end, u32 nr_rows, u32 nr_rules)
{
	struct perf_unwind_load l = load_of(FILE_FD, start, end, nr_rows, nr_rules);

	make_rows(start, nr_rows < MAX_ROWS ? nr_rows : MAX_ROWS,
		  nr_rules && nr_rules < MAX_RULES ? nr_rules : MAX_RULES, 8);
	return load(&l);
}

static void check_members(void)
{
	struct perf_unwind_load l;
	bool ok = true;

	begin();
	ok &= load_with(5, 5, 1, 1) == -EINVAL && load_with(6, 5, 1, 1) == -EINVAL;
	ok &= !load_with(5, 6, 1, 1) && !load_with(0, ~0U, 1, 1);
	ok &= load_with(0, 9, 0, 1) == -EINVAL && load_with(0, 9, 1, 0) == -EINVAL;
	ok &= load_with(0, 9, 1, 65536) == -EINVAL;
	ok &= load_with(0, 1 << 20, 65537, 1) == -E2BIG && !load_with(0, 1 << 20, 65536, 1);
	/* Rule 0 is of the table: one less than what an ioctl may have. */
	ok &= !load_with(0, 9, 1, 65534);
	ok &= call(PERF_UNWIND_UNLOAD, &(struct perf_unwind_unload) { .size = 16, .fd = -1 },
		   16) == 0;
	ok &= !load_with(0, 9, 1, 65535);
	ok &= table()->stats.rules == 65536;
	l = simple(FILE_FD);
	l.__reserved = 1;
	ok &= load(&l) == -EINVAL;
	report(ok, "load: each member at its bound, and one beyond");
	/* No more rules than 16 bits can number. */
	l = load_of(FILE_FD, 0, 4, 2, 2);
	make_rows(0, 2, 2, -100);
	ok = load(&l) == -ENOSPC && end();
	report(ok, "load: a table that is full of rules");
}

/* All values of a rule's small members. */
static void check_rules(void)
{
	struct perf_unwind_load l;
	unsigned int kind, base, fp, deref;
	bool ok = true, want;

	begin();
	l = simple(FILE_FD);
	for (kind = 0; kind < 8; kind++)
		for (base = 0; base < 4; base++)
			for (fp = 0; fp < 6; fp++)
				for (deref = 0; deref < 3; deref++) {
					rules[1] = (struct perf_unwind_rule) {
						.kind = kind, .base = base, .fp = fp,
						.deref_off = deref * 100,
					};
					want = kind <= 5 && base <= 1 && fp <= 3 &&
					       (!deref || kind == PERF_UNWIND_DEREF);
					ok &= load(&l) == (want ? 0 : -EINVAL);
				}
	ok &= end();
	report(ok, "rules: only those that mean something");
}

/* Two rows within a range, and the rules that they have. */
static void check_rows(void)
{
	struct perf_unwind_load l;
	unsigned int first, second, rule, reserved;
	bool ok = true, want;

	begin();
	l = simple(FILE_FD);
	l.start = 10;
	l.end = 13;
	for (first = 8; first < 15; first++)
		for (second = 8; second < 15; second++)
			for (rule = 0; rule < 4; rule++)
				for (reserved = 0; reserved < 4; reserved++) {
					rows[0] = (struct perf_unwind_row) {
						first, rule, reserved == 1,
					};
					rows[1] = (struct perf_unwind_row) {
						second, rule / 2, reserved == 2,
					};
					want = first >= 10 && second > first && second < 13 &&
					       rule < 2 && reserved % 3 == 0;
					ok &= load(&l) == (want ? 0 : -EINVAL);
				}
	ok &= end();
	report(ok, "rows: ascending, in the range, of rules that there are");
}

/*
 * Loads over each other, against an array with the rule of each offset. @scale: bytes between
 * the places where rows can be.
 */
static bool check_ranges(u32 scale, unsigned int seed)
{
	enum { PLACES = 24, MAX = 6 };
	s32 model[PLACES + 1] = {};
	struct perf_unwind_key key;
	unsigned int round, i;
	bool ok = true;

	begin();
	key = key_of(FILE_FD);
	for (round = 0; round < 60; round++) {
		u32 start = rand_r(&seed) % PLACES;
		u32 end = start + 1 + rand_r(&seed) % (PLACES - start);
		struct perf_unwind_load l = load_of(FILE_FD, start * scale, end * scale, 0, 3);
		unsigned int at = start + rand_r(&seed) % (end - start);

		/* Rule 0 has no CFA: nothing is known there. */
		make_rows(0, 1, 3, 8);
		rules[0].kind = PERF_UNWIND_UNKNOWN;
		for (i = start; i < end; i++)
			model[i] = i < at ? 0 : model[i];
		for (; at < end && l.nr_rows < MAX; at += 1 + rand_r(&seed) % 3) {
			u16 rule = rand_r(&seed) % 3;

			rows[l.nr_rows++] = (struct perf_unwind_row) { at * scale, rule, 0 };
			for (i = at; i < end; i++)
				model[i] = rule ? 8 + rule : 0;
		}
		ok &= !load(&l);
		for (i = 0; i < PLACES + 1; i++) {
			ok &= cfa_at(&key, i * scale) == model[i];
			ok &= cfa_at(&key, i * scale + scale - 1) == model[i];
		}
		/* Nothing is known anywhere: then there is no object. */
		for (i = 0; i < PLACES && !model[i]; i++)
			;
		ok &= !object_of(&key) == (i == PLACES);
		ok &= table()->stats.objects == (i < PLACES);
		ok &= !object_of(&key) || object_of(&key)->rows->nr == table()->stats.rows;
	}
	return ok & end();
}

static void check_all_ranges(void)
{
	static const u32 scales[] = { 1, 2, 64, 4097, 1 << 27, ~0U / 25 };
	unsigned int i, seed;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(scales); i++)
		for (seed = 0; seed < 40; seed++)
			ok &= check_ranges(scales[i], 100 * i + seed);
	report(ok, "rows: loads over each other");
}

/* As few rows as can be: those with the rule of the row before are left out. */
static void check_merged(void)
{
	struct perf_unwind_key key;
	struct perf_unwind_load l;
	bool ok;

	begin();
	key = key_of(FILE_FD);
	make_rows(0, 8, 1, 8);
	l = load_of(FILE_FD, 0, 100, 8, 1);
	ok = !load(&l) && table()->stats.rows == 2 && object_of(&key)->rows->nr == 2;
	l = load_of(FILE_FD, 100, 200, 1, 1);
	rows[0].offset = 100;
	ok &= !load(&l) && table()->stats.rows == 2 && cfa_at(&key, 199) && !cfa_at(&key, 200);
	/* The same rule of another load is the same rule. */
	ok &= table()->stats.rules == 2 && table()->stats.loads == 2;
	ok &= end();
	report(ok, "rows: merged, and rules shared");
}

/* Loads with each access to user memory, or each allocation, failing once. */
static void check_faults(void)
{
	struct perf_unwind_stats before;
	struct perf_unwind_key key;
	struct perf_unwind_load l;
	unsigned int i;
	bool ok = true;
	int err = -1;

	begin();
	key = key_of(FILE_FD);
	l = simple(FILE_FD);
	ok &= !load(&l);
	make_rows(1, 2, 2, 32);
	l = load_of(FILE_FD, 1, 9, 2, 2);
	before = table()->stats;
	for (i = 1; err; i++) {
		nr_copies = 0;
		fail_copy = i;
		err = load(&l);
		fail_copy = 0;
		ok &= !err || (err == -EFAULT && cfa_at(&key, 1) == 9 &&
			       table()->stats.rows == before.rows && table()->stats.loads == 1 &&
			       table()->stats.bytes == before.bytes && !table()->lock.locked);
	}
	ok &= i == 6 && cfa_at(&key, 1) == 32 && end();
	report(ok, "load: each access to user memory fails once");

	/* More rules than fit, so that the array of rules grows, and another file. */
	begin();
	l = simple(FILE_FD);
	ok = !load(&l);
	make_rows(0, 4, 600, 32);
	l = load_of(OTHER_FD, 0, 9, 4, 600);
	err = -1;
	for (i = 1; err; i++) {
		nr_allocs = 0;
		fail_alloc = i;
		err = load(&l);
		fail_alloc = 0;
		ok &= !err || (err == -ENOMEM && !table()->lock.locked &&
			       table()->stats.objects == 1 && table()->stats.loads == 1);
	}
	ok &= i > 8 && table()->stats.objects == 2 && end();
	report(ok, "load: each allocation fails once");
}

int main(void)
{
	table_takes_locks = true;
	check_members();
	check_rules();
	check_rows();
	check_all_ranges();
	check_merged();
	check_faults();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
