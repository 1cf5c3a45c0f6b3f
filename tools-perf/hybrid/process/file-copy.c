// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/types.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "../rules/elf-bounds.h"
#include "file-copy.h"

/* More code and CFI than any file has; what is larger is not copied to memory. */
#define MAX_COPY	(512ULL << 20)

/* Not in linux/magic.h of all headers that perf is built with. */
#define MAGIC_XFS	0x58465342
#define MAGIC_F2FS	0xf2f52010
#define MAGIC_ZFS	0x2fc12fc1
#define MAGIC_BCACHEFS	0xca451a4e

struct copy {
	int	from;
	int	to;
	u64	size;
	u64	copied;
};

static bool is_local(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	switch ((u32)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case SQUASHFS_MAGIC:
	case MAGIC_XFS:
	case MAGIC_F2FS:
	case MAGIC_ZFS:
	case MAGIC_BCACHEFS:
		return true;
	default:
		return false;
	}
}

/* What the file does not have of it stays zero. */
static int copy_range(struct copy *copy, u64 from, u64 size)
{
	char buffer[65536];
	ssize_t got;

	if (from >= copy->size)
		return 0;
	size = min(size, copy->size - from);
	copy->copied += size;
	if (copy->copied > MAX_COPY)
		return -1;
	while (size) {
		got = pread(copy->from, buffer, min_t(u64, size, sizeof(buffer)), from);
		if (got <= 0)
			return got;
		if (pwrite(copy->to, buffer, got, from) != got)
			return -1;
		from += got;
		size -= got;
	}
	return 0;
}

static int copy_segments(struct copy *copy, Elf *elf)
{
	GElf_Phdr phdr;
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return 0;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &phdr) &&
		    (phdr.p_type == PT_LOAD || phdr.p_type == PT_NOTE) &&
		    copy_range(copy, phdr.p_offset, phdr.p_filesz))
			return -1;
	}
	return 0;
}

/* Of the sections that are not mapped: names, where the debug file is, and CFI. */
static bool is_needed(const char *name)
{
	return !strcmp(name, ".shstrtab") || !strcmp(name, ".gnu_debuglink") ||
	       !strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame");
}

static int copy_sections(struct copy *copy, Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = hybrid_elf_name(elf, &shdr);
		if (name && is_needed(name) && copy_range(copy, shdr.sh_offset, shdr.sh_size))
			return -1;
	}
	return 0;
}

static int copy_elf(struct copy *copy, Elf *elf)
{
	GElf_Ehdr ehdr;

	/* What is no ELF file is told by its beginning, by who opens it. */
	if (copy_range(copy, 0, sizeof(Elf64_Ehdr)) || !gelf_getehdr(elf, &ehdr))
		return 0;
	if (copy_range(copy, ehdr.e_phoff, (u64)ehdr.e_phnum * ehdr.e_phentsize) ||
	    copy_range(copy, ehdr.e_shoff, (u64)ehdr.e_shnum * ehdr.e_shentsize))
		return -1;
	return copy_segments(copy, elf) || copy_sections(copy, elf) ? -1 : 0;
}

/* The file stays open. */
static int copy_of(int fd)
{
	struct copy copy = { .from = fd, .to = -1 };
	struct stat st;
	Elf *elf;

	elf = hybrid_elf_begin(fd);
	if (elf && !fstat(fd, &st))
		copy.to = memfd_create("hybrid", MFD_CLOEXEC);
	if (copy.to >= 0) {
		copy.size = st.st_size;
		if (ftruncate(copy.to, st.st_size) || copy_elf(&copy, elf)) {
			close(copy.to);
			copy.to = -1;
		}
	}
	elf_end(elf);
	return copy.to;
}

int hybrid_copy(int fd)
{
	int copy = copy_of(fd);

	close(fd);
	return copy;
}

int hybrid_copy_unless_local(int fd, bool *copied, struct hybrid_pinned_file *hold)
{
	int copy;

	hold->page = NULL;
	*copied = !is_local(fd);
	if (!*copied)
		return fd;
	hybrid_pin_file(hold, fd);
	hold->copied = true;
	copy = copy_of(fd);
	if (copy < 0 || hybrid_pinned_file_changed(hold, fd))
		hybrid_unpin_file(hold);
	close(fd);
	return copy;
}

static bool same_bytes(int a, int b)
{
	char from_a[65536], from_b[65536];
	ssize_t got;
	u64 at = 0;

	do {
		got = pread(a, from_a, sizeof(from_a), at);
		if (got < 0 || pread(b, from_b, sizeof(from_b), at) != got ||
		    memcmp(from_a, from_b, got))
			return false;
		at += got;
	} while (got);
	return true;
}

bool hybrid_copy_is_same(int a, bool a_copied, int b, bool b_copied, int *copy)
{
	int copy_a = a_copied ? a : copy_of(a), copy_b = b_copied ? b : copy_of(b);
	bool same = copy_a >= 0 && copy_b >= 0 && same_bytes(copy_a, copy_b);

	if (copy)
		*copy = -1;
	if (copy && same && !a_copied && !b_copied)
		*copy = copy_a;
	else if (!a_copied && copy_a >= 0)
		close(copy_a);
	if (!b_copied && copy_b >= 0)
		close(copy_b);
	return same;
}
