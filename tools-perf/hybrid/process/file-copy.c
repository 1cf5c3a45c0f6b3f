// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "../rules/elf-bounds.h"
#include "file-copy.h"

#define CHUNK		65536ULL

/*
 * Parts of a file that are looked at, one for each segment, section and hole. Parts that overlap
 * are read more than once.
 */
#define MAX_PARTS	65536

/**
 * struct copier - goes over what an unwinder reads of a file
 * @from: the file
 * @other: a file that is to hold the same; -1: there is none
 * @to: where it is copied to; -1: nowhere
 * @size: bytes of @from
 * @user: whose share it is
 * @most: bytes of @to at most, if there is no @user
 * @done: bytes that were found
 * @taken: bytes of HYBRID_FILE_COPIES that were taken
 * @nr_parts: that were looked at
 */
struct copier {
	int			 from;
	int			 other;
	int			 to;
	u64			 size;
	struct hybrid_file_user	*user;
	u64			 most;
	u64			 done;
	u64			 taken;
	unsigned int		 nr_parts;
};

/* What a file does not have is zeros. */
static bool read_chunk(int fd, u8 *bytes, u64 size, u64 at)
{
	ssize_t got = pread(fd, bytes, size, at);

	if (got < 0)
		return false;
	memset(bytes + got, 0, size - got);
	return true;
}

static bool take(struct copier *copier, u64 size)
{
	copier->done += size;
	if (copier->done > copier->most ||
	    !hybrid_file_take(copier->user, HYBRID_FILE_BACKGROUND, size))
		return false;
	if (!copier->user || copier->to < 0)
		return true;
	if (!hybrid_file_take(copier->user, HYBRID_FILE_COPIES, size))
		return false;
	copier->taken += size;
	return true;
}

static bool do_chunk(struct copier *copier, u64 at, u64 size)
{
	u8 bytes[CHUNK], others[CHUNK];

	if (!take(copier, size))
		return false;
	if (copier->other < 0 && copier->to < 0)
		return true;
	return read_chunk(copier->from, bytes, size, at) &&
	       (copier->other < 0 || (read_chunk(copier->other, others, size, at) &&
				      !memcmp(bytes, others, size))) &&
	       (copier->to < 0 || pwrite(copier->to, bytes, size, at) == (ssize_t)size);
}

/* Where either of the files has data; 0: nowhere. */
static u64 next_data(const struct copier *copier, u64 *from, u64 end)
{
	u64 other = *from, size = hybrid_file_next_data(copier->from, from, end), size_other;

	if (copier->other < 0)
		return size;
	size_other = hybrid_file_next_data(copier->other, &other, end);
	if (size && (!size_other || *from <= other))
		return size;
	*from = other;
	return size_other;
}

static bool do_range(struct copier *copier, u64 from, u64 size)
{
	u64 end = from + min(size, copier->size - min(copier->size, from)), part;

	while (from < end) {
		if (++copier->nr_parts > MAX_PARTS)
			return false;
		part = next_data(copier, &from, end);
		if (!part)
			return true;
		for (; part; part -= min_t(u64, part, CHUNK)) {
			if (!do_chunk(copier, from, min_t(u64, part, CHUNK)))
				return false;
			from += min_t(u64, part, CHUNK);
		}
	}
	return true;
}

static bool do_segments(struct copier *copier, Elf *elf)
{
	GElf_Phdr phdr;
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return true;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &phdr) &&
		    (phdr.p_type == PT_LOAD || phdr.p_type == PT_NOTE) &&
		    !do_range(copier, phdr.p_offset, phdr.p_filesz))
			return false;
	}
	return true;
}

/* Of the sections that are not mapped: where the debug file is, and CFI. */
static bool is_needed(const char *name)
{
	return !strcmp(name, ".gnu_debuglink") || !strcmp(name, ".note.gnu.build-id") ||
	       !strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame");
}

static bool do_sections(struct copier *copier, Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = hybrid_elf_name(elf, &shdr);
		if (name && is_needed(name) && !do_range(copier, shdr.sh_offset, shdr.sh_size))
			return false;
	}
	return true;
}

/* ELF header, program headers, section headers, and the names of sections. */
static bool do_headers(struct copier *copier)
{
	struct hybrid_elf_places places;
	unsigned int i;

	if (!do_range(copier, 0, sizeof(Elf64_Ehdr)))
		return false;
	if (hybrid_elf_places(copier->from, &places))
		return true;
	for (i = 0; i < ARRAY_SIZE(places.size); i++) {
		if (!do_range(copier, places.offset[i], places.size[i]))
			return false;
	}
	return true;
}

/* What is no ELF file is told by its beginning, by who opens it. */
static bool do_all(struct copier *copier)
{
	struct stat st;
	bool is_done;
	Elf *elf;

	if (fstat(copier->from, &st) || !S_ISREG(st.st_mode))
		return false;
	copier->size = st.st_size;
	if (copier->other >= 0 &&
	    (fstat(copier->other, &st) || (u64)st.st_size != copier->size))
		return false;
	if (copier->to >= 0 && ftruncate(copier->to, copier->size))
		return false;
	elf = hybrid_elf_begin(copier->from, NULL);
	is_done = do_headers(copier) && (!elf || (do_segments(copier, elf) &&
						  do_sections(copier, elf)));
	hybrid_elf_end(elf);
	return is_done;
}

u64 hybrid_copy_size(int fd)
{
	struct copier copier = { .from = fd, .other = -1, .to = -1, .most = ~0ULL };

	return do_all(&copier) ? copier.done : 0;
}

static int new_copy(void)
{
	return memfd_create("hybrid", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static void seal(int fd)
{
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

int hybrid_copy(int fd, u64 most)
{
	struct copier copier = { .from = fd, .other = -1, .to = new_copy(), .most = most };

	if (copier.to >= 0 && do_all(&copier)) {
		seal(copier.to);
		return copier.to;
	}
	if (copier.to >= 0)
		close(copier.to);
	return -1;
}

bool hybrid_copy_is_same(int a, int b, struct hybrid_file_user *user, int *copy, u64 *size)
{
	struct copier copier = {
		.from = a, .other = b, .to = copy ? new_copy() : -1, .user = user, .most = ~0ULL,
	};
	bool same = (!copy || copier.to >= 0) && do_all(&copier);

	if (copier.to >= 0)
		seal(copier.to);
	if (copy)
		*copy = same ? copier.to : -1;
	if (same) {
		if (size)
			*size = copier.taken;
		return true;
	}
	hybrid_file_give(user, HYBRID_FILE_COPIES, copier.taken);
	if (copier.to >= 0)
		close(copier.to);
	return false;
}
