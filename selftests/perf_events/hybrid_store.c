// SPDX-License-Identifier: GPL-2.0
/*
 * The UAPI of /dev/perf_hybrid: each error, whose stores are whose, and what a
 * store may hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "hybrid_callchain.h"

#define LIMIT	"/sys/module/perf_hybrid/parameters/store_kbytes"
#define USER_LIMIT	"/sys/module/perf_hybrid/parameters/user_kbytes"

FIXTURE(hybrid_store) {
	int	store;
	int	file;
	int	event;
};

FIXTURE_SETUP(hybrid_store)
{
	struct perf_event_attr attr;

	self->store = store_open();
	if (self->store < 0)
		SKIP(return, "no /dev/perf_hybrid (modprobe perf_hybrid)");
	self->file = code_file(0);
	ASSERT_LE(0, self->file);
	hybrid_attr(&attr, hybrid_leaf);
	self->event = event_open(&attr, -1);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(hybrid_store)
{
}

static int ioctl_error(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static int attach_error(int store, int event)
{
	return attach(store, event) ? errno : 0;
}

static int attr_error(int store, struct perf_event_attr *attr)
{
	int event = event_open(attr, -1), err;

	if (event < 0)
		return errno;
	err = attach_error(store, event);
	close(event);
	return err;
}

#define EXPECT_ATTR(error, change) do {				\
	struct perf_event_attr attr;				\
	hybrid_attr(&attr, hybrid_leaf);			\
	change;							\
	EXPECT_EQ(error, attr_error(self->store, &attr)) {	\
		TH_LOG("after %s", #change);			\
	}							\
} while (0)

TEST_F(hybrid_store, attr)
{
	EXPECT_ATTR(0, attr.inherit = 0);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_REGS_USER);
	EXPECT_ATTR(EINVAL, attr.sample_type &= ~PERF_SAMPLE_STACK_USER);
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_BP));
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_SP));
	EXPECT_ATTR(EINVAL, attr.sample_regs_user &= ~(1ULL << PERF_REG_X86_IP));
	EXPECT_ATTR(EINVAL, attr.exclude_callchain_user = 1);
	EXPECT_ATTR(EINVAL, attr.defer_callchain = 1);
	EXPECT_ATTR(0, attr.sample_stack_user = 0);
}

TEST_F(hybrid_store, attach)
{
	struct perf_hybrid_attach unknown = { .fd = self->event, .flags = 1 };

	EXPECT_EQ(EBADF, attach_error(self->store, -1));
	EXPECT_EQ(EBADF, attach_error(self->store, self->file));
	EXPECT_EQ(EBADF, attach_error(self->store, self->store));
	EXPECT_EQ(ENOTTY, attach_error(self->file, self->event));
	EXPECT_EQ(EINVAL, ioctl_error(self->store, PERF_HYBRID_ATTACH, (unsigned long)&unknown));
	EXPECT_EQ(EFAULT, ioctl_error(self->store, PERF_HYBRID_ATTACH, 8));
	EXPECT_EQ(0, attach_error(self->store, self->event));
	EXPECT_EQ(EEXIST, attach_error(self->store, self->event));
	EXPECT_EQ(EEXIST, attach_error(store_open(), self->event));
}

/* Anyone may open it, and perf's own interface has nothing of it. */
TEST_F(hybrid_store, device)
{
	struct perf_event_attr attr;
	struct stat st;

	ASSERT_EQ(0, fstat(self->store, &st));
	EXPECT_EQ(S_IFCHR | 0666, st.st_mode);
	EXPECT_EQ(ENOTTY, ioctl_error(self->event, _IOW('$', 12, __u32), self->store));
	hybrid_attr(&attr, hybrid_leaf);
	attr.__reserved_1 = 1;
	EXPECT_EQ(-1, event_open(&attr, -1));
	EXPECT_EQ(EINVAL, errno);
}

/* No file that was taught is held: what it is on can be unmounted. */
TEST_F(hybrid_store, unmounted)
{
	char name[] = "/tmp/hybrid_store.XXXXXX", path[64];
	struct perf_hybrid_stats stats;
	int file;

	ASSERT_NE(NULL, mkdtemp(name));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", name, "tmpfs", 0, NULL)) {
		rmdir(name);
		SKIP(return, "can't mount");
	}
	snprintf(path, sizeof(path), "%s/file", name);
	file = open(path, O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, file);
	EXPECT_EQ(0, teach_code(self->store, file, 0));
	close(file);
	EXPECT_EQ(0, umount(name));
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
	rmdir(name);
}

/* Whose store, and whose event? Both were opened by root; one is passed on. */
TEST_F(hybrid_store, other_user)
{
	struct perf_event_attr attr;
	int status, store, event;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(1);
		store = store_open();
		if (store < 0 ||
		    attach_error(store, self->event) != EPERM)
			_exit(2);
		hybrid_attr(&attr, hybrid_leaf);
		event = event_open(&attr, -1);
		if (event < 0 ||
		    attach_error(self->store, event) != EPERM)
			_exit(3);
		_exit(attach_error(store, event) ? 4 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* One update that is right but for what a test makes wrong. */
struct update {
	struct perf_hybrid_teach	arg;
	struct perf_hybrid_row		rows[3];
	struct perf_hybrid_rule		rules[2];
};

static void update_init(struct update *update, int fd)
{
	*update = (struct update) {
		.arg = {
			.fd = fd, .start = 16, .end = 64, .nr_rows = 3, .nr_rules = 2,
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
	EXPECT_EQ(error, ioctl_error(self->store, PERF_HYBRID_TEACH,			\
				     (unsigned long)&update.arg)) {			\
		TH_LOG("after %s", #change);						\
	}										\
} while (0)

TEST_F(hybrid_store, teach)
{
	struct perf_hybrid_stats stats;
	int unreadable = open("/tmp", O_PATH), directory = open("/tmp", O_RDONLY);

	EXPECT_UPDATE(EBADF, update.arg.fd = -1);
	EXPECT_UPDATE(EBADF, update.arg.fd = unreadable);
	EXPECT_UPDATE(EINVAL, update.arg.fd = directory);
	EXPECT_UPDATE(EINVAL, update.arg.flags = 1U << 31);
	EXPECT_UPDATE(EINVAL, update.arg.flags = PERF_HYBRID_VDSO_64);
	EXPECT_UPDATE(EINVAL, (update.arg.fd = -1, update.arg.flags = PERF_HYBRID_VDSO_64 |
								     PERF_HYBRID_VDSO_32));
	EXPECT_UPDATE(EINVAL, update.arg.end = 16);
	EXPECT_UPDATE(EINVAL, update.arg.end = 63);
	EXPECT_UPDATE(EINVAL, update.arg.start = 17);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rows = 0);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 0);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 1);
	EXPECT_UPDATE(EINVAL, update.arg.nr_rules = 65536);
	EXPECT_UPDATE(E2BIG, update.arg.nr_rows = PERF_HYBRID_MAX_ROWS + 1);
	EXPECT_UPDATE(E2BIG, update.arg.nr_rows = -1U);
	EXPECT_UPDATE(EFAULT, update.arg.rows = 8);
	EXPECT_UPDATE(EFAULT, update.arg.rules = 8);
	EXPECT_UPDATE(EINVAL, update.rows[1].offset = 16);
	EXPECT_UPDATE(EINVAL, update.rows[1].rule = 2);
	EXPECT_UPDATE(EINVAL, update.rows[1].__reserved = 1);
	EXPECT_UPDATE(EINVAL, update.rules[1].kind = PERF_HYBRID_NR_KINDS);
	EXPECT_UPDATE(EINVAL, update.rules[1].base = PERF_HYBRID_NR_BASES);
	EXPECT_UPDATE(EINVAL, update.rules[1].bp = PERF_HYBRID_NR_BPS);
	EXPECT_UPDATE(EINVAL, update.rules[1].deref_off = 1);
	EXPECT_EQ(EFAULT, ioctl_error(self->store, PERF_HYBRID_TEACH, 8));
	EXPECT_EQ(ENOTTY, ioctl_error(self->store, _IO('$', 0x2f), 0));

	/* Nothing has changed. */
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(0, stats.taught);
	EXPECT_UPDATE(0, update.arg.flags = 0);
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
	EXPECT_EQ(4, stats.rows);	/* and from the end on, nothing known */
	EXPECT_EQ(3, stats.rules);	/* and "ask" */
	EXPECT_EQ(1, stats.taught);
	EXPECT_LT(stats.bytes, stats.max_bytes);
}

/* Two rows, and all offsets that there can be between them. */
TEST_F(hybrid_store, sparse)
{
	EXPECT_UPDATE(0, (update.arg.nr_rows = 1, update.arg.end = -1U));
	EXPECT_UPDATE(0, (update.arg.nr_rows = 1, update.arg.start = 0, update.rows[0].offset = 0,
			  update.arg.end = -1U));
}

/* To know nothing needs no memory. */
TEST_F(hybrid_store, nothing)
{
	struct perf_hybrid_stats stats;

	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_UPDATE(0, update.rules[0].kind = update.rules[1].kind = PERF_HYBRID_ASK);
	EXPECT_UPDATE(0, update.rules[0].kind = update.rules[1].kind = PERF_HYBRID_ASK);
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(3, stats.taught);
}

TEST_F(hybrid_store, vdso)
{
	EXPECT_UPDATE(0, (update.arg.fd = -1, update.arg.flags = PERF_HYBRID_VDSO_64));
}

TEST_F(hybrid_store, forget)
{
	struct perf_hybrid_forget object = { .fd = self->file }, all = { .fd = -1 };
	struct perf_hybrid_stats before, after;

	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &before));
	EXPECT_EQ(ENOENT, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&object));
	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_EQ(0, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&object));
	EXPECT_UPDATE(0, update.arg.flags = 0);
	EXPECT_EQ(0, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&all));
	EXPECT_EQ(0, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&all));
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &after));
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

static int set_limit_of(const char *path, unsigned int kbytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", kbytes);
	return write_to(path, text);
}

static int set_limit(unsigned int kbytes)
{
	return set_limit_of(LIMIT, kbytes);
}

/* Rows from @start on that all differ from the one before, so that none is left out. */
static int teach_update(int store, int file, unsigned int start, unsigned int nr)
{
	static const struct perf_hybrid_rule rules[] = { CFA_SP(8), CFA_SP(16) };
	struct perf_hybrid_row *rows = calloc(nr, sizeof(*rows));
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++)
		rows[i] = (struct perf_hybrid_row) { .offset = start + i, .rule = i & 1 };
	err = teach(store, file, start, start + nr, rows, nr, rules, 2) ? errno : 0;
	free(rows);
	return err;
}

static int teach_many(int store, int file, unsigned int nr)
{
	unsigned int start, part;
	int err = 0;

	for (start = 0; start < nr && !err; start += part) {
		part = nr - start < PERF_HYBRID_MAX_ROWS ? nr - start : PERF_HYBRID_MAX_ROWS;
		err = teach_update(store, file, start, part);
	}
	return err;
}

TEST_F(hybrid_store, limit)
{
	const unsigned int nr = 10000, kbytes = 256;
	struct perf_hybrid_stats stats;
	int i;

	if (set_limit(kbytes))
		SKIP(return, "can't set " LIMIT);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, teach_many(self->store, code_file(0), nr));
	EXPECT_EQ(EFBIG, teach_many(self->store, self->file, 5 * nr));
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	set_limit(65536);
	EXPECT_EQ(kbytes << 10, stats.max_bytes);
	EXPECT_GE(stats.max_bytes, stats.bytes);
	EXPECT_LT(0, stats.evicted);
	/* 7 bytes a row, and little else. */
	EXPECT_LT(0, stats.rows);
	EXPECT_GE(8 * stats.rows + 32768, stats.bytes);
}

/*
 * All stores of a user have a limit, too: what a store has makes room for what it is taught,
 * and nothing is forgotten for what will not fit.
 */
TEST_F(hybrid_store, user_limit)
{
	const unsigned int nr = 10000, kbytes = 2048;
	int other = store_open(), file = code_file(0), i;
	struct perf_hybrid_stats stats, full;

	ASSERT_LE(0, other);
	if (set_limit_of(USER_LIMIT, kbytes))
		SKIP(return, "can't set " USER_LIMIT);
	EXPECT_EQ(0, teach_many(other, file, nr));
	for (i = 0; i < 40; i++)
		EXPECT_EQ(0, teach_many(self->store, code_file(0), nr));
	EXPECT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &full));
	EXPECT_EQ(EDQUOT, teach_many(self->store, self->file, 32 * nr));
	EXPECT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	set_limit_of(USER_LIMIT, 262144);
	EXPECT_LT(10, full.objects);
	EXPECT_LT(0, full.evicted);
	EXPECT_GE(kbytes << 10, full.bytes);
	EXPECT_LT(0, stats.objects);
	/* The other store has what it had. */
	EXPECT_EQ(0, ioctl(other, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(1, stats.objects);
	EXPECT_EQ(0, stats.evicted);
	close(other);
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

/* Whoever teaches pays, until it is forgotten. */
TEST_F(hybrid_store, memory_cgroup)
{
	struct perf_hybrid_forget all = { .fd = -1 };
	const unsigned int nr = 500000;
	int tries = 500;
	long before;

	if (!cgroup_enter("hybrid_store"))
		SKIP(return, "no cgroup of its own");
	before = charged("hybrid_store", "current");
	ASSERT_LE(0, before);
	ASSERT_EQ(0, teach_many(self->store, self->file, nr));
	EXPECT_LT(before + 6L * nr, charged("hybrid_store", "current"));
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_FORGET, &all));
	/* Each CPU keeps up to 256 KiB of what was charged. */
	while (charged("hybrid_store", "current") > before + 3L * nr && tries--)
		usleep(10000);
	EXPECT_GT(before + 3L * nr, charged("hybrid_store", "current"));
}

/*
 * What was replaced counts until it is freed: updates one after the other never have
 * more memory than the store may.
 */
TEST_F(hybrid_store, replaced)
{
	const unsigned int kbytes = 4096, seconds = 3;
	struct perf_hybrid_stats stats;
	unsigned long updates = 0;
	time_t end = time(NULL) + seconds;
	long before;

	if (!cgroup_enter("hybrid_replaced") || charged("hybrid_replaced", "peak") < 0)
		SKIP(return, "no cgroup of its own that says its peak");
	if (set_limit(kbytes))
		SKIP(return, "can't set " LIMIT);
	before = charged("hybrid_replaced", "current");
	while (time(NULL) <= end || updates < 50) {
		ASSERT_EQ(0, teach_many(self->store, self->file, 50000 + updates % 2));
		ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
		EXPECT_GE(kbytes << 10, stats.bytes);
		updates++;
	}
	set_limit(65536);
	/* The store, an update, and this program's copy of it. */
	EXPECT_GE(before + ((long)kbytes << 10) + (4 << 20), charged("hybrid_replaced", "peak")) {
		TH_LOG("%ld before, %lu updates", before, updates);
	}
}

/* The 65535 rules of a store are all that there can be. */
TEST_F(hybrid_store, many_rules)
{
	const unsigned int nr = 65534;
	struct perf_hybrid_rule *rules = calloc(nr, sizeof(*rules)), more = CFA_SP(-8);
	const struct perf_hybrid_row row = { .offset = 0 };
	struct perf_hybrid_forget all = { .fd = -1 };
	unsigned int i;

	for (i = 0; i < nr; i++)
		rules[i] = (struct perf_hybrid_rule) { .kind = PERF_HYBRID_CFA, .cfa_off = i };
	EXPECT_EQ(0, teach(self->store, self->file, 0, 16, &row, 1, rules, nr));
	EXPECT_EQ(0, teach(self->store, self->file, 0, 16, &row, 1, rules, nr));
	EXPECT_EQ(0, teach(self->store, self->file, 0, 16, &row, 1, &more, 1));
	more.cfa_off--;
	EXPECT_EQ(-1, teach(self->store, self->file, 0, 16, &row, 1, &more, 1));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(0, ioctl(self->store, PERF_HYBRID_FORGET, &all));
	EXPECT_EQ(0, teach(self->store, self->file, 0, 16, &row, 1, &more, 1));
	free(rules);
}

TEST_HARNESS_MAIN
