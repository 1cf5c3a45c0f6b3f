/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MOUNT_H
#define __PERF_HYBRID_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * hybrid_mount_is_local - is a file on a disk or in memory?
 * @fd: descriptor (O_PATH), of which no file system is asked
 * @pid: a process that may have it in a mount namespace of its own
 *
 * By the type of its mount, as statfs() would wait for a file system that does not answer.
 *
 * Return: false, too, if the mount is not found.
 */
bool hybrid_mount_is_local(int fd, pid_t pid);

/**
 * hybrid_open_local - open a regular file if only local file systems are asked for it
 * @path: of it, absolute
 * @is_local: is what was found (O_PATH) on such a file system?
 * @arg: for @is_local
 *
 * Goes from directory to directory: a lookup in one that is on another file system may not return.
 *
 * Return: a file descriptor; -1.
 */
int hybrid_open_local(const char *path, bool (*is_local)(void *arg, int found), void *arg);

#endif /* __PERF_HYBRID_MOUNT_H */
