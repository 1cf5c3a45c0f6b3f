// SPDX-License-Identifier: GPL-2.0
/*
 * The UAPI of perf_event_attr.hybrid_callchain and of /dev/perf_hybrid: each
 * error, whose stores are whose, and what a store may hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "hybrid_callchain.h"

#define LIMIT	"/sys/module/perf_hybrid/parameters/store_kbytes"

static int open_error(struct perf_event_attr *attr)
{
	int fd = event_open(attr, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

#define EXPECT_ATTR(error, change) do {				\
	struct perf_event_attr attr;				\
	hybrid_attr(&attr, hybrid_leaf);			\
	change;							\
	EXPECT_EQ(error, open_error(&attr)) {			\
		TH_LOG("after %s", #change);			\
	}							\
} while (0)

TEST(attr)
{
	EXPECT_ATTR(0, attr.hybrid_callchain = 1);
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

TEST_F(hybrid_store, set)
{
	struct perf_event_attr attr;
	int plain;

	hybrid_attr(&attr, hybrid_leaf);
	attr.hybrid_callchain = 0;
	plain = event_open(&attr, -1);
	ASSERT_LE(0, plain);
	EXPECT_EQ(EINVAL, ioctl_error(plain, PERF_EVENT_IOC_SET_HYBRID, self->store));
	EXPECT_EQ(EBADF, ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, -1));
	EXPECT_EQ(EBADF, ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, self->file));
	EXPECT_EQ(EBADF, ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, plain));
	EXPECT_EQ(0, ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, self->store));
	EXPECT_EQ(EEXIST, ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, self->store));
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
		    ioctl_error(self->event, PERF_EVENT_IOC_SET_HYBRID, store) != EPERM)
			_exit(2);
		hybrid_attr(&attr, hybrid_leaf);
		event = event_open(&attr, -1);
		if (event < 0 ||
		    ioctl_error(event, PERF_EVENT_IOC_SET_HYBRID, self->store) != EPERM)
			_exit(3);
		_exit(ioctl_error(event, PERF_EVENT_IOC_SET_HYBRID, store) ? 4 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* One lesson that is right but for what a test makes wrong. */
struct lesson {
	struct perf_hybrid_teach	arg;
	struct perf_hybrid_row		rows[3];
	struct perf_hybrid_rule		rules[2];
};

static void lesson_init(struct lesson *lesson, int fd)
{
	*lesson = (struct lesson) {
		.arg = {
			.fd = fd, .start = 16, .end = 64, .nr_rows = 3, .nr_rules = 2,
			.rows = (unsigned long)lesson->rows,
			.rules = (unsigned long)lesson->rules,
		},
		.rows = { { .offset = 16 }, { .offset = 20, .rule = 1 }, { .offset = 63 } },
		.rules = { CFA_SP(8), CFA_SP(16) },
	};
}

#define EXPECT_LESSON(error, change) do {						\
	struct lesson lesson;								\
	lesson_init(&lesson, self->file);						\
	change;										\
	EXPECT_EQ(error, ioctl_error(self->store, PERF_HYBRID_TEACH,			\
				     (unsigned long)&lesson.arg)) {			\
		TH_LOG("after %s", #change);						\
	}										\
} while (0)

TEST_F(hybrid_store, teach)
{
	struct perf_hybrid_stats stats;
	int unreadable = open("/tmp", O_PATH), directory = open("/tmp", O_RDONLY);

	EXPECT_LESSON(EBADF, lesson.arg.fd = -1);
	EXPECT_LESSON(EBADF, lesson.arg.fd = unreadable);
	EXPECT_LESSON(EINVAL, lesson.arg.fd = directory);
	EXPECT_LESSON(EINVAL, lesson.arg.flags = 1U << 31);
	EXPECT_LESSON(EINVAL, lesson.arg.flags = PERF_HYBRID_VDSO_64);
	EXPECT_LESSON(EINVAL, (lesson.arg.fd = -1, lesson.arg.flags = PERF_HYBRID_VDSO_64 |
								     PERF_HYBRID_VDSO_32));
	EXPECT_LESSON(EINVAL, lesson.arg.end = 16);
	EXPECT_LESSON(EINVAL, lesson.arg.end = 63);
	EXPECT_LESSON(EINVAL, lesson.arg.start = 17);
	EXPECT_LESSON(EINVAL, lesson.arg.nr_rows = 0);
	EXPECT_LESSON(EINVAL, lesson.arg.nr_rules = 0);
	EXPECT_LESSON(EINVAL, lesson.arg.nr_rules = 1);
	EXPECT_LESSON(EINVAL, lesson.arg.nr_rules = 65536);
	EXPECT_LESSON(EFBIG, lesson.arg.nr_rows = -1U);
	EXPECT_LESSON(EFAULT, lesson.arg.rows = 8);
	EXPECT_LESSON(EFAULT, lesson.arg.rules = 8);
	EXPECT_LESSON(EINVAL, lesson.rows[1].offset = 16);
	EXPECT_LESSON(EINVAL, lesson.rows[1].rule = 2);
	EXPECT_LESSON(EINVAL, lesson.rows[1].__reserved = 1);
	EXPECT_LESSON(EINVAL, lesson.rules[1].kind = PERF_HYBRID_NR_KINDS);
	EXPECT_LESSON(EINVAL, lesson.rules[1].base = PERF_HYBRID_NR_BASES);
	EXPECT_LESSON(EINVAL, lesson.rules[1].bp = PERF_HYBRID_NR_BPS);
	EXPECT_LESSON(EINVAL, lesson.rules[1].deref_off = 1);
	EXPECT_EQ(EFAULT, ioctl_error(self->store, PERF_HYBRID_TEACH, 8));
	EXPECT_EQ(ENOTTY, ioctl_error(self->store, _IO('$', 0x2f), 0));

	/* Nothing has changed. */
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(0, stats.taught);
	EXPECT_LESSON(0, lesson.arg.flags = 0);
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
	EXPECT_LESSON(0, (lesson.arg.nr_rows = 1, lesson.arg.end = -1U));
	EXPECT_LESSON(0, (lesson.arg.nr_rows = 1, lesson.arg.start = 0, lesson.rows[0].offset = 0,
			  lesson.arg.end = -1U));
}

/* To know nothing needs no memory. */
TEST_F(hybrid_store, nothing)
{
	struct perf_hybrid_stats stats;

	EXPECT_LESSON(0, lesson.arg.flags = 0);
	EXPECT_LESSON(0, lesson.rules[0].kind = lesson.rules[1].kind = PERF_HYBRID_ASK);
	EXPECT_LESSON(0, lesson.rules[0].kind = lesson.rules[1].kind = PERF_HYBRID_ASK);
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.rows);
	EXPECT_EQ(3, stats.taught);
}

TEST_F(hybrid_store, vdso)
{
	EXPECT_LESSON(0, (lesson.arg.fd = -1, lesson.arg.flags = PERF_HYBRID_VDSO_64));
}

TEST_F(hybrid_store, forget)
{
	struct perf_hybrid_forget object = { .fd = self->file }, all = { .fd = -1 };
	struct perf_hybrid_stats before, after;

	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_STATS, &before));
	EXPECT_EQ(ENOENT, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&object));
	EXPECT_LESSON(0, lesson.arg.flags = 0);
	EXPECT_EQ(0, ioctl_error(self->store, PERF_HYBRID_FORGET, (unsigned long)&object));
	EXPECT_LESSON(0, lesson.arg.flags = 0);
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

static int set_limit(unsigned int kbytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", kbytes);
	return write_to(LIMIT, text);
}

/* Rows that all differ from the one before, so that none is left out. */
static int teach_many(int store, int file, unsigned int nr)
{
	static const struct perf_hybrid_rule rules[] = { CFA_SP(8), CFA_SP(16) };
	struct perf_hybrid_row *rows = calloc(nr, sizeof(*rows));
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++)
		rows[i] = (struct perf_hybrid_row) { .offset = i, .rule = i & 1 };
	err = teach(store, file, 0, nr, rows, nr, rules, 2) ? errno : 0;
	free(rows);
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
	/* 6 bytes a row, and little else. */
	EXPECT_LT(0, stats.rows);
	EXPECT_GE(8 * stats.rows + 32768, stats.bytes);
}

#define CGROUPS	"/sys/fs/cgroup/"
#define CGROUP	CGROUPS "hybrid_store/"

static long charged(void)
{
	FILE *file = fopen(CGROUP "memory.current", "r");
	long bytes = -1;

	if (file && fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	if (file)
		fclose(file);
	return bytes;
}

/* Whoever teaches pays, until it is forgotten. */
TEST_F(hybrid_store, memory_cgroup)
{
	struct perf_hybrid_forget all = { .fd = -1 };
	const unsigned int nr = 500000;
	int tries = 500;
	long before;

	if (write_to(CGROUPS "cgroup.subtree_control", "+memory") ||
	    (mkdir(CGROUP, 0755) && errno != EEXIST) || write_to(CGROUP "cgroup.procs", "0"))
		SKIP(return, "no cgroup of its own");
	before = charged();
	ASSERT_LE(0, before);
	ASSERT_EQ(0, teach_many(self->store, self->file, nr));
	EXPECT_LT(before + 6L * nr, charged());
	ASSERT_EQ(0, ioctl(self->store, PERF_HYBRID_FORGET, &all));
	while (charged() > before + nr && tries--)
		usleep(10000);
	EXPECT_GT(before + nr, charged());
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
