// SPDX-License-Identifier: GPL-2.0
/* A digest of what names are read from. It reads headers itself: libelf reads more of a file. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <sys/stat.h>
#include "content.h"

/* Section headers, or program headers; no program has as many. */
#define MAX_HEADERS	65536

/* A larger section that is not loaded and has neither symbols nor strings is left out. */
#define MAX_DEBUG	(16ULL << 20)

#define BUFFER		(128 * 1024)

/**
 * struct content - what is read of a file
 * @fd: the file
 * @size: of it
 * @left: bytes that may still be read
 * @hash: of what was read
 * @buffer: BUFFER bytes
 */
struct content {
	int		fd;
	u64		size;
	u64		left;
	struct blake2b	hash;
	char		*buffer;
};

/* A section, or a segment, of either class. */
struct part {
	u64	offset;
	u64	size;
	u64	flags;
	u32	type;
};

static int read_all(int fd, void *out, size_t size, u64 at)
{
	ssize_t got;

	while (size) {
		got = pread(fd, out, size, at);
		if (got <= 0)
			return -EIO;
		out += got;
		size -= got;
		at += got;
	}
	return 0;
}

/* What the file does not have of the range is not there for any reader. */
static int add_range(struct content *content, u64 at, u64 size)
{
	size_t part;

	if (at >= content->size)
		return 0;
	size = min(size, content->size - at);
	if (size > content->left)
		return -EFBIG;
	content->left -= size;
	for (; size; size -= part, at += part) {
		part = min_t(u64, size, BUFFER);
		if (read_all(content->fd, content->buffer, part, at))
			return -EIO;
		blake2b_add(&content->hash, content->buffer, part);
	}
	return 0;
}

static bool is_wanted_section(const struct part *part)
{
	switch (part->type) {
	case SHT_NULL:
	case SHT_NOBITS:
		return false;
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_NOTE:
	case SHT_REL:
	case SHT_RELA:
		return true;
	default:
		if (part->flags & SHF_ALLOC)
			return part->flags & SHF_EXECINSTR;
		return part->size <= MAX_DEBUG;
	}
}

static bool is_wanted_segment(const struct part *part)
{
	return part->type == PT_NOTE || (part->type == PT_LOAD && part->flags & PF_X);
}

#define PART_OF(header, prefix, bytes) ((struct part) {	\
	.offset	= (header)->prefix ## _offset,		\
	.size	= (header)->prefix ## _ ## bytes,	\
	.flags	= (header)->prefix ## _flags,		\
	.type	= (header)->prefix ## _type,		\
})

static struct part part_of(const void *header, bool is_64, bool is_section)
{
	if (is_section)
		return is_64 ? PART_OF((const Elf64_Shdr *)header, sh, size) :
			       PART_OF((const Elf32_Shdr *)header, sh, size);
	return is_64 ? PART_OF((const Elf64_Phdr *)header, p, filesz) :
		       PART_OF((const Elf32_Phdr *)header, p, filesz);
}

/* The headers at @at, and what they describe. */
static int add_parts(struct content *content, u64 at, u64 nr, bool is_64, bool is_section)
{
	size_t each = is_section ? (is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) :
				   (is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	struct part part;
	char *headers;
	int err;
	u64 i;

	if (nr > MAX_HEADERS)
		return -EFBIG;
	headers = malloc(nr * each + 1);
	if (!headers)
		return -ENOMEM;
	err = read_all(content->fd, headers, nr * each, at) ? -EINVAL : 0;
	if (!err)
		blake2b_add(&content->hash, headers, nr * each);
	for (i = 0; i < nr && !err; i++) {
		part = part_of(headers + i * each, is_64, is_section);
		if (is_section ? is_wanted_section(&part) : is_wanted_segment(&part))
			err = add_range(content, part.offset, part.size);
	}
	free(headers);
	return err;
}

/* With 0xff00 sections or more the number is in the first of them. */
static int section_count(const struct content *content, u64 at, bool is_64, u64 *nr)
{
	union {
		Elf64_Shdr	large;
		Elf32_Shdr	small;
	} first;

	if (*nr || !at)
		return 0;
	if (read_all(content->fd, &first, is_64 ? sizeof(first.large) : sizeof(first.small), at))
		return -EINVAL;
	*nr = is_64 ? first.large.sh_size : first.small.sh_size;
	return 0;
}

static int add_elf(struct content *content)
{
	const u8 order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	u64 phoff, phnum, shoff, shnum;
	union {
		unsigned char	ident[EI_NIDENT];
		Elf64_Ehdr	large;
		Elf32_Ehdr	small;
	} ehdr = {};
	bool is_64;
	int err;

	if (read_all(content->fd, &ehdr, sizeof(ehdr.small), 0) ||
	    memcmp(ehdr.ident, ELFMAG, SELFMAG) || ehdr.ident[EI_DATA] != order)
		return -EINVAL;
	is_64 = ehdr.ident[EI_CLASS] == ELFCLASS64;
	if (is_64 && read_all(content->fd, &ehdr, sizeof(ehdr.large), 0))
		return -EINVAL;
	blake2b_add(&content->hash, &ehdr, sizeof(ehdr));
	phoff = is_64 ? ehdr.large.e_phoff : ehdr.small.e_phoff;
	phnum = is_64 ? ehdr.large.e_phnum : ehdr.small.e_phnum;
	shoff = is_64 ? ehdr.large.e_shoff : ehdr.small.e_shoff;
	shnum = is_64 ? ehdr.large.e_shnum : ehdr.small.e_shnum;
	err = section_count(content, shoff, is_64, &shnum);
	if (err)
		return err;
	return shoff && shnum ? add_parts(content, shoff, shnum, is_64, true) :
				add_parts(content, phoff, phnum, is_64, false);
}

int hybrid_content_digest(int fd, u8 *digest)
{
	struct content content = { .fd = fd };
	struct stat st;
	int err;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	content.size = st.st_size;
	content.left = min_t(u64, st.st_size, HYBRID_DIGEST_MOST);
	content.buffer = malloc(BUFFER);
	if (!content.buffer)
		return -ENOMEM;
	blake2b_init(&content.hash);
	blake2b_add(&content.hash, &content.size, sizeof(content.size));
	err = add_elf(&content);
	if (!err)
		blake2b_end(&content.hash, digest);
	free(content.buffer);
	return err;
}

bool hybrid_content_is_same(int a, int b)
{
	char *buffer = malloc(2 * BUFFER);
	struct stat sta, stb;
	u64 at = 0, part;
	bool same;

	same = buffer && !fstat(a, &sta) && S_ISREG(sta.st_mode) && !fstat(b, &stb) &&
	       S_ISREG(stb.st_mode) && sta.st_size == stb.st_size &&
	       (u64)sta.st_size <= HYBRID_DIGEST_MOST;
	for (; same && at < (u64)sta.st_size; at += part) {
		part = min_t(u64, BUFFER, sta.st_size - at);
		same = !read_all(a, buffer, part, at) && !read_all(b, buffer + BUFFER, part, at) &&
		       !memcmp(buffer, buffer + BUFFER, part);
	}
	free(buffer);
	return same;
}
