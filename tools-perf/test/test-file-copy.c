// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of files: what of them is read has the same bytes, at the same places, and no more is
 * there.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "elf-made.h"
#include "file-copy.h"
#include "tap.h"

/* What is read at once; see copy_range(). */
#define CHUNK	65536

/* Bytes of the data, which none is 0 of; and of all files. */
#define DATA	(8 * CHUNK)
#define MAX	(ELF_MADE_DATA + DATA + 8192)

static struct elf_made elf;

/* The file as it was made, and what of it is to be in the copy. */
static u8 bytes[MAX];
static bool wanted[MAX];
static u64 size;

/* @fd is closed. */
static int copy_of(int fd)
{
	int copy = hybrid_copy(fd, ~0ULL);

	if (fd >= 0)
		close(fd);
	return copy;
}

static void begin(void)
{
	static u8 data[DATA];
	unsigned int i;

	for (i = 0; i < DATA; i++)
		data[i] = tap_random() | 1;
	memset(wanted, 0, sizeof(wanted));
	elf_made_begin(&elf);
	elf_made_section(&elf, ".data", (Elf64_Shdr) { .sh_type = SHT_PROGBITS }, data, DATA);
}

/* Where byte @at of the data is in the file. */
static u64 data_at(u64 at)
{
	return ELF_MADE_DATA + at;
}

static void want(u64 offset, u64 nr)
{
	for (; nr && offset < MAX; nr--)
		wanted[offset++] = true;
}

/* A segment with @nr bytes from @offset on; they are wanted if it is one that is read. */
static void segment(u32 type, u64 offset, u64 nr)
{
	elf.segments[elf.nr_segments++] = (Elf64_Phdr) {
		.p_type = type, .p_offset = offset, .p_vaddr = offset, .p_filesz = nr,
		.p_memsz = nr,
	};
	if (type == PT_LOAD || type == PT_NOTE)
		want(offset, nr);
}

static void section(const char *name, u32 type, u64 offset, u64 nr, bool wants)
{
	Elf64_Shdr header = { .sh_type = type, .sh_offset = offset, .sh_size = nr };

	elf_made_section(&elf, name, header, NULL, 0);
	if (wants)
		want(offset, nr);
}

/* The file; its headers are always wanted. */
static int open_made(void)
{
	int fd = elf_made_file(&elf);

	size = lseek(fd, 0, SEEK_END);
	check(size <= MAX && pread(fd, bytes, size, 0) == (ssize_t)size);
	want(0, sizeof(Elf64_Ehdr) + elf.header.e_phnum * sizeof(Elf64_Phdr));
	want(elf.header.e_shoff, elf.header.e_shnum * sizeof(Elf64_Shdr));
	want(elf.sections[elf.header.e_shstrndx].sh_offset, sizeof(elf.names));
	return fd;
}

static void expect_copy(int fd)
{
	static u8 copied[MAX];
	int copy = copy_of(fd);
	unsigned int i, wrong = 0;

	if (check(copy >= 0) && check(pread(copy, copied, MAX, 0) == (ssize_t)size)) {
		for (i = 0; i < size; i++)
			wrong += copied[i] != (wanted[i] ? bytes[i] : 0);
		same(wrong, 0);
	}
	close(copy);
	/* The file was the callee's. */
	check(fcntl(fd, F_GETFD) < 0);
}

/* A segment of each size about those that are read at once. */
static void segments(void)
{
	static const u64 sizes[] = {
		0, 1, 4095, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 3 * CHUNK + 77,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin();
		segment(PT_LOAD, data_at(321), sizes[i]);
		expect_copy(open_made());
	}
}

/* Notes have the build-id; other segments are mapped by none, or are parts of these. */
static void kinds_of_segments(void)
{
	begin();
	segment(PT_NULL, data_at(2000), 100);
	segment(PT_LOAD, data_at(3000), 100);
	segment(PT_NOTE, data_at(4000), 100);
	segment(PT_INTERP, data_at(5000), 100);
	/* The same bytes once more. */
	segment(PT_LOAD, data_at(3050), 100);
	expect_copy(open_made());
}

static void kinds_of_sections(void)
{
	begin();
	section(".gnu_debuglink", SHT_PROGBITS, data_at(2000), 100, true);
	section(".debug_frame", SHT_PROGBITS, data_at(3000), CHUNK + 100, true);
	section(".zdebug_frame", SHT_PROGBITS, data_at(2 * CHUNK), 100, true);
	section(".debug_info", SHT_PROGBITS, data_at(3 * CHUNK), 100, false);
	section(".symtab", SHT_SYMTAB, data_at(4 * CHUNK), 240, false);
	expect_copy(open_made());
	/* One that says that it has no bytes in the file. */
	begin();
	section(".debug_frame", SHT_NOBITS, data_at(2000), 100, false);
	expect_copy(open_made());
}

/* What is said to be beyond the file's end is not there; what begins before is cut. */
static void ends(void)
{
	Elf64_Phdr segments[5] = {};
	unsigned int i;
	int fd;

	begin();
	for (i = 0; i < ARRAY_SIZE(segments); i++)
		segment(PT_NULL, 0, 0);
	fd = open_made();
	for (i = 0; i < ARRAY_SIZE(segments); i++) {
		segments[i].p_type = PT_LOAD;
		segments[i].p_filesz = 100;
	}
	segments[0].p_offset = size - 1;
	segments[1].p_offset = size;
	segments[2].p_offset = size + 1;
	segments[3].p_offset = ~0ULL - 50;
	segments[4].p_offset = data_at(DATA / 2);
	segments[4].p_filesz = ~0ULL;
	want(data_at(DATA / 2), size);
	memcpy(bytes + sizeof(Elf64_Ehdr), segments, sizeof(segments));
	check(pwrite(fd, segments, sizeof(segments), sizeof(Elf64_Ehdr)) == sizeof(segments));
	expect_copy(fd);
}

/* More headers than the file has: what follows are none, by their types. */
static void headers(void)
{
	begin();
	segment(PT_LOAD, data_at(3 * CHUNK), 100);
	elf.header.e_phnum = 2000;
	expect_copy(open_made());
}

static void no_elf(void)
{
	static const char text[] =
		"#!/bin/sh\nIt is not an ELF file, and longer than a header of one.\n";
	int fd = memfd_create("text", MFD_CLOEXEC), copy;
	char copied[sizeof(text)] = {};

	check(write(fd, text, sizeof(text)) == sizeof(text));
	copy = copy_of(fd);
	check(copy >= 0);
	same(lseek(copy, 0, SEEK_END), sizeof(text));
	/* As much as an ELF file's header has. */
	same(pread(copy, copied, sizeof(copied), 0), sizeof(copied));
	check(!memcmp(copied, text, 64) && !copied[64]);
	close(copy);
	same(copy_of(-1), -1);
	same(copy_of(open("/proc", O_RDONLY | O_CLOEXEC)), -1);
}

/* As file-compare.c compares: a copy is wanted if neither is one. */
static bool compare(int a, bool a_copied, int b, bool b_copied, int *copy)
{
	if (copy)
		*copy = -1;
	return hybrid_copy_is_same(a, b, NULL, a_copied || b_copied ? NULL : copy, NULL);
}

/* Two files that differ in one byte of the data, which is read or is not; -1: in none. */
static bool is_same(s64 differs, bool a_copied, bool b_copied, int *copy)
{
	int a, b = memfd_create("other", MFD_CLOEXEC);
	bool is_same;

	begin();
	segment(PT_LOAD, data_at(3000), 2 * CHUNK + 100);
	a = open_made();
	if (differs >= 0)
		bytes[data_at(differs)] ^= 2;
	check(write(b, bytes, size) == (ssize_t)size);
	if (a_copied)
		a = copy_of(a);
	if (b_copied)
		b = copy_of(b);
	is_same = compare(a, a_copied, b, b_copied, copy);
	/* Both stay open. */
	check(!close(a) && !close(b));
	return is_same;
}

static unsigned int nr_open(void)
{
	unsigned int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void comparisons(void)
{
	static const u64 differ[] = { 3000, 3000 + CHUNK, 3000 + 2 * CHUNK, 3000 + 2 * CHUNK + 99 };
	unsigned int i, way, nr = nr_open();
	int copy;

	for (way = 0; way < 4; way++) {
		for (i = 0; i < ARRAY_SIZE(differ); i++) {
			copy = 0;
			check(!is_same(differ[i], way & 1, way & 2, &copy));
			same(copy, -1);
		}
		/* What is not read may differ. */
		check(is_same(3000 + 2 * CHUNK + 100, way & 1, way & 2, NULL));
		copy = 0;
		check(is_same(-1, way & 1, way & 2, &copy));
		/* One copy, if there was none before. */
		same(copy >= 0, !way);
		if (copy >= 0) {
			same(lseek(copy, 0, SEEK_END), size);
			close(copy);
		}
		same(nr_open(), nr);
	}
	check(!compare(-1, false, -1, false, NULL));
	check(!compare(-1, true, -1, true, NULL));
	same(nr_open(), nr);
}

/* A copy of the same beginning that is shorter. */
static void shorter(void)
{
	int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC);

	check(!ftruncate(a, CHUNK + 1) && !ftruncate(b, CHUNK));
	check(!compare(a, true, b, true, NULL));
	check(!compare(b, true, a, true, NULL));
	check(!ftruncate(b, CHUNK + 1));
	check(compare(b, true, a, true, NULL));
	close(a);
	close(b);
}

/* As many bytes as a copy may take, and one less. */
static void most(void)
{
	u64 bytes_of;
	int fd, copy;

	begin();
	segment(PT_LOAD, data_at(3000), 2 * CHUNK + 100);
	fd = open_made();
	bytes_of = hybrid_copy_size(fd);
	check(bytes_of > 2 * CHUNK + 100 && bytes_of < DATA);
	copy = hybrid_copy(fd, bytes_of);
	check(copy >= 0);
	close(copy);
	same((u64)hybrid_copy(fd, bytes_of - 1), -1ULL);
	close(fd);
}

#define PAGE	4096

/* A file whose last @nr pages are data, a hole, data and so on, and so many segments of it all. */
static int with_holes(unsigned int nr_segments, unsigned int nr, unsigned int nr_of_last)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(ehdr), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = nr_segments, .e_ehsize = sizeof(ehdr),
	};
	Elf64_Phdr phdr = { .p_type = PT_LOAD, .p_offset = 1 << 20 };
	int fd = memfd_create("holes", MFD_CLOEXEC);
	unsigned int i;

	check(write(fd, &ehdr, sizeof(ehdr)) == sizeof(ehdr));
	for (i = 0; i < nr_segments; i++) {
		phdr.p_filesz = (i + 1 < nr_segments ? nr : nr_of_last) * 2 * PAGE - PAGE;
		check(write(fd, &phdr, sizeof(phdr)) == sizeof(phdr));
	}
	for (i = 0; i < nr; i++)
		check(pwrite(fd, "a", 1, phdr.p_offset + i * 2 * PAGE) == 1);
	check(!ftruncate(fd, phdr.p_offset + 2 * nr * PAGE));
	return fd;
}

/* The header and the program headers are a part each, and each page of data is one. */
static void parts(void)
{
	/* 2 + 4095 * 16 + 14 are 65536. */
	int fd = with_holes(4096, 16, 14);

	check(hybrid_copy_size(fd) > 4095ULL * 16 * PAGE);
	close(fd);
	fd = with_holes(4096, 16, 15);
	same(hybrid_copy_size(fd), 0);
	close(fd);
}

/* One of the files has data where the other one has a hole. */
static void holes(void)
{
	int a = with_holes(3, 4, 4), b = with_holes(3, 4, 4);
	u64 at[] = { (1 << 20) + PAGE + 5, (1 << 20) + 5 * PAGE };
	unsigned int i;

	check(compare(a, true, b, true, NULL));
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		/* Zeros that are there are the same as those of a hole. */
		check(pwrite(b, "", 1, at[i]) == 1);
		check(compare(a, true, b, true, NULL) && compare(b, true, a, true, NULL));
		check(pwrite(b, "b", 1, at[i]) == 1);
		check(!compare(a, true, b, true, NULL) && !compare(b, true, a, true, NULL));
		check(pwrite(b, "", 1, at[i]) == 1);
	}
	/* Behind the last segment nothing is compared. */
	check(pwrite(b, "b", 1, (1 << 20) + 7 * PAGE) == 1);
	check(compare(a, true, b, true, NULL) && compare(b, true, a, true, NULL));
	close(a);
	close(b);
}

/* What a comparison takes of a user's shares, and what it does if one is used up. */
static void shares(void)
{
	int a = with_holes(1, 4, 4), b = with_holes(1, 4, 4), copy;
	struct hybrid_file_budget budget;
	struct hybrid_file_user *user;
	u64 taken = 1, left;

	hybrid_file_budget_init(&budget);
	budget.clock = tap_stopped_clock;
	user = hybrid_file_user_get(&budget, 7);
	check(hybrid_copy_is_same(a, b, user, NULL, &taken));
	same(taken, 0);
	same(user->used[HYBRID_FILE_COPIES], 0);
	check(hybrid_copy_is_same(a, b, user, NULL, NULL));
	check(hybrid_copy_is_same(a, b, user, &copy, &taken) && copy >= 0);
	same(taken, hybrid_copy_size(a));
	same(user->used[HYBRID_FILE_COPIES], taken);
	close(copy);
	/* There is room for one more, and not for another one. */
	left = hybrid_file_limits[HYBRID_FILE_COPIES].user - 2 * taken;
	check(hybrid_file_take(user, HYBRID_FILE_COPIES, left));
	check(hybrid_copy_is_same(a, b, user, &copy, &taken) && copy >= 0);
	close(copy);
	check(!hybrid_copy_is_same(a, b, user, &copy, &taken));
	same((u64)copy, -1ULL);
	hybrid_file_give(user, HYBRID_FILE_COPIES, left + taken);
	/* Files that differ at their ends take nothing in the end. */
	check(pwrite(b, "b", 1, (1 << 20) + 6 * PAGE) == 1);
	check(!hybrid_copy_is_same(a, b, user, &copy, &taken));
	same((u64)copy, -1ULL);
	same(user->used[HYBRID_FILE_COPIES], taken);
	left = hybrid_file_limits[HYBRID_FILE_BACKGROUND].user -
	       user->used[HYBRID_FILE_BACKGROUND];
	check(hybrid_file_take(user, HYBRID_FILE_BACKGROUND, left - taken + 1));
	check(!hybrid_copy_is_same(a, a, user, NULL, NULL));
	close(a);
	close(b);
}

/* Without a descriptor for the copy the files are not the same, as nobody could have it. */
static void no_descriptor(void)
{
	int a = with_holes(1, 4, 4), copy = 0, next = dup(a);
	struct rlimit limit, none;

	close(next);
	check(!getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = next;
	check(!setrlimit(RLIMIT_NOFILE, &none));
	check(!hybrid_copy_is_same(a, a, NULL, &copy, NULL));
	same((u64)copy, -1ULL);
	check(hybrid_copy_is_same(a, a, NULL, NULL, NULL));
	same((u64)hybrid_copy(a, ~0ULL), -1ULL);
	check(!setrlimit(RLIMIT_NOFILE, &limit));
	close(a);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "copy: segments of all sizes", segments },
		{ "copy: the segments that are mapped", kinds_of_segments },
		{ "copy: the sections that are read", kinds_of_sections },
		{ "copy: beyond the end of the file", ends },
		{ "copy: more headers than the file has", headers },
		{ "copy: no ELF file", no_elf },
		{ "copy: two files that hold the same", comparisons },
		{ "copy: one that is shorter", shorter },
		{ "copy: as many bytes as there may be", most },
		{ "copy: many parts", parts },
		{ "copy: holes of two files", holes },
		{ "copy: a user's shares", shares },
		{ "copy: no descriptor is left", no_descriptor },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
