// SPDX-License-Identifier: GPL-2.0
/*
 * Each guard of /dev/perf_unwind_rules: sizes, members, files, rules and rows at their bounds and
 * one beyond; each access to user memory and each allocation fails once. The test includes the
 * source, and calls the device as the kernel does. Prints TAP.
 */
#include "../../kmod/table/device.c"
#include "table-state.h"

#define NR_FDS		8
#define FILE_FD		3
#define OTHER_FD	4
#define WRITE_FD	5	/* not open for reading */
#define DIRECTORY_FD	6
#define OVERLAY_FD	7	/* shows the file of FILE_FD */

static struct super_block disk = { .s_dev = 1 };
static struct inode inodes[NR_FDS];
static struct file files[NR_FDS], table_file;
static const struct inode *real_of(int fd)
{
	return fd == OVERLAY_FD ? &inodes[FILE_FD] : &inodes[fd];
}

struct file *fget(int fd)
{
	if (fd < FILE_FD || fd >= NR_FDS)
		return NULL;
	files[fd].refs++;
	return &files[fd];
}

static const char vdso_64, vdso_32;
const void *arch_perf_unwind_vdso(u32 flag)
{
	return flag == PERF_UNWIND_VDSO_64 ? &vdso_64 :
	       flag == PERF_UNWIND_VDSO_32 ? &vdso_32 : NULL;
}

static struct {
	int			result;
	const struct file	*table;
	int			fd;
} attached;

int perf_unwind_attach(struct file *table, int fd)
{
	attached.table = table;
	attached.fd = fd;
	return attached.result;
}

bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	return false;
}

/* This access to user memory fails, counted from 1. */
static unsigned int fail_copy, nr_copies;

bool table_copy(void *dst, const void *src, size_t size)
{
	if (++nr_copies == fail_copy || !dst || !src)
		return false;
	memcpy(dst, src, size);
	return true;
}

static void begin(void)
{
	unsigned int i;

	fail_copy = 0;
	nr_copies = 0;
	fail_alloc = 0;
	nr_allocs = 0;
	for (i = FILE_FD; i < NR_FDS; i++) {
		inodes[i] = (struct inode) {
			.i_ino = 100 + i, .i_generation = 1, .i_sb = &disk, .i_mode = S_IFREG | 0644,
		};
		files[i] = (struct file) {
			.f_inode = &inodes[i], .f_mode = FMODE_READ, .refs = 1,
		};
	}
	files[WRITE_FD].f_mode = 0;
	inodes[DIRECTORY_FD].i_mode = S_IFDIR | 0755;
	files[OVERLAY_FD].real_inode = &inodes[FILE_FD];
	if (table_device->fops->open(NULL, &table_file))
		abort();
}

static struct unwind_table *table(void)
{
	return table_of(&table_file);
}

/* Every file has the references that it had, and nothing is left. */
static bool end(void)
{
	unsigned int i;
	bool ok = true;

	for (i = FILE_FD; i < NR_FDS; i++)
		ok &= files[i].refs == 1;
	return !table_device->fops->release(NULL, &table_file) && !allocated && ok;
}

/* An ioctl whose argument is at the end of an allocation: ASan sees a byte too many. */
static int call(unsigned int cmd, const void *argument, size_t size)
{
	void *copy = malloc(size);
	int ret;

	memcpy(copy, argument, size);
	ret = table_device->fops->unlocked_ioctl(&table_file, cmd, (unsigned long)copy);
	free(copy);
	return ret;
}

#define MAX_ROWS	(PERF_UNWIND_MAX_ROWS + 1)
#define MAX_RULES	(UNWIND_TABLE_MAX_RULES + 1)
static struct perf_unwind_rule rules[MAX_RULES];
static struct perf_unwind_row rows[MAX_ROWS];

static struct perf_unwind_load load_of(int fd, u32 start, u32 end, u32 nr_rows, u32 nr_rules)
{
	return (struct perf_unwind_load) {
		.size = sizeof(struct perf_unwind_load), .fd = fd, .start = start, .end = end,
		.nr_rows = nr_rows, .nr_rules = nr_rules,
		.rows = (unsigned long)rows, .rules = (unsigned long)rules,
	};
}

static int load(const struct perf_unwind_load *load)
{
	return call(PERF_UNWIND_LOAD, load, sizeof(*load));
}

/* Rules of any offsets, and rows that have them one after another. */
static void make_rows(u32 start, u32 nr_rows, u32 nr_rules, s32 cfa)
{
	u32 i;

	for (i = 0; i < nr_rules; i++)
		rules[i] = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = cfa + i,
		};
	for (i = 0; i < nr_rows; i++)
		rows[i] = (struct perf_unwind_row) { .offset = start + i, .rule = i % nr_rules };
}

static struct perf_unwind_load simple(int fd)
{
	make_rows(0, 2, 2, 8);
	return load_of(fd, 0, 4, 2, 2);
}

static const struct perf_unwind_object *object_of(const struct perf_unwind_key *key)
{
	const struct perf_unwind_object *object;

	hash_for_each_possible(table()->base.objects, object, node, perf_unwind_hash_key(key))
		if (perf_unwind_same_key(&object->key, key))
			return object;
	return NULL;
}

static struct perf_unwind_key key_of(int fd)
{
	return perf_unwind_inode_key(real_of(fd));
}

/* The rule of an offset, as a sample finds it. */
static const struct perf_unwind_rule *rule_at(const struct perf_unwind_key *key, u32 offset)
{
	const struct perf_unwind_object *object = object_of(key);
	struct perf_unwind_walk walk = {
		.end = ULONG_MAX, .rules = table()->base.rules,
		.rows = object ? object->rows : NULL,
	};

	return perf_unwind_find(&walk, offset);
}

static s32 cfa_at(const struct perf_unwind_key *key, u32 offset)
{
	const struct perf_unwind_rule *rule = rule_at(key, offset);

	return rule ? rule->cfa_off : 0;
}

static void check_device(void)
{
	struct seq_file m = { "" };
	struct perf_unwind_load l;
	char want[sizeof(m.text)];
	bool ok;

	begin();
	ok = !strcmp(table_device->name, "perf_unwind_rules") && table_device->mode == 0666;
	ok &= call(PERF_UNWIND_LOAD - 1, "", 1) == -ENOTTY;
	ok &= call(PERF_UNWIND_ATTACH + 1, "", 1) == -ENOTTY;
	l = simple(FILE_FD);
	ok &= !load(&l);
	table_device->fops->show_fdinfo(&m, &table_file);
	snprintf(want, sizeof(want), "unwind-objects:\t1\nunwind-rows:\t3\nunwind-bytes:\t%llu\n",
		 (unsigned long long)table()->stats.bytes);
	ok &= !strcmp(m.text, want);
	ok &= end();
	report(ok, "the device, its ioctls, and fdinfo");
}

/* open(): without memory, or beyond a limit. */
static void check_open(void)
{
	unsigned int i;
	int err = -1;
	bool ok = true;

	for (i = 1; err; i++) {
		nr_allocs = 0;
		fail_alloc = i;
		err = table_device->fops->open(NULL, &table_file);
		ok &= !err || (err == -ENOMEM && !allocated);
	}
	ok &= i > 4 && !table_device->fops->release(NULL, &table_file) && !allocated;
	report(ok, "open: each allocation fails once");
	fail_alloc = 0;
	*param_table_kbytes = 4;
	ok = table_device->fops->open(NULL, &table_file) == -EFBIG && !allocated;
	*param_table_kbytes = 64 << 10;
	*param_user_kbytes = 4;
	ok &= table_device->fops->open(NULL, &table_file) == -EDQUOT && !allocated;
	*param_user_kbytes = 256 << 10;
	report(ok, "open: within the limits");
}

/* Every size, with zeroes or something else in what the kernel does not know. */
static bool check_sizes(unsigned int cmd, const void *argument, size_t known, int done)
{
	static char arg[PAGE_SIZE + 64];
	unsigned int at;
	u32 size;
	bool ok = true;

	for (size = 0; size <= PAGE_SIZE + 1; size++) {
		int want = size < known ? -EINVAL : size > PAGE_SIZE ? -E2BIG : done;

		memset(arg, 0, sizeof(arg));
		memcpy(arg, argument, known);
		memcpy(arg, &size, sizeof(size));
		ok &= call(cmd, arg, size < 4 ? 4 : size) == want;
		if (size <= known || size > known + 16)
			continue;
		at = known + size % 3;
		if (at >= size)
			at = size - 1;
		arg[at] = 1;
		if (cmd != PERF_UNWIND_STATS)
			ok &= call(cmd, arg, size) == -E2BIG;
	}
	ok &= table_device->fops->unlocked_ioctl(&table_file, cmd, 0) == -EFAULT;
	return ok;
}

static void check_all_sizes(void)
{
	struct perf_unwind_unload unload = { .fd = -1 };
	struct perf_unwind_attach attach = { .fd = 7 };
	struct perf_unwind_stats stats = {};
	struct perf_unwind_load l;

	begin();
	l = simple(FILE_FD);
	report(check_sizes(PERF_UNWIND_LOAD, &l, 48, 0), "sizes: load");
	report(check_sizes(PERF_UNWIND_UNLOAD, &unload, 16, 0), "sizes: unload");
	report(check_sizes(PERF_UNWIND_ATTACH, &attach, 16, 0), "sizes: attach");
	report(check_sizes(PERF_UNWIND_STATS, &stats, 56, 0), "sizes: stats");
	report(end(), "sizes: nothing is left");
}

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

/* Files and vDSOs; @fd: of the ioctl. */
static int load_object_of(int fd, u32 flags)
{
	struct perf_unwind_load l = simple(fd);

	l.flags = flags;
	return load(&l);
}

static int unload_object_of(int fd, u32 flags)
{
	struct perf_unwind_unload u = { .size = sizeof(u), .fd = fd, .flags = flags };

	return call(PERF_UNWIND_UNLOAD, &u, sizeof(u));
}

static void check_subjects(void)
{
	struct perf_unwind_key key, vdso = perf_unwind_vdso_key(&vdso_64);
	struct perf_unwind_unload u = { .size = sizeof(u), .fd = FILE_FD, .__reserved = 1 };
	bool ok = true;

	begin();
	ok &= load_object_of(-1, 0) == -EBADF && load_object_of(NR_FDS, 0) == -EBADF;
	ok &= load_object_of(WRITE_FD, 0) == -EBADF && load_object_of(DIRECTORY_FD, 0) == -EINVAL;
	files[DIRECTORY_FD].f_mode = 0;
	ok &= load_object_of(DIRECTORY_FD, 0) == -EBADF && !table()->stats.objects;
	ok &= load_object_of(-1, 3) == -EINVAL && load_object_of(-1, 4) == -EINVAL;
	ok &= load_object_of(FILE_FD, PERF_UNWIND_VDSO_64) == -EINVAL;
	ok &= load_object_of(0, PERF_UNWIND_VDSO_64) == -EINVAL && !table()->stats.objects;
	ok &= !load_object_of(-1, PERF_UNWIND_VDSO_64) && !load_object_of(-1, PERF_UNWIND_VDSO_32);
	ok &= table()->stats.objects == 2 && cfa_at(&vdso, 1) == 9;
	report(ok, "files and vDSOs: only those that can be");
	ok = !load_object_of(OVERLAY_FD, 0) && table()->stats.objects == 3;
	key = key_of(FILE_FD);
	ok &= cfa_at(&key, 1) == 9;
	report(ok, "files: on overlayfs the one below");
	ok = unload_object_of(OTHER_FD, 0) == -ENOENT && unload_object_of(99, 0) == -EBADF;
	ok &= unload_object_of(WRITE_FD, 0) == -EBADF && unload_object_of(-1, 3) == -EINVAL;
	ok &= call(PERF_UNWIND_UNLOAD, &u, sizeof(u)) == -EINVAL && table()->stats.objects == 3;
	ok &= !unload_object_of(FILE_FD, 0) && table()->stats.objects == 2 && !cfa_at(&key, 1);
	ok &= unload_object_of(FILE_FD, 0) == -ENOENT;
	ok &= !unload_object_of(-1, PERF_UNWIND_VDSO_64) && table()->stats.objects == 1;
	ok &= table()->stats.rules > 1;
	ok &= !unload_object_of(-1, 0) && !table()->stats.objects && table()->stats.rules == 1;
	ok &= !unload_object_of(-1, 0);
	report(ok, "unload: one object, or all");
	report(end(), "files: all are released");
}

static void check_attach(void)
{
	struct perf_unwind_attach a = { .size = sizeof(a), .fd = 77 };
	bool ok;

	begin();
	attached.table = NULL;
	a.flags = 1;
	ok = call(PERF_UNWIND_ATTACH, &a, sizeof(a)) == -EINVAL;
	a.flags = 0;
	a.__reserved = 1;
	ok &= call(PERF_UNWIND_ATTACH, &a, sizeof(a)) == -EINVAL && !attached.table;
	a.__reserved = 0;
	attached.result = -EEXIST;
	ok &= call(PERF_UNWIND_ATTACH, &a, sizeof(a)) == -EEXIST;
	ok &= attached.table == &table_file && attached.fd == 77;
	attached.result = 0;
	ok &= !call(PERF_UNWIND_ATTACH, &a, sizeof(a)) && end();
	report(ok, "attach: no flags");
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
		u32 start = rand_r(&seed) % PLACES, end = start + 1 + rand_r(&seed) % (PLACES - start);
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

static void check_interrupted(void)
{
	struct perf_unwind_unload u = { .size = sizeof(u), .fd = -1 };
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	struct perf_unwind_load l;
	bool ok;

	begin();
	l = simple(FILE_FD);
	table_interrupted = true;
	ok = load(&l) == -EINTR && call(PERF_UNWIND_UNLOAD, &u, sizeof(u)) == -EINTR;
	u.fd = FILE_FD;
	ok &= call(PERF_UNWIND_UNLOAD, &u, sizeof(u)) == -EINTR;
	ok &= call(PERF_UNWIND_STATS, &stats, sizeof(stats)) == -EINTR;
	table_interrupted = false;
	ok &= !table()->lock.locked && end();
	report(ok, "all: interrupted while another one has the table");
}

static long stats_of(void *arg)
{
	return table_device->fops->unlocked_ioctl(&table_file, PERF_UNWIND_STATS, (unsigned long)arg);
}

static void check_stats(void)
{
	struct perf_unwind_stats *stats = malloc(sizeof(*stats) + 8);
	struct perf_unwind_load l;
	unsigned int i;
	bool ok = true;

	begin();
	l = simple(FILE_FD);
	ok &= !load(&l) && !load(&l);
	memset(stats, 0xff, sizeof(*stats) + 8);
	stats->size = sizeof(*stats);
	ok &= !stats_of(stats) && stats->size == sizeof(*stats) && stats->objects == 1 &&
	      stats->rules == 3 && stats->rows == 3 && stats->loads == 2 && !stats->evicted &&
	      stats->max_bytes == 64 << 20 && stats->bytes == table()->stats.bytes &&
	      stats->__reserved == 0 && ((u8 *)stats)[sizeof(*stats)] == 0xff;
	/* A larger one of a newer program: the rest is 0. */
	stats->size = sizeof(*stats) + 8;
	ok &= !stats_of(stats) && stats->size == sizeof(*stats);
	for (i = 0; i < 8; i++)
		ok &= !((u8 *)stats)[sizeof(*stats) + i];
	for (i = 1; i <= 3; i++) {
		stats->size = sizeof(*stats) + 8;
		nr_copies = 0;
		fail_copy = i;
		ok &= stats_of(stats) == -EFAULT && !table()->lock.locked;
		fail_copy = 0;
	}
	free(stats);
	report(ok, "stats: what the table has");
	/* What was replaced is freed after a grace period, here by a look at the statistics. */
	ok = table()->retired_bytes;
	synchronize_rcu();
	stats = malloc(sizeof(*stats));
	stats->size = sizeof(*stats);
	ok &= !stats_of(stats) && !table()->retired_bytes;
	free(stats);
	ok &= end();
	report(ok, "stats: frees what no sample reads any more");
}

int main(void)
{
	check_device();
	check_open();
	check_all_sizes();
	check_members();
	check_subjects();
	check_attach();
	check_rules();
	check_rows();
	check_all_ranges();
	check_merged();
	check_faults();
	check_interrupted();
	check_stats();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
