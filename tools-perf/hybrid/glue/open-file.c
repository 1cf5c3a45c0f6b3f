// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <linux/kernel.h>
#include <linux/openat2.h>
#include "../../build-id.h"
#include "../../symbol.h"
#include "../../util.h"
#include "../process/vdso32.h"
#include "../rules/build-id-note.h"
#include "../rules/elf-bounds.h"
#include "../rules/file-id.h"
#include "../rules/space.h"
#include "open-file.h"

/* Not in linux/openat2.h before Linux 5.12, which refuses it. */
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED	0x20
#endif

/* Not in perf's own copy of the kernel's list. */
#ifndef __NR_openat2
#define __NR_openat2	437
#endif

/* A vdso is a few pages. */
#define MAX_VDSO	0x100000

/* As the kernel finds it: a program needs no section headers to run. */
static bool is_in_notes(int fd, const struct hybrid_ident *ident)
{
	Elf *elf = hybrid_elf_begin(fd, NULL);
	struct hybrid_build_id id;
	bool found = hybrid_build_id_read(fd, NULL, elf, &id) &&
		     hybrid_build_id_equal(&id, ident->build_id, ident->build_id_size);

	hybrid_elf_end(elf);
	return found;
}

static bool is_file_of(int fd, const struct hybrid_ident *ident)
{
	struct stat st;

	if (ident->build_id_size)
		return is_in_notes(fd, ident);
	/*
	 * Not the device: on overlayfs and btrfs stat() gives another number
	 * than mmap records and /proc/PID/maps do.
	 */
	return !ident->ino || (!fstat(fd, &st) && st.st_ino == ident->ino);
}

/* Device files may block, or do things, when opened. */
#define OPEN_FLAGS	(O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Returns @fd, or closes it where it is another file. */
static int checked(int fd, const struct hybrid_ident *ident)
{
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_file_of(fd, ident))
		return fd;
	close(fd);
	return -1;
}

static int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Every process of an ABI has the same, so our own serves where theirs is gone. */
static int open_own_vdso(size_t size)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	return vdso ? memory_file((const void *)vdso, size) : -1;
}

static int open_vdso(const struct hybrid_mapping *mapping)
{
	size_t size = mapping->end - mapping->start;
	static char image[MAX_VDSO];
	char path[64];
	ssize_t got;
	int fd;

	if (mapping->pgoff || size > sizeof(image))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/mem", mapping->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = pread(fd, image, size, mapping->start);
		close(fd);
		if (got == (ssize_t)size)
			return memory_file(image, size);
	}
	if (!strcmp(mapping->object->ident.path, HYBRID_VDSO_64))
		return open_own_vdso(size);
	if (hybrid_read_vdso32(image, size) != (ssize_t)size)
		return -1;
	return memory_file(image, size);
}

static int open_map_file(const struct hybrid_mapping *mapping, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 mapping->pid, mapping->start, mapping->end);
	return open(path, flags);
}

/* Kernels before 5.6 have no openat2(), and those before 5.12 may ask a file system. */
static int open_below(int root, const char *path, u64 flags, u64 resolve)
{
	struct open_how how = { .flags = flags, .resolve = resolve | RESOLVE_NO_MAGICLINKS };
	int fd = syscall(__NR_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && (errno == EINVAL || errno == ENOSYS))
		fd = openat(root, path, flags);
	return fd;
}

/* By the mapping's path, as a process sees it; @pid 0: as we do. */
static int open_in_root(pid_t pid, const char *path, u64 flags, u64 resolve)
{
	char root_path[64];
	int root, fd;

	/* It is none: memory that is not called anonymous, or what the kernel could not name. */
	if (path[0] != '/') {
		errno = ENOENT;
		return -1;
	}
	if (!pid)
		return open_below(AT_FDCWD, path, flags, resolve);
	snprintf(root_path, sizeof(root_path), "/proc/%d/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = open_below(root, path + 1, flags, resolve | RESOLVE_IN_ROOT);
	close(root);
	return fd;
}

/* The kernel adds this to the path of an unlinked file. */
#define DELETED		" (deleted)"

/* The last part of a path, and its length without DELETED. */
static const char *last_part(const char *path, size_t *len)
{
	const size_t tail = strlen(DELETED);
	const char *part = basename(path);

	*len = strlen(part);
	if (*len > tail && !strcmp(part + *len - tail, DELETED))
		*len -= tail;
	return part;
}

/*
 * Does the last part of an open file's path agree with @path? The rest depends on the roots of the
 * process and of perf.
 */
static bool has_name(int fd, const char *path)
{
	const char *is, *was;
	char link[32], now[PATH_MAX];
	size_t is_len, was_len;
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, now, sizeof(now) - 1);
	if (size < 0)
		return true;
	now[size] = 0;
	is = last_part(now, &is_len);
	was = last_part(path, &was_len);
	return is_len == was_len && !memcmp(is, was, is_len);
}

/*
 * Of a process that runs: the mapping itself, or the path in its root if another library is mapped
 * there by now. What /proc says of a process that is gone takes 10 us.
 */
static int find_running(const struct hybrid_mapping *mapping)
{
	const char *path = hybrid_mapping_ident(mapping)->path;
	int fd, named;

	if (kill(mapping->pid, 0) && errno == ESRCH)
		return -1;
	fd = mapping->is_moved ? -1 : open_map_file(mapping, O_PATH | O_CLOEXEC);
	if (fd >= 0 && has_name(fd, path))
		return fd;
	named = open_in_root(mapping->pid, path, O_PATH | O_CLOEXEC, RESOLVE_CACHED);
	if (named < 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return named;
}

/* Of one that is gone: in the root of those that it was of, or in ours. */
static int open_gone(const struct hybrid_mapping *mapping, u64 flags, u64 resolve)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	bool is_known = true;
	unsigned int i;
	int fd = -1;

	for (i = 0; fd < 0 && i < HYBRID_NR_ANCESTORS && mapping->ancestors[i]; i++) {
		fd = open_in_root(mapping->ancestors[i], ident->path, flags, resolve);
		is_known &= fd >= 0 || errno != EAGAIN;
	}
	if (fd < 0)
		fd = open_in_root(0, ident->path, flags, resolve);
	if (fd < 0 && !is_known)
		errno = EAGAIN;
	return fd;
}

int hybrid_find_live(const struct hybrid_mapping *mapping)
{
	bool is_known;
	int fd;

	errno = 0;
	fd = find_running(mapping);
	is_known = errno != EAGAIN;
	if (fd < 0)
		fd = open_gone(mapping, O_PATH | O_CLOEXEC, RESOLVE_CACHED);
	if (fd < 0 && !is_known)
		errno = EAGAIN;
	return fd;
}

static int identify(int fd, struct hybrid_file_id *id)
{
	int err = fd < 0 ? -1 : hybrid_file_id_read(fd, id);

	if (fd >= 0)
		close(fd);
	return err;
}

/**
 * struct gone - what was found for a process that is gone
 * @record: the object that has the ident of its mapping's record
 * @parent: of the process
 * @second: when that was, as struct hybrid_objects counts time
 * @id: the file
 */
struct gone {
	u64			record;
	pid_t			parent;
	u64			second;
	struct hybrid_file_id	id;
};

/* Short processes come in numbers, and map the same few files: one search serves a second. */
static int identify_gone(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	static struct gone all[64];
	const struct hybrid_object *record = mapping->record ?: mapping->object;
	struct gone *gone = &all[record->id % ARRAY_SIZE(all)];

	if (gone->record == record->id && gone->parent == mapping->ancestors[0] &&
	    gone->second == record->objects->now) {
		*id = gone->id;
		return 0;
	}
	gone->record = 0;
	if (identify(open_gone(mapping, O_PATH | O_CLOEXEC, RESOLVE_CACHED), id))
		return -1;
	*gone = (struct gone) { record->id, mapping->ancestors[0], record->objects->now, *id };
	return 0;
}

int hybrid_identify_live(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	int fd = find_running(mapping);

	return fd >= 0 ? identify(fd, id) : identify_gone(mapping, id);
}

/* A file that was identified has to be the one that is opened. */
static int as_identified(int fd, const struct hybrid_object *object)
{
	if (fd < 0 || !object->file.ino || hybrid_file_id_is_of(&object->file, fd))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int hybrid_open_found_live(const struct hybrid_mapping *mapping, int found)
{
	return as_identified(checked(hybrid_open_found(found), hybrid_mapping_ident(mapping)),
			     mapping->object);
}

int hybrid_open_live(const struct hybrid_mapping *mapping)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	int fd;

	if (!strcmp(ident->path, HYBRID_VDSO_64) || !strcmp(ident->path, HYBRID_VDSO_32))
		return open_vdso(mapping);

	fd = mapping->is_moved ? -1 : checked(open_map_file(mapping, OPEN_FLAGS), ident);
	if (fd < 0)
		fd = checked(hybrid_open_found(open_in_root(mapping->pid, ident->path,
							    O_PATH | O_CLOEXEC, 0)), ident);
	if (fd < 0)
		fd = checked(hybrid_open_found(open_gone(mapping, O_PATH | O_CLOEXEC, 0)), ident);
	return as_identified(fd, mapping->object);
}

/* Has it a segment of code where the mapping shows one? That is mapped in whole pages. */
static bool has_code_of(Elf *elf, const struct hybrid_mapping *mapping)
{
	u64 page = sysconf(_SC_PAGESIZE), size = mapping->end - mapping->start;
	GElf_Phdr phdr;
	size_t i = 0;

	while (hybrid_elf_next_segment(elf, PT_LOAD, &i, &phdr)) {
		if (phdr.p_flags & PF_X && phdr.p_offset < mapping->pgoff + page &&
		    phdr.p_offset + phdr.p_filesz + page > mapping->pgoff + size)
			return true;
	}
	return false;
}

/* Who put a file into the cache first, under a build-id, is not asked what it is. */
static int fits_mapping(int fd, const struct hybrid_mapping *mapping)
{
	bool fits;
	Elf *elf;

	if (fd < 0)
		return -1;
	elf = hybrid_elf_begin(fd, NULL);
	fits = has_code_of(elf, mapping);
	hybrid_elf_end(elf);
	if (fits)
		return fd;
	close(fd);
	return -1;
}

int hybrid_open_stored(const struct hybrid_mapping *mapping)
{
	/* Inodes are of the machine that recorded: only a build-id tells. */
	struct hybrid_ident ident = mapping->object->ident;
	char path[PATH_MAX], sbuild_id[SBUILD_ID_SIZE];
	struct build_id bid;
	int fd;

	ident.ino = 0;
	__symbol__join_symfs(path, sizeof(path), ident.path);
	fd = checked(open(path, OPEN_FLAGS), &ident);
	if (fd >= 0 || !ident.build_id_size)
		return fd;
	build_id__init(&bid, ident.build_id, ident.build_id_size);
	build_id__snprintf(&bid, sbuild_id, sizeof(sbuild_id));
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", buildid_dir,
		 sbuild_id, sbuild_id + 2);
	return fits_mapping(checked(open(path, OPEN_FLAGS), &ident), mapping);
}
