// SPDX-License-Identifier: GPL-2.0
/*
 * Are rules used only for the file or vDSO that they were loaded for, and only as long as that
 * can be known?
 *
 * The environment variable UNWIND_FILES_DISK names a block device.  Tests of file systems need
 * it, and overwrite it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <linux/btrfs.h>
#include <linux/fs.h>

#include "kselftest_harness.h"
#include "unwind_rules.h"

FIXTURE(unwind_files) {
	int				table;
	struct perf_event_mmap_page	*ring;
	char				dir[64];
};

FIXTURE_SETUP(unwind_files)
{
	self->table = unwind_table_open();
	if (self->table < 0)
		SKIP(return, "no /dev/perf_unwind_rules (modprobe perf_unwind_rules)");
}

FIXTURE_TEARDOWN(unwind_files)
{
	if (!*self->dir)
		return;
	umount(self->dir);
	rmdir(self->dir);
}

/*
 * Mounts a file system that other processes do not see.
 * @dir: out: where it is mounted; 64 bytes
 */
static bool mount_one(char *dir, const char *device, const char *type)
{
	snprintf(dir, 64, "/tmp/unwind_files.XXXXXX");
	if (!mkdtemp(dir)) {
		*dir = '\0';
		return false;
	}
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount(device, dir, type, 0, NULL);
}

/*
 * The same with a new file system on the disk.
 * @force: the option of its mkfs that overwrites another one
 */
static bool mount_disk(char *dir, const char *type, const char *force)
{
	const char *disk = getenv("UNWIND_FILES_DISK");
	char make[64];

	snprintf(make, sizeof(make), "mkfs.%s -q %s \"$UNWIND_FILES_DISK\"", type, force);
	return disk && *disk && !system(make) && mount_one(dir, disk, type);
}

/* A file with the code in a directory of the file system. */
static int file_in(const char *dir, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	return fd < 0 || code_write(fd, 0) ? -1 : fd;
}

/* Samples an instruction, with the rules of the table.  Returns the ring of the samples. */
static struct perf_event_mmap_page *watch(int table, const void *at)
{
	struct perf_event_attr attr;
	int event;

	rules_attr(&attr, at);
	event = event_open(&attr, -1);
	return event < 0 || attach(table, event) ? MAP_FAILED : ring_map(event);
}

#define WATCH(at) do {							\
	self->ring = watch(self->table, (at));				\
	ASSERT_NE(MAP_FAILED, self->ring);				\
} while (0)

#define RUN(code, sample) do {						\
	((void (*)(void))(code))();					\
	ASSERT_LT(0, ring_last(self->ring, (sample)));			\
} while (0)

/* Files that differ in nothing but the subvolume that they are in. */
TEST_F(unwind_files, subvolumes)
{
	struct btrfs_ioctl_vol_args volume = { .name = "volume" };
	struct btrfs_ioctl_vol_args_v2 copy = { .name = "copy" };
	int root, first, second, first_version, second_version;
	struct stat first_stat, second_stat;
	struct sample sample;
	char *code;

	if (!mount_disk(self->dir, "btrfs", "-f"))
		SKIP(return, "no UNWIND_FILES_DISK, or no btrfs on it");
	root = open(self->dir, O_RDONLY);
	ASSERT_LE(0, root);
	ASSERT_EQ(0, ioctl(root, BTRFS_IOC_SUBVOL_CREATE, &volume));
	first = file_in(self->dir, "volume/file");
	ASSERT_LE(0, first);
	fsync(first);
	copy.fd = openat(root, "volume", O_RDONLY);
	ASSERT_EQ(0, ioctl(root, BTRFS_IOC_SNAP_CREATE_V2, &copy));
	second = openat(root, "copy/file", O_RDWR);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, fstat(first, &first_stat));
	ASSERT_EQ(0, fstat(second, &second_stat));
	EXPECT_EQ(first_stat.st_ino, second_stat.st_ino);
	EXPECT_EQ(first_stat.st_ctim.tv_sec, second_stat.st_ctim.tv_sec);
	EXPECT_EQ(first_stat.st_ctim.tv_nsec, second_stat.st_ctim.tv_nsec);
	ASSERT_EQ(0, ioctl(first, FS_IOC_GETVERSION, &first_version));
	ASSERT_EQ(0, ioctl(second, FS_IOC_GETVERSION, &second_version));
	EXPECT_EQ(first_version, second_version);

	code = code_map(second, PROT_READ | PROT_EXEC, NULL);
	ASSERT_NE(MAP_FAILED, code);
	WATCH(code + CODE_OFFSET(rules_leaf));
	ASSERT_EQ(0, load_code(self->table, first, 0));
	RUN(code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(0, load_code(self->table, second, 0));
	RUN(code, &sample);
	EXPECT_TRUE(is_whole(&sample, code));
	ASSERT_EQ(code, code_map(first, PROT_READ | PROT_EXEC, code));
	RUN(code, &sample);
	EXPECT_TRUE(is_whole(&sample, code));
	munmap(code, 2 * sysconf(_SC_PAGESIZE));
	close(first);
	close(second);
	close(copy.fd);
	close(root);
}

/* A table holds no reference to a file: its file system can be unmounted. */
TEST_F(unwind_files, unmounted)
{
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	int file;

	if (!mount_disk(self->dir, "btrfs", "-f"))
		SKIP(return, "no UNWIND_FILES_DISK, or no btrfs on it");
	file = file_in(self->dir, "file");
	ASSERT_LE(0, file);
	EXPECT_EQ(0, load_code(self->table, file, 0));
	close(file);
	EXPECT_EQ(0, umount(self->dir));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
}

/*
 * ext2 notes changes in whole seconds: the second one of two in a second can't be seen, so that
 * a load waits for the end of it.
 */
TEST_F(unwind_files, whole_seconds)
{
	struct sample sample;
	char *code;
	int file, i;

	if (!mount_disk(self->dir, "ext2", "-F"))
		SKIP(return, "no UNWIND_FILES_DISK, or no ext2 on it");
	file = file_in(self->dir, "file");
	ASSERT_LE(0, file);
	code = code_map(file, PROT_READ | PROT_EXEC, NULL);
	ASSERT_NE(MAP_FAILED, code);
	WATCH(code + CODE_OFFSET(rules_leaf));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(1, pwrite(file, "", 1, 4000));
		ASSERT_EQ(0, load_code(self->table, file, 0));
		RUN(code, &sample);
		EXPECT_TRUE(is_whole(&sample, code));
		ASSERT_EQ(1, pwrite(file, "", 1, 4000));
		RUN(code, &sample);
		EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	}
	munmap(code, 2 * sysconf(_SC_PAGESIZE));
	close(file);
}

/* A write to a shared mapping of such a file leaves no trace after the mapping is gone. */
TEST_F(unwind_files, memfd)
{
	int file = memfd_create("unwind_files", MFD_CLOEXEC);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, code_write(file, 0));
	EXPECT_EQ(-1, load_code(self->table, file, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST_F(unwind_files, tmpfs)
{
	int file;

	if (!mount_one(self->dir, "none", "tmpfs"))
		SKIP(return, "can't mount");
	file = file_in(self->dir, "file");
	ASSERT_LE(0, file);
	EXPECT_EQ(-1, load_code(self->table, file, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(file);
}

/* Returns the address of a function of the vDSO, or NULL. */
static const char *vdso_function(const char *name)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	return vdso ? dlsym(vdso, name) : NULL;
}

/* Finds the mapping of the vDSO. */
static bool vdso_mapping(char **start, size_t *size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[256];

	*start = NULL;
	while (maps && !*start && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			*start = (char *)from;
			*size = to - from;
		}
	}
	if (maps)
		fclose(maps);
	return *start;
}

static int load_vdso(int table, const struct perf_unwind_row *rows, unsigned int nr_rows,
		     const struct perf_unwind_rule *rules, unsigned int nr_rules)
{
	struct perf_unwind_load arg = {
		.size = sizeof(arg), .fd = -1, .flags = PERF_UNWIND_VDSO_64, .end = 4096,
		.rows = (unsigned long)rows, .nr_rows = nr_rows,
		.rules = (unsigned long)rules, .nr_rules = nr_rules,
		.row_size = sizeof(*rows), .rule_size = sizeof(*rules),
	};

	return ioctl(table, PERF_UNWIND_LOAD, &arg);
}

/* Its rules are used, but not after somebody, such as a debugger, has written to it. */
TEST_F(unwind_files, vdso)
{
	const struct perf_unwind_rule rule = CFA_SP(8);
	const struct perf_unwind_row row = { .offset = 0 };
	const char *get_cpu = vdso_function("__vdso_getcpu");
	struct sample sample;
	unsigned int cpu;
	size_t size;
	char *start;

	if (!get_cpu || !vdso_mapping(&start, &size) || get_cpu >= start + 4096)
		SKIP(return, "no vDSO");
	ASSERT_EQ(0, load_vdso(self->table, &row, 1, &rule, 1));
	WATCH(get_cpu);
	((int (*)(void *, void *, void *))get_cpu)(&cpu, NULL, NULL);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_EQ(1, PERF_UNWIND_INFO_FRAMES(sample.info));
	EXPECT_EQ(PERF_UNWIND_INNERMOST_RULE, PERF_UNWIND_INFO_INNERMOST(sample.info));
	if (mprotect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		SKIP(return, "the vDSO is sealed");
	/* The same byte: the page becomes the process's own. */
	asm volatile("orb $0, (%0)" : : "r" (start) : "memory", "cc");
	ASSERT_EQ(0, mprotect(start, size, PROT_READ | PROT_EXEC));
	((int (*)(void *, void *, void *))get_cpu)(&cpu, NULL, NULL);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_EQ(0, PERF_UNWIND_INFO_FRAMES(sample.info));
}

/* Other code where the vDSO was. */
TEST_F(unwind_files, over_vdso)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_OUTERMOST }, CFA_SP(64), CFA_SP(8),
	};
	const struct perf_unwind_row rows[] = {
		{ .offset = 0, .rule = 0 },
		{ .offset = CODE_OFFSET(rules_middle), .rule = 1 },
		{ .offset = CODE_OFFSET(rules_leaf), .rule = 2 },
	};
	struct sample sample;
	size_t size;
	char *start;

	if (!vdso_mapping(&start, &size))
		SKIP(return, "no vDSO");
	ASSERT_EQ(0, load_vdso(self->table, rows, 3, rules, 3));
	if (munmap(start, size))
		SKIP(return, "the vDSO is sealed");
	ASSERT_EQ(start, mmap(start, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	memcpy(start, rules_code, rules_code_end - rules_code);
	ASSERT_EQ(0, mprotect(start, size, PROT_READ | PROT_EXEC));
	WATCH(start + CODE_OFFSET(rules_leaf));
	RUN(start, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	EXPECT_EQ(0, PERF_UNWIND_INFO_FRAMES(sample.info));
}

TEST_HARNESS_MAIN
