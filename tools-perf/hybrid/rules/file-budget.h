/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_BUDGET_H
#define __PERF_HYBRID_FILE_BUDGET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

struct hybrid_file_budget;

/**
 * enum hybrid_file_cost - what a file costs perf
 * @HYBRID_FILE_READ: bytes that perf reads while samples wait, or the compiler does
 * @HYBRID_FILE_MEMORY: bytes of sections that are in memory now
 * @HYBRID_FILE_BACKGROUND: bytes that are read to copy files, and to compare them
 * @HYBRID_FILE_COPIES: bytes of copies of files that there are now
 * @HYBRID_FILE_DIGESTS: bytes that are read for digests of files
 * @HYBRID_FILE_UNREAD: files that wait for their digest now
 * @HYBRID_FILE_TIME: ns in system calls that read files
 * @HYBRID_FILE_ASKED: files that are asked for now, from file systems that may not answer
 * @HYBRID_FILE_WAITS: of them, those that helpers wait for
 * @HYBRID_FILE_WAITED: ns that samples have waited for them
 */
enum hybrid_file_cost {
	HYBRID_FILE_READ,
	HYBRID_FILE_MEMORY,
	HYBRID_FILE_BACKGROUND,
	HYBRID_FILE_COPIES,
	HYBRID_FILE_DIGESTS,
	HYBRID_FILE_UNREAD,
	HYBRID_FILE_TIME,
	HYBRID_FILE_ASKED,
	HYBRID_FILE_WAITS,
	HYBRID_FILE_WAITED,
	HYBRID_NR_FILE_COSTS,
};

/* Users that are told apart; all further ones have the share of HYBRID_FILE_NOBODY together. */
#define HYBRID_FILE_USERS	64

/* The user of processes of which nobody knows whose they are. */
#define HYBRID_FILE_NOBODY	((uid_t)-2)

/**
 * struct hybrid_file_user - the files of one user
 * @budget: that this is a share of
 * @uid: of the processes that map the files; root for files that only root can write
 * @used: of each cost
 * @refused: the cost that hybrid_file_take() has refused last
 * @left_out: files that were left out
 * @reason: the cost for which the last one was
 */
struct hybrid_file_user {
	struct hybrid_file_budget	*budget;
	uid_t				 uid;
	u64				 used[HYBRID_NR_FILE_COSTS];
	enum hybrid_file_cost		 refused;
	u64				 left_out;
	enum hybrid_file_cost		 reason;
};

/**
 * struct hybrid_file_limit - bounds of one cost
 * @root: of root, who has the files that all use
 * @user: of one other user
 * @others: of all users but root together, so that root's share is there whatever they do
 * @refill: what is forgotten in each second; 0: it is given back
 */
struct hybrid_file_limit {
	u64	root;
	u64	user;
	u64	others;
	u64	refill;
};

extern const struct hybrid_file_limit hybrid_file_limits[HYBRID_NR_FILE_COSTS];

/* The share of one user. */
static inline u64 hybrid_file_share(const struct hybrid_file_limit *limit, uid_t uid)
{
	return uid ? limit->user : limit->root;
}

/**
 * struct hybrid_file_budget - what the files of a recording may cost
 * @lock: of all of it
 * @users: those that were met
 * @nr: number of @users
 * @others: used by all users but root
 * @now: when @used was looked at last, in ns
 * @clock: what time it is, in ns
 */
struct hybrid_file_budget {
	pthread_mutex_t		lock;
	struct hybrid_file_user	users[HYBRID_FILE_USERS];
	unsigned int		nr;
	u64			others[HYBRID_NR_FILE_COSTS];
	u64			now;
	u64			(*clock)(void);
};

void hybrid_file_budget_init(struct hybrid_file_budget *budget);

/* The share of a user. @budget: NULL: NULL is returned, which has no bounds */
struct hybrid_file_user *hybrid_file_user_get(struct hybrid_file_budget *budget, uid_t uid);

/**
 * hybrid_file_take - may a file cost so much?
 * @user: whose file it is; NULL: there is no bound
 * @cost: which
 * @amount: of it
 *
 * Return: false if the user or all users would have more than their share. Nothing is taken then.
 */
bool hybrid_file_take(struct hybrid_file_user *user, enum hybrid_file_cost cost, u64 amount);

/* Returns what hybrid_file_take() took: memory, copies, waits. */
void hybrid_file_give(struct hybrid_file_user *user, enum hybrid_file_cost cost, u64 amount);

/* What hybrid_file_take() has refused last: why a read has just failed with EDQUOT. */
enum hybrid_file_cost hybrid_file_refused(struct hybrid_file_user *user);

/* Counts a file that was left out, for the line at the end. */
void hybrid_file_left_out(struct hybrid_file_user *user, enum hybrid_file_cost cost);

/**
 * hybrid_file_read - read a part of a file within its user's share
 * @user: NULL: there is no bound
 * @fd: the file
 * @dst: out
 * @size: bytes
 * @offset: in the file
 *
 * Return: as pread(); -1 with EDQUOT if the user is over his share.
 */
ssize_t hybrid_file_read(struct hybrid_file_user *user, int fd, void *dst, size_t size,
			 u64 offset);

/**
 * hybrid_file_read_data - the same, without the holes of the file
 * @user: as above
 * @fd: as above
 * @dst: out: zeros before
 * @size: bytes
 * @offset: in the file
 * @kept: what is read takes HYBRID_FILE_MEMORY, which is added here; NULL: it does not
 *
 * Return: bytes of @dst that the file has, holes included; -1 with errno.
 */
ssize_t hybrid_file_read_data(struct hybrid_file_user *user, int fd, void *dst, size_t size,
			      u64 offset, u64 *kept);

/**
 * hybrid_file_next_data - the next part of a file that is no hole
 * @fd: the file
 * @from: in: where to look from; out: where the part begins
 * @end: the end of what is looked at
 *
 * Return: bytes of the part, up to @end; 0: there is none.
 */
u64 hybrid_file_next_data(int fd, u64 *from, u64 end);

/* One line about what was left out, and of whom; nothing if there was none. */
void hybrid_file_budget_print(struct hybrid_file_budget *budget, FILE *out);

#endif /* __PERF_HYBRID_FILE_BUDGET_H */
