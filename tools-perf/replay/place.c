// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <elfutils/libdwfl.h>
#include "place.h"

#define MAX_VDSO	0x100000

/* What libdwfl knows of a file, beside what the unwinder does. */
struct symbols {
	struct symbols			*next;
	const struct hybrid_object	*object;
	Dwfl				*dwfl;
	Dwfl_Module			*module;
	GElf_Addr			 bias;
};

const char *place_root = "";

static struct symbols *all_symbols;

/*
 * Ours: a process that is gone had the same, on the same kernel. It is of 64 bits,
 * as we are; that of 32 bits is below 4 GiB, and nowhere to be had.
 */
static int open_vdso(const struct hybrid_mapping *mapping)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size = mapping->end - mapping->start;
	int fd;

	if (!vdso || size > MAX_VDSO || mapping->pgoff || !(mapping->start >> 32))
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	/* Where ours is smaller, write() comes back with less. */
	if (fd >= 0 && write(fd, vdso, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

int place_open(const struct hybrid_mapping *mapping)
{
	const char *path = mapping->object->ident.path;
	char under_root[2 * PATH_MAX];
	struct stat st;
	int fd;

	if (path[0] == '[')
		return open_vdso(mapping);
	if (snprintf(under_root, sizeof(under_root), "%s%s",
		     place_root, path) >= (int)sizeof(under_root))
		return -1;
	fd = open(under_root, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			  GElf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found)
{
	return dwfl_standard_find_debuginfo(module, userdata, name, base, file, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo		= find_debuginfo,
	.section_address	= dwfl_offline_section_address,
};

/* Of a build-id longer than that, the sample has the beginning. */
static void check_file(const struct symbols *symbols)
{
	const struct hybrid_ident *ident = &symbols->object->ident;
	const unsigned char *bits = NULL;
	GElf_Addr vaddr;
	struct stat st;
	bool same = true;
	int size;

	if (ident->build_id_size) {
		size = dwfl_module_build_id(symbols->module, &bits, &vaddr);
		same = size >= ident->build_id_size &&
		       !memcmp(bits, ident->build_id, ident->build_id_size);
	} else if (ident->ino) {
		same = !fstat(symbols->object->fd, &st) && st.st_ino == ident->ino;
	}
	if (!same)
		printf("note: %s is not the file that was mapped: its rules may be others\n",
		       ident->path);
}

static const struct symbols *symbols_of(const struct hybrid_object *object)
{
	struct symbols *symbols;
	GElf_Addr bias;
	int fd;

	for (symbols = all_symbols; symbols; symbols = symbols->next) {
		if (symbols->object == object)
			return symbols;
	}
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return NULL;
	symbols->object = object;
	symbols->next = all_symbols;
	all_symbols = symbols;
	symbols->dwfl = dwfl_begin(&callbacks);
	fd = dup(object->fd);
	if (symbols->dwfl && fd >= 0)
		symbols->module = dwfl_report_elf(symbols->dwfl, "object", object->ident.path,
						  fd, 0, false);
	if (!symbols->module && fd >= 0)
		close(fd);
	if (symbols->module && !dwfl_report_end(symbols->dwfl, NULL, NULL) &&
	    dwfl_module_getelf(symbols->module, &bias)) {
		symbols->bias = bias;
		check_file(symbols);
	}
	return symbols;
}

void place_check(const struct hybrid_object *object)
{
	if (object->state == HYBRID_OBJECT_READY)
		symbols_of(object);
}

void place_exit(void)
{
	struct symbols *next;

	for (; all_symbols; all_symbols = next) {
		next = all_symbols->next;
		dwfl_end(all_symbols->dwfl);
		free(all_symbols);
	}
}

bool place_address(const struct hybrid_mapping *mapping, u64 ip, u64 *vaddr)
{
	const struct hybrid_object *object = mapping->object;
	u64 offset = ip - mapping->start + mapping->pgoff;
	size_t i;

	for (i = 0; i < object->nr_segments; i++) {
		const struct hybrid_segment *segment = &object->segments[i];

		*vaddr = offset - segment->offset + segment->vaddr;
		if (offset - segment->offset < segment->size)
			return true;
	}
	return false;
}

void place_print(const struct hybrid_mapping *mapping, u64 ip)
{
	const struct symbols *symbols;
	const char *name = NULL;
	GElf_Off offset;
	GElf_Sym sym;
	u64 vaddr;

	if (!mapping || !mapping->object) {
		printf(mapping ? "in memory that no file backs\n" : "in no map\n");
		return;
	}
	if (mapping->object->state != HYBRID_OBJECT_READY || !place_address(mapping, ip, &vaddr)) {
		printf("in %s\n", mapping->object->ident.path);
		return;
	}
	symbols = symbols_of(mapping->object);
	if (symbols && symbols->module)
		name = dwfl_module_addrinfo(symbols->module, vaddr + symbols->bias, &offset,
					    &sym, NULL, NULL, NULL);
	if (name)
		printf("%s+0x%" PRIx64 " ", name, offset);
	printf("in %s at 0x%" PRIx64 "\n", mapping->object->ident.path, vaddr);
}
