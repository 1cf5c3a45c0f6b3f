// SPDX-License-Identifier: GPL-2.0
/*
 * What files may cost: each bound at it and one beyond, of one user, of all, and of root.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include "file-budget.h"
#include "tap.h"

#define MS	1000000ULL

static struct hybrid_file_budget budget;
static u64 now;

static u64 clock_of_test(void)
{
	return now;
}

static void start(void)
{
	hybrid_file_budget_init(&budget);
	now = 1000000 * MS;
	budget.clock = clock_of_test;
}

static struct hybrid_file_user *user(uid_t uid)
{
	return hybrid_file_user_get(&budget, uid);
}

static void one_user(void)
{
	unsigned int cost, i;
	uid_t uid;
	u64 most;

	for (cost = 0; cost < HYBRID_NR_FILE_COSTS; cost++) {
		for (i = 0; i < 2; i++) {
			uid = i ? 7 : 0;
			most = hybrid_file_share(&hybrid_file_limits[cost], uid);
			start();
			check(!hybrid_file_take(user(uid), cost, most + 1));
			check(!hybrid_file_take(user(uid), cost, ~0ULL));
			check(hybrid_file_take(user(uid), cost, most));
			check(hybrid_file_take(user(uid), cost, 0));
			check(!hybrid_file_take(user(uid), cost, 1));
			hybrid_file_give(user(uid), cost, 1);
			check(hybrid_file_take(user(uid), cost, 1));
			check(!hybrid_file_take(user(uid), cost, 1));
		}
	}
	/* Chromium's CFI, read by two threads; and what others may take leaves room for it. */
	check(hybrid_file_limits[HYBRID_FILE_MEMORY].root >= 128 << 20);
	check(hybrid_file_limits[HYBRID_FILE_MEMORY].root +
	      hybrid_file_limits[HYBRID_FILE_MEMORY].others <= 256 << 20);
}

/* Fills all that users may have together, and returns how many it took. */
static unsigned int fill(enum hybrid_file_cost cost)
{
	const struct hybrid_file_limit *limit = &hybrid_file_limits[cost];
	u64 left = limit->others, part;
	uid_t uid = 1000;

	for (; left; left -= part) {
		part = min(left, limit->user);
		check(hybrid_file_take(user(uid++), cost, part));
	}
	return uid - 1000;
}

static void all_users(void)
{
	unsigned int cost;

	for (cost = 0; cost < HYBRID_NR_FILE_COSTS; cost++) {
		start();
		check(fill(cost) >= 1);
		check(!hybrid_file_take(user(7), cost, 1));
		/* Whatever they do, root has his share, and no more. */
		check(hybrid_file_take(user(0), cost, hybrid_file_limits[cost].root));
		check(!hybrid_file_take(user(0), cost, 1));
		hybrid_file_give(user(1000), cost, 1);
		check(hybrid_file_take(user(7), cost, 1));
		check(!hybrid_file_take(user(7), cost, 1));
	}
}

static void time_goes_by(void)
{
	const struct hybrid_file_limit *limit;
	u64 after;
	unsigned int cost;

	for (cost = 0; cost < HYBRID_NR_FILE_COSTS; cost++) {
		limit = &hybrid_file_limits[cost];
		start();
		check(hybrid_file_take(user(7), cost, limit->user));
		now += 1000 * MS;
		after = limit->refill / 1000 * 1000;
		check(!hybrid_file_take(user(7), cost, after + 1));
		check(hybrid_file_take(user(7), cost, after));
		check(!hybrid_file_take(user(7), cost, 1));
		/* Longer than it takes to forget all. */
		now += 1000000 * MS;
		check(hybrid_file_take(user(7), cost, limit->refill ? limit->user : 0));
		check(!hybrid_file_take(user(7), cost, 1));
	}
}

static void many_users(void)
{
	struct hybrid_file_user *nobody;
	uid_t uid;

	start();
	nobody = user(HYBRID_FILE_NOBODY);
	check(user(0) != nobody && user(0)->uid == 0);
	for (uid = 1; uid <= HYBRID_FILE_USERS - 2; uid++) {
		check(user(uid)->uid == uid);
		check(user(uid) == user(uid));
	}
	check(user(uid) == nobody && user(uid + 1) == nobody);
	check(user(5)->uid == 5 && user(0)->uid == 0);
	check(!hybrid_file_user_get(NULL, 5));
	check(hybrid_file_take(NULL, HYBRID_FILE_READ, ~0ULL));
}

static int file_with_hole(u64 size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	check(fd >= 0 && !ftruncate(fd, size) && pwrite(fd, "a", 1, 0) == 1 &&
	      pwrite(fd, "z", 1, size - 1) == 1);
	return fd;
}

static void holes(void)
{
	const u64 size = 64ULL << 20;
	u8 *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = file_with_hole(size);
	u64 from = 1 << 20, kept = 0;

	start();
	same(hybrid_file_read_data(user(7), fd, data, size, 0, &kept), (ssize_t)size);
	check(data[0] == 'a' && data[size - 1] == 'z');
	check(user(7)->used[HYBRID_FILE_READ] < 1 << 20 && kept < 1 << 20);
	same(user(7)->used[HYBRID_FILE_MEMORY], kept);
	/* Up to the end of what is looked at, and not beyond. */
	same(hybrid_file_next_data(fd, &from, size - 4096), 0);
	from = 1 << 20;
	check(hybrid_file_next_data(fd, &from, size) > 0 && from > 2 << 20);
	/* The file begins with data, which ends where the hole begins. */
	from = 0;
	check(hybrid_file_next_data(fd, &from, size) < 1 << 20 && from == 0);
	from = size + 1;
	same(hybrid_file_next_data(fd, &from, ~0ULL >> 1), 0);
	munmap(data, size);
	close(fd);
}

static void reads(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_READ].user;
	int fd = file_with_hole(8192);
	u8 byte[2];

	start();
	check(hybrid_file_take(user(7), HYBRID_FILE_READ, most - 1));
	same(hybrid_file_read(user(7), fd, byte, 2, 0), -1);
	same(hybrid_file_read(user(8), fd, byte, 2, 0), 2);
	same(hybrid_file_read(user(7), fd, byte, 1, 0), 1);
	same(hybrid_file_read(user(7), fd, byte, 1, 0), -1);
	same(hybrid_file_refused(user(7)), HYBRID_FILE_READ);
	same(hybrid_file_read(NULL, fd, byte, 1, 0), 1);
	/* What takes too long. */
	start();
	check(hybrid_file_take(user(7), HYBRID_FILE_READ, 1));
	user(7)->used[HYBRID_FILE_TIME] = hybrid_file_limits[HYBRID_FILE_TIME].user;
	same(hybrid_file_read(user(7), fd, byte, 1, 0), 1);
	user(7)->used[HYBRID_FILE_TIME]++;
	same(hybrid_file_read(user(7), fd, byte, 1, 0), -1);
	same(hybrid_file_refused(user(7)), HYBRID_FILE_TIME);
	close(fd);
}

static u64 late_clock(void)
{
	return now += 1000000 * MS;
}

/* What did not sleep in the call takes no more time of the file than of a processor. */
static void busy_machine(void)
{
	int fd = file_with_hole(8192);
	u8 byte;

	start();
	budget.clock = late_clock;
	same(hybrid_file_read(user(7), fd, &byte, 1, 0), 1);
	check(user(7)->used[HYBRID_FILE_TIME] < 1000 * MS);
	same(hybrid_file_read(user(7), fd, &byte, 1, 0), 1);
	close(fd);
}

/* Where nobody knows holes all is data, and time goes by that was taken. */
static void without_holes(void)
{
	u64 from = 5;
	int fds[2];

	check(!pipe(fds));
	same(hybrid_file_next_data(fds[0], &from, 9), 4);
	same(from, 5);
	same(hybrid_file_next_data(fds[0], &from, 5), 0);
	same(hybrid_file_next_data(fds[0], &from, 4), 0);
	close(fds[0]);
	close(fds[1]);
	hybrid_file_budget_init(&budget);
	check(budget.clock());
}

#define SMALL	65536

static ssize_t read_data(int fd, void *data, size_t size, u64 offset, u64 *kept)
{
	return hybrid_file_read_data(user(7), fd, data, size, offset, kept);
}

/* What takes memory: a small part as a whole, and of a larger one what is no hole. */
static void memory(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_MEMORY].user;
	static u8 data[4 * SMALL];
	int fd = file_with_hole(sizeof(data));
	u64 kept = 0;

	start();
	same(read_data(fd, data, SMALL, 4096, &kept), SMALL);
	same(kept, SMALL);
	same(user(7)->used[HYBRID_FILE_MEMORY], SMALL);
	same(read_data(fd, data, SMALL + 1, 4096, &kept), SMALL + 1);
	same(kept, SMALL);
	same(read_data(fd, data, sizeof(data), 0, &kept), sizeof(data));
	same(kept, SMALL + 2 * 4096);
	same(user(7)->used[HYBRID_FILE_MEMORY], kept);
	/* Nothing of it is kept. */
	same(read_data(fd, data, sizeof(data), 0, NULL), sizeof(data));
	same(user(7)->used[HYBRID_FILE_MEMORY], kept);
	/* The share is used up: for a small part, and after the first part of a larger one. */
	start();
	check(hybrid_file_take(user(7), HYBRID_FILE_MEMORY, most - SMALL + 1));
	kept = 0;
	same((u64)read_data(fd, data, SMALL, 0, &kept), -1ULL);
	same(kept, 0);
	same(read_data(fd, data, SMALL - 1, 0, &kept), SMALL - 1);
	start();
	check(hybrid_file_take(user(7), HYBRID_FILE_MEMORY, most - 2 * 4096 + 1));
	kept = 0;
	same((u64)read_data(fd, data, sizeof(data), 0, &kept), -1ULL);
	same(kept, 4096);
	/* So are the bytes that are read. */
	start();
	check(hybrid_file_take(user(7), HYBRID_FILE_READ,
			       hybrid_file_limits[HYBRID_FILE_READ].user - 4096));
	same((u64)read_data(fd, data, sizeof(data), 0, NULL), -1ULL);
	/* The file ends before. */
	start();
	same(read_data(fd, data, SMALL, sizeof(data) - 5, NULL), 5);
	same(read_data(fd, data, SMALL, sizeof(data), NULL), 0);
	close(fd);
}

static void expect_line(const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	hybrid_file_budget_print(&budget, out);
	fclose(out);
	same_text(text, want);
	free(text);
}

static void line(void)
{
	uid_t uid;

	start();
	expect_line("");
	hybrid_file_left_out(user(65534), HYBRID_FILE_READ);
	hybrid_file_left_out(user(65534), HYBRID_FILE_MEMORY);
	hybrid_file_left_out(user(0), HYBRID_FILE_WAITS);
	expect_line("hybrid: files left out, as their users were over their shares: "
		    "1 of root (file systems that do not answer), 2 of uid 65534 (memory)\n");
	for (uid = 1; uid < 5; uid++)
		hybrid_file_left_out(user(uid), HYBRID_FILE_COPIES);
	expect_line("hybrid: files left out, as their users were over their shares: "
		    "1 of root (file systems that do not answer), 2 of uid 65534 (memory), "
		    "1 of uid 1 (memory of copies), 1 of uid 2 (memory of copies), "
		    "and of 2 other users\n");
}

/* Whose files they are is not known; each cost has a name, and the last one is shown. */
static void names(void)
{
	static const char * const costs[HYBRID_NR_FILE_COSTS] = {
		"bytes read", "memory", "bytes copied or compared", "memory of copies",
		"bytes read for digests", "files without digest", "time",
		"files that were asked for", "file systems that do not answer",
		"time that samples waited",
	};
	char want[160];
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		hybrid_file_left_out(user(HYBRID_FILE_NOBODY), i);
		snprintf(want, sizeof(want),
			 "hybrid: files left out, as their users were over their shares: "
			 "%u of processes that were gone (%s)\n", i + 1, costs[i]);
		expect_line(want);
	}
	hybrid_file_left_out(NULL, HYBRID_FILE_READ);
	expect_line(want);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "file budget: one user, at each bound and beyond", one_user },
		{ "file budget: all users, and root", all_users },
		{ "file budget: what was read is forgotten, what is kept is not", time_goes_by },
		{ "file budget: more users than are told apart", many_users },
		{ "file budget: holes are not read", holes },
		{ "file budget: a file without holes", without_holes },
		{ "file budget: reads of two users", reads },
		{ "file budget: reads on a busy machine", busy_machine },
		{ "file budget: parts that are kept", memory },
		{ "file budget: the line at the end", line },
		{ "budget: names of costs, and of nobody", names },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
