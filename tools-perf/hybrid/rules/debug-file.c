// SPDX-License-Identifier: GPL-2.0
/*
 * Separate debug files: see "Debugging Information in Separate Files" of GDB's manual. elfutils
 * would open whatever is at these places, and wait there for whoever made it a FIFO.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "build-id-note.h"
#include "debug-file.h"
#include "elf-bounds.h"
#include "object.h"

#define DEBUG_DIR	"/usr/lib/debug"

/* A checksum is of all of a file. Nearly every file has a build-id in its place. */
#define MAX_CHECKED	(64ULL << 20)

/* The name of a debug file, and its checksum. */
struct link {
	char	name[NAME_MAX + 1];
	u32	crc;
};

static bool read_link(const struct hybrid_object *object, struct link *link)
{
	char data[sizeof(link->name) + 2 * sizeof(link->crc)] = {};
	size_t len, at;
	GElf_Shdr shdr;

	if (!hybrid_elf_find(object->elf, ".gnu_debuglink", &shdr) ||
	    shdr.sh_flags & SHF_COMPRESSED || shdr.sh_size > sizeof(data) ||
	    hybrid_file_read(object->user, object->fd, data, shdr.sh_size, shdr.sh_offset) !=
	    (ssize_t)shdr.sh_size)
		return false;
	len = strnlen(data, sizeof(link->name));
	at = (len + 4) & ~3UL;
	/* A name alone: it names no other directory. */
	if (!len || len == sizeof(link->name) || at + sizeof(link->crc) > shdr.sh_size ||
	    strchr(data, '/'))
		return false;
	memcpy(link->name, data, len + 1);
	memcpy(&link->crc, data + at, sizeof(link->crc));
	return true;
}

/* As zlib's crc32(). */
static u32 crc_of(const u32 *table, u32 crc, const u8 *bytes, size_t size)
{
	while (size--)
		crc = table[(crc ^ *bytes++) & 0xff] ^ crc >> 8;
	return crc;
}

static void make_table(u32 *table)
{
	u32 i, bit, value;

	for (i = 0; i < 256; i++) {
		value = i;
		for (bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
		table[i] = value;
	}
}

static bool has_crc(const struct hybrid_object *object, int fd, u32 crc)
{
	u32 found = ~0U, table[256];
	u8 bytes[65536];
	struct stat st;
	ssize_t got;
	u64 at = 0;

	if (fstat(fd, &st) || (u64)st.st_size > MAX_CHECKED)
		return false;
	make_table(table);
	while (at <= MAX_CHECKED &&
	       (got = hybrid_file_read(object->user, fd, bytes, sizeof(bytes), at)) > 0) {
		found = crc_of(table, found, bytes, got);
		at += got;
	}
	return at == (u64)st.st_size && ~found == crc;
}

/* Returns @fd, or closes it. @link: NULL: only a build-id tells. */
static int checked(const struct hybrid_object *object, int fd, const struct hybrid_build_id *id,
		   const struct link *link)
{
	struct hybrid_build_id found;
	bool is_right;
	Elf *elf;

	if (fd < 0)
		return -1;
	elf = hybrid_elf_begin(fd, object->user);
	if (id->size)
		is_right = hybrid_build_id_of_debug(fd, object->user, elf, &found) &&
			   hybrid_build_id_equal(&found, id->bytes, id->size);
	else
		is_right = elf && link && has_crc(object, fd, link->crc);
	hybrid_elf_end(elf);
	if (is_right)
		return fd;
	close(fd);
	return -1;
}

static int open_path(const struct hybrid_object *object, const char *path)
{
	return object->objects->open_path ? object->objects->open_path(object->objects, path) :
	       hybrid_open_regular(path);
}

static int open_by_build_id(const struct hybrid_object *object, const struct hybrid_build_id *id)
{
	char path[sizeof(DEBUG_DIR "/.build-id//.debug") + 2 * sizeof(id->bytes)];
	int len = snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%02x/", id->bytes[0]);
	unsigned int i;

	for (i = 1; i < id->size; i++)
		len += snprintf(path + len, sizeof(path) - len, "%02x", id->bytes[i]);
	snprintf(path + len, sizeof(path) - len, ".debug");
	return checked(object, open_path(object, path), id, NULL);
}

static int open_by_link(const struct hybrid_object *object, const struct hybrid_build_id *id)
{
	static const char * const forms[] = { "%.*s/%s", "%.*s/.debug/%s", DEBUG_DIR "%.*s/%s" };
	const char *file = object->ident.path, *slash = strrchr(file, '/');
	char path[PATH_MAX];
	struct link link;
	unsigned int i;
	int fd = -1;

	if (!slash || !read_link(object, &link))
		return -1;
	for (i = 0; i < ARRAY_SIZE(forms) && fd < 0; i++) {
		if (snprintf(path, sizeof(path), forms[i], (int)(slash - file), file,
			     link.name) >= (int)sizeof(path) || !strcmp(path, file))
			continue;
		fd = checked(object, open_path(object, path), id, &link);
	}
	return fd;
}

int hybrid_debuginfod_find(const u8 *build_id, size_t size)
{
	int (*find)(void *client, const unsigned char *id, int len, char **path);
	void *library, *client, *(*begin)(void);
	void (*end)(void *client);
	char *path = NULL;
	int fd = -1;

	library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	if (!library)
		return -1;
	begin = dlsym(library, "debuginfod_begin");
	find = dlsym(library, "debuginfod_find_debuginfo");
	end = dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, build_id, size, &path);
		end(client);
	}
	/* Its threads may be there still: the library stays. */
	free(path);
	return fd < 0 ? -1 : fd;
}

static int fetch(struct hybrid_object *object, const struct hybrid_build_id *id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	int fd;

	if (!id->size || !urls || !*urls)
		return -1;
	fd = object->objects->fetch ? object->objects->fetch(object, id->bytes, id->size) :
	     hybrid_debuginfod_find(id->bytes, id->size);
	return fd == HYBRID_OPEN_LATER ? fd : checked(object, fd, id, NULL);
}

int hybrid_debug_file_open(struct hybrid_object *object)
{
	struct hybrid_build_id id = {};
	int fd = -1;

	hybrid_build_id_read(object->fd, object->user, object->elf, &id);
	/* While a server is asked, nothing else has to be tried again. */
	if (id.size && !object->load)
		fd = open_by_build_id(object, &id);
	if (fd < 0 && !object->load)
		fd = open_by_link(object, &id);
	return fd < 0 ? fetch(object, &id) : fd;
}
