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
#include <errno.h>
#include <gelf.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "tap.h"
#include "vdso32.h"

/* As large as the kernel's has been since there is one. */
#define SIZE	4096

static char image[SIZE];
static bool executes;

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
	for (i = 0; i < 20; i++)
		hybrid_read_vdso32(image, SIZE);
	sigpending(&signals);
	check(!sigismember(&signals, SIGCHLD));
	same(open_files(), before);
	same(waitpid(-1, NULL, __WALL | WNOHANG), (u64)-1);
	same(errno, ECHILD);
}

static const struct tap_test tests[] = {
	{ "it is read from a program that is made for it", is_it },
	{ "... to its end", ends },
	{ "neither signals nor files nor children are left", leaves_nothing },
};

int main(int argc, char **argv)
{
	executes = argc > 1 && !strcmp(argv[1], "i386");
	return tap_run(tests, ARRAY_SIZE(tests));
}
