// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "await.h"
#include "file-compare.h"
#include "files-world.h"
#include "tap.h"

/* Between two changes of a file, so that they have two times: a tick of the kernel is less. */
#define TICK		20000

struct files_world files;
static char dir[64] = "/tmp/hybrid-test-XXXXXX";

const char *files_path(const char *name)
{
	static char paths[2][128];
	static unsigned int next;
	char *path = paths[next++ % 2];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static mode_t mode(void)
{
	return files.is_open ? 0622 : 0600;
}

void files_copy(const char *name, const char *to)
{
	static char data[1 << 17];
	int from = open(elf_file_path(name), O_RDONLY), fd;
	ssize_t size = read(from, data, sizeof(data));

	close(from);
	usleep(TICK);
	fd = open(files_path(to), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(size > 0 && fd >= 0 && write(fd, data, size) == size);
	check(!fchmod(fd, mode()));
	close(fd);
	usleep(TICK);
}

void files_touch(const char *name)
{
	usleep(TICK);
	check(!chmod(files_path(name), mode()));
}

static int identify(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	const char *path = files.is_elsewhere && !mapping->is_moved ? files_path("b") :
			   hybrid_mapping_ident(mapping)->path;
	int fd = files.is_hidden ? -1 : open(path, O_PATH | O_CLOEXEC);
	int err = fd < 0 ? -1 : hybrid_file_id_read(fd, id);

	close(fd);
	return err;
}

static int open_file(const struct hybrid_mapping *mapping)
{
	int fd;

	if (files.changes)
		files_touch("a");
	files.changes = false;
	fd = elf_file_open(mapping);
	if (!mapping->object->file.ino || hybrid_file_id_is_of(&mapping->object->file, fd))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

void files_start(bool open)
{
	memset(&files, 0, sizeof(files));
	files.is_open = open;
	hybrid_processes_init(&files.ps, open_file);
	files.ps.objects.identify = identify;
	files.ps.objects.compare = &hybrid_file_compare;
	files_copy("small.so", "a");
	files.at = elf_file_symbol("small.so", "pushed_at");
}

void files_map_build_id(pid_t pid, const char *name, const char *build_id)
{
	struct hybrid_mapping mapping = { .end = 1 << 20, .pid = pid };
	struct hybrid_ident ident = { .path = files_path(name) };

	ident.build_id_size = strlen(build_id);
	memcpy(ident.build_id, build_id, ident.build_id_size);
	same(hybrid_process_map(&files.ps, &mapping, &ident, true), 0);
}

void files_map(pid_t pid, const char *name)
{
	files_map_build_id(pid, name, FILES_BUILD_ID);
}

const struct hybrid_mapping *files_mapping(pid_t pid)
{
	return hybrid_space_find(hybrid_thread_get(&files.ps, pid, pid)->process->space, 0);
}

const struct hybrid_row *files_row_at(pid_t pid, u64 ip)
{
	struct hybrid_objects *objects = &files.ps.objects;
	const struct hybrid_row *row;

	do {
		objects->waiting = NULL;
		row = hybrid_object_row(files_mapping(pid), ip);
	} while (objects->waiting && hybrid_await(objects->waiting, true) == HYBRID_LOAD_DONE);
	return row;
}

const struct hybrid_row *files_row(pid_t pid)
{
	const struct hybrid_row *row = files_row_at(pid, files.at);

	return row && row->rule.kind == HYBRID_RULE_CFA && row->rule.cfa_off == 32 ? row : NULL;
}

struct hybrid_object *files_settled(pid_t pid)
{
	while (!files_mapping(pid)->object->is_settled) {
		files_row(pid);
		usleep(1000);
	}
	return files_mapping(pid)->object;
}

int files_run(const struct tap_test *tests, unsigned int nr)
{
	int status;

	if (!mkdtemp(dir))
		return 2;
	status = tap_run(tests, nr);
	unlink(files_path("a"));
	unlink(files_path("b"));
	rmdir(dir);
	return status;
}
