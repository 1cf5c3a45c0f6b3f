// SPDX-License-Identifier: GPL-2.0
/*
 * A file system (FUSE) that stops answering. It has FILE as f0, f1, ... for everyone.
 *
 * usage: hung-fuse DIRECTORY FILE OPENS
 *
 * It answers until files were opened OPENS times, and then nothing but what does not wait for an
 * answer. Ends when it is unmounted, or killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define MAX_WRITE	65536

static char *data;
static size_t size;
static int device;
static long opens;

static void reply(const struct fuse_in_header *in, int error, const void *body, size_t bytes)
{
	static char answer[sizeof(struct fuse_out_header) + (1 << 20)];
	struct fuse_out_header out = {
		.len = sizeof(out) + bytes, .error = error, .unique = in->unique,
	};

	memcpy(answer, &out, sizeof(out));
	memcpy(answer + sizeof(out), body, bytes);
	/* Who asked may be gone. */
	if (write(device, answer, out.len) < 0 && errno != ENOENT)
		perror("hung-fuse");
}

static void set_attr(struct fuse_attr *attr, uint64_t ino)
{
	bool is_root = ino == FUSE_ROOT_ID;

	memset(attr, 0, sizeof(*attr));
	attr->ino = ino;
	attr->nlink = 1 + is_root;
	attr->mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0755;
	attr->size = is_root ? 0 : size;
	attr->blocks = attr->size / 512 + 1;
	attr->blksize = 4096;
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = atoi(name + 1) + 2 };

	if (name[0] != 'f') {
		reply(in, -ENOENT, "", 0);
		return;
	}
	set_attr(&entry.attr, entry.nodeid);
	reply(in, 0, &entry, sizeof(entry));
}

static void get_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out attr = {};

	set_attr(&attr.attr, in->nodeid);
	reply(in, 0, &attr, sizeof(attr));
}

static void do_open(const struct fuse_in_header *in)
{
	struct fuse_open_out out = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };

	if (in->opcode == FUSE_OPEN)
		opens--;
	reply(in, 0, &out, sizeof(out));
}

static void do_read(const struct fuse_in_header *in, const struct fuse_read_in *read)
{
	size_t left = read->offset < size ? size - read->offset : 0;

	reply(in, 0, data + (left ? read->offset : 0), left < read->size ? left : read->size);
}

static void init(const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = MAX_WRITE,
		.max_write = MAX_WRITE,
	};

	reply(in, 0, &out, sizeof(out));
}

static void answer(const struct fuse_in_header *in)
{
	const void *body = in + 1;

	if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
	    in->opcode == FUSE_INTERRUPT || (opens <= 0 && in->opcode != FUSE_INIT))
		return;
	switch (in->opcode) {
	case FUSE_INIT:
		init(in);
		break;
	case FUSE_LOOKUP:
		look_up(in, body);
		break;
	case FUSE_GETATTR:
		get_attr(in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		do_open(in);
		break;
	case FUSE_READ:
		do_read(in, body);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		reply(in, 0, "", 0);
		break;
	default:
		reply(in, -ENOSYS, "", 0);
	}
}

static bool read_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (file < 0 || fstat(file, &st))
		return false;
	size = st.st_size;
	data = malloc(size);
	return data && read(file, data, size) == (ssize_t)size;
}

int main(int argc, char **argv)
{
	static char request[1 << 20] __attribute__((aligned(8)));
	char options[128];
	ssize_t got;

	if (argc != 4 || !read_file(argv[2]))
		return 2;
	opens = atol(argv[3]);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (device < 0 || mount("hung", argv[1], "fuse.hung", MS_NOSUID, options)) {
		perror("hung-fuse");
		return 2;
	}
	for (;;) {
		got = read(device, request, sizeof(request));
		if (got > 0)
			answer((const void *)request);
		else if (errno != EINTR && errno != ENOENT)
			return 0;
	}
}
