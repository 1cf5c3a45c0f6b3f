/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_HELPER_POOL_H
#define __PERF_HYBRID_HELPER_POOL_H

#include <linux/list.h>
#include "../rules/pinned-file.h"
#include "file-loader.h"

/* Processes that open files; a user's share of them is HYBRID_FILE_WAITS. */
#define HYBRID_MAX_HELPERS	32

/* File systems that are kept in mind as local, or not. */
#define HYBRID_MAX_DEVICES	32

/**
 * struct hybrid_load - a file that is asked for
 * @list: of those that no helper has begun with
 * @object: that it is for; NULL: it is for none, or of no use any more
 * @request: what the helper is told
 * @dev: where the file is, as far as that is known without asking; 0: unknown
 * @user: whose share it is
 * @asked: when, in ns
 * @waited: until when samples have waited for it, in ns
 * @fd: the file, when @done
 * @error: errno, where it can't be opened
 * @size: bytes of HYBRID_FILE_COPIES that @fd takes
 * @copied: it is a copy
 * @hold: of what
 * @digest: of the file, which is HYBRID_HELPER_DIGEST's
 * @is_counted: it is one of HYBRID_FILE_ASKED
 * @is_wanted: somebody will come for it; else it is freed when it is there
 * @done: it is there, or can't be opened
 * @late: samples wait for it no more
 */
struct hybrid_load {
	struct list_head		list;
	struct hybrid_object		*object;
	struct hybrid_helper_request	request;
	dev_t				dev;
	struct hybrid_file_user		*user;
	u64				asked;
	u64				waited;
	int				fd;
	int				error;
	u64				size;
	bool				copied;
	struct hybrid_pinned_file	hold;
	u8				digest[HYBRID_DIGEST_SIZE];
	bool				is_counted;
	bool				is_wanted;
	bool				done;
	bool				late;
};

/**
 * struct hybrid_helper - a process that opens files
 * @socket: to it
 * @is_started: it has said that it runs
 * @is_busy: it was given a file, and is not done with it: close() may not return
 * @is_digesting: that file's digest is wanted
 * @load: that file; NULL: it has answered
 * @user: whose the file is
 * @dev: where it is
 * @began: when it was given that file, in ns; of its first file, when it said that it runs
 */
struct hybrid_helper {
	int			socket;
	bool			is_started;
	bool			is_busy;
	bool			is_digesting;
	struct hybrid_load	*load;
	struct hybrid_file_user	*user;
	dev_t			dev;
	u64			began;
};

/**
 * struct hybrid_device - a file system that was met
 * @dev: its number, which another one may have later, unless it is on a disk
 * @mount: that of a mount, which no other one will have; 0: the kernel has none (before 6.8)
 * @is_local: it waits for nobody
 */
struct hybrid_device {
	dev_t	dev;
	u64	mount;
	bool	is_local;
};

/**
 * struct hybrid_loader - files that are asked for
 * @ops: how they are opened
 * @socket: to the process that starts others; -1: not started yet
 * @is_broken: it can't be started
 * @queue: files that no helper has begun with
 * @helpers: the processes
 * @nr_helpers: number of @helpers
 * @devices: the file systems that were met
 * @nr_devices: number of @devices
 * @wait_until: how long who has nothing else to do waits, in ns; 0: that was not yet
 */
struct hybrid_loader {
	struct hybrid_loader_ops ops;
	int			socket;
	bool			is_broken;
	struct list_head	queue;
	struct hybrid_helper	helpers[HYBRID_MAX_HELPERS];
	unsigned int		nr_helpers;
	struct hybrid_device	devices[HYBRID_MAX_DEVICES];
	unsigned int		nr_devices;
	u64			wait_until;
};

/**
 * struct hybrid_device_use - what helpers do with a file system, but for digests
 * @nr: of them that do something
 * @is_silent: one has waited longer than samples do
 */
struct hybrid_device_use {
	unsigned int	nr;
	bool		is_silent;
};

/* Has any helper not begun to run yet? On a slow machine the first one needs seconds for that. */
bool hybrid_helpers_are_starting(const struct hybrid_loader *loader);

struct hybrid_device_use hybrid_helpers_use(const struct hybrid_loader *loader, dev_t dev);

/* Reads the answers that there are, and gives files to helpers that have none. */
void hybrid_helpers_read(struct hybrid_loader *loader);

/* The same, but waits for an answer, until @until at most. */
void hybrid_helpers_wait(struct hybrid_loader *loader, u64 until);

/* Waits for nobody. */
void hybrid_helpers_exit(struct hybrid_loader *loader);

/* There is no file, as its user is over his share of that. */
void hybrid_load_set_over(struct hybrid_load *load, enum hybrid_file_cost cost);

/* It is there, or will not come; freed if nobody asks for it any more. */
void hybrid_load_end(struct hybrid_load *load);
void hybrid_load_free(struct hybrid_load *load);

/* Nobody asks for it any more. */
void hybrid_load_forget(struct hybrid_load *load);

#endif /* __PERF_HYBRID_HELPER_POOL_H */
