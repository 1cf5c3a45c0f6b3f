// SPDX-License-Identifier: GPL-2.0
/*
 * The headers of an ELF file, in memory: see elf(5).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <sys/mman.h>
#include "elf-bounds.h"
#include "elf-image.h"

/* Names of sections: Chromium has 600 bytes. */
#define MAX_NAMES	(1ULL << 20)

/* libelf has 256 bytes for each section. */
#define MAX_SECTIONS	0x10000
#define MAX_SEGMENTS	4096

/* More is mapped, not taken from the heap: what is a hole of a file takes no memory there. */
#define LARGE		(256ULL << 10)

static const struct hybrid_elf_form form_64 = {
	8, sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), sizeof(Elf64_Shdr),
	offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_shoff),
	offsetof(Elf64_Ehdr, e_phentsize), offsetof(Elf64_Shdr, sh_offset),
};

static const struct hybrid_elf_form form_32 = {
	4, sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr), sizeof(Elf32_Shdr),
	offsetof(Elf32_Ehdr, e_phoff), offsetof(Elf32_Ehdr, e_shoff),
	offsetof(Elf32_Ehdr, e_phentsize), offsetof(Elf32_Shdr, sh_offset),
};

const struct hybrid_elf_form *hybrid_elf_form(const u8 *ident)
{
	if (memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	return ident[EI_CLASS] == ELFCLASS64 ? &form_64 :
	       ident[EI_CLASS] == ELFCLASS32 ? &form_32 : NULL;
}

struct hybrid_elf_image *hybrid_elf_image_new(struct hybrid_file_user *user, u64 size, u64 data)
{
	struct hybrid_elf_image *image;

	if (!hybrid_file_take(user, HYBRID_FILE_MEMORY, data)) {
		errno = EDQUOT;
		return NULL;
	}
	size += sizeof(*image);
	if (size < LARGE) {
		image = calloc(1, size);
	} else {
		image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (image == MAP_FAILED)
			image = NULL;
	}
	if (!image) {
		hybrid_file_give(user, HYBRID_FILE_MEMORY, data);
		return NULL;
	}
	image->user = user;
	image->charged = data;
	image->size = size;
	return image;
}

void hybrid_elf_image_free(struct hybrid_elf_image *image)
{
	hybrid_file_give(image->user, HYBRID_FILE_MEMORY, image->charged);
	if (image->size < LARGE)
		free(image);
	else
		munmap(image, image->size);
}

Elf *hybrid_elf_of_image(struct hybrid_elf_image *image)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image->bytes, image->size - sizeof(*image));
	if (!elf)
		hybrid_elf_image_free(image);
	return elf;
}

static struct hybrid_elf_image *image_of(Elf *elf)
{
	char *bytes = elf_rawfile(elf, NULL);

	return (struct hybrid_elf_image *)(bytes - offsetof(struct hybrid_elf_image, bytes));
}

void hybrid_elf_end(Elf *elf)
{
	struct hybrid_elf_image *image = elf ? image_of(elf) : NULL;

	elf_end(elf);
	if (image)
		hybrid_elf_image_free(image);
}

bool hybrid_elf_charge(Elf *elf, u64 size)
{
	struct hybrid_elf_image *image = image_of(elf);

	if (!hybrid_file_take(image->user, HYBRID_FILE_MEMORY, size))
		return false;
	image->charged += size;
	return true;
}

static u64 get(const u8 *at, unsigned int size)
{
	u64 value = 0;

	memcpy(&value, at, size);
	return value;
}

/**
 * struct headers - what the ELF header says of the others
 * @form: the file's
 * @ehdr: ELF header
 * @phoff: where the program headers are
 * @phsize: bytes of them
 * @shoff: where the section headers are
 * @shsize: bytes of them; 0: there are none
 * @names: index of the section with their names
 */
struct headers {
	const struct hybrid_elf_form	*form;
	u8	ehdr[sizeof(Elf64_Ehdr)];
	u64	phoff;
	u64	phsize;
	u64	shoff;
	u64	shsize;
	u64	names;
};

enum number { PHENTSIZE, PHNUM, SHENTSIZE, SHNUM, SHSTRNDX };

static u64 number(const struct headers *headers, enum number which)
{
	return get(headers->ehdr + headers->form->e_numbers + 2 * which, 2);
}

/* Section 0 has what the ELF header has no room for. */
static bool read_numbers(struct headers *headers, int fd, struct hybrid_file_user *user)
{
	const struct hybrid_elf_form *form = headers->form;
	u64 nr = number(headers, SHNUM), nr_segments = number(headers, PHNUM);
	u8 first[sizeof(Elf64_Shdr)];
	ssize_t got;

	headers->phoff = get(headers->ehdr + form->e_phoff, form->word);
	headers->shoff = get(headers->ehdr + form->e_shoff, form->word);
	headers->names = number(headers, SHSTRNDX);
	if (!headers->shoff || number(headers, SHENTSIZE) != form->shdr) {
		headers->shoff = 0;
		nr = 0;
	} else if (!nr || headers->names == SHN_XINDEX) {
		got = hybrid_file_read(user, fd, first, form->shdr, headers->shoff);
		if (got < 0 && errno == EDQUOT)
			return false;
		/* sh_size and sh_link follow sh_offset. */
		if (!nr && got == form->shdr)
			nr = get(first + form->sh_offset + form->word, form->word);
		if (headers->names == SHN_XINDEX && got == form->shdr)
			headers->names = get(first + form->sh_offset + 2 * form->word, 4);
	}
	if (number(headers, PHENTSIZE) != form->phdr)
		nr_segments = 0;
	if (nr > MAX_SECTIONS || nr_segments > MAX_SEGMENTS) {
		errno = E2BIG;
		return false;
	}
	headers->phsize = nr_segments * form->phdr;
	headers->shsize = nr * form->shdr;
	return true;
}

static bool read_ehdr(struct headers *headers, int fd, struct hybrid_file_user *user)
{
	ssize_t got;

	memset(headers, 0, sizeof(*headers));
	got = hybrid_file_read(user, fd, headers->ehdr, sizeof(headers->ehdr), 0);
	if (got < EI_NIDENT || memcmp(headers->ehdr, ELFMAG, SELFMAG)) {
		errno = got < 0 ? errno : ENOEXEC;
		return false;
	}
	headers->form = hybrid_elf_form(headers->ehdr);
	/* For another machine: its header says so, and nothing else is read. */
	if (!headers->form)
		return true;
	if (got >= headers->form->ehdr)
		return read_numbers(headers, fd, user);
	errno = ENOEXEC;
	return false;
}

/* Where the names of sections are; 0: there are none, or not in the file. */
static u64 size_of_names(const struct headers *headers, const u8 *sections, u64 *offset)
{
	const struct hybrid_elf_form *form = headers->form;
	const u8 *section = sections + headers->names * form->shdr;

	if (headers->names >= headers->shsize / form->shdr ||
	    get(section + 4, 4) != SHT_STRTAB)
		return 0;
	*offset = get(section + form->sh_offset, form->word);
	return get(section + form->sh_offset + form->word, form->word);
}

static void put(u8 *at, u64 value, unsigned int size)
{
	memcpy(at, &value, size);
}

/* The headers one behind the other, then the names; @both: program headers, section headers. */
static Elf *make_image(const struct headers *headers, const u8 *both, int fd,
		       struct hybrid_file_user *user)
{
	const struct hybrid_elf_form *form = headers->form;
	u64 at_names = sizeof(headers->ehdr) + headers->phsize + headers->shsize, from = 0;
	u64 names = size_of_names(headers, both + headers->phsize, &from);
	u64 size = at_names + names;
	struct hybrid_elf_image *image;
	u8 *sections;

	if (names > MAX_NAMES) {
		errno = E2BIG;
		return NULL;
	}
	/* libelf has 256 bytes for each section. */
	image = hybrid_elf_image_new(user, size, size + headers->shsize * 4);
	if (!image)
		return NULL;
	memcpy(image->bytes, headers->ehdr, sizeof(headers->ehdr));
	memcpy(image->bytes + sizeof(headers->ehdr), both, headers->phsize + headers->shsize);
	put(image->bytes + form->e_phoff, headers->phsize ? sizeof(headers->ehdr) : 0, form->word);
	put(image->bytes + form->e_shoff,
	    headers->shsize ? sizeof(headers->ehdr) + headers->phsize : 0, form->word);
	if (!headers->phsize)
		put(image->bytes + form->e_numbers + 2 * PHNUM, 0, 2);
	if (!headers->shsize) {
		put(image->bytes + form->e_numbers + 2 * SHNUM, 0, 2);
		put(image->bytes + form->e_numbers + 2 * SHSTRNDX, 0, 2);
	}
	if (names && hybrid_file_read(user, fd, image->bytes + at_names, names, from) < 0 &&
	    errno == EDQUOT) {
		hybrid_elf_image_free(image);
		errno = EDQUOT;
		return NULL;
	}
	if (names) {
		sections = image->bytes + sizeof(headers->ehdr) + headers->phsize;
		put(sections + headers->names * form->shdr + form->sh_offset, at_names, form->word);
	}
	return hybrid_elf_of_image(image);
}

/* Reads what is there; a file that ends before has no such headers. False: over the share. */
static bool read_table(int fd, struct hybrid_file_user *user, u8 *to, u64 *size, u64 offset)
{
	ssize_t got = *size ? hybrid_file_read(user, fd, to, *size, offset) : 0;

	if (got < 0 && errno == EDQUOT)
		return false;
	if (got < (ssize_t)*size)
		*size = 0;
	return true;
}

int hybrid_elf_places(int fd, struct hybrid_elf_places *places)
{
	struct headers headers;
	int err = -1;
	u8 *sections;

	memset(places, 0, sizeof(*places));
	if (fd < 0 || !read_ehdr(&headers, fd, NULL) || !headers.form)
		return -1;
	sections = malloc(headers.shsize + 1);
	if (sections && read_table(fd, NULL, sections, &headers.shsize, headers.shoff)) {
		places->offset[0] = headers.phoff;
		places->size[0] = headers.phsize;
		places->offset[1] = headers.shoff;
		places->size[1] = headers.shsize;
		places->size[2] = size_of_names(&headers, sections, &places->offset[2]);
		err = places->size[2] > MAX_NAMES ? -1 : 0;
	}
	free(sections);
	return err;
}

Elf *hybrid_elf_begin(int fd, struct hybrid_file_user *user)
{
	struct hybrid_elf_image *image;
	struct headers headers;
	Elf *elf = NULL;
	u8 *both;

	if (fd < 0 || !read_ehdr(&headers, fd, user))
		return NULL;
	if (!headers.form) {
		image = hybrid_elf_image_new(user, sizeof(headers.ehdr), sizeof(headers.ehdr));
		if (!image)
			return NULL;
		memcpy(image->bytes, headers.ehdr, sizeof(headers.ehdr));
		return hybrid_elf_of_image(image);
	}
	both = malloc(headers.phsize + headers.shsize + 1);
	if (both && read_table(fd, user, both, &headers.phsize, headers.phoff) &&
	    read_table(fd, user, both + headers.phsize, &headers.shsize, headers.shoff))
		elf = make_image(&headers, both, fd, user);
	free(both);
	return elf;
}

const char *hybrid_elf_name(Elf *elf, const GElf_Shdr *shdr)
{
	size_t index;

	return elf_getshdrstrndx(elf, &index) ? NULL : elf_strptr(elf, index, shdr->sh_name);
}

size_t hybrid_elf_find(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *found;

	while (elf && (scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, shdr))
			break;
		found = hybrid_elf_name(elf, shdr);
		if (found && !strcmp(found, name) && shdr->sh_type != SHT_NOBITS)
			return elf_ndxscn(scn);
	}
	return 0;
}

bool hybrid_elf_next_segment(Elf *elf, u32 type, size_t *i, GElf_Phdr *phdr)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	while (*i < nr) {
		if (gelf_getphdr(elf, (*i)++, phdr) && phdr->p_type == type)
			return true;
	}
	return false;
}

bool hybrid_elf_segment_of(Elf *elf, u64 vaddr, GElf_Phdr *phdr)
{
	size_t i = 0;

	while (hybrid_elf_next_segment(elf, PT_LOAD, &i, phdr)) {
		if (vaddr - phdr->p_vaddr < phdr->p_filesz)
			return true;
	}
	return false;
}
