// SPDX-License-Identifier: GPL-2.0
/*
 * What is opened in the place of a debug file: regular files alone, and of local file systems.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <linux/kernel.h>
#include "abi.h"
#include "debug-file.h"
#include "elf-file.h"
#include "file-id.h"
#include "mount.h"
#include "rows.h"
#include "space.h"
#include "tap.h"

static char dir[64] = "/tmp/hybrid-test-XXXXXX";
static struct hybrid_objects objects;

static const char *in_dir(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return path;
}

static void copy_file(const char *name, const char *to)
{
	static char data[1 << 17];
	int from = open(elf_file_path(name), O_RDONLY), fd;
	ssize_t size = read(from, data, sizeof(data));

	close(from);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(size > 0 && fd >= 0 && write(fd, data, size) == size);
	close(fd);
}

static void make_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	check(!bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
	close(fd);
}

/* Nothing here waits: a FIFO that was opened for reading would. */
static void make(const char *name, unsigned int what)
{
	const char *path = in_dir(name);

	unlink(path);
	rmdir(path);
	switch (what) {
	case 0:
		check(!mkfifo(path, 0600));
		break;
	case 1:
		make_socket(path);
		break;
	case 2:
		check(!mkdir(path, 0700));
		break;
	case 3:
		check(!symlink(path, path));
		break;
	case 4:
		check(!symlink("/dev/tty", path));
		break;
	case 5:
		check(!mkfifo(in_dir("other"), 0600) && !symlink(in_dir("other"), path));
		break;
	default:
		break;
	}
}

#define NR_KINDS	7

static void only_regular(void)
{
	unsigned int what;
	int fd;

	for (what = 0; what < NR_KINDS; what++) {
		make("odd", what);
		alarm(20);
		same(hybrid_open_regular(in_dir("odd")), -1);
		alarm(0);
		unlink(in_dir("other"));
	}
	copy_file("small.so", in_dir("regular"));
	fd = hybrid_open_regular(in_dir("regular"));
	check(fd >= 0);
	close(fd);
	unlink(in_dir("regular"));
	unlink(in_dir("odd"));
}

/* The first place where a debug file is looked for is beside the file. */
static int find(const char *name)
{
	struct hybrid_ident ident = { .path = in_dir("file") };
	struct hybrid_object *object = hybrid_object_get(&objects, &ident);
	int fd = -1;

	copy_file(name, in_dir("file"));
	if (check(!hybrid_object_open(object, open(in_dir("file"), O_RDONLY | O_CLOEXEC))))
		fd = hybrid_debug_file_open(object);
	object->is_old = true;
	hybrid_object_put(object);
	unlink(in_dir("file"));
	return fd;
}

/* debug-split.debug is its file, and debug-split-based.debug another one's. */
static void debug_link(void)
{
	unsigned int what;
	int fd;

	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	for (what = 0; what < NR_KINDS; what++) {
		make("debug-split.debug", what);
		alarm(20);
		same(find("debug-split.so"), -1);
		alarm(0);
		unlink(in_dir("other"));
	}
	make("debug-split.debug", NR_KINDS);
	copy_file("debug-split.debug", in_dir("debug-split.debug"));
	fd = find("debug-split.so");
	check(fd >= 0);
	close(fd);
	/* It has not the checksum. */
	copy_file("debug-split-based.debug", in_dir("debug-split.debug"));
	same(find("debug-split.so"), -1);
	unlink(in_dir("debug-split.debug"));
	mkdir(in_dir(".debug"), 0700);
	copy_file("debug-split.debug", in_dir(".debug/debug-split.debug"));
	fd = find("debug-split.so");
	check(fd >= 0);
	close(fd);
	unlink(in_dir(".debug/debug-split.debug"));
	rmdir(in_dir(".debug"));
	hybrid_objects_exit(&objects);
}

/* As if a distribution had installed it. */
static int open_installed(struct hybrid_objects *of, const char *path)
{
	(void)of;
	return open(strstr(path, "/.build-id/") ? elf_file_path("debug-id.debug") : path,
		    O_RDONLY | O_CLOEXEC);
}

/* Descriptor 0 is a file that was found: by its build-id, or by the link. */
static void descriptor_0(void)
{
	static const char * const names[] = { "debug-id.so", "debug-split.so" };
	/* This is 0 if there is no standard input. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), input = dup(STDIN_FILENO);
	struct hybrid_ident ident = { .path = in_dir("file") };
	struct hybrid_object *object;
	unsigned int i;

	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	objects.open_path = open_installed;
	copy_file("debug-split.debug", in_dir("debug-split.debug"));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		object = hybrid_object_get(&objects, &ident);
		check(!hybrid_object_open(object, open(elf_file_path(names[i]),
						       O_RDONLY | O_CLOEXEC)));
		close(STDIN_FILENO);
		same(hybrid_debug_file_open(object), 0);
		check(!close(0));
		dup2(input, STDIN_FILENO);
		object->is_old = true;
		hybrid_object_put(object);
	}
	close(input);
	close(null);
	unlink(in_dir("debug-split.debug"));
	hybrid_objects_exit(&objects);
}

static unsigned int asked;

/* The directory "far" is on a file system that may not answer. */
static bool is_local(void *arg, int found)
{
	struct stat of_far, st;

	(void)arg;
	asked++;
	return stat(in_dir("far"), &of_far) || fstat(found, &st) || st.st_ino != of_far.st_ino;
}

static int open_from(const char *root, const char *path)
{
	int fd = hybrid_open_local(root, path, is_local, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int open_local(const char *path)
{
	return open_from("/", path);
}

static void local_paths(void)
{
	check(!mkdir(in_dir("far"), 0700) && !mkdir(in_dir("near"), 0700));
	copy_file("small.so", in_dir("far/file"));
	copy_file("small.so", in_dir("near/file"));
	check(!symlink("near/file", in_dir("to-near")) && !symlink("far/file", in_dir("to-far")) &&
	      !symlink(in_dir("near"), in_dir("to-dir")) && !symlink("loop", in_dir("loop")) &&
	      !symlink("../far/file", in_dir("near/to-far")));
	same(open_local(in_dir("near/file")), 0);
	same(open_local(in_dir("near/../near//./file")), 0);
	same(open_local(in_dir("to-near")), 0);
	same(open_local(in_dir("to-dir/file")), 0);
	same(open_local(in_dir("far/file")), -1);
	same(errno, EAGAIN);
	same(open_local(in_dir("far/nothing")), -1);
	same(errno, EAGAIN);
	same(open_local(in_dir("far/../near/file")), -1);
	same(open_local(in_dir("to-far")), -1);
	same(open_local(in_dir("near/to-far")), -1);
	same(open_local(in_dir("loop")), -1);
	same(open_local(in_dir("near")), -1);
	same(open_local(in_dir("nothing")), -1);
	check(errno != EAGAIN);
	/* An absolute link begins where the path does. */
	same(open_from(in_dir(""), "/near/file"), 0);
	same(open_from(in_dir(""), "/to-dir/file"), -1);
	same(open_local("near/file"), -1);
	same(open_local(""), -1);
	check(asked > 10);
	unlink(in_dir("near/to-far"));
	unlink(in_dir("far/file"));
	unlink(in_dir("near/file"));
	unlink(in_dir("to-near"));
	unlink(in_dir("to-far"));
	unlink(in_dir("to-dir"));
	unlink(in_dir("loop"));
	rmdir(in_dir("far"));
	rmdir(in_dir("near"));
}

/* Can a path be opened that begins with a symbolic link and goes on with @rest bytes? */
static bool is_followed(size_t rest)
{
	static const char file[] = "/file";
	char path[PATH_MAX];
	size_t len = snprintf(path, sizeof(path), "%s", in_dir("to-dir"));

	memset(path + len, '/', rest);
	strcpy(path + len + rest - strlen(file), file);
	return !open_local(path);
}

/* Can a file be opened by a path of that length? */
static bool is_opened(size_t length)
{
	const char *file = in_dir("near/file");
	char path[PATH_MAX + 8];

	memset(path, '/', sizeof(path));
	strcpy(path + length - strlen(file), file);
	return !open_local(path);
}

/* The target of a link and the rest of the path together are at most PATH_MAX bytes. */
static void long_paths(void)
{
	char to[1000];
	size_t rest = PATH_MAX - sizeof(to) - 1;

	memset(to, '/', sizeof(to));
	check(!mkdir(in_dir("near"), 0700));
	copy_file("small.so", in_dir("near/file"));
	check(is_opened(PATH_MAX - 1));
	check(!is_opened(PATH_MAX));
	strcpy(to + sizeof(to) - strlen(in_dir("near")) - 1, in_dir("near"));
	same(strlen(to), sizeof(to) - 1);
	check(!symlink(to, in_dir("to-dir")));
	check(is_followed(rest - 1));
	check(is_followed(rest));
	check(!is_followed(rest + 1));
	same(errno, ENOENT);
	check(!is_followed(rest + 2));
	unlink(in_dir("to-dir"));
	unlink(in_dir("near/file"));
	rmdir(in_dir("near"));
}

static void mounts(void)
{
	int proc = open("/proc/self/maps", O_PATH | O_CLOEXEC);
	int memory = memfd_create("test", MFD_CLOEXEC);

	check(!hybrid_mount_is_local(proc, getpid()));
	check(hybrid_mount_is_local(memory, getpid()));
	close(proc);
	close(memory);
	/* What is not there needs nobody; neither do file systems that root has mounted. */
	check(hybrid_path_is_at_hand(elf_file_path("small.so"), 0));
	check(hybrid_path_is_at_hand(elf_file_path("small.so"), getpid()));
	check(hybrid_path_is_at_hand("/nothing/here", 0));
	check(hybrid_path_is_at_hand("/proc/version", 0));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "debug file: only regular files are opened", only_regular },
		{ "debug file: in the place of one", debug_link },
		{ "debug file: descriptor 0", descriptor_0 },
		{ "debug file: paths that lead through other file systems", local_paths },
		{ "debug file: links of long paths", long_paths },
		{ "debug file: which file systems wait for nobody", mounts },
	};
	int status;

	if (!mkdtemp(dir))
		return 2;
	status = tap_run(tests, ARRAY_SIZE(tests));
	unlink(in_dir("odd"));
	rmdir(dir);
	return status;
}
