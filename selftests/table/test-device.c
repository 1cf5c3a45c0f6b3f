// SPDX-License-Identifier: GPL-2.0
/*
 * Each guard of /dev/perf_unwind_rules: sizes, files and flags at their bounds and one beyond, and
 * what the device says of a table. Prints TAP.
 */
#include "device-state.h"

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
	ok &= i > 3 && !table_device->fops->release(NULL, &table_file) && !allocated;
	report(ok, "open: each allocation fails once");
	fail_alloc = 0;
	*param_table_kbytes = 4;
	ok = table_device->fops->open(NULL, &table_file) == -EFBIG && !allocated;
	*param_table_kbytes = 64 << 10;
	user_kbytes = 4;
	ok &= table_device->fops->open(NULL, &table_file) == -EDQUOT && !allocated;
	user_kbytes = 256 << 10;
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
	inodes[FILE_FD].no_writeback = true;
	inodes[FILE_FD].i_mapping = &inodes[FILE_FD];
	ok = load_object_of(FILE_FD, 0) == -EOPNOTSUPP;
	ok &= load_object_of(OVERLAY_FD, 0) == -EOPNOTSUPP;
	ok &= table()->stats.loads == 3 && unload_object_of(99, 0) == -EBADF;
	inodes[FILE_FD].no_writeback = false;
	report(ok, "files: none that can change without a trace");
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
	return table_device->fops->unlocked_ioctl(&table_file, PERF_UNWIND_STATS,
						  (unsigned long)arg);
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
	table_takes_locks = true;
	check_device();
	check_open();
	check_all_sizes();
	check_subjects();
	check_attach();
	check_interrupted();
	check_stats();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
