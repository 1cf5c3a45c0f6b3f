// SPDX-License-Identifier: GPL-2.0
#include <gelf.h>
#include <linux/kernel.h>
#include "build-id-note.h"

/* The kernel looks for a build-id in one page of a segment of notes. */
#define MAX_NOTES	0x10000

/* Segments of notes that are looked at; programs have two or three. */
#define MAX_SEGMENTS	16

/* A note: three words, the name and what it is about, both padded. */
static bool find_note(const u8 *data, u64 size, u64 align, struct hybrid_build_id *id)
{
	Elf64_Nhdr note;
	u64 at = 0, desc;

	while (at + sizeof(note) <= size) {
		memcpy(&note, data + at, sizeof(note));
		desc = at + PERF_ALIGN(sizeof(note) + note.n_namesz, align);
		if (desc > size || note.n_descsz > size - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(data + at + sizeof(note), "GNU", sizeof("GNU"))) {
			if (!note.n_descsz || note.n_descsz > sizeof(id->bytes))
				return false;
			memcpy(id->bytes, data + desc, note.n_descsz);
			id->size = note.n_descsz;
			return true;
		}
		at = PERF_ALIGN(desc + note.n_descsz, align);
	}
	return false;
}

static bool read_notes(int fd, struct hybrid_file_user *user, u64 offset, u64 size, u64 align,
		       struct hybrid_build_id *id)
{
	u8 data[MAX_NOTES];
	ssize_t got = hybrid_file_read(user, fd, data, min_t(u64, size, sizeof(data)), offset);

	return got > 0 && find_note(data, got, align == 8 ? 8 : 4, id);
}

bool hybrid_build_id_of_debug(int fd, struct hybrid_file_user *user, Elf *elf,
			      struct hybrid_build_id *id)
{
	GElf_Shdr shdr;

	id->size = 0;
	return hybrid_elf_find(elf, ".note.gnu.build-id", &shdr) &&
	       read_notes(fd, user, shdr.sh_offset, shdr.sh_size, shdr.sh_addralign, id);
}

bool hybrid_build_id_read(int fd, struct hybrid_file_user *user, Elf *elf,
			  struct hybrid_build_id *id)
{
	unsigned int nr_looked = 0;
	GElf_Phdr phdr;
	size_t i = 0;

	id->size = 0;
	while (nr_looked++ < MAX_SEGMENTS && hybrid_elf_next_segment(elf, PT_NOTE, &i, &phdr)) {
		if (read_notes(fd, user, phdr.p_offset, phdr.p_filesz, phdr.p_align, id))
			return true;
	}
	return false;
}
