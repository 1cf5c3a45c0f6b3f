// SPDX-License-Identifier: GPL-2.0
/*
 * The vDSO of i386 programs, where none of them lives.
 *
 * usage: test-vdso32 [i386]
 *
 * i386: this machine is known to execute such programs. Without it, it may say that it
 * does not.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tap.h"
#include "vdso32.h"

/* Not in the headers of all C libraries, nor are the system calls in those of these tests. */
#ifndef MFD_EXEC
#define MFD_EXEC	0x10
#endif
#ifndef SYS_execveat
#define SYS_execveat	322
#endif
#ifndef SYS_exit_group
#define SYS_exit_group	231
#endif
#ifndef SYS_memfd_create
#define SYS_memfd_create	319
#endif

/* As large as the kernel's has been since there is one. */
#define SIZE	4096

static char image[SIZE];
static bool executes;

/* What is executed in place of the program writes so many bytes; -1: the program is executed. */
static ssize_t written = -1;

/* How often memfd_create() was called, if it knows no MFD_EXEC, as before Linux 6.3; else 0. */
static unsigned int old_calls;

/* Which call of clone() from now on fails; 0: none. */
static unsigned int failing_clone;

/* These are linked in place of the C library's. */
int clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...)
{
	static int (*real)(int (*fn)(void *arg), void *stack, int flags, void *arg, ...);

	if (!real)
		real = dlsym(RTLD_NEXT, "clone");
	if (failing_clone && !--failing_clone) {
		errno = EAGAIN;
		return -1;
	}
	return real(fn, stack, flags, arg);
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	static char bytes[2 * SIZE];

	if (written < 0)
		return syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	memset(bytes, 'v', sizeof(bytes));
	return syscall(SYS_exit_group, write(STDOUT_FILENO, bytes, written) != written);
}

int memfd_create(const char *name, unsigned int flags)
{
	if (old_calls && old_calls++ && flags & MFD_EXEC) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_memfd_create, name, flags);
}

static unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void is_it(void)
{
	static const char name[] = "__kernel_vsyscall";
	GElf_Ehdr ehdr = {};
	Elf *elf;

	memset(image, 0, sizeof(image));
	errno = 0;
	if (hybrid_read_vdso32(image, SIZE) < 0 && !executes) {
		same(errno, ENOEXEC);
		return;
	}
	elf_version(EV_CURRENT);
	elf = elf_memory(image, SIZE);
	check(elf && gelf_getehdr(elf, &ehdr));
	same(ehdr.e_machine, EM_386);
	same(ehdr.e_type, ET_DYN);
	elf_end(elf);
	check(memmem(image, SIZE, name, sizeof(name)));
}

/* No more is there than the program has mapped. */
static void ends(void)
{
	static char large[1 << 20];
	ssize_t got = hybrid_read_vdso32(large, sizeof(large));

	if (got < 0 && !executes)
		return;
	check(got >= SIZE && got <= 0x10000);
	check(!memcmp(large, image, SIZE));
}

/* To perf a signal is the end of what it records; and what is left would be a zombie. */
static void leaves_nothing(void)
{
	unsigned int before = open_files(), i;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* Who is left without a parent is a child of this process. */
	check(!prctl(PR_SET_CHILD_SUBREAPER, 1));
	for (i = 0; i < 20; i++)
		hybrid_read_vdso32(image, SIZE);
	sigpending(&signals);
	check(!sigismember(&signals, SIGCHLD));
	same(open_files(), before);
	same(waitpid(-1, NULL, __WALL | WNOHANG), (u64)-1);
	same(errno, ECHILD);
}

/* All that is written comes, but for what there is no room for; whatever this machine executes. */
static void written_bytes(void)
{
	static const struct {
		ssize_t	written;
		size_t	room;
	} cases[] = {
		{ 1, SIZE }, { SIZE, SIZE }, { SIZE + 1, SIZE }, { SIZE, SIZE + 1 }, { 0, 1 },
	};
	static char bytes[SIZE + 1];
	unsigned int i, nr_open = open_files();
	ssize_t nr;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		written = cases[i].written;
		nr = min_t(size_t, cases[i].written, cases[i].room);
		memset(bytes, 0, sizeof(bytes));
		/* Of something before that has failed. */
		errno = EINVAL;
		same(hybrid_read_vdso32(bytes, cases[i].room), nr);
		check(!nr || (bytes[0] == 'v' && bytes[nr - 1] == 'v'));
		check(nr > SIZE || !bytes[nr]);
		same(open_files(), nr_open);
	}
	/* A kernel that does not know the flag: the same without it. */
	old_calls = 1;
	same(hybrid_read_vdso32(bytes, SIZE), 0);
	same(old_calls, 3);
	written = SIZE;
	same(hybrid_read_vdso32(bytes, SIZE), SIZE);
	old_calls = 0;
	written = -1;
}

/* Neither for the program nor for what it writes. */
static void no_descriptors(void)
{
	unsigned int failures = 0, nr = open_files();
	struct rlimit before, few;
	int next = dup(STDOUT_FILENO);
	ssize_t got = -1;

	close(next);
	check(!getrlimit(RLIMIT_NOFILE, &before));
	few = before;
	written = 1;
	for (few.rlim_cur = next; got < 0 && few.rlim_cur < before.rlim_cur; few.rlim_cur++) {
		check(!setrlimit(RLIMIT_NOFILE, &few));
		got = hybrid_read_vdso32(image, SIZE);
		failures += got < 0;
		check(!setrlimit(RLIMIT_NOFILE, &before));
		same(open_files(), nr);
	}
	same(got, 1);
	/* It needs three. */
	check(failures >= 3);
	written = -1;
}

/* Neither for the child nor for the program itself. */
static void no_processes(void)
{
	unsigned int i;

	written = 1;
	for (i = 1; i <= 2; i++) {
		failing_clone = i;
		same(hybrid_read_vdso32(image, SIZE), (u64)-1);
		same(errno, EAGAIN);
		same(failing_clone, 0);
	}
	same(hybrid_read_vdso32(image, SIZE), 1);
	written = -1;
}

/* The program can't be written, or not all of it. */
static void no_program(void)
{
	struct rlimit before, few;

	check(!getrlimit(RLIMIT_FSIZE, &before));
	signal(SIGXFSZ, SIG_IGN);
	written = 0;
	for (few = before, few.rlim_cur = 0; few.rlim_cur <= 10; few.rlim_cur += 10) {
		check(!setrlimit(RLIMIT_FSIZE, &few));
		same(hybrid_read_vdso32(image, SIZE), (u64)-1);
		check(!setrlimit(RLIMIT_FSIZE, &before));
	}
	same(hybrid_read_vdso32(image, SIZE), 0);
	written = -1;
}

static const struct tap_test tests[] = {
	{ "it is read from a program that is made for it", is_it },
	{ "... to its end", ends },
	{ "all that it writes", written_bytes },
	{ "no descriptors", no_descriptors },
	{ "no processes", no_processes },
	{ "no program", no_program },
	{ "neither signals nor files nor children are left", leaves_nothing },
};

int main(int argc, char **argv)
{
	executes = argc > 1 && !strcmp(argv[1], "i386");
	return tap_run(tests, ARRAY_SIZE(tests));
}
