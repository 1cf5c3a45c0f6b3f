// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include "debug-frame.h"
#include "elf-bounds.h"
#include "object.h"

enum what {
	NO_DEBUG,
	NO_FRAME,	/* other sections of debug information */
	FRAME,
};

static bool is_debug(const char *name)
{
	return name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8));
}

/*
 * libdw reads, and unpacks, all sections of debug information before it gives one: that
 * takes longer than all unwinding. What is said to have no bytes it leaves alone.
 */
static enum what leave_frame(Elf *elf)
{
	enum what what = NO_DEBUG;
	Elf_Scn *scn = NULL;

	if (!elf)
		return NO_DEBUG;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *name;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr))
			break;
		name = hybrid_elf_name(elf, &shdr);
		if (shdr.sh_type == SHT_NOBITS || !is_debug(name))
			continue;
		if ((!strcmp(name, ".debug_frame") && hybrid_elf_data(scn)) ||
		    (!strcmp(name, ".zdebug_frame") && !hybrid_elf_unpacks_large(scn))) {
			what = FRAME;
			continue;
		}
		if (what == NO_DEBUG)
			what = NO_FRAME;
		shdr.sh_type = SHT_NOBITS;
		gelf_update_shdr(scn, &shdr);
	}
	return what;
}

static char *debuginfo_path;

/* Whatever libdwfl is told of, it has libdw read all of. */
static int find_none(Dwfl_Module *mod, void **userdata, const char *modname, GElf_Addr base,
		     const char *file, const char *link, GElf_Word crc, char **name)
{
	(void)mod, (void)userdata, (void)modname, (void)base;
	(void)file, (void)link, (void)crc, (void)name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo		= find_none,
	.section_address	= dwfl_offline_section_address,
	.debuginfo_path		= &debuginfo_path,
};

/*
 * The descriptor of an object's debug file, or less than 0. libdwfl looks for it once
 * it knows that it has none: before that it would close descriptor 0 at the end.
 */
static int find_debuginfo(struct hybrid_object *object, Dwfl *dwfl)
{
	int fd = dup(object->fd);
	Dwfl_Module *mod;
	void **userdata;
	char *found = NULL;
	const char *link;
	GElf_Word crc = 0;
	GElf_Addr bias;

	mod = fd < 0 ? NULL : dwfl_report_elf(dwfl, "object", object->ident.path, fd, 0, false);
	if (!mod && fd >= 0)
		close(fd);
	if (!mod || dwfl_report_end(dwfl, NULL, NULL) || dwfl_module_getdwarf(mod, &bias))
		return -1;
	dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	link = dwelf_elf_gnu_debuglink(object->elf, &crc);
	fd = dwfl_standard_find_debuginfo(mod, userdata, "object", 0, object->ident.path, link,
					  crc, &found);
	free(found);
	return fd;
}

/* The next loaded segment from @i on; false: there is none. */
static bool next_load(Elf *elf, size_t *i, GElf_Phdr *phdr)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	while (*i < nr) {
		if (gelf_getphdr(elf, (*i)++, phdr) && phdr->p_type == PT_LOAD)
			return true;
	}
	return false;
}

static u64 first_address(Elf *elf)
{
	GElf_Phdr phdr;
	size_t i = 0;

	return next_load(elf, &i, &phdr) ? phdr.p_vaddr : 0;
}

/*
 * Is a debug file of that program? A build-id or a checksum may be another's. The segments
 * of the two are of the same sizes, at the same distances: prelink moves all of them.
 */
static bool is_debug_of(Elf *debug, Elf *elf)
{
	u64 bias = first_address(elf) - first_address(debug);
	GElf_Phdr of_debug, of_elf;
	size_t i = 0, j = 0;
	bool more;

	do {
		more = next_load(elf, &j, &of_elf);
		if (next_load(debug, &i, &of_debug) != more)
			return false;
		if (more && (of_debug.p_vaddr + bias != of_elf.p_vaddr ||
			     of_debug.p_memsz != of_elf.p_memsz ||
			     of_debug.p_flags != of_elf.p_flags))
			return false;
	} while (more);
	return true;
}

/* Of the file itself, or of its debug file: @elf and @fd are the object's from now on. */
static enum what open_frame(struct hybrid_object *object, Elf *elf, int fd)
{
	enum what what = leave_frame(elf);
	Dwarf *dwarf;

	if (what == FRAME && fd != object->fd && !is_debug_of(elf, object->elf))
		what = NO_DEBUG;
	dwarf = what == FRAME ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	object->cfi.debug = dwarf ? dwarf_getcfi(dwarf) : NULL;
	if (object->cfi.debug) {
		object->has_debug = true;
		object->cfi.debug_bias = first_address(object->elf) - first_address(elf);
		object->dwarf = dwarf;
		object->debug_elf = elf;
		object->debug_fd = fd;
		return FRAME;
	}
	dwarf_end(dwarf);
	elf_end(elf);
	if (fd >= 0 && fd != object->fd)
		close(fd);
	return what;
}

/*
 * Of a file that is elsewhere none is looked for beside it: that might block. And what stands
 * beside files whose mappings use one object's rows was not compared.
 */
void hybrid_debug_frame_open(struct hybrid_object *object)
{
	Dwfl *dwfl;
	Elf *elf;
	int fd;

	object->debug_tried = true;
	elf = object->image ? elf_memory(object->image, object->image_size) :
			      hybrid_elf_begin(object->fd);
	if (open_frame(object, elf, object->fd) != NO_DEBUG || object->is_copy ||
	    object->is_shared)
		return;
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return;
	fd = find_debuginfo(object, dwfl);
	open_frame(object, hybrid_elf_begin(fd), fd);
	dwfl_end(dwfl);
}

void hybrid_debug_frame_close(struct hybrid_object *object)
{
	object->cfi.debug = NULL;
	if (!object->debug_elf)
		return;
	dwarf_end(object->dwarf);
	elf_end(object->debug_elf);
	object->debug_elf = NULL;
	if (object->debug_fd != object->fd)
		close(object->debug_fd);
}
