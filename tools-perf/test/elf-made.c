// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "abi.h"
#include "elf-made.h"

static void put(struct elf_made *elf, u64 at, const void *data, size_t size)
{
	size_t room = (at + size) * 2;

	if (at + size > elf->room) {
		elf->bytes = realloc(elf->bytes, room);
		if (!elf->bytes)
			exit(2);
		memset(elf->bytes + elf->room, 0, room - elf->room);
		elf->room = room;
	}
	if (size)
		memcpy(elf->bytes + at, data, size);
	if (at + size > elf->size)
		elf->size = at + size;
}

void elf_made_begin(struct elf_made *elf)
{
	memset(elf, 0, sizeof(*elf));
	memcpy(elf->header.e_ident, ELFMAG, SELFMAG);
	elf->header.e_ident[EI_CLASS] = ELFCLASS64;
	elf->header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf->header.e_ident[EI_VERSION] = EV_CURRENT;
	elf->header.e_type = ET_DYN;
	elf->header.e_machine = EM_X86_64;
	elf->header.e_version = EV_CURRENT;
	elf->header.e_ehsize = sizeof(Elf64_Ehdr);
	elf->header.e_phentsize = sizeof(Elf64_Phdr);
	elf->header.e_shentsize = sizeof(Elf64_Shdr);
	elf->nr = 1;
	elf->names_size = 1;
	put(elf, ELF_MADE_DATA - 1, "", 1);
}

unsigned int elf_made_section(struct elf_made *elf, const char *name, Elf64_Shdr header,
			      const void *data, size_t size)
{
	if (elf->nr == ELF_MADE_SECTIONS ||
	    elf->names_size + strlen(name) >= sizeof(elf->names))
		exit(2);
	header.sh_name = elf->names_size;
	strcpy(elf->names + elf->names_size, name);
	elf->names_size += strlen(name) + 1;
	if (!header.sh_offset)
		header.sh_offset = (elf->size + 15) & ~15ULL;
	if (!header.sh_size)
		header.sh_size = size;
	if (data)
		put(elf, header.sh_offset, data, size);
	elf->sections[elf->nr] = header;
	return elf->nr++;
}

unsigned int elf_made_loaded(struct elf_made *elf, const char *name, u64 flags, u64 addr,
			     const void *data, size_t size)
{
	Elf64_Shdr header = { .sh_type = SHT_PROGBITS, .sh_flags = flags | SHF_ALLOC,
			      .sh_addr = addr };
	unsigned int section;

	/* As linkers have it: at the same place of a page. */
	header.sh_offset = ((elf->size + 4095) & ~4095ULL) + addr % 4096;
	section = elf_made_section(elf, name, header, data, size);
	if (elf->nr_segments == ELF_MADE_SEGMENTS)
		exit(2);
	elf->segments[elf->nr_segments++] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = flags & SHF_EXECINSTR ? PF_R | PF_X : PF_R,
		.p_offset = header.sh_offset, .p_vaddr = addr, .p_filesz = size, .p_memsz = size,
	};
	return section;
}

int elf_made_file(struct elf_made *elf)
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	elf->header.e_shstrndx = elf_made_section(elf, ".shstrtab",
						  (Elf64_Shdr) { .sh_type = SHT_STRTAB },
						  elf->names, sizeof(elf->names));
	elf->header.e_shnum = elf->header.e_shnum ?: elf->nr;
	elf->header.e_phnum = elf->header.e_phnum ?: elf->nr_segments;
	elf->header.e_phoff = sizeof(Elf64_Ehdr);
	elf->header.e_shoff = (elf->size + 15) & ~15ULL;
	put(elf, elf->header.e_shoff, elf->sections, elf->nr * sizeof(*elf->sections));
	put(elf, 0, &elf->header, sizeof(elf->header));
	put(elf, elf->header.e_phoff, elf->segments, sizeof(elf->segments));
	if (fd < 0 || write(fd, elf->bytes, elf->size) != (ssize_t)elf->size)
		exit(2);
	free(elf->bytes);
	elf->bytes = NULL;
	return fd;
}

struct hybrid_object *elf_made_open(int fd)
{
	struct hybrid_objects *objects = calloc(1, sizeof(*objects));
	struct hybrid_ident ident = { .path = "/made" };
	struct hybrid_object *object;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	if (!hybrid_object_open(object, fd))
		return object;
	elf_made_close(object);
	return NULL;
}

struct hybrid_object *elf_made_object(struct elf_made *elf)
{
	struct hybrid_object *object = elf_made_open(elf_made_file(elf));

	if (!object) {
		fprintf(stderr, "a file that was made can't be opened\n");
		exit(2);
	}
	return object;
}

void elf_made_close(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;

	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
}

struct hybrid_code *code_of(const struct hybrid_object *object)
{
	static struct hybrid_code code;

	code = hybrid_object_code(object);
	return &code;
}
