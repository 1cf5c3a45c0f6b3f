/* SPDX-License-Identifier: GPL-2.0 */
#ifndef POOL_WORLD_H
#define POOL_WORLD_H

#include "helper-pool.h"

/* File systems: those of helpers are this one and the following. */
#define DEV	100

#define USER	1000

/**
 * struct pool_world - helpers without processes: the test is at the other ends of their sockets
 * @loader: that has the helpers
 * @budget: of @user
 * @user: whose files they are, if pool_load() makes them
 * @ends: the other ends of the helpers' sockets
 * @first_end: the other end of the first process's socket; -1: it was not started
 */
struct pool_world {
	struct hybrid_loader		loader;
	struct hybrid_file_budget	budget;
	struct hybrid_file_user		*user;
	int				ends[HYBRID_MAX_HELPERS];
	int				first_end;
};

extern struct pool_world pool;

/* With helpers that are at work, each for root and on a file system of its own. */
void pool_start(unsigned int nr);

/* Frees all. @nr: as for pool_start() */
void pool_end(unsigned int nr);

/* Returns a load that is wanted and not in the queue yet; hybrid_load_free() frees it. */
struct hybrid_load *pool_load(u32 kind, dev_t dev);

/* Queues a file, and has helpers read. */
struct hybrid_load *pool_ask(u32 kind, dev_t dev);

/* Has helper @nr say something. @fds: as for hybrid_helper_send() */
void pool_say(unsigned int nr, const struct hybrid_helper_answer *answer, const int *fds);

#endif /* POOL_WORLD_H */
