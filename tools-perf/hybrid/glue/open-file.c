// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
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

/* Where the build-id is in one note segment; false where it is not. */
static bool has_note(Elf *elf, const GElf_Phdr *phdr, const struct hybrid_ident *ident)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz,
					      phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(data->d_buf + name, "GNU", sizeof("GNU")))
			return note.n_descsz == ident->build_id_size &&
			       !memcmp(data->d_buf + desc, ident->build_id, note.n_descsz);
	}
	return false;
}

/* As the kernel finds it: a program needs no section headers to run. */
static bool is_in_notes(int fd, const struct hybrid_ident *ident)
{
	bool found = false;
	GElf_Phdr phdr;
	size_t nr, i;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getphdrnum(elf, &nr))
		nr = 0;
	for (i = 0; i < nr && !found; i++)
		found = gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_NOTE &&
			has_note(elf, &phdr, ident);
	elf_end(elf);
	return found;
}

static bool is_file_of(int fd, const struct hybrid_ident *ident)
{
	struct build_id bid = { .size = 0 };
	char path[64];
	struct stat st;

	if (ident->build_id_size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (filename__read_build_id(path, &bid) < 0)
			return is_in_notes(fd, ident);
		return bid.size == ident->build_id_size &&
		       !memcmp(bid.data, ident->build_id, bid.size);
	}
	/*
	 * Not the device: on overlayfs and btrfs stat() gives another number
	 * than mmap records and /proc/PID/maps do.
	 */
	return !ident->ino || (!fstat(fd, &st) && st.st_ino == ident->ino);
}

static int open_checked(const char *path, const struct hybrid_ident *ident)
{
	/* Device files may block, or do things, when opened. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (!ident || is_file_of(fd, ident)))
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

static void map_files_path(char *path, size_t size, const struct hybrid_mapping *mapping)
{
	snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 mapping->pid, mapping->start, mapping->end);
}

/* By what the kernel has in memory of the path: no file system is asked. */
static int find_cached(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };

	return syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));
}

int hybrid_find_live(const struct hybrid_mapping *mapping)
{
	char path[64];
	int fd;

	map_files_path(path, sizeof(path), mapping);
	fd = open(path, O_PATH | O_CLOEXEC);
	/* The process is gone. */
	if (fd < 0 && errno == ENOENT)
		fd = find_cached(mapping->object->ident.path);
	return fd;
}

int hybrid_open_live(const struct hybrid_mapping *mapping)
{
	const struct hybrid_ident *ident = &mapping->object->ident;
	char path[PATH_MAX + 32];
	int fd;

	if (!strcmp(ident->path, HYBRID_VDSO_64) || !strcmp(ident->path, HYBRID_VDSO_32))
		return open_vdso(mapping);

	map_files_path(path, sizeof(path), mapping);
	fd = open_checked(path, ident);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", mapping->pid, ident->path);
	fd = open_checked(path, ident);
	if (fd >= 0)
		return fd;
	return open_checked(ident->path, ident);
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
	fd = open_checked(path, &ident);
	if (fd >= 0 || !ident.build_id_size)
		return fd;
	build_id__init(&bid, ident.build_id, ident.build_id_size);
	build_id__snprintf(&bid, sbuild_id, sizeof(sbuild_id));
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", buildid_dir,
		 sbuild_id, sbuild_id + 2);
	return open_checked(path, &ident);
}
