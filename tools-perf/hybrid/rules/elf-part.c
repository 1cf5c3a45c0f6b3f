// SPDX-License-Identifier: GPL-2.0
/*
 * Sections of an ELF file, read within bounds, as a file in memory for libelf and libdw.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <sys/stat.h>
#include "elf-bounds.h"
#include "elf-image.h"

/* Chromium's .eh_frame has 30 MiB. */
#define MAX_SECTION	(64ULL << 20)

#define ALIGN_DATA	16

/**
 * struct part - a section that is to be read
 * @name: of it
 * @shdr: its header; sh_offset and sh_size are of the file
 */
struct part {
	const char	*name;
	GElf_Shdr	 shdr;
};

static void put_shdr(u8 *at, bool is_64, const GElf_Shdr *shdr)
{
	Elf32_Shdr short_shdr = {
		.sh_name = shdr->sh_name, .sh_type = shdr->sh_type, .sh_flags = shdr->sh_flags,
		.sh_addr = shdr->sh_addr, .sh_offset = shdr->sh_offset, .sh_size = shdr->sh_size,
		.sh_addralign = shdr->sh_addralign, .sh_entsize = shdr->sh_entsize,
	};
	Elf64_Shdr long_shdr = *shdr;

	if (is_64)
		memcpy(at, &long_shdr, sizeof(long_shdr));
	else
		memcpy(at, &short_shdr, sizeof(short_shdr));
}

/* An ELF header with @nr section headers at @shoff, and the rest as the file has it. */
static void put_ehdr(u8 *at, Elf *elf, bool is_64, u64 shoff, unsigned int nr)
{
	Elf32_Ehdr short_ehdr;
	Elf64_Ehdr long_ehdr;
	GElf_Ehdr ehdr;

	gelf_getehdr(elf, &ehdr);
	ehdr.e_phoff = 0;
	ehdr.e_phnum = 0;
	ehdr.e_shoff = shoff;
	ehdr.e_shnum = nr;
	ehdr.e_shstrndx = nr - 1;
	long_ehdr = ehdr;
	memcpy(short_ehdr.e_ident, ehdr.e_ident, EI_NIDENT);
	short_ehdr.e_type = ehdr.e_type;
	short_ehdr.e_machine = ehdr.e_machine;
	short_ehdr.e_version = ehdr.e_version;
	short_ehdr.e_entry = ehdr.e_entry;
	short_ehdr.e_phoff = 0;
	short_ehdr.e_shoff = shoff;
	short_ehdr.e_flags = ehdr.e_flags;
	short_ehdr.e_ehsize = sizeof(short_ehdr);
	short_ehdr.e_phentsize = ehdr.e_phentsize;
	short_ehdr.e_phnum = 0;
	short_ehdr.e_shentsize = sizeof(Elf32_Shdr);
	short_ehdr.e_shnum = nr;
	short_ehdr.e_shstrndx = nr - 1;
	if (is_64)
		memcpy(at, &long_ehdr, sizeof(long_ehdr));
	else
		memcpy(at, &short_ehdr, sizeof(short_ehdr));
}

/* What was read of it is charged. A file that is shorter than it says has zeros there. */
static bool read_data(int fd, struct hybrid_elf_image *image, u64 at, const GElf_Shdr *shdr)
{
	return hybrid_file_read_data(image->user, fd, image->bytes + at, shdr->sh_size,
				     shdr->sh_offset, &image->charged) >= 0 || errno != EDQUOT;
}

/* The header of ELF headers, data of sections, names, section headers. */
static Elf *make(int fd, struct hybrid_file_user *user, Elf *elf, const struct part *parts,
		 unsigned int nr)
{
	bool is_64 = gelf_getclass(elf) == ELFCLASS64;
	u64 shsize = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), at, shoff, names = 1;
	GElf_Shdr strings = { .sh_type = SHT_STRTAB, .sh_addralign = 1 }, shdr;
	struct hybrid_elf_image *image;
	unsigned int i;

	at = PERF_ALIGN(sizeof(Elf64_Ehdr), ALIGN_DATA);
	for (i = 0; i < nr; i++) {
		at = PERF_ALIGN(at + parts[i].shdr.sh_size, ALIGN_DATA);
		names += strlen(parts[i].name) + 1;
	}
	strings.sh_offset = at;
	strings.sh_size = names;
	shoff = PERF_ALIGN(at + names, ALIGN_DATA);
	image = hybrid_elf_image_new(user, shoff + (nr + 2) * shsize, 0);
	if (!image)
		return NULL;
	put_ehdr(image->bytes, elf, is_64, shoff, nr + 2);
	at = PERF_ALIGN(sizeof(Elf64_Ehdr), ALIGN_DATA);
	for (i = 0, names = 1; i < nr; i++) {
		shdr = parts[i].shdr;
		if (!read_data(fd, image, at, &shdr))
			goto over;
		shdr.sh_offset = at;
		shdr.sh_name = names;
		shdr.sh_link = 0;
		put_shdr(image->bytes + shoff + (i + 1) * shsize, is_64, &shdr);
		memcpy(image->bytes + strings.sh_offset + names, parts[i].name,
		       strlen(parts[i].name));
		at = PERF_ALIGN(at + shdr.sh_size, ALIGN_DATA);
		names += strlen(parts[i].name) + 1;
	}
	put_shdr(image->bytes + shoff + (nr + 1) * shsize, is_64, &strings);
	return hybrid_elf_of_image(image);

over:
	hybrid_elf_image_free(image);
	errno = EDQUOT;
	return NULL;
}

/* As GNU did it before ELF could say that a section is compressed: "ZLIB", and the size. */
static u64 gnu_size(Elf_Scn *scn)
{
	const Elf_Data *data = elf_rawdata(scn, NULL);
	u64 size = 0;
	size_t i;

	if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4))
		return ~0ULL;
	for (i = 4; i < 12; i++)
		size = size << 8 | ((const u8 *)data->d_buf)[i];
	return size;
}

/* The section has then memory of libelf's. */
static bool unpack(Elf *part, Elf_Scn *scn, bool is_gnu)
{
	GElf_Chdr chdr;
	u64 size;

	size = is_gnu ? gnu_size(scn) : gelf_getchdr(scn, &chdr) ? chdr.ch_size : ~0ULL;
	if (size > MAX_SECTION) {
		errno = E2BIG;
		return false;
	}
	if (!hybrid_elf_charge(part, size)) {
		errno = EDQUOT;
		return false;
	}
	if ((is_gnu ? elf_compress_gnu(scn, 0, 0) : elf_compress(scn, 0, 0)) >= 0)
		return true;
	errno = ENOEXEC;
	return false;
}

static bool is_in_file(int fd, const GElf_Shdr *shdr)
{
	struct stat st;

	return !fstat(fd, &st) && shdr->sh_offset <= (u64)st.st_size &&
	       shdr->sh_size <= (u64)st.st_size - shdr->sh_offset;
}

Elf *hybrid_elf_part(int fd, struct hybrid_file_user *user, Elf *elf, const size_t *sections,
		     unsigned int nr)
{
	char names[HYBRID_ELF_SECTIONS][sizeof(".debug_frame")];
	struct part parts[HYBRID_ELF_SECTIONS] = {};
	bool is_gnu[HYBRID_ELF_SECTIONS];
	const char *name;
	unsigned int i;
	Elf *part;

	for (i = 0; i < nr; i++) {
		if (!gelf_getshdr(elf_getscn(elf, sections[i]), &parts[i].shdr) ||
		    parts[i].shdr.sh_type == SHT_NOBITS || parts[i].shdr.sh_size > MAX_SECTION ||
		    !is_in_file(fd, &parts[i].shdr)) {
			errno = E2BIG;
			return NULL;
		}
		name = hybrid_elf_name(elf, &parts[i].shdr) ?: "";
		is_gnu[i] = !strncmp(name, ".zdebug_", strlen(".zdebug_"));
		snprintf(names[i], sizeof(names[i]), "%s%s", is_gnu[i] ? "." : "",
			 name + (is_gnu[i] ? 2 : 0));
		parts[i].name = names[i];
	}
	part = make(fd, user, elf, parts, nr);
	for (i = 0; part && i < nr; i++) {
		if (!is_gnu[i] && !(parts[i].shdr.sh_flags & SHF_COMPRESSED))
			continue;
		if (!unpack(part, elf_getscn(part, i + 1), is_gnu[i])) {
			hybrid_elf_end(part);
			return NULL;
		}
	}
	return part;
}

/*
 * Of a program without section headers. .eh_frame ends with its segment, or where its header
 * begins: linkers write the two one behind the other. The rest of a segment that is larger than any
 * section is left out.
 */
static Elf *cfi_of_segments(int fd, struct hybrid_file_user *user, Elf *elf)
{
	static const u8 usual[] = { 1, 0x1b };
	struct part parts[] = { { .name = ".eh_frame_hdr" }, { .name = ".eh_frame" } };
	GElf_Shdr *hdr = &parts[0].shdr, *frame = &parts[1].shdr;
	GElf_Phdr phdr, load;
	u64 addr, offset;
	size_t i = 0;
	u8 bytes[8];
	s32 at;

	if (!hybrid_elf_next_segment(elf, PT_GNU_EH_FRAME, &i, &phdr) ||
	    phdr.p_filesz > MAX_SECTION ||
	    hybrid_file_read(user, fd, bytes, sizeof(bytes), phdr.p_offset) != sizeof(bytes) ||
	    memcmp(bytes, usual, sizeof(usual)))
		return NULL;
	memcpy(&at, bytes + 4, sizeof(at));
	addr = phdr.p_vaddr + 4 + at;
	if (!hybrid_elf_segment_of(elf, addr, &load))
		return NULL;
	offset = load.p_offset + (addr - load.p_vaddr);
	*hdr = (GElf_Shdr) {
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = phdr.p_vaddr,
		.sh_offset = phdr.p_offset, .sh_size = phdr.p_filesz, .sh_addralign = 4,
	};
	*frame = (GElf_Shdr) {
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = addr,
		.sh_offset = offset, .sh_size = load.p_filesz - (addr - load.p_vaddr),
		.sh_addralign = 8,
	};
	if (phdr.p_offset > offset)
		frame->sh_size = min_t(u64, frame->sh_size, phdr.p_offset - offset);
	frame->sh_size = min_t(u64, frame->sh_size, MAX_SECTION);
	return make(fd, user, elf, parts, ARRAY_SIZE(parts));
}

Elf *hybrid_elf_cfi(int fd, struct hybrid_file_user *user, Elf *elf)
{
	struct part parts[] = { { .name = ".eh_frame_hdr" }, { .name = ".eh_frame" } };
	bool has_hdr;

	if (!hybrid_elf_find(elf, ".eh_frame", &parts[1].shdr))
		return cfi_of_segments(fd, user, elf);
	has_hdr = hybrid_elf_find(elf, ".eh_frame_hdr", &parts[0].shdr) &&
		  parts[0].shdr.sh_size <= MAX_SECTION;
	if (parts[1].shdr.sh_size > MAX_SECTION || parts[1].shdr.sh_flags & SHF_COMPRESSED) {
		errno = E2BIG;
		return NULL;
	}
	/* libdw reads no other type: the psABI has one of its own for .eh_frame. */
	parts[0].shdr.sh_type = SHT_PROGBITS;
	parts[1].shdr.sh_type = SHT_PROGBITS;
	parts[0].shdr.sh_flags &= ~SHF_COMPRESSED;
	return make(fd, user, elf, parts + !has_hdr, 1 + has_hdr);
}
