// SPDX-License-Identifier: GPL-2.0
/*
 * The UAPI of /dev/perf_unwind_rules: each error, whose tables are whose, and what a
 * table may hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "unwind_rules.h"

#define LIMIT	"/sys/module/perf_unwind_rules/parameters/table_kbytes"
#define NOBODY	65534

FIXTURE(unwind_table) {
	int	table;
	int	file;
	int	event;
};

FIXTURE_SETUP(unwind_table)
{
	struct perf_event_attr attr;

	self->table = unwind_table_open();
	if (self->table < 0)
		SKIP(return, "no /dev/perf_unwind_rules (modprobe perf_unwind_rules)");
	self->file = code_file(0);
	ASSERT_LE(0, self->file);
	rules_attr(&attr, rules_leaf);
	self->event = event_open(&attr, -1);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(unwind_table)
{
}

static int ioctl_error(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static int attach_error(int table, int event)
{
	return attach(table, event) ? errno : 0;
}

static int attr_error(int table, struct perf_event_attr *attr)
{
	int event = event_open(attr, -1), err;

	if (event < 0)
		return errno;
	err = attach_error(table, event);
	close(event);
	return err;
}

#define EXPECT_ATTR(error, change) do {				\
	struct perf_event_attr attr;				\
	rules_attr(&attr, rules_leaf);			\
	change;							\
	EXPECT_EQ(error, attr_error(self->table, &attr)) {	\
		TH_LOG("after %s", #change);			\
	}							\
} while (0)

TEST_F(unwind_table, attr)
{
	EXPECT_ATTR(0, attr.inherit = 0);
	EXPECT_ATTR(EINVAL, attr.unwind_rules = 0);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_REGS_USER);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_STACK_USER);
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_BP));
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_SP));
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_IP));
	EXPECT_ATTR(EINVAL, attr.exclude_callchain_user = 1);
	EXPECT_ATTR(EINVAL, attr.defer_callchain = 1);
	EXPECT_ATTR(EINVAL, attr.sample_stack_user = 0);
	EXPECT_ATTR(0, attr.sample_stack_user = 8);
}

TEST_F(unwind_table, attach)
{
	struct perf_unwind_attach unknown = {
		.size = sizeof(unknown), .fd = self->event, .flags = 1,
	};

	EXPECT_EQ(EBADF, attach_error(self->table, -1));
	EXPECT_EQ(EBADF, attach_error(self->table, self->file));
	EXPECT_EQ(EBADF, attach_error(self->table, self->table));
	EXPECT_EQ(ENOTTY, attach_error(self->file, self->event));
	EXPECT_EQ(EINVAL, ioctl_error(self->table, PERF_UNWIND_ATTACH, (unsigned long)&unknown));
	EXPECT_EQ(EFAULT, ioctl_error(self->table, PERF_UNWIND_ATTACH, 8));
	EXPECT_EQ(0, attach_error(self->table, self->event));
	EXPECT_EQ(EEXIST, attach_error(self->table, self->event));
	EXPECT_EQ(EEXIST, attach_error(unwind_table_open(), self->event));
}

/* Everybody may open it, and perf events have no other ioctls and bits for it. */
TEST_F(unwind_table, device)
{
	struct perf_event_attr attr;
	struct stat st;

	ASSERT_EQ(0, fstat(self->table, &st));
	EXPECT_EQ(S_IFCHR | 0666, st.st_mode);
	EXPECT_EQ(ENOTTY, ioctl_error(self->event, _IOW('$', 12, __u32), self->table));
	rules_attr(&attr, rules_leaf);
	attr.__reserved_1 = 1;
	EXPECT_EQ(-1, event_open(&attr, -1));
	EXPECT_EQ(EINVAL, errno);
}

/* Whose table, and whose event? Both were opened by root; one is passed on. */
TEST_F(unwind_table, other_user)
{
	struct perf_event_attr attr;
	int status, table, event;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(1);
		table = unwind_table_open();
		if (table < 0 ||
		    attach_error(table, self->event) != EPERM)
			_exit(2);
		rules_attr(&attr, rules_leaf);
		event = event_open(&attr, -1);
		if (event < 0 ||
		    attach_error(self->table, event) != EPERM)
			_exit(3);
		_exit(attach_error(table, event) ? 4 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* One update that is right but for what a test makes wrong. */
struct update {
	struct perf_unwind_load		arg;
	struct perf_unwind_row		rows[3];
	struct perf_unwind_rule		rules[2];
};

static void update_init(struct update *update, int fd)
{
	*update = (struct update) {
		.arg = {
			.size = sizeof(update->arg), .fd = fd, .start = 16, .end = 64,
			.nr_rows = 3, .nr_rules = 2,
			.row_size = sizeof(*update->rows), .rule_size = sizeof(*update->rules),
			.rows = (unsigned long)update->rows,
			.rules = (unsigned long)update->rules,
		},
		.rows = { { .offset = 16 }, { .offset = 20, .rule = 1 }, { .offset = 63 } },
		.rules = { CFA_SP(8), CFA_SP(16) },
	};
}

#define EXPECT_UPDATE(error, change) do {						\
	struct update update;								\
	update_init(&update, self->file);						\
	change;										\
	EXPECT_EQ(error, ioctl_error(self->table, PERF_UNWIND_LOAD,			\
				     (unsigned long)&update.arg)) {			\
		TH_LOG("after %s", #change);						\
	}										\
} while (0)

TEST_F(unwind_table, load)
{
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	int unreadable = open("/tmp", O_PATH), directory = open("/tmp", O_RDONLY);

	EXPECT_UPDATE(EBADF, update.arg.fd = -1);
	EXPECT_UPDATE(EBADF, update.arg.fd = unreadable);
	EXPECT_UPDATE(EINVAL, update.arg.fd = directory);
	EXPECT_UPDATE(EINVAL, update.arg.flags = 1U << 31);
	EXPECT_UPDATE(EINVAL, update.arg.flags = PERF_UNWIND_VDSO_64);
	EXPECT_UPDATE(EINVAL, (update.arg.fd = -1, update.arg.flags = PERF_UNWIND_VDSO_64 |
								     PERF_UNWIND_VDSO_32));
	EXPECT_UPDATE(EINVAL, update.arg.end = 16);
	EXPECT_UPDATE(EINVAL, update.arg.end = 63);
	EXPECT_UPDATE(EINVAL, update.arg.start = 17);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rows = 0);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 0);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 1);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 65536);
	EXPECT_UPDATE(E2BIG, update.arg.nr_rows = PERF_UNWIND_MAX_ROWS + 1);
	EXPECT_UPDATE(E2BIG, update.arg.nr_rows = -1U);
	EXPECT_UPDATE(EINVAL, update.arg.row_size = 0);
	EXPECT_UPDATE(EINVAL, update.arg.row_size = sizeof(*update.rows) - 1);
	EXPECT_UPDATE(E2BIG, update.arg.row_size = PERF_UNWIND_MAX_SIZE + 1);
	EXPECT_UPDATE(EINVAL, update.arg.rule_size = 0);
	EXPECT_UPDATE(EINVAL, update.arg.rule_size = sizeof(*update.rules) - 1);
	EXPECT_UPDATE(E2BIG, update.arg.rule_size = PERF_UNWIND_MAX_SIZE + 1);
	EXPECT_UPDATE(EFAULT, update.arg.rows = 8);
	EXPECT_UPDATE(EFAULT, update.arg.rules = 8);
	EXPECT_UPDATE(EINVAL, update.rows[1].offset = 16);
	EXPECT_UPDATE(EINVAL, update.rows[1].rule = 2);
	EXPECT_UPDATE(EINVAL, update.rows[1].__reserved = 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].kind = PERF_UNWIND_OUTERMOST + 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].base = PERF_UNWIND_BASE_FP + 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].fp = PERF_UNWIND_FP_UNDEFINED + 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].deref_off = 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].ra = PERF_UNWIND_RA_IN_REGISTER + 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].__reserved[0] = 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].__reserved[2] = 1);
	EXPECT_EQ(EFAULT, ioctl_error(self->table, PERF_UNWIND_LOAD, 8));
	EXPECT_EQ(ENOTTY, ioctl_error(self->table, _IO('$', 0x2f), 0));

	/* Nothing has changed. */
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(0, stats.loads);
	EXPECT_UPDATE(0, update.arg.flags = 0);
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
	EXPECT_EQ(4, stats.rows);	/* and from the end on, nothing known */
	EXPECT_EQ(3, stats.rules);	/* and PERF_UNWIND_UNKNOWN */
	EXPECT_EQ(1, stats.loads);
	EXPECT_LT(stats.bytes, stats.max_bytes);
}

/* @argument: of an ioctl, @known bytes long; 8 more bytes follow it */
static void check_sizes(struct __test_metadata *_metadata, int table, unsigned long request,
			unsigned int known, void *argument)
{
	unsigned long at = (unsigned long)argument;
	__u64 *later = argument + known;
	__u32 *size = argument;

	*size = 0;
	EXPECT_EQ(EINVAL, ioctl_error(table, request, at));
	*size = known - 1;
	EXPECT_EQ(EINVAL, ioctl_error(table, request, at));
	*size = 1U << 31;
	EXPECT_EQ(E2BIG, ioctl_error(table, request, at));
	*size = known + sizeof(*later);
	*later = 1;
	EXPECT_EQ(E2BIG, ioctl_error(table, request, at));
	*later = 0;
	EXPECT_EQ(0, ioctl_error(table, request, at));
}

/* Structures of later versions are accepted if the kernel knows all that is not 0. */
TEST_F(unwind_table, sizes)
{
	struct perf_unwind_rule rule = CFA_SP(8);
	struct perf_unwind_row row = {};
	struct {
		struct perf_unwind_load		arg;
		__u64				later;
	} load = { .arg = {
		.fd = self->file, .end = 16, .nr_rows = 1, .nr_rules = 1,
		.row_size = sizeof(row), .rule_size = sizeof(rule),
		.rows = (unsigned long)&row, .rules = (unsigned long)&rule,
	} };
	struct {
		struct perf_unwind_unload	arg;
		__u64				later;
	} unload = { .arg.fd = -1 };
	struct {
		struct perf_unwind_attach	arg;
		__u64				later;
	} attach = { .arg.fd = self->event };

	check_sizes(_metadata, self->table, PERF_UNWIND_LOAD, sizeof(load.arg), &load);
	check_sizes(_metadata, self->table, PERF_UNWIND_UNLOAD, sizeof(unload.arg), &unload);
	check_sizes(_metadata, self->table, PERF_UNWIND_ATTACH, sizeof(attach.arg), &attach);
}

/* x86 has no register in which a call leaves the return address. */
TEST_F(unwind_table, return_in_register)
{
	EXPECT_UPDATE(EINVAL, (update.rules[1].ra = PERF_UNWIND_RA_IN_REGISTER,
			       update.rules[1].ra_off = 0));
	EXPECT_UPDATE(EINVAL, update.rules[1].ra = PERF_UNWIND_RA_IN_REGISTER);
	EXPECT_UPDATE(0, update.rules[1].ra = PERF_UNWIND_RA_AT_CFA);
}

/* So are the rows and rules of later versions. */
TEST_F(unwind_table, element_sizes)
{
	struct later_row {
		struct perf_unwind_row		row;
		__u32				later;
	} rows[] = { { .row.offset = 16 }, { .row = { .offset = 20, .rule = 1 } } };
	struct later_rule {
		struct perf_unwind_rule		rule;
		__u32				later;
	} rules[] = { { .rule = CFA_SP(8) }, { .rule = CFA_SP(16) } };
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	struct perf_unwind_load load = {
		.size = sizeof(load), .fd = self->file, .start = 16, .end = 64,
		.nr_rows = 2, .nr_rules = 2,
		.row_size = sizeof(*rows), .rule_size = sizeof(*rules),
		.rows = (unsigned long)rows, .rules = (unsigned long)rules,
	};
	unsigned long at = (unsigned long)&load;

	rows[1].later = 1;
	EXPECT_EQ(E2BIG, ioctl_error(self->table, PERF_UNWIND_LOAD, at));
	rows[1].later = 0;
	rules[1].later = 1;
	EXPECT_EQ(E2BIG, ioctl_error(self->table, PERF_UNWIND_LOAD, at));
	rules[1].later = 0;
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_LOAD, at));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(3, stats.rows);	/* and from the end on, nothing known */
	EXPECT_EQ(3, stats.rules);	/* and PERF_UNWIND_UNKNOWN */
	EXPECT_EQ(1, stats.loads);
	load.rows = 8;
	EXPECT_EQ(EFAULT, ioctl_error(self->table, PERF_UNWIND_LOAD, at));
}

/* The kernel returns the size that it knows, and clears the rest. */
TEST_F(unwind_table, stats_sizes)
{
	struct {
		struct perf_unwind_stats	arg;
		__u64				later;
	} stats = { .later = 1 };
	unsigned long at = (unsigned long)&stats;

	EXPECT_EQ(EINVAL, ioctl_error(self->table, PERF_UNWIND_STATS, at));
	stats.arg.size = sizeof(stats.arg) - 1;
	EXPECT_EQ(EINVAL, ioctl_error(self->table, PERF_UNWIND_STATS, at));
	stats.arg.size = sizeof(stats.arg);
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_STATS, at));
	EXPECT_EQ(1, stats.later);
	stats.arg.size = sizeof(stats);
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_STATS, at));
	EXPECT_EQ(sizeof(stats.arg), stats.arg.size);
	EXPECT_EQ(1, stats.arg.rules);
	EXPECT_EQ(0, stats.later);
}

/* Two rows, and all offsets that there can be between them. */
TEST_F(unwind_table, sparse)
{
	EXPECT_UPDATE(0, (update.arg.nr_rows = 1, update.arg.end = -1U));
	EXPECT_UPDATE(0, (update.arg.nr_rows = 1, update.arg.start = 0, update.rows[0].offset = 0,
			  update.arg.end = -1U));
}

/* To know nothing needs no memory. */
TEST_F(unwind_table, nothing)
{
	struct perf_unwind_stats stats = { .size = sizeof(stats) };

	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_UPDATE(0, update.rules[0].kind = update.rules[1].kind = PERF_UNWIND_UNKNOWN);
	EXPECT_UPDATE(0, update.rules[0].kind = update.rules[1].kind = PERF_UNWIND_UNKNOWN);
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(3, stats.loads);
}

TEST_F(unwind_table, vdso)
{
	EXPECT_UPDATE(0, (update.arg.fd = -1, update.arg.flags = PERF_UNWIND_VDSO_64));
}

TEST_F(unwind_table, unload)
{
	struct perf_unwind_unload object = { .size = sizeof(object), .fd = self->file };
	struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	struct perf_unwind_stats before = { .size = sizeof(before) };
	struct perf_unwind_stats after = { .size = sizeof(after) };

	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &before));
	EXPECT_EQ(ENOENT, ioctl_error(self->table, PERF_UNWIND_UNLOAD, (unsigned long)&object));
	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_UNLOAD, (unsigned long)&object));
	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_UNLOAD, (unsigned long)&all));
	EXPECT_EQ(0, ioctl_error(self->table, PERF_UNWIND_UNLOAD, (unsigned long)&all));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &after));
	EXPECT_EQ(before.bytes, after.bytes);
	EXPECT_EQ(before.rows, after.rows);
	EXPECT_EQ(before.rules, after.rules);
}

static int write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fputs(text, file);
	return fclose(file);
}

static int set_limit(unsigned int kbytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", kbytes);
	return write_to(LIMIT, text);
}

static bool set_memlock(unsigned int kbytes)
{
	const struct rlimit limit = { kbytes << 10, kbytes << 10 };

	return !setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Rows from @start on that all differ from the one before, so that none is left out. */
static int load_update(int table, int file, unsigned int start, unsigned int nr)
{
	static const struct perf_unwind_rule rules[] = { CFA_SP(8), CFA_SP(16) };
	struct perf_unwind_row *rows = calloc(nr, sizeof(*rows));
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++)
		rows[i] = (struct perf_unwind_row) { .offset = start + i, .rule = i & 1 };
	err = load_rules(table, file, start, start + nr, rows, nr, rules, 2) ? errno : 0;
	free(rows);
	return err;
}

static int load_many(int table, int file, unsigned int nr)
{
	unsigned int start, part;
	int err = 0;

	for (start = 0; start < nr && !err; start += part) {
		part = nr - start < PERF_UNWIND_MAX_ROWS ? nr - start : PERF_UNWIND_MAX_ROWS;
		err = load_update(table, file, start, part);
	}
	return err;
}

TEST_F(unwind_table, limit)
{
	const unsigned int nr = 10000, kbytes = 256;
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	int i;

	if (set_limit(kbytes))
		SKIP(return, "can't set " LIMIT);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, load_many(self->table, code_file(0), nr));
	EXPECT_EQ(EFBIG, load_many(self->table, self->file, 5 * nr));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	set_limit(65536);
	EXPECT_EQ(kbytes << 10, stats.max_bytes);
	EXPECT_GE(stats.max_bytes, stats.bytes);
	EXPECT_LT(0, stats.evicted);
	/* 7 bytes a row, and little else. */
	EXPECT_LT(0, stats.rows);
	EXPECT_GE(8 * stats.rows + 32768, stats.bytes);
}

/*
 * All tables of a user have a limit, too: objects of a table make room for what is loaded
 * into it, and none is removed for what will not fit.
 */
TEST_F(unwind_table, user_limit)
{
	const unsigned int nr = 10000, kbytes = 2048;
	int other = unwind_table_open(), file = code_file(0), i;
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	struct perf_unwind_stats full = { .size = sizeof(full) };

	ASSERT_LE(0, other);
	/* Without CAP_IPC_LOCK. */
	ASSERT_TRUE(set_memlock(kbytes));
	if (!geteuid() && seteuid(NOBODY))
		SKIP(return, "can't be another user");
	EXPECT_EQ(0, load_many(other, file, nr));
	for (i = 0; i < 40; i++)
		EXPECT_EQ(0, load_many(self->table, code_file(0), nr));
	EXPECT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &full));
	EXPECT_EQ(EDQUOT, load_many(self->table, self->file, 32 * nr));
	EXPECT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
	EXPECT_LT(10, full.objects);
	EXPECT_LT(0, full.evicted);
	EXPECT_GE(kbytes << 10, full.bytes);
	EXPECT_LT(0, stats.objects);
	/* The other table has what it had. */
	EXPECT_EQ(0, ioctl(other, PERF_UNWIND_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
	EXPECT_EQ(0, stats.evicted);
	close(other);
}

/*
 * In a user namespace: two users load as much as one of them may.  Returns 0, or the number of
 * what failed.
 */
static int load_as_two(int file, int ready, int go)
{
	const unsigned int nr = 120000;
	int table;
	char byte;

	if (!set_memlock(2048) || setresuid(NOBODY, NOBODY, NOBODY) || unshare(CLONE_NEWUSER) ||
	    write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		return 2;
	if (setresuid(1, 1, 0) || load_many(unwind_table_open(), file, nr) ||
	    setresuid(0, 0, 0) || setresuid(2, 2, 0))
		return 3;
	table = unwind_table_open();
	if (table < 0 || load_many(table, file, nr / 4))
		return 4;
	return load_many(table, file, nr) == EDQUOT ? 0 : 5;
}

/* Subordinate users share the limit of the user whom they belong to. */
TEST_F(unwind_table, subordinate_users)
{
	int ready[2], go[2], status;
	char path[64], byte;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(load_as_two(self->file, ready[1], go[0]));
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		SKIP(return, "no user namespaces");
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	ASSERT_EQ(0, write_to(path, "0 100000 8"));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

#define CGROUPS	"/sys/fs/cgroup/"

static long charged(const char *group, const char *what)
{
	char path[128];
	long bytes = -1;
	FILE *file;

	snprintf(path, sizeof(path), CGROUPS "%s/memory.%s", group, what);
	file = fopen(path, "r");
	if (file && fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	if (file)
		fclose(file);
	return bytes;
}

static bool cgroup_enter(const char *group)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "%s", group);
	if (write_to(CGROUPS "cgroup.subtree_control", "+memory") ||
	    (mkdir(path, 0755) && errno != EEXIST))
		return false;
	strcat(path, "/cgroup.procs");
	return !write_to(path, "0");
}

/* Rules are charged to the process that loads them, until they are unloaded. */
TEST_F(unwind_table, memory_cgroup)
{
	struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	const unsigned int nr = 500000;
	int tries = 500;
	long before;

	if (!cgroup_enter("unwind_table"))
		SKIP(return, "no cgroup of its own");
	before = charged("unwind_table", "current");
	ASSERT_LE(0, before);
	ASSERT_EQ(0, load_many(self->table, self->file, nr));
	EXPECT_LT(before + 6L * nr, charged("unwind_table", "current"));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_UNLOAD, &all));
	/* Each CPU keeps up to 256 KiB of what was charged. */
	while (charged("unwind_table", "current") > before + 3L * nr && tries--)
		usleep(10000);
	EXPECT_GT(before + 3L * nr, charged("unwind_table", "current"));
}

/*
 * What was replaced counts until it is freed: updates one after the other never have
 * more memory than the table may.
 */
TEST_F(unwind_table, replaced)
{
	const unsigned int kbytes = 4096, seconds = 3;
	struct perf_unwind_stats stats = { .size = sizeof(stats) };
	unsigned long updates = 0;
	time_t end = time(NULL) + seconds;
	long before;

	if (!cgroup_enter("rules_replaced") || charged("rules_replaced", "peak") < 0)
		SKIP(return, "no cgroup of its own that says its peak");
	if (set_limit(kbytes))
		SKIP(return, "can't set " LIMIT);
	before = charged("rules_replaced", "current");
	while (time(NULL) <= end || updates < 50) {
		ASSERT_EQ(0, load_many(self->table, self->file, 50000 + updates % 2));
		ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_STATS, &stats));
		EXPECT_GE(kbytes << 10, stats.bytes);
		updates++;
	}
	set_limit(65536);
	/* The table, an update, and this program's copy of it. */
	EXPECT_GE(before + ((long)kbytes << 10) + (4 << 20), charged("rules_replaced", "peak")) {
		TH_LOG("%ld before, %lu updates", before, updates);
	}
}

/* The 65535 rules of a table are all that there can be. */
TEST_F(unwind_table, many_rules)
{
	const unsigned int nr = 65534;
	struct perf_unwind_rule *rules = calloc(nr, sizeof(*rules)), more = CFA_SP(-8);
	const struct perf_unwind_row row = { .offset = 0 };
	struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	unsigned int i;

	for (i = 0; i < nr; i++)
		rules[i] = (struct perf_unwind_rule) { .kind = PERF_UNWIND_CFA, .cfa_off = i };
	EXPECT_EQ(0, load_rules(self->table, self->file, 0, 16, &row, 1, rules, nr));
	EXPECT_EQ(0, load_rules(self->table, self->file, 0, 16, &row, 1, rules, nr));
	EXPECT_EQ(0, load_rules(self->table, self->file, 0, 16, &row, 1, &more, 1));
	more.cfa_off--;
	EXPECT_EQ(-1, load_rules(self->table, self->file, 0, 16, &row, 1, &more, 1));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(0, ioctl(self->table, PERF_UNWIND_UNLOAD, &all));
	EXPECT_EQ(0, load_rules(self->table, self->file, 0, 16, &row, 1, &more, 1));
	free(rules);
}

TEST_HARNESS_MAIN
