// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "../../build-id.h"
#include "../../header.h"
#include "../../util.h"
#include "../runtime/names-file.h"
#include "../runtime/names.h"
#include "kept-names.h"

/* One for each runtime of a recording; perf diff reads two recordings, perf inject --guest, too. */
#define MAX_KEPT	(8 * HYBRID_NR_LANGUAGES)

/* More than the file of all names that there can be. */
#define MAX_SIZE	(4 * HYBRID_NAMES_BYTES)

/* What stands before all files, at a multiple of 8 bytes of the file. */
struct begin {
	char	magic[8];
	u32	nr;
	u32	reserved;
};

/* Before each file, which is padded to a multiple of 8 bytes. */
struct entry {
	u64	size;
	u8	build_id[HYBRID_NAMES_BUILD_ID];
	u32	reserved;
};

static const char magic[8] = "hybridn1";

static struct kept {
	u8	build_id[HYBRID_NAMES_BUILD_ID];
	u64	size;
	int	fd;
} kept[MAX_KEPT];

static unsigned int nr_kept;
static bool are_written;

static struct kept *find(const u8 *build_id)
{
	unsigned int i;

	for (i = 0; i < nr_kept; i++) {
		if (!memcmp(kept[i].build_id, build_id, sizeof(kept[i].build_id)))
			return &kept[i];
	}
	return NULL;
}

/* @fd: owned from now on */
static int keep(const u8 *build_id, int fd, u64 size)
{
	struct kept *names = find(build_id);

	if (!names && nr_kept == MAX_KEPT) {
		close(fd);
		return -ENOSPC;
	}
	if (names)
		close(names->fd);
	else
		names = &kept[nr_kept++];
	memcpy(names->build_id, build_id, sizeof(names->build_id));
	names->fd = fd;
	names->size = size;
	return 0;
}

int hybrid_kept_names__add(const struct hybrid_names *names)
{
	int fd = memfd_create("names", MFD_CLOEXEC), copy, err;
	struct stat st;
	FILE *file;

	copy = fd < 0 ? -1 : dup(fd);
	file = copy < 0 ? NULL : fdopen(copy, "w");
	if (!file) {
		err = errno ? -errno : -ENOMEM;
		if (copy >= 0)
			close(copy);
	} else {
		err = hybrid_names__file(names, file);
		if (fclose(file) && !err)
			err = -errno;
	}
	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err)
		return keep(hybrid_names__build_id(names), fd, st.st_size);
	if (fd >= 0)
		close(fd);
	return err;
}

void hybrid_kept_names__drop(void)
{
	while (nr_kept)
		close(kept[--nr_kept].fd);
}

bool hybrid_kept_names__are_written(void)
{
	return are_written;
}

static int write_zeros(struct feat_fd *ff, size_t size)
{
	static const char zeros[8];

	return size ? do_write(ff, zeros, size) : 0;
}

static int write_file(struct feat_fd *ff, const struct kept *names)
{
	struct entry entry = { .size = names->size };
	char buffer[65536];
	ssize_t got;
	u64 at;
	int err;

	memcpy(entry.build_id, names->build_id, sizeof(entry.build_id));
	err = do_write(ff, &entry, sizeof(entry));
	for (at = 0; !err && at < names->size; at += got) {
		got = pread(names->fd, buffer, min_t(u64, sizeof(buffer), names->size - at), at);
		if (got <= 0)
			return -EIO;
		err = do_write(ff, buffer, got);
	}
	return err ?: write_zeros(ff, -names->size % sizeof(u64));
}

int hybrid_kept_names__write(struct feat_fd *ff)
{
	struct begin begin = { .nr = nr_kept };
	unsigned int i;
	int err;

	/* A record in a pipe has at most 64 KiB. */
	if (!nr_kept || ff->buf)
		return 0;
	memcpy(begin.magic, magic, sizeof(magic));
	err = write_zeros(ff, -lseek(ff->fd, 0, SEEK_CUR) % sizeof(u64));
	if (!err)
		err = do_write(ff, &begin, sizeof(begin));
	for (i = 0; i < nr_kept && !err; i++)
		err = write_file(ff, &kept[i]);
	are_written = !err;
	return err;
}

/* Only what the section has: @left. */
static bool read_part(struct feat_fd *ff, void *out, size_t size, u64 *left)
{
	if (size > *left || read(ff->fd, out, size) != (ssize_t)size)
		return false;
	*left -= size;
	return true;
}

static int read_file(struct feat_fd *ff, u64 size, u64 *left)
{
	int fd = memfd_create("names", MFD_CLOEXEC);
	u64 padded = PERF_ALIGN(size, sizeof(u64)), at, part;
	char buffer[65536];

	for (at = 0; fd >= 0 && at < padded; at += part) {
		part = min_t(u64, sizeof(buffer), padded - at);
		if (!read_part(ff, buffer, part, left) ||
		    pwrite(fd, buffer, min(part, size - at), at) < 0) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

void hybrid_kept_names__read(struct feat_fd *ff)
{
	u64 left = ff->size - ff->offset, padding;
	struct begin begin;
	struct entry entry;
	char unused[8];
	u32 i;
	int fd;

	if (ff->buf || ff->offset > (ssize_t)ff->size)
		return;
	padding = -lseek(ff->fd, 0, SEEK_CUR) % sizeof(u64);
	if (!read_part(ff, unused, padding, &left) ||
	    !read_part(ff, &begin, sizeof(begin), &left) ||
	    memcmp(begin.magic, magic, sizeof(magic)))
		return;
	for (i = 0; i < begin.nr && i < MAX_KEPT; i++) {
		if (!read_part(ff, &entry, sizeof(entry), &left) || entry.size > MAX_SIZE ||
		    entry.size > left)
			return;
		fd = read_file(ff, entry.size, &left);
		if (fd < 0 || keep(entry.build_id, fd, entry.size))
			return;
	}
}

bool hybrid_kept_names__no_cache(void)
{
	/* perf's default without HOME is a folder where it was started. */
	return !getenv("HOME") && !strcmp(buildid_dir, ".debug");
}

bool hybrid_kept_names__path(const struct build_id *bid, char *path, size_t size)
{
	const struct kept *names = bid->size == HYBRID_NAMES_BUILD_ID ? find(bid->data) : NULL;

	if (names)
		scnprintf(path, size, "/proc/%d/fd/%d", getpid(), names->fd);
	return names;
}
