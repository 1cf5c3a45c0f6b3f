// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of files, and comparing them: holes are neither read nor kept.
 */
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include "elf-file.h"
#include "file-copy.h"
#include "tap.h"

#define HOLE	(512ULL << 20)

static struct hybrid_file_budget budget;

static void start(void)
{
	hybrid_file_budget_init(&budget);
	budget.clock = tap_stopped_clock;
}

static struct hybrid_file_user *user(void)
{
	return hybrid_file_user_get(&budget, 7);
}

/* small.so, with a first segment that goes on with a hole; a byte at its end, unless that is 0. */
static int make(u64 hole, char last)
{
	static u8 data[1 << 17];
	int from = open(elf_file_path("small.so"), O_RDONLY);
	int fd = memfd_create("test", MFD_CLOEXEC);
	ssize_t size = read(from, data, sizeof(data));
	Elf64_Phdr *phdr = (Elf64_Phdr *)(data + sizeof(Elf64_Ehdr));

	check(phdr->p_type == PT_LOAD && !phdr->p_offset);
	phdr->p_filesz = size + hole;
	check(write(fd, data, size) == size && !ftruncate(fd, size + hole));
	if (last)
		check(pwrite(fd, &last, 1, size + hole - 1) == 1);
	close(from);
	return fd;
}

static u64 memory_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? ~0ULL : st.st_blocks * 512ULL;
}

static u64 size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_size;
}

static void sparse(void)
{
	int fd = make(HOLE, 'z'), copy;
	u64 size = hybrid_copy_size(fd);
	char last = 0;

	check(size && size < 1 << 20);
	same(hybrid_copy(fd, size - 1), -1);
	copy = hybrid_copy(fd, size);
	check(copy >= 0 && size_of(copy) == size_of(fd) && memory_of(copy) < 1 << 20);
	check(pread(copy, &last, 1, size_of(fd) - 1) == 1 && last == 'z');
	/* Nobody changes it any more. */
	check(pwrite(copy, "a", 1, 0) < 0 && ftruncate(copy, 0));
	close(copy);
	close(fd);
}

static void compares(void)
{
	static const struct {
		u64	hole;
		char	last;
		bool	is_same;
	} others[] = {
		{ HOLE, 'z', true }, { HOLE, 'y', false }, { HOLE, 0, false },
		{ HOLE - 4096, 'z', false }, { HOLE + 4096, 'z', false },
	};
	int a = make(HOLE, 'z'), b, copy;
	unsigned int i;
	u64 size = 0;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		start();
		b = make(others[i].hole, others[i].last);
		same(hybrid_copy_is_same(a, b, user(), NULL, NULL), others[i].is_same);
		same(hybrid_copy_is_same(b, a, user(), &copy, &size), others[i].is_same);
		same(copy >= 0, others[i].is_same);
		same(user()->used[HYBRID_FILE_COPIES], others[i].is_same ? size : 0);
		check(user()->used[HYBRID_FILE_BACKGROUND] < 4 << 20);
		if (copy >= 0) {
			check(hybrid_copy_is_same(copy, a, user(), NULL, NULL));
			check(memory_of(copy) < 1 << 20);
			close(copy);
		}
		close(b);
	}
	close(a);
}

/* Where data of one is a hole of the other: zeros are zeros. */
static void zeros(void)
{
	static const u8 zeros[8192];
	int a = make(HOLE, 'z'), b = make(HOLE, 'z');

	check(pwrite(b, zeros, sizeof(zeros), HOLE / 2) == sizeof(zeros));
	check(hybrid_copy_is_same(a, b, NULL, NULL, NULL));
	check(hybrid_copy_is_same(b, a, NULL, NULL, NULL));
	check(pwrite(b, "1", 1, HOLE / 2 + 4095) == 1);
	check(!hybrid_copy_is_same(a, b, NULL, NULL, NULL));
	check(!hybrid_copy_is_same(b, a, NULL, NULL, NULL));
	close(a);
	close(b);
}

static void over_the_share(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_COPIES].user;
	int a = make(1 << 20, 'z'), b = make(1 << 20, 'z'), copy;
	u64 size = 0;

	start();
	check(hybrid_file_take(user(), HYBRID_FILE_COPIES, most - 4096));
	check(!hybrid_copy_is_same(a, b, user(), &copy, &size) && copy == -1);
	same(user()->used[HYBRID_FILE_COPIES], most - 4096);
	check(hybrid_copy_is_same(a, b, user(), NULL, NULL));
	hybrid_file_take(user(), HYBRID_FILE_BACKGROUND,
			 hybrid_file_limits[HYBRID_FILE_BACKGROUND].user -
			 user()->used[HYBRID_FILE_BACKGROUND]);
	check(!hybrid_copy_is_same(a, b, user(), NULL, NULL));
	close(a);
	close(b);
}

static void no_files(void)
{
	int pipes[2];

	check(!pipe(pipes));
	same(hybrid_copy_size(pipes[0]), 0);
	same(hybrid_copy(pipes[0], 1 << 20), -1);
	same(hybrid_copy_size(-1), 0);
	close(pipes[0]);
	close(pipes[1]);
}

/* A file that can't be read has nothing that could be the same, nor a copy. */
static void unreadable(void)
{
	int a = make(0, 0), b = make(0, 0), odd, copy;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", b);
	odd = open(path, O_WRONLY | O_CLOEXEC);
	check(odd >= 0);
	same(hybrid_copy(odd, 1 << 20), -1);
	check(!hybrid_copy_is_same(odd, odd, NULL, &copy, NULL) && copy == -1);
	check(!hybrid_copy_is_same(a, odd, NULL, NULL, NULL));
	check(!hybrid_copy_is_same(odd, a, NULL, NULL, NULL));
	check(hybrid_copy_is_same(a, b, NULL, NULL, NULL));
	close(odd);
	close(b);
	close(a);
}

/* 0 is a descriptor as any other one. */
static void descriptor_0(void)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	/* This is 0 if there is no standard input. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), input = dup(STDIN_FILENO), copy;
	int a = make(0, 0), b = make(0, 0), other = make(4096, 0);
	u64 size = hybrid_copy_size(a);

	close(STDIN_FILENO);
	check(hybrid_copy_is_same(a, b, NULL, &copy, NULL));
	same(copy, 0);
	same(fcntl(copy, F_GET_SEALS), seals);
	close(copy);
	check(!hybrid_copy_is_same(a, other, NULL, &copy, NULL));
	same(copy, -1);
	check(fcntl(0, F_GETFD) < 0);
	same(hybrid_copy(a, size), 0);
	same(fcntl(0, F_GET_SEALS), seals);
	close(0);
	same(hybrid_copy(a, size - 1), -1);
	check(fcntl(0, F_GETFD) < 0);
	dup2(input, STDIN_FILENO);
	close(input);
	close(null);
	close(other);
	close(b);
	close(a);
}

/* A file that ends with a hole: a copy has its size, or there is none. */
static void sizes(void)
{
	int a = make(1 << 20, 0), b = make(1 << 20, 0), copy;
	struct rlimit before, few;
	u64 size = size_of(a);
	unsigned int over;

	check(hybrid_copy_size(a) < size / 2);
	/* Descriptor 0 is free. */
	same(hybrid_copy(a, size), 0);
	same(size_of(0), size);
	close(0);
	check(!getrlimit(RLIMIT_FSIZE, &before));
	signal(SIGXFSZ, SIG_IGN);
	for (over = 0; over < 2; over++) {
		few = (struct rlimit) { .rlim_cur = size - over, .rlim_max = before.rlim_max };
		check(!setrlimit(RLIMIT_FSIZE, &few));
		copy = hybrid_copy(a, size);
		same(copy < 0, over);
		close(copy);
		same(hybrid_copy_is_same(a, b, NULL, &copy, NULL), !over);
		same(copy < 0, over);
		close(copy);
		check(hybrid_copy_is_same(a, b, NULL, NULL, NULL));
	}
	check(!setrlimit(RLIMIT_FSIZE, &before));
	close(b);
	close(a);
}

/* Program headers that are not in the file are none, and the rest is copied. */
static void no_headers(void)
{
	static const u8 other = ELFDATA2MSB;
	int fd = make(0, 0), copy;
	Elf64_Off far = 1ULL << 40;
	u64 size;

	check(pwrite(fd, &far, sizeof(far), offsetof(Elf64_Ehdr, e_phoff)) == sizeof(far));
	size = hybrid_copy_size(fd);
	check(size >= sizeof(Elf64_Ehdr));
	copy = hybrid_copy(fd, size);
	check(copy >= 0 && hybrid_copy_is_same(copy, fd, NULL, NULL, NULL));
	close(copy);
	/* Of a file for another machine nothing but the header is read. */
	check(pwrite(fd, &other, 1, EI_DATA) == 1);
	same(hybrid_copy_size(fd), sizeof(Elf64_Ehdr));
	close(fd);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "copy: what can't be read", unreadable },
		{ "copy: descriptor 0", descriptor_0 },
		{ "copy: the size of the file", sizes },
		{ "copy: no program headers", no_headers },
		{ "copy: holes take no memory", sparse },
		{ "copy: files that are the same, and that differ", compares },
		{ "copy: zeros and holes", zeros },
		{ "copy: a user who is over his share", over_the_share },
		{ "copy: what is no file", no_files },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
