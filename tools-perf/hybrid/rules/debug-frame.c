// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "debug-file.h"
#include "debug-frame.h"
#include "elf-bounds.h"
#include "object.h"
#include "section.h"

enum what {
	NO_DEBUG,
	NO_FRAME,	/* other sections of debug information */
	FRAME,
};

static bool is_debug(const char *name)
{
	return name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8));
}

/* The next section of debug information, with its name; NULL: there is none. */
static Elf_Scn *next_debug(Elf *elf, Elf_Scn *scn, GElf_Shdr *shdr, const char **name)
{
	while (elf && (scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, shdr))
			return NULL;
		*name = hybrid_elf_name(elf, shdr);
		if (is_debug(*name))
			return scn;
	}
	return NULL;
}

/* What a file has, and where. */
static enum what find_frame(Elf *elf, size_t *index)
{
	enum what what = NO_DEBUG;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;

	while ((scn = next_debug(elf, scn, &shdr, &name)) != NULL) {
		if (shdr.sh_type == SHT_NOBITS)
			continue;
		what = NO_FRAME;
		if (strcmp(name, ".debug_frame") && strcmp(name, ".zdebug_frame"))
			continue;
		*index = elf_ndxscn(scn);
		return FRAME;
	}
	return what;
}

/*
 * Of what a process has in memory: libdw would read, and unpack, all sections of debug information.
 * What is said to have no bytes it leaves alone. No JIT compiler packs its sections.
 */
static Elf *frame_of_image(const struct hybrid_object *object)
{
	Elf *elf = elf_memory(object->image, object->image_size);
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;

	while ((scn = next_debug(elf, scn, &shdr, &name)) != NULL) {
		if (!strcmp(name, ".debug_frame") && !(shdr.sh_flags & SHF_COMPRESSED))
			continue;
		shdr.sh_type = SHT_NOBITS;
		gelf_update_shdr(scn, &shdr);
	}
	return elf;
}

/* libdw gets this section alone, unpacked; it keeps all of its FDEs in a tree. */
static Elf *read_frame(struct hybrid_object *object, Elf *elf, int fd, size_t index)
{
	struct hybrid_section frame;
	Elf *part;

	if (object->image)
		return frame_of_image(object);
	errno = 0;
	part = hybrid_elf_part(fd, object->user, elf, &index, 1);
	if (part && hybrid_section_open(&frame, part, ".debug_frame") &&
	    !hybrid_elf_charge(part, HYBRID_LIBDW_FACTOR * frame.data->d_size)) {
		hybrid_elf_end(part);
		part = NULL;
		errno = EDQUOT;
	}
	if (!part && errno == EDQUOT)
		object->cfi.is_refused = true;
	return part;
}

static void end_frame(struct hybrid_object *object, Elf *part)
{
	if (object->image)
		elf_end(part);
	else
		hybrid_elf_end(part);
}

static u64 first_address(Elf *elf)
{
	GElf_Phdr phdr;
	size_t i = 0;

	return hybrid_elf_next_segment(elf, PT_LOAD, &i, &phdr) ? phdr.p_vaddr : 0;
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
		more = hybrid_elf_next_segment(elf, PT_LOAD, &j, &of_elf);
		if (hybrid_elf_next_segment(debug, PT_LOAD, &i, &of_debug) != more)
			return false;
		if (more && (of_debug.p_vaddr + bias != of_elf.p_vaddr ||
			     of_debug.p_memsz != of_elf.p_memsz ||
			     of_debug.p_flags != of_elf.p_flags))
			return false;
	} while (more);
	return true;
}

/* Of the file itself, or of its debug file. */
static enum what open_frame(struct hybrid_object *object, Elf *elf, int fd)
{
	size_t index = 0;
	enum what what = find_frame(elf, &index);
	Elf *part = NULL;
	Dwarf *dwarf;

	if (what == FRAME && elf != object->elf && !is_debug_of(elf, object->elf))
		what = NO_DEBUG;
	if (what == FRAME)
		part = read_frame(object, elf, fd, index);
	dwarf = part ? dwarf_begin_elf(part, DWARF_C_READ, NULL) : NULL;
	object->cfi.debug = dwarf ? dwarf_getcfi(dwarf) : NULL;
	if (object->cfi.debug) {
		object->has_debug = true;
		object->has_debug_file = elf != object->elf;
		object->cfi.debug_bias = first_address(object->elf) - first_address(elf);
		object->dwarf = dwarf;
		object->debug_elf = part;
		return FRAME;
	}
	dwarf_end(dwarf);
	end_frame(object, part);
	return what == FRAME ? NO_FRAME : what;
}

/*
 * Of a file that is elsewhere none is looked for beside it: that might block. And what stands
 * beside files whose mappings use one object's rows was not compared.
 */
bool hybrid_debug_frame_open(struct hybrid_object *object)
{
	Elf *elf;
	int fd;

	if (open_frame(object, object->elf, object->fd) == NO_DEBUG && !object->is_copy &&
	    !object->is_shared) {
		fd = hybrid_debug_file_open(object);
		if (fd == HYBRID_OPEN_LATER)
			return false;
		elf = hybrid_elf_begin(fd, object->user);
		open_frame(object, elf, fd);
		hybrid_elf_end(elf);
		if (fd >= 0)
			close(fd);
	}
	object->debug_tried = true;
	return true;
}

void hybrid_debug_frame_close(struct hybrid_object *object)
{
	object->cfi.debug = NULL;
	if (!object->debug_elf)
		return;
	dwarf_end(object->dwarf);
	end_frame(object, object->debug_elf);
	object->debug_elf = NULL;
}
