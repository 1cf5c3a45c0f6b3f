// SPDX-License-Identifier: GPL-2.0
/*
 * A file system whose files are those of a directory, and whose writes fail.
 *
 * usage: failing DIRECTORY BYTES ERROR MOUNTPOINT
 *
 * EDQUOT: no file grows beyond BYTES. EIO: the write that would do so fails, and so do all
 * after it, wherever they are.
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory;
static off_t limit;
static int error;
static bool is_broken;

/* Two for rename(). */
static const char *real(const char *path)
{
	static __thread char paths[2][PATH_MAX];
	static __thread unsigned int next;
	char *to = paths[next++ % 2];

	snprintf(to, PATH_MAX, "%s%s", directory, path);
	return to;
}

static int result(int err)
{
	return err < 0 ? -errno : 0;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	return result(lstat(real(path), st));
}

static int fs_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t at,
		      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	DIR *dir = opendir(real(path));
	struct dirent *entry;

	(void)at, (void)fi, (void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		fill(to, entry->d_name, NULL, 0, 0);
	return result(closedir(dir));
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	int fd = open(real(path), (fi->flags & ~O_APPEND) | O_CREAT, mode);

	fi->fh = fd;
	return result(fd);
}

static int fs_open(const char *path, struct fuse_file_info *fi)
{
	int fd = open(real(path), fi->flags & ~O_APPEND);

	fi->fh = fd;
	return result(fd);
}

static int fs_read(const char *path, char *to, size_t size, off_t at, struct fuse_file_info *fi)
{
	ssize_t got = pread(fi->fh, to, size, at);

	(void)path;
	return got < 0 ? -errno : got;
}

static int fs_write(const char *path, const char *from, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	ssize_t got;

	(void)path;
	if (is_broken || at >= limit) {
		is_broken = error == EIO;
		return -error;
	}
	if ((off_t)size > limit - at)
		size = limit - at;
	got = pwrite(fi->fh, from, size, at);
	return got < 0 ? -errno : got;
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)fi;
	return is_broken ? -error : result(truncate(real(path), size));
}

static int fs_unlink(const char *path)
{
	return result(unlink(real(path)));
}

static int fs_rename(const char *from, const char *to, unsigned int flags)
{
	return flags ? -EINVAL : result(rename(real(from), real(to)));
}

static int fs_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close(fi->fh));
}

static const struct fuse_operations ops = {
	.getattr = fs_getattr, .readdir = fs_readdir, .create = fs_create, .open = fs_open,
	.read = fs_read, .write = fs_write, .truncate = fs_truncate, .unlink = fs_unlink,
	.rename = fs_rename, .release = fs_release,
};

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	directory = argv[1];
	limit = atol(argv[2]);
	error = strcmp(argv[3], "EIO") ? EDQUOT : EIO;
	argv[3] = argv[0];
	return fuse_main(argc - 3, argv + 3, &ops, NULL);
}
