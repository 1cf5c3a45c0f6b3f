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
	report(ok, "load: each member at its bound, and one beyond");
	/* No more rules than 16 bits can number. */
	l = load_of(FILE_FD, 0, 4, 2, 2);
	make_rows(0, 2, 2, -100);
	ok = load(&l) == -ENOSPC && end();
	report(ok, "load: a table that is full of rules");
}

/*
 * Rows and rules of every size: larger ones of a newer program, as long as the kernel knows all
 * that is not 0. They end where an allocation does: ASan sees a byte too many.
 */
static bool check_size(unsigned int row_size, unsigned int rule_size)
{
	u8 *at[] = { malloc(2 * row_size), malloc(2 * rule_size) };
	const unsigned int size[] = { row_size, rule_size }, known[] = { 8, 20 };
	struct perf_unwind_load l = simple(FILE_FD);
	unsigned int i, byte;
	int want = 0;
	bool ok;

	l.row_size = row_size;
	l.rule_size = rule_size;
	l.rows = (unsigned long)at[0];
	l.rules = (unsigned long)at[1];
	for (i = 0; i < 2; i++) {
		memset(at[i], 0, 2 * size[i]);
		if (size[i] < known[i])
			want = -EINVAL;
		else if (size[i] > 256 && want != -EINVAL)
			want = -E2BIG;
	}
	/* Right as far as they go: a size is wrong by itself. */
	for (i = 0; i < 2; i++) {
		memcpy(at[0] + i * row_size, &rows[i], row_size < 8 ? row_size : 8);
		memcpy(at[1] + i * rule_size, &rules[i], rule_size < 20 ? rule_size : 20);
	}
	ok = load(&l) == want;
	for (i = 0; i < 2; i++)
		for (byte = 0; byte < 2 * size[i] && !want; byte++) {
			if (byte % size[i] < known[i])
				continue;
			at[i][byte] = 1;
			ok &= load(&l) == -E2BIG;
			at[i][byte] = 0;
		}
	free(at[0]);
	free(at[1]);
	return ok;
}

static void check_element_sizes(void)
{
	struct perf_unwind_key key;
	unsigned int size;
	bool ok = true;

	begin();
	key = key_of(FILE_FD);
	for (size = 0; size < 300; size++)
		ok &= check_size(size, 20) && check_size(8, size) && check_size(size, size);
	ok &= check_size(8, 65535) && check_size(65535, 20);
	ok &= cfa_at(&key, 0) == 8 && cfa_at(&key, 1) == 9 && !cfa_at(&key, 4);
	report(ok & end(), "load: rows and rules of every size");
}

/* What a kernel makes of rows and rules that are smaller than its own. */
static void check_smaller(void)
{
	static const u8 two[] = { 1, 2, 3, 4 };
	u8 to[6];
	bool ok;

	memset(to, 0xff, sizeof(to));
	ok = !copy_elements(to, 3, (unsigned long)two, 2, 2);
	ok &= !memcmp(to, (u8[]) { 1, 2, 0, 3, 4, 0 }, sizeof(to));
	report(ok, "load: what smaller rules do not have is 0");
}

/* Where the return address is: in a register only of an architecture that has one. */
static void check_return_address(void)
{
	struct perf_unwind_load l;
	unsigned int ra, off, known, byte;
	bool ok = true, want;

	begin();
	l = simple(FILE_FD);
	for (known = 0; known < 2; known++)
		for (ra = 0; ra < 256; ra++)
			for (off = 0; off < 2; off++) {
				ra_in_register = known;
				rules[1].ra = ra;
				rules[1].ra_off = -8 * off;
				want = !ra || (ra == 1 && known && !off);
				ok &= load(&l) == (want ? 0 : -EINVAL);
			}
	ra_in_register = false;
	rules[1] = rules[0];
	for (byte = 0; byte < sizeof(rules[1].__reserved); byte++) {
		rules[1].__reserved[byte] = 1;
		ok &= load(&l) == -EINVAL;
		rules[1].__reserved[byte] = 0;
	}
	ok &= !load(&l) && end();
	report(ok, "rules: where the return address is, and what is reserved");
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

static void pass_time(void)
{
	table_now.tv_nsec += table_napped * 1000000L;
	table_now.tv_sec += table_now.tv_nsec / 1000000000;
	table_now.tv_nsec %= 1000000000;
}

/* Somebody goes on to write. */
static void pass_time_and_write(void)
{
	struct timespec64 now;

	pass_time();
	now = timestamp_truncate(table_now, &inodes[FILE_FD]);
	inodes[FILE_FD].ctime = now.tv_sec;
	inodes[FILE_FD].ctime_nsec = now.tv_nsec;
}

/*
 * A file that was changed at @sec and @nsec is loaded at 100.5 s. Returns whether the rows may be
 * used, and each later change makes another ctime.
 */
static bool load_changed(u32 gran, time64_t sec, long nsec, unsigned int naps, long ticks)
{
	struct perf_unwind_object *object;
	struct timespec64 next;
	bool usable = false;
	int i;

	begin();
	disk.s_time_gran = gran;
	table_now = (struct timespec64) { .tv_sec = 100, .tv_nsec = 500000000 };
	table_naps = 0;
	table_napped = 0;
	inodes[FILE_FD].ctime = sec;
	inodes[FILE_FD].ctime_nsec = nsec;
	if (load_with(0, 9, 1, 1) || table_naps != naps || table_napped < ticks)
		abort();
	hash_for_each(table()->base.objects, i, object, node) {
		usable = perf_unwind_is_current(object, &inodes[FILE_FD]);
		next = timestamp_truncate(table_now, &inodes[FILE_FD]);
		inodes[FILE_FD].ctime = next.tv_sec;
		inodes[FILE_FD].ctime_nsec = next.tv_nsec;
		usable &= !perf_unwind_is_current(object, &inodes[FILE_FD]);
	}
	table_now = (struct timespec64) { .tv_sec = INT_MAX };
	return end() && usable;
}

#define TICK	1000000
#define SECOND	1000000000

/* Of file systems whose ctime is as fine as a tick, or a second. */
static void check_changed(void)
{
	bool ok = true;

	table_nap = pass_time;
	ok &= load_changed(1, 100, 499000000, 0, 0) && load_changed(1, 99, 999999999, 0, 0);
	ok &= load_changed(1, 100, 500000000, 1, 2);
	ok &= load_changed(TICK, 100, 499000000, 0, 0) && load_changed(TICK, 100, 500000000, 1, 2);
	ok &= load_changed(SECOND, 99, 0, 0, 0);
	/* The clock of a server is another one. */
	ok &= load_changed(1, 200, 0, 0, 0) && load_changed(SECOND, 101, 0, 0, 0);
	report(ok, "load: the next change of a file makes another ctime");
	ok = load_changed(SECOND, 100, 0, 1, 500);
	report(ok, "load: ... of whole seconds, too");

	/* By somebody who does not end. */
	table_nap = pass_time_and_write;
	ok = !load_changed(1, 100, 500000000, 1, 2) && !load_changed(SECOND, 100, 0, 1, 500);
	/* Killed meanwhile: no time has passed. */
	table_nap = NULL;
	ok &= !load_changed(1, 100, 500000000, 1, 2) && !load_changed(SECOND, 100, 0, 1, 500);
	report(ok, "load: rows of a file that may change unseen are not used");
}

int main(void)
{
	table_takes_locks = true;
	check_members();
	check_element_sizes();
	check_smaller();
	check_rules();
	check_return_address();
	check_rows();
	check_all_ranges();
	check_merged();
	check_faults();
	check_changed();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
