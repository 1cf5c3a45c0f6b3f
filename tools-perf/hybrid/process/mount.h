/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MOUNT_H
#define __PERF_HYBRID_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

/* Is a file on a disk or in memory, so that no read waits for anyone? Asks the file system. */
bool hybrid_file_is_local(int fd);

/**
 * hybrid_mount_is_local - the same, without asking it
 * @fd: descriptor (O_PATH), of which no file system is asked
 * @pid: a process that may have it in a mount namespace of its own
 *
 * By the type of its mount, as statfs() would wait for a file system that does not answer.
 *
 * Return: false, too, if the mount is not found.
 */
bool hybrid_mount_is_local(int fd, pid_t pid);

/* The device that a file is on, as far as that is known without asking; 0: unknown */
dev_t hybrid_device_of(int fd);

/* The number of the mount that a descriptor is of; 0: the kernel has none (before 6.8) */
u64 hybrid_mount_id(int fd);

/* Are the mounts that a process sees those of somebody in perf's own user namespace? */
bool hybrid_mounts_are_own(pid_t pid);

/**
 * hybrid_path_is_at_hand - can a path be opened without waiting for whoever made a mount?
 * @path: of a file, absolute, which need not be there
 * @pid: a process that may have it in a mount namespace of its own; 0: none
 *
 * For what is done once with a file, after the recording: it may be on the network.
 *
 * Return: false if it leads to FUSE, or to what is not local and is mounted in another user
 * namespace.
 */
bool hybrid_path_is_at_hand(const char *path, pid_t pid);

/**
 * hybrid_open_local - open a regular file if only local file systems are asked for it
 * @root: directory that @path begins in
 * @path: of it, absolute
 * @is_local: is what was found (O_PATH) on such a file system?
 * @arg: for @is_local
 *
 * Goes from directory to directory: a lookup in one that is on another file system may not return.
 *
 * Return: a file descriptor; -1, with EAGAIN if another file system would have to be asked.
 */
int hybrid_open_local(const char *root, const char *path, bool (*is_local)(void *arg, int found),
		      void *arg);

#endif /* __PERF_HYBRID_MOUNT_H */
