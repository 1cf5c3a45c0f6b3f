/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_HELPER_H
#define __PERF_HYBRID_FILE_HELPER_H

#include <limits.h>
#include <time.h>
#include "../rules/content.h"
#include "../rules/space.h"

/*
 * Processes that open files whose file system may not answer. A task that waits for a FUSE server
 * can't be killed: its process does not end, and close() of such a file may wait, too. So perf has
 * neither such a task nor such a file. It starts one process, which starts others, and it waits for
 * none of them. They end when perf has closed its end of their sockets, those that wait as soon as
 * their file system answers.
 */

/* The only argument of a perf that is a helper. */
#define HYBRID_HELPER_COMMAND	"hybrid-file-helper"

/* Not in perf's own copy of the kernel's list. */
#ifndef __NR_close_range
#define __NR_close_range	436
#endif

enum hybrid_helper_kind {
	HYBRID_HELPER_OPEN,	/* open the file of a mapping */
	HYBRID_HELPER_DIGEST,	/* compute the digest of the file of a mapping */
	HYBRID_HELPER_GO,	/* copy or read it, now that it is known how large it is */
	HYBRID_HELPER_DEBUG,	/* ask debuginfod for the file of a build-id */
};

/**
 * struct hybrid_helper_request - what a helper is to do
 * @kind: which of the fields below count
 * @most: HYBRID_HELPER_GO: bytes that may be copied or read; 0: don't
 * @mapping: HYBRID_HELPER_OPEN, HYBRID_HELPER_DIGEST: without pointers
 * @ident: of the mapping's record, without path
 * @file: the file that it was identified as
 * @build_id: HYBRID_HELPER_DEBUG: in @ident
 * @path: of @ident
 */
struct hybrid_helper_request {
	u32			kind;
	u64			most;
	struct hybrid_mapping	mapping;
	struct hybrid_ident	ident;
	struct hybrid_file_id	file;
	char			path[PATH_MAX];
};

/**
 * struct hybrid_helper_answer - what became of it
 * @error: errno; 0: there is a descriptor, or @needed
 * @needed: bytes to copy or to read, after HYBRID_HELPER_GO; 0: there is a descriptor or a digest
 * @is_ready: the process has begun; or the file is closed: that was the last answer about it
 * @is_copy: the descriptor is of a copy
 * @has_file: a second descriptor is of the file, which may be mapped and closed without waiting
 * @dev: of the file; 0: it is not known to be local
 * @ctime: of the file, when it was copied
 * @digest: HYBRID_HELPER_DIGEST: of the file
 */
struct hybrid_helper_answer {
	s32			error;
	u64			needed;
	bool			is_ready;
	bool			is_copy;
	bool			has_file;
	dev_t			dev;
	struct timespec		ctime;
	u8			digest[HYBRID_DIGEST_SIZE];
};

/**
 * typedef hybrid_helper_start_fn - start the first process
 * @socket: that it is to call hybrid_helper_main() with; it stays open here
 *
 * Return: 0, or -1.
 */
typedef int (*hybrid_helper_start_fn)(int socket);

/**
 * hybrid_helper_main - what the first process does
 * @socket: perf sends the sockets of further processes there
 * @open: opens the file of a mapping
 *
 * Does not return.
 */
void hybrid_helper_main(int socket, hybrid_open_fn open) __attribute__((noreturn));

/* Sends a message, with up to two descriptors; negative ones are none. Return: 0, or -1. */
int hybrid_helper_send(int socket, const void *data, size_t size, const int *fds);

/**
 * hybrid_helper_receive - receive a message
 * @fds: out: two descriptors, -1 if there are none
 * @flags: MSG_DONTWAIT, or 0
 *
 * Return: its size; 0: the other end is closed; -1 with errno.
 */
ssize_t hybrid_helper_receive(int socket, void *data, size_t size, int *fds, int flags);

#endif /* __PERF_HYBRID_FILE_HELPER_H */
