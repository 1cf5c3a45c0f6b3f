/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_ID_H
#define __PERF_HYBRID_FILE_ID_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

/**
 * struct hybrid_file_id - what the kernel says that tells a file, as it is now, from all others
 * @dev: device
 * @ino: inode; 0: the file is not known
 * @ctime_sec: when the inode last changed; unlike mtime, no process can choose it
 * @ctime_nsec: the same
 *
 * The numbers of stat(): on overlayfs and btrfs they differ from those of mmap records and of
 * /proc/PID/maps. An inode number that is used again comes with a later ctime.
 */
struct hybrid_file_id {
	dev_t	dev;
	u64	ino;
	s64	ctime_sec;
	u32	ctime_nsec;
};

/**
 * hybrid_file_id_read - which file is open
 * @fd: descriptor; one of O_PATH, too
 * @id: out
 *
 * No file system is asked: on FUSE or over a network it is what the kernel has last heard.
 *
 * Return: 0; -1 with errno, and @id of no file, where @fd is no regular file.
 */
int hybrid_file_id_read(int fd, struct hybrid_file_id *id);

/**
 * hybrid_file_id_is_of - is that file open, and not changed since?
 * @id: as it was
 * @fd: descriptor
 */
bool hybrid_file_id_is_of(const struct hybrid_file_id *id, int fd);

/**
 * hybrid_open_regular - open a file for reading if it is a regular one
 * @path: of it; the file systems on the way may be asked
 *
 * A FIFO, a device or a socket is not opened: that may wait for others, or do things.
 *
 * Return: a file descriptor; -1 with errno.
 */
int hybrid_open_regular(const char *path);

/* The same of a file that was found (O_PATH); @found is closed, and may be negative. */
int hybrid_open_found(int found);

/**
 * hybrid_file_is_guarded - can nobody write to a file but root, and who runs this?
 * @fd: of a file on a local file system
 *
 * A mount without set-user-ID programs is one whose files others may have made.
 */
bool hybrid_file_is_guarded(int fd);

static inline bool hybrid_file_id_equal(const struct hybrid_file_id *a,
					const struct hybrid_file_id *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->ctime_sec == b->ctime_sec &&
	       a->ctime_nsec == b->ctime_nsec;
}

#endif /* __PERF_HYBRID_FILE_ID_H */
