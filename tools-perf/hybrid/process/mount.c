// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "../rules/file-id.h"
#include "mount.h"

/* Lines of a process's mounts that are read; a machine with a thousand containers has 30,000. */
#define MAX_LINES	65536

/* Not in the headers of all C libraries. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE	0x4000U
#endif

/* As the kernel's path lookup: symbolic links on the way. */
#define MAX_LINKS	40

/* As hybrid_file_is_local() has them, by number. */
static bool is_local_type(const char *type)
{
	static const char * const types[] = {
		"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "tmpfs", "ramfs",
		"rootfs", "squashfs",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(types[i], type))
			return true;
	}
	return false;
}

/* The number of the mount that a descriptor is of; -1: unknown. */
static long mount_of(int fd)
{
	char path[40], text[256], *found = NULL;
	ssize_t got = -1;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info >= 0) {
		got = read(info, text, sizeof(text) - 1);
		close(info);
	}
	if (got > 0) {
		text[got] = 0;
		found = strstr(text, "mnt_id:");
	}
	return found ? strtol(found + strlen("mnt_id:"), NULL, 10) : -1;
}

/* proc(5): the type follows a field of a single "-". */
static bool find_type(const char *path, long mount, char *type)
{
	FILE *mounts = fopen(path, "re");
	char *line = NULL, *dash;
	bool found = false;
	unsigned int i;
	size_t size = 0;

	for (i = 0; mounts && i < MAX_LINES && !found && getline(&line, &size, mounts) > 0; i++) {
		if (strtol(line, NULL, 10) != mount)
			continue;
		dash = strstr(line, " - ");
		found = dash && sscanf(dash, " - %31s", type) == 1;
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return found;
}

/* Memory that processes share is on a mount that nobody sees. */
static bool is_shared_memory(int fd)
{
	struct statx of_fd, of_memory;
	int memory = memfd_create("device", MFD_CLOEXEC);
	bool is_same;

	is_same = memory >= 0 &&
		  !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &of_fd) &&
		  !statx(memory, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &of_memory) &&
		  of_fd.stx_dev_minor == of_memory.stx_dev_minor &&
		  of_fd.stx_dev_major == of_memory.stx_dev_major;
	if (memory >= 0)
		close(memory);
	return is_same;
}

bool hybrid_mount_is_local(int fd, pid_t pid)
{
	long mount = mount_of(fd);
	char path[40], type[32];

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (mount >= 0 && (find_type("/proc/self/mountinfo", mount, type) ||
			   find_type(path, mount, type)))
		return is_local_type(type);
	return is_shared_memory(fd);
}

u64 hybrid_mount_id(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID_UNIQUE, &st) ||
	    !(st.stx_mask & STATX_MNT_ID_UNIQUE))
		return 0;
	return st.stx_mnt_id;
}

bool hybrid_mounts_are_own(pid_t pid)
{
	struct stat of_mounts, own;
	int ns, user = -1;
	char path[32];
	bool are_own;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns >= 0) {
		user = ioctl(ns, NS_GET_USERNS);
		close(ns);
	}
	are_own = user >= 0 && !fstat(user, &of_mounts) && !stat("/proc/self/ns/user", &own) &&
		  of_mounts.st_ino == own.st_ino;
	if (user >= 0)
		close(user);
	return are_own;
}

/**
 * struct lookup - the way to a file
 * @root: where absolute paths begin
 * @at: directory, or what was found (O_PATH); -1: nothing
 * @rest: of the path
 * @nr_links: symbolic links that were followed
 */
struct lookup {
	const char	*root;
	int		at;
	char		rest[PATH_MAX];
	unsigned int	nr_links;
};

static void move(struct lookup *lookup, int next)
{
	if (lookup->at >= 0)
		close(lookup->at);
	lookup->at = next;
}

/* A link is a part of the directory that it is in; @link is closed. */
static bool follow(struct lookup *lookup, int link)
{
	char path[PATH_MAX];
	ssize_t len = readlinkat(link, "", path, sizeof(path) - 1);
	size_t rest = strlen(lookup->rest);

	close(link);
	if (len <= 0 || len + 1 + rest >= sizeof(path) || lookup->nr_links++ == MAX_LINKS)
		return false;
	path[len] = '/';
	memcpy(path + len + 1, lookup->rest, rest + 1);
	if (path[0] == '/')
		move(lookup, open(lookup->root, O_PATH | O_CLOEXEC));
	memcpy(lookup->rest, path, len + rest + 2);
	return lookup->at >= 0;
}

/* The next name of the path. */
static bool step(struct lookup *lookup)
{
	char *name = lookup->rest + strspn(lookup->rest, "/");
	size_t len = strcspn(name, "/");
	char part[NAME_MAX + 1];
	struct statx st;
	int next;

	if (len >= sizeof(part))
		return false;
	memcpy(part, name, len);
	part[len] = 0;
	memmove(lookup->rest, name + len, strlen(name + len) + 1);
	next = openat(lookup->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0)
		return false;
	if (!statx(next, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
	    S_ISLNK(st.stx_mode))
		return follow(lookup, next);
	move(lookup, next);
	return true;
}

int hybrid_open_local(const char *root, const char *path, bool (*is_local)(void *arg, int found),
		      void *arg)
{
	struct lookup lookup = { .root = root, .at = -1 };
	bool found = path[0] == '/' && strlen(path) < sizeof(lookup.rest), waits = false;

	errno = 0;
	if (!found)
		return -1;
	strcpy(lookup.rest, path);
	move(&lookup, open(root, O_PATH | O_CLOEXEC));
	while (found && lookup.at >= 0 && !(waits = !is_local(arg, lookup.at)) &&
	       lookup.rest[strspn(lookup.rest, "/")])
		found = step(&lookup);
	if (found && !waits)
		return hybrid_open_found(lookup.at);
	move(&lookup, -1);
	errno = waits ? EAGAIN : ENOENT;
	return -1;
}

/**
 * struct mount_seen - a mount that was met last
 * @id: hybrid_mount_id()
 * @pid: of whose mounts it is one
 * @is_at_hand: what was found
 */
struct mount_seen {
	u64	id;
	pid_t	pid;
	bool	is_at_hand;
};

static bool mount_is_at_hand(int found, pid_t pid)
{
	char path[40], type[32];
	long mount = mount_of(found);

	if (find_type("/proc/self/mountinfo", mount, type))
		return strncmp(type, "fuse", strlen("fuse"));
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (!find_type(path, mount, type))
		return false;
	return is_local_type(type) ||
	       (strncmp(type, "fuse", strlen("fuse")) && hybrid_mounts_are_own(pid));
}

/* Most are on the mount that the one before was on. */
static bool is_at_hand(void *arg, int found)
{
	struct mount_seen *seen = arg;
	u64 id = hybrid_mount_id(found);

	if (!id || id != seen->id)
		seen->is_at_hand = mount_is_at_hand(found, seen->pid);
	seen->id = id;
	return seen->is_at_hand;
}

bool hybrid_path_is_at_hand(const char *path, pid_t pid)
{
	static struct mount_seen own, other;
	char roots[2][32] = { "/" };
	unsigned int i;
	int fd;

	snprintf(roots[1], sizeof(roots[1]), "/proc/%d/root", pid);
	if (other.pid != pid)
		other = (struct mount_seen) { .pid = pid };
	for (i = 0; i < 1 + !!pid; i++) {
		fd = hybrid_open_local(roots[i], path, is_at_hand, i ? &other : &own);
		if (fd >= 0)
			close(fd);
		else if (errno == EAGAIN)
			return false;
	}
	return true;
}
