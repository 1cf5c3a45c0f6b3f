// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/nsfs.h>
#include "file-user.h"
#include "proc-number.h"

/* include/linux/user_namespace.h: the kernel allows so many, one in the other. */
#define MAX_NAMESPACES	32

/*
 * The real uid: the owner of /proc/PID is root if the process runs a set-user-ID program, or says
 * that it is not to be dumped.
 */
static bool read_uid(pid_t pid, uid_t *uid)
{
	char path[32];
	long number = HYBRID_FILE_NOBODY;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	/* The name of a process has no newlines here: the kernel escapes them. */
	found = hybrid_proc_number(path, "\nUid:\t", &number);
	*uid = number;
	return found;
}

static bool is_same(int a, int b)
{
	struct stat of_a, of_b;

	return !fstat(a, &of_a) && !fstat(b, &of_b) && of_a.st_ino == of_b.st_ino &&
	       of_a.st_dev == of_b.st_dev;
}

/* Who made the outermost user namespace that the process is in and perf is not; else @uid. */
static uid_t owner_of(pid_t pid, uid_t uid)
{
	int ns, own, parent;
	char path[32];
	unsigned int i;
	uid_t owner;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	own = ns < 0 ? -1 : open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	for (i = 0; own >= 0 && ns >= 0 && i < MAX_NAMESPACES && !is_same(ns, own); i++) {
		if (!ioctl(ns, NS_GET_OWNER_UID, &owner))
			uid = owner;
		parent = ioctl(ns, NS_GET_PARENT);
		close(ns);
		ns = parent;
	}
	if (ns >= 0)
		close(ns);
	if (own >= 0)
		close(own);
	return uid;
}

struct hybrid_file_user *hybrid_file_user_of(const struct hybrid_mapping *mapping)
{
	struct hybrid_file_budget *budget = mapping->object->objects->budget;
	pid_t pid = mapping->pid;
	uid_t uid = HYBRID_FILE_NOBODY;
	unsigned int i;

	if (!budget)
		return NULL;
	for (i = 0; !read_uid(pid, &uid) && i < HYBRID_NR_ANCESTORS && mapping->ancestors[i]; i++)
		pid = mapping->ancestors[i];
	if (uid != HYBRID_FILE_NOBODY)
		uid = owner_of(pid, uid);
	return hybrid_file_user_get(budget, uid);
}
