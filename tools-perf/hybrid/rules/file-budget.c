// SPDX-License-Identifier: GPL-2.0
/*
 * What files may cost perf: one model for all that reads them. Anyone can make large files, files
 * with holes and slow file systems, and any number of them. So each user has a share of each cost,
 * and all users but root have a bound together.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "clock.h"
#include "file-budget.h"

#define MIB	(1ULL << 20)

/* No holes are looked for in parts of so many bytes. */
#define SMALL	65536

/*
 * Chromium has 42 MiB of CFI, which two threads read; rustc and its libraries have 250 MiB that are
 * copied from a container's file system; Node.js has 12 MiB of names of symbols.
 */
const struct hybrid_file_limit hybrid_file_limits[HYBRID_NR_FILE_COSTS] = {
	[HYBRID_FILE_READ]	 = { 256 * MIB, 256 * MIB, 384 * MIB, 32 * MIB },
	[HYBRID_FILE_MEMORY]	 = { 160 * MIB, 64 * MIB, 96 * MIB, 0 },
	[HYBRID_FILE_BACKGROUND] = { 2048 * MIB, 2048 * MIB, 3072 * MIB, 64 * MIB },
	[HYBRID_FILE_COPIES]	 = { 320 * MIB, 320 * MIB, 320 * MIB, 0 },
	[HYBRID_FILE_DIGESTS]	 = { 2048 * MIB, 2048 * MIB, 3072 * MIB, 64 * MIB },
	[HYBRID_FILE_UNREAD]	 = { 32, 32, 96, 0 },
	[HYBRID_FILE_TIME]	 = { 2 * NSEC_PER_SEC, 2 * NSEC_PER_SEC, 3 * NSEC_PER_SEC,
				     NSEC_PER_SEC / 20 },
	[HYBRID_FILE_ASKED]	 = { 64, 64, 192, 0 },
	[HYBRID_FILE_WAITS]	 = { 8, 8, 24, 0 },
	[HYBRID_FILE_WAITED]	 = { 10 * NSEC_PER_SEC, 10 * NSEC_PER_SEC, 15 * NSEC_PER_SEC,
				     NSEC_PER_SEC / 5 },
};

static const char * const cost_names[HYBRID_NR_FILE_COSTS] = {
	[HYBRID_FILE_READ]	 = "bytes read",
	[HYBRID_FILE_MEMORY]	 = "memory",
	[HYBRID_FILE_BACKGROUND] = "bytes copied or compared",
	[HYBRID_FILE_COPIES]	 = "memory of copies",
	[HYBRID_FILE_DIGESTS]	 = "bytes read for digests",
	[HYBRID_FILE_UNREAD]	 = "files without digest",
	[HYBRID_FILE_TIME]	 = "time",
	[HYBRID_FILE_ASKED]	 = "files that were asked for",
	[HYBRID_FILE_WAITS]	 = "file systems that do not answer",
	[HYBRID_FILE_WAITED]	 = "time that samples waited",
};

static u64 monotonic(void)
{
	return hybrid_clock_ns(CLOCK_MONOTONIC);
}

/* With the lock, or before anyone else has the budget. */
static struct hybrid_file_user *add_user(struct hybrid_file_budget *budget, uid_t uid)
{
	struct hybrid_file_user *user = &budget->users[budget->nr++];

	user->budget = budget;
	user->uid = uid;
	return user;
}

void hybrid_file_budget_init(struct hybrid_file_budget *budget)
{
	memset(budget, 0, sizeof(*budget));
	pthread_mutex_init(&budget->lock, NULL);
	budget->clock = monotonic;
	/* Root's share, and that of all who are not known or too many. */
	add_user(budget, 0);
	add_user(budget, HYBRID_FILE_NOBODY);
}

struct hybrid_file_user *hybrid_file_user_get(struct hybrid_file_budget *budget, uid_t uid)
{
	struct hybrid_file_user *user = NULL;
	unsigned int i;

	if (!budget)
		return NULL;
	pthread_mutex_lock(&budget->lock);
	for (i = 0; i < budget->nr && !user; i++) {
		if (budget->users[i].uid == uid)
			user = &budget->users[i];
	}
	if (!user && budget->nr < HYBRID_FILE_USERS)
		user = add_user(budget, uid);
	pthread_mutex_unlock(&budget->lock);
	return user ?: &budget->users[1];
}

static void forget(u64 *used, u64 amount)
{
	*used -= min(*used, amount);
}

/* With the lock. What was read, and the time that it took, is forgotten as time goes by. */
static void refill(struct hybrid_file_budget *budget)
{
	u64 now = budget->clock(), ms = (now - budget->now) / NSEC_PER_MSEC, amount;
	unsigned int cost, i;

	if (!ms)
		return;
	budget->now = now;
	for (cost = 0; cost < HYBRID_NR_FILE_COSTS; cost++) {
		amount = hybrid_file_limits[cost].refill / 1000 * min_t(u64, ms, 1000000);
		if (!amount)
			continue;
		forget(&budget->others[cost], amount);
		for (i = 0; i < budget->nr; i++)
			forget(&budget->users[i].used[cost], amount);
	}
}

static bool fits(u64 used, u64 amount, u64 limit)
{
	return amount <= limit && used <= limit - amount;
}

bool hybrid_file_take(struct hybrid_file_user *user, enum hybrid_file_cost cost, u64 amount)
{
	const struct hybrid_file_limit *limit = &hybrid_file_limits[cost];
	struct hybrid_file_budget *budget = user ? user->budget : NULL;
	bool is_free;

	if (!user)
		return true;
	pthread_mutex_lock(&budget->lock);
	if (limit->refill)
		refill(budget);
	is_free = fits(user->used[cost], amount, hybrid_file_share(limit, user->uid)) &&
		  (!user->uid || fits(budget->others[cost], amount, limit->others));
	if (is_free) {
		user->used[cost] += amount;
		budget->others[cost] += user->uid ? amount : 0;
	} else {
		user->refused = cost;
	}
	pthread_mutex_unlock(&budget->lock);
	return is_free;
}

void hybrid_file_give(struct hybrid_file_user *user, enum hybrid_file_cost cost, u64 amount)
{
	if (!user || !amount)
		return;
	pthread_mutex_lock(&user->budget->lock);
	forget(&user->used[cost], amount);
	if (user->uid)
		forget(&user->budget->others[cost], amount);
	pthread_mutex_unlock(&user->budget->lock);
}

enum hybrid_file_cost hybrid_file_refused(struct hybrid_file_user *user)
{
	enum hybrid_file_cost cost;

	if (!user)
		return HYBRID_FILE_READ;
	pthread_mutex_lock(&user->budget->lock);
	cost = user->refused;
	pthread_mutex_unlock(&user->budget->lock);
	return cost;
}

void hybrid_file_left_out(struct hybrid_file_user *user, enum hybrid_file_cost cost)
{
	if (!user)
		return;
	pthread_mutex_lock(&user->budget->lock);
	user->left_out++;
	user->reason = cost;
	pthread_mutex_unlock(&user->budget->lock);
}

/* With the lock. It took so long whatever the share is. */
static void note_time(struct hybrid_file_user *user, u64 ns)
{
	user->used[HYBRID_FILE_TIME] += ns;
	if (user->uid)
		user->budget->others[HYBRID_FILE_TIME] += ns;
}

static u64 processor_ns(const struct rusage *usage)
{
	return (u64)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * NSEC_PER_USEC;
}

/*
 * What a system call took of @ns since @before: on a busy machine it may have waited for a
 * processor, which is not the file's fault. Few take so long that it is worth another call.
 */
static u64 taken(const struct rusage *before, u64 ns)
{
	struct rusage now;

	if (ns < NSEC_PER_MSEC || getrusage(RUSAGE_THREAD, &now) ||
	    now.ru_nvcsw != before->ru_nvcsw)
		return ns;
	return min(ns, processor_ns(&now) - processor_ns(before));
}

ssize_t hybrid_file_read(struct hybrid_file_user *user, int fd, void *dst, size_t size, u64 offset)
{
	struct rusage before = {};
	u64 began, ns;
	ssize_t got;

	if (!user)
		return pread(fd, dst, size, offset);
	if (!hybrid_file_take(user, HYBRID_FILE_READ, size) ||
	    !hybrid_file_take(user, HYBRID_FILE_TIME, 0)) {
		errno = EDQUOT;
		return -1;
	}
	getrusage(RUSAGE_THREAD, &before);
	began = user->budget->clock();
	got = pread(fd, dst, size, offset);
	ns = taken(&before, user->budget->clock() - began);
	pthread_mutex_lock(&user->budget->lock);
	note_time(user, ns);
	pthread_mutex_unlock(&user->budget->lock);
	return got;
}

u64 hybrid_file_next_data(int fd, u64 *from, u64 end)
{
	off_t data = lseek(fd, *from, SEEK_DATA), hole;

	/* A file system that does not know holes has none. */
	if (data < 0 && errno == ENXIO)
		return 0;
	if (data < 0)
		return *from < end ? end - *from : 0;
	*from = data;
	if (*from >= end)
		return 0;
	hole = lseek(fd, data, SEEK_HOLE);
	return (hole < 0 ? end : min_t(u64, hole, end)) - *from;
}

/* Of a part that takes memory: *@kept is what was taken. */
static bool take_memory(struct hybrid_file_user *user, u64 size, u64 *kept)
{
	if (!kept)
		return true;
	if (!hybrid_file_take(user, HYBRID_FILE_MEMORY, size)) {
		errno = EDQUOT;
		return false;
	}
	*kept += size;
	return true;
}

ssize_t hybrid_file_read_data(struct hybrid_file_user *user, int fd, void *dst, size_t size,
			      u64 offset, u64 *kept)
{
	u64 from = offset, end = offset + size, part;
	ssize_t got;

	/* To read a hole of that size is no more work than to find it. */
	if (size <= SMALL)
		return take_memory(user, size, kept) ?
			hybrid_file_read(user, fd, dst, size, offset) : -1;
	while (from < end && (part = hybrid_file_next_data(fd, &from, end)) != 0) {
		if (!take_memory(user, part, kept))
			return -1;
		got = hybrid_file_read(user, fd, dst + (from - offset), part, from);
		if (got <= 0)
			return got < 0 ? -1 : (ssize_t)(from - offset);
		from += got;
	}
	return size;
}

static void print_user(const struct hybrid_file_user *user, const char *before, FILE *out)
{
	fprintf(out, "%s%" PRIu64 " of ", before, user->left_out);
	if (!user->uid)
		fprintf(out, "root");
	else if (user->uid == HYBRID_FILE_NOBODY)
		fprintf(out, "processes that were gone");
	else
		fprintf(out, "uid %u", user->uid);
	fprintf(out, " (%s)", cost_names[user->reason]);
}

/* Users that are named in the line. */
#define MAX_NAMED	4

void hybrid_file_budget_print(struct hybrid_file_budget *budget, FILE *out)
{
	const char *before = "hybrid: files left out, as their users were over their shares: ";
	unsigned int i, nr = 0;

	pthread_mutex_lock(&budget->lock);
	for (i = 0; i < budget->nr; i++) {
		if (!budget->users[i].left_out)
			continue;
		if (nr++ < MAX_NAMED)
			print_user(&budget->users[i], before, out);
		before = ", ";
	}
	if (nr > MAX_NAMED)
		fprintf(out, ", and of %u other users", nr - MAX_NAMED);
	if (nr)
		fprintf(out, "\n");
	pthread_mutex_unlock(&budget->lock);
}
