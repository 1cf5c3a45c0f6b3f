// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include "../rules/file-id.h"
#include "mount.h"
#include "proc-number.h"

/* Lines of a process's mounts that are read; a machine with a thousand containers has 30,000. */
#define MAX_LINES	65536

/* Not in the headers of all C libraries. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE	0x4000U
#endif

/* Of the name of a type. */
#define TYPE_SIZE	32

/* As the kernel's path lookup: symbolic links on the way. */
#define MAX_LINKS	40

/* Not in linux/magic.h of all headers that perf is built with. */
#define MAGIC_XFS	0x58465342
#define MAGIC_F2FS	0xf2f52010
#define MAGIC_ZFS	0x2fc12fc1
#define MAGIC_BCACHEFS	0xca451a4e

/* Those on a disk or in memory: the type of the mount, and statfs(2)'s f_type. */
static const struct {
	const char	*type;
	u32		magic;
} local_types[] = {
	{ "ext2", EXT4_SUPER_MAGIC }, { "ext3", EXT4_SUPER_MAGIC }, { "ext4", EXT4_SUPER_MAGIC },
	{ "xfs", MAGIC_XFS }, { "btrfs", BTRFS_SUPER_MAGIC }, { "f2fs", MAGIC_F2FS },
	{ "zfs", MAGIC_ZFS }, { "bcachefs", MAGIC_BCACHEFS }, { "tmpfs", TMPFS_MAGIC },
	{ "ramfs", RAMFS_MAGIC }, { "rootfs", RAMFS_MAGIC }, { "squashfs", SQUASHFS_MAGIC },
};

bool hybrid_file_is_local(int fd)
{
	struct statfs fs;
	unsigned int i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < ARRAY_SIZE(local_types); i++) {
		if (local_types[i].magic == (u32)fs.f_type)
			return true;
	}
	return false;
}

static bool is_local_type(const char *type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(local_types); i++) {
		if (!strcmp(local_types[i].type, type))
			return true;
	}
	return false;
}

/* No file system is asked. */
static bool look(int fd, unsigned int mask, struct statx *st)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, st);
}

dev_t hybrid_device_of(int fd)
{
	struct statx st;

	return look(fd, STATX_TYPE, &st) ? makedev(st.stx_dev_major, st.stx_dev_minor) : 0;
}

/* The number of the mount that a descriptor is of; -1: unknown. */
static long mount_of(int fd)
{
	char path[40];
	long mount;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return hybrid_proc_number(path, "mnt_id:", &mount) ? mount : -1;
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

/* The type of the mount that a descriptor is of; @is_own: it is one of perf's own. */
static bool type_of(int fd, pid_t pid, char *type, bool *is_own)
{
	long mount = mount_of(fd);
	char path[40];

	*is_own = mount >= 0 && find_type("/proc/self/mountinfo", mount, type);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	return *is_own || (mount >= 0 && find_type(path, mount, type));
}

/* Memory that processes share is on a mount that nobody sees. */
static bool is_shared_memory(int fd)
{
	int memory = memfd_create("device", MFD_CLOEXEC);
	bool is_same = memory >= 0 && hybrid_device_of(memory) &&
		       hybrid_device_of(fd) == hybrid_device_of(memory);

	if (memory >= 0)
		close(memory);
	return is_same;
}

bool hybrid_mount_is_local(int fd, pid_t pid)
{
	char type[TYPE_SIZE];
	bool is_own;

	return type_of(fd, pid, type, &is_own) ? is_local_type(type) : is_shared_memory(fd);
}

u64 hybrid_mount_id(int fd)
{
	struct statx st;

	if (!look(fd, STATX_MNT_ID_UNIQUE, &st) || !(st.stx_mask & STATX_MNT_ID_UNIQUE))
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
	if (look(next, STATX_TYPE, &st) && S_ISLNK(st.stx_mode))
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
	char type[TYPE_SIZE];
	bool is_own;

	if (!type_of(found, pid, type, &is_own))
		return false;
	if (!strncmp(type, "fuse", strlen("fuse")))
		return false;
	return is_own || is_local_type(type) || hybrid_mounts_are_own(pid);
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
