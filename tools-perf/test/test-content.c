// SPDX-License-Identifier: GPL-2.0
/*
 * The digest of what names are read from.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include "content.h"
#include "tap.h"

static void blake2b(void)
{
	static const struct {
		size_t		size;
		const char	*digest;
	} cases[] = {
		/* head -c SIZE /dev/zero | b2sum -l 256 */
		{ 0, "0e5751c026e543b2" }, { 1, "03170a2e7597b7b7" }, { 128, "378d0caaaa3855f1" },
		{ 129, "baadfb64c3bd2cd1" }, { 4096, "686ede9288c391e7" },
	};
	static const u8 zeros[4096];
	struct blake2b hash;
	u8 digest[BLAKE2B_256_SIZE];
	char text[17];
	size_t i, j, part;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* In pieces of each size that matters. */
		for (part = 1; part <= 300; part += 127 - part % 2) {
			blake2b_init(&hash);
			for (j = 0; j < cases[i].size; j += part)
				blake2b_add(&hash, zeros, min(part, cases[i].size - j));
			blake2b_end(&hash, digest);
			for (j = 0; j < 8; j++)
				sprintf(text + 2 * j, "%02x", digest[j]);
			same_text(text, cases[i].digest);
		}
	}
}

/* A copy of this program that can be written to. */
static int copy_of_self(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("copy", MFD_CLOEXEC);
	char buffer[65536];
	ssize_t got;

	while ((got = read(from, buffer, sizeof(buffer))) > 0)
		same(write(to, buffer, got), got);
	close(from);
	return to;
}

static void flip(int fd, u64 at)
{
	u8 byte = 0;

	same(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	same(pwrite(fd, &byte, 1, at), 1);
}

static bool is_changed_by(int fd, const u8 *before, u64 at)
{
	u8 digest[HYBRID_DIGEST_SIZE] = {};
	int err;

	flip(fd, at);
	err = hybrid_content_digest(fd, digest);
	flip(fd, at);
	return err || memcmp(digest, before, sizeof(digest));
}

/* By name, where the code goes by type and flags. */
static bool is_read_for_names(const char *name)
{
	static const char *const loaded_data[] = {
		".interp", ".gnu.hash", ".gnu.version", ".gnu.version_r", ".rodata",
		".eh_frame_hdr", ".eh_frame", ".gcc_except_table", ".init_array", ".fini_array",
		".data.rel.ro", ".dynamic", ".got", ".got.plt", ".data", ".tm_clone_table",
		".preinit_array",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loaded_data); i++) {
		if (!strcmp(name, loaded_data[i]))
			return false;
	}
	return true;
}

static void each_section(void)
{
	u8 before[HYBRID_DIGEST_SIZE], again[HYBRID_DIGEST_SIZE];
	unsigned int nr_wanted = 0, nr_other = 0;
	int fd = copy_of_self();
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	same(elf_getshdrstrndx(elf, &names), 0);
	same(hybrid_content_digest(fd, before), 0);
	same(hybrid_content_digest(fd, again), 0);
	check(!memcmp(before, again, sizeof(before)));
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS || !shdr.sh_size)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		same(is_changed_by(fd, before, shdr.sh_offset), is_read_for_names(name));
		same(is_changed_by(fd, before, shdr.sh_offset + shdr.sh_size - 1),
		     is_read_for_names(name));
		nr_wanted += is_read_for_names(name);
		nr_other += !is_read_for_names(name);
	}
	check(nr_wanted > 8 && nr_other > 4);
	elf_end(elf);
	close(fd);
}

static void headers(void)
{
	u8 before[HYBRID_DIGEST_SIZE], after[HYBRID_DIGEST_SIZE];
	int fd = copy_of_self();
	Elf64_Ehdr ehdr;
	struct stat st;
	u64 i;

	same(pread(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	same(hybrid_content_digest(fd, before), 0);
	for (i = 0; i < sizeof(ehdr); i++)
		check(is_changed_by(fd, before, i));
	for (i = 0; i < ehdr.e_shnum * sizeof(Elf64_Shdr); i += 9)
		check(is_changed_by(fd, before, ehdr.e_shoff + i));
	same(fstat(fd, &st), 0);
	same(ftruncate(fd, st.st_size + 1), 0);
	same(hybrid_content_digest(fd, after), 0);
	check(memcmp(before, after, sizeof(before)));
	close(fd);
}

/* A file that has only an ELF header, and section headers: all but the first are @other. */
static int made_file(u64 nr_sections, const Elf64_Shdr *other, u64 size)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_shoff = sizeof(ehdr), .e_shnum = nr_sections > 65000 ? 0 : nr_sections,
		.e_shentsize = sizeof(*other),
	};
	Elf64_Shdr first = { .sh_size = nr_sections };
	int fd = memfd_create("made", MFD_CLOEXEC);
	u64 i;

	same(ftruncate(fd, size), 0);
	same(pwrite(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	same(pwrite(fd, &first, sizeof(first), sizeof(ehdr)), sizeof(first));
	for (i = 1; other && i < nr_sections; i++)
		same(pwrite(fd, other, sizeof(*other), sizeof(ehdr) + i * sizeof(first)),
		     sizeof(*other));
	return fd;
}

static void lies(void)
{
	static const Elf64_Shdr strings = { .sh_type = SHT_STRTAB, .sh_size = 3ULL << 30 };
	static const Elf64_Shdr whole = { .sh_type = SHT_STRTAB, .sh_size = 4096 };
	static const Elf64_Shdr debug = { .sh_type = SHT_PROGBITS, .sh_size = 3ULL << 30 };
	static const Elf64_Shdr longer = {
		.sh_type = SHT_SYMTAB, .sh_offset = 4000, .sh_size = ~0ULL,
	};
	static const Elf64_Shdr behind = {
		.sh_type = SHT_SYMTAB, .sh_offset = ~0ULL - 5, .sh_size = ~0ULL,
	};
	const struct {
		u64			nr;
		const Elf64_Shdr	*other;
		u64			size;
		int			err;
	} cases[] = {
		{ 2, NULL, 4096, 0 },
		{ 2, &strings, 4ULL << 30, -EFBIG },
		{ 2, &debug, 4ULL << 30, 0 },
		{ 2, &behind, 4096, 0 },
		{ 2, &longer, 4096, 0 },
		/* Sections that overlap are not read more often than the file is large. */
		{ 2, &whole, 4096, 0 },
		{ 3, &whole, 4096, -EFBIG },
		{ 100, NULL, 4096, -EINVAL },
		{ 65537, NULL, 16 << 20, -EFBIG },
		{ ~0ULL, NULL, 4096, -EFBIG },
	};
	u8 digest[HYBRID_DIGEST_SIZE];
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = made_file(cases[i].nr, cases[i].other, cases[i].size);
		same(hybrid_content_digest(fd, digest), cases[i].err);
		close(fd);
	}
	fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	same(hybrid_content_digest(fd, digest), -EINVAL);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	same(hybrid_content_digest(fd, digest), -EINVAL);
	close(fd);
}

#define MIB	0x100000ULL

/* Where the part is that a header of a made file describes. */
#define PART	0x1000

/**
 * struct part - what the only section, or segment, of a file says
 * @type: SHT_* or PT_*
 * @flags: of it
 * @size: bytes, from PART on
 * @is_read: as its bytes change the digest
 */
struct part {
	u32	type;
	u32	flags;
	u64	size;
	bool	is_read;
};

#define FILE_OF_CLASS(bits)								\
static int file_of_class_##bits(const struct part *part, bool is_section)		\
{											\
	Elf##bits##_Ehdr ehdr = {							\
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS##bits,	\
			     ELFDATA2LSB },						\
	};										\
	Elf##bits##_Shdr shdr[2] = { {}, {						\
		.sh_type = part->type, .sh_flags = part->flags, .sh_offset = PART,	\
		.sh_size = part->size,							\
	} };										\
	Elf##bits##_Phdr phdr = {							\
		.p_type = part->type, .p_flags = part->flags, .p_offset = PART,		\
		.p_filesz = part->size,							\
	};										\
	int fd = memfd_create("made", MFD_CLOEXEC);					\
											\
	ehdr.e_shoff = is_section ? sizeof(ehdr) : 0;					\
	ehdr.e_shnum = 2 * is_section;							\
	ehdr.e_phoff = is_section ? 0 : sizeof(ehdr);					\
	ehdr.e_phnum = !is_section;							\
	same(write(fd, &ehdr, sizeof(ehdr)), sizeof(ehdr));				\
	if (is_section)									\
		same(write(fd, shdr, sizeof(shdr)), sizeof(shdr));			\
	else										\
		same(write(fd, &phdr, sizeof(phdr)), sizeof(phdr));			\
	return fd;									\
}

/* A file with one section, or segment. */
FILE_OF_CLASS(64)
FILE_OF_CLASS(32)

/* Bytes at both ends of the part and of what is read at once, and one behind it. */
static void check_part(const struct part *part, bool is_64, bool is_section)
{
	const u64 at[] = { 0, part->size - 1, min_t(u64, part->size, 128 * 1024) - 1,
			   min_t(u64, part->size - 1, 128 * 1024) };
	int fd = is_64 ? file_of_class_64(part, is_section) : file_of_class_32(part, is_section);
	u8 before[HYBRID_DIGEST_SIZE];
	unsigned int i;

	same(ftruncate(fd, PART + part->size + 1), 0);
	same(hybrid_content_digest(fd, before), 0);
	for (i = 0; i < ARRAY_SIZE(at); i++)
		same(is_changed_by(fd, before, PART + at[i]), part->is_read);
	check(!is_changed_by(fd, before, PART + part->size));
	check(!is_changed_by(fd, before, PART - 1));
	close(fd);
}

static void parts(void)
{
	static const struct part sections[] = {
		{ SHT_NULL, 0, 64, false }, { SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 64, false },
		{ SHT_SYMTAB, 0, 64, true }, { SHT_DYNSYM, SHF_ALLOC, 64, true },
		{ SHT_STRTAB, SHF_ALLOC, 64, true }, { SHT_NOTE, SHF_ALLOC, 64, true },
		{ SHT_REL, SHF_ALLOC, 64, true }, { SHT_RELA, SHF_ALLOC, 64, true },
		{ SHT_PROGBITS, SHF_ALLOC, 64, false },
		{ SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 64, true },
		{ SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 300000, true },
		{ SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 * MIB + 1, true },
		{ SHT_PROGBITS, 0, 64, true }, { SHT_PROGBITS, SHF_EXECINSTR, 64, true },
		{ SHT_PROGBITS, 0, 16 * MIB, true }, { SHT_PROGBITS, 0, 16 * MIB + 1, false },
		{ SHT_STRTAB, 0, 16 * MIB + 1, true },
	};
	static const struct part segments[] = {
		{ PT_NULL, PF_X, 64, false }, { PT_NOTE, 0, 64, true },
		{ PT_LOAD, PF_R, 64, false }, { PT_LOAD, PF_R | PF_X, 64, true },
		{ PT_LOAD, PF_X, 128 * 1024, true },
		{ PT_LOAD, PF_X, 128 * 1024 + 1, true }, { PT_INTERP, PF_X, 64, false },
	};
	unsigned int i, is_64;

	for (is_64 = 0; is_64 < 2; is_64++) {
		for (i = 0; i < ARRAY_SIZE(sections); i++)
			check_part(&sections[i], is_64, true);
		for (i = 0; i < ARRAY_SIZE(segments); i++)
			check_part(&segments[i], is_64, false);
	}
}

/* A file that ends with a header of its class, or before. */
static void short_files(void)
{
	static const struct part none;
	u8 digest[HYBRID_DIGEST_SIZE];
	int fd = file_of_class_64(&none, false);

	same(ftruncate(fd, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)), 0);
	same(hybrid_content_digest(fd, digest), 0);
	same(ftruncate(fd, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) - 1), 0);
	same((u64)hybrid_content_digest(fd, digest), (u64)-EINVAL);
	same(ftruncate(fd, sizeof(Elf64_Ehdr) - 1), 0);
	same((u64)hybrid_content_digest(fd, digest), (u64)-EINVAL);
	close(fd);
	fd = file_of_class_32(&none, false);
	same(ftruncate(fd, sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr)), 0);
	same(hybrid_content_digest(fd, digest), 0);
	same(ftruncate(fd, sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr) - 1), 0);
	same((u64)hybrid_content_digest(fd, digest), (u64)-EINVAL);
	same(ftruncate(fd, sizeof(Elf32_Ehdr) - 1), 0);
	same((u64)hybrid_content_digest(fd, digest), (u64)-EINVAL);
	/* Of the other byte order. */
	same(pwrite(fd, (u8 []) { ELFDATA2MSB }, 1, EI_DATA), 1);
	same(ftruncate(fd, 4096), 0);
	same((u64)hybrid_content_digest(fd, digest), (u64)-EINVAL);
	close(fd);
}

static void compared(void)
{
	int a = copy_of_self(), b = copy_of_self(), pipes[2];
	const u64 size = lseek(a, 0, SEEK_END), changed[] = { 0, size / 2, size - 1 };
	unsigned int i;

	check(hybrid_content_is_same(a, b));
	for (i = 0; i < ARRAY_SIZE(changed); i++) {
		flip(b, changed[i]);
		check(!hybrid_content_is_same(a, b) && !hybrid_content_is_same(b, a));
		flip(b, changed[i]);
	}
	check(!ftruncate(b, size - 1) && !hybrid_content_is_same(a, b));
	check(!ftruncate(a, size - 1) && hybrid_content_is_same(a, b));
	check(!hybrid_content_is_same(-1, a) && !hybrid_content_is_same(a, -1));
	check(!pipe(pipes) && !hybrid_content_is_same(pipes[0], pipes[0]));
	close(pipes[0]);
	close(pipes[1]);
	/* Holes, of which no digest is computed. */
	check(!ftruncate(a, HYBRID_DIGEST_MOST + 1) && !ftruncate(b, HYBRID_DIGEST_MOST + 1));
	check(!hybrid_content_is_same(a, b));
	close(a);
	close(b);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "content: BLAKE2b-256",			blake2b },
		{ "content: a byte of each section",		each_section },
		{ "content: a byte of each header, and the size",	headers },
		{ "content: headers that lie",			lies },
		{ "content: kinds of sections and segments",	parts },
		{ "content: files that are too short",		short_files },
		{ "content: files that are the same",		compared },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
