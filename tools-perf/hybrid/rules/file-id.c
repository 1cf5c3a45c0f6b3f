// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include "file-id.h"

int hybrid_file_id_read(int fd, struct hybrid_file_id *id)
{
	struct statx st;

	memset(id, 0, sizeof(*id));
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_CTIME, &st))
		return -1;
	if (!S_ISREG(st.stx_mode) || ~st.stx_mask & (STATX_INO | STATX_CTIME)) {
		errno = EINVAL;
		return -1;
	}
	id->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	id->ino = st.stx_ino;
	id->ctime_sec = st.stx_ctime.tv_sec;
	id->ctime_nsec = st.stx_ctime.tv_nsec;
	return 0;
}

bool hybrid_file_id_is_of(const struct hybrid_file_id *id, int fd)
{
	struct hybrid_file_id now;

	return !hybrid_file_id_read(fd, &now) && hybrid_file_id_equal(id, &now);
}

int hybrid_open_found(int found)
{
	char path[64];
	struct stat st;
	int fd = -1;

	if (found < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	if (!fstat(found, &st) && !S_ISREG(st.st_mode))
		errno = EINVAL;
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(found);
	return fd;
}

int hybrid_open_regular(const char *path)
{
	return hybrid_open_found(open(path, O_PATH | O_CLOEXEC));
}

bool hybrid_file_is_guarded(int fd)
{
	struct statvfs fs;
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & 0022) &&
	       !fstatvfs(fd, &fs) && !(fs.f_flag & ST_NOSUID);
}
