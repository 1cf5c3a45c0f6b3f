// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "vdso32.h"

/* Not in the C library's headers of before Linux 6.3, which refuses it. */
#ifndef MFD_EXEC
#define MFD_EXEC	0x10
#endif

#define LOAD_ADDRESS	0x08048000
#define STACK_SIZE	16384

/*
 * The program: it writes what stands at AT_SYSINFO_EHDR to its standard output. On its
 * stack are the count and the addresses of its arguments, NULL, those of its environment,
 * NULL, and the auxiliary vector (i386 psABI, 2.3.1). The write ends where the vDSO does.
 */
static const unsigned char code[] = {
	0x8b, 0x0c, 0x24,			/*    mov  (%esp), %ecx */
	0x8d, 0x74, 0x8c, 0x08,			/*    lea  8(%esp,%ecx,4), %esi */
	0xad,					/* 1: lods */
	0x85, 0xc0,				/*    test %eax, %eax */
	0x75, 0xfb,				/*    jnz  1b */
	0xad,					/* 2: lods */
	0x89, 0xc3,				/*    mov  %eax, %ebx */
	0xad,					/*    lods */
	0x85, 0xdb,				/*    test %ebx, %ebx */
	0x74, 0x18,				/*    jz   3f */
	0x83, 0xfb, AT_SYSINFO_EHDR,		/*    cmp  $AT_SYSINFO_EHDR, %ebx */
	0x75, 0xf3,				/*    jne  2b */
	0x89, 0xc1,				/*    mov  %eax, %ecx */
	0xbb, STDOUT_FILENO, 0, 0, 0,		/*    mov  $STDOUT_FILENO, %ebx */
	0xba, 0, 0, 1, 0,			/*    mov  $65536, %edx: what a pipe holds */
	0xb8, 4, 0, 0, 0,			/*    mov  $4, %eax: write() */
	0xcd, 0x80,				/*    int  $0x80 */
	0x31, 0xdb,				/* 3: xor  %ebx, %ebx */
	0xb8, 1, 0, 0, 0,			/*    mov  $1, %eax: exit() */
	0xcd, 0x80,				/*    int  $0x80 */
};

struct program {
	Elf32_Ehdr ehdr;
	Elf32_Phdr phdr;
	unsigned char code[sizeof(code)];
};

/* What perf and its children, which have its memory, say to each other. */
struct call {
	int program;
	int output;
	int error;
};

static int open_program(void)
{
	struct program program = {
		.ehdr = {
			.e_ident	= { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
					    ELFDATA2LSB, EV_CURRENT },
			.e_type		= ET_EXEC,
			.e_machine	= EM_386,
			.e_version	= EV_CURRENT,
			.e_entry	= LOAD_ADDRESS + offsetof(struct program, code),
			.e_phoff	= offsetof(struct program, phdr),
			.e_ehsize	= sizeof(Elf32_Ehdr),
			.e_phentsize	= sizeof(Elf32_Phdr),
			.e_phnum	= 1,
		},
		.phdr = {
			.p_type		= PT_LOAD,
			.p_vaddr	= LOAD_ADDRESS,
			.p_filesz	= sizeof(program),
			.p_memsz	= sizeof(program),
			.p_flags	= PF_R | PF_X,
			.p_align	= 4096,
		},
	};
	int fd = memfd_create("vdso32", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("vdso32", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	memcpy(program.code, code, sizeof(code));
	if (write(fd, &program, sizeof(program)) == sizeof(program))
		return fd;
	close(fd);
	return -1;
}

static pid_t start(int (*run)(void *call), char *stack, int flags, struct call *call)
{
	pid_t pid = clone(run, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | flags, call);

	if (pid < 0)
		call->error = errno;
	return pid;
}

static int execute(void *arg)
{
	struct call *call = arg;
	char *const argv[] = { (char *)"vdso32", NULL };
	char *const none[] = { NULL };

	if (dup2(call->output, STDOUT_FILENO) >= 0)
		fexecve(call->program, argv, none);
	call->error = errno;
	return 1;
}

/*
 * perf takes SIGCHLD for the end of the program that it records, and who has called
 * execve() ends with that signal. So the program's parent is a child that ends with none.
 */
static int execute_in_child(void *arg)
{
	static char stack[STACK_SIZE] __aligned(16);
	pid_t pid;

	signal(SIGCHLD, SIG_DFL);
	pid = start(execute, stack, SIGCHLD, arg);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return 0;
}

static ssize_t read_all(int fd, void *to, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = read(fd, to + done, size - done);
		if (got <= 0)
			break;
		done += got;
	}
	return done;
}

ssize_t hybrid_read_vdso32(void *image, size_t size)
{
	static char stack[STACK_SIZE] __aligned(16);
	struct call call = { .program = open_program() };
	ssize_t got = -1;
	int ends[2];
	pid_t pid;

	if (call.program < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC)) {
		close(call.program);
		return -1;
	}
	call.output = ends[1];
	pid = start(execute_in_child, stack, 0, &call);
	if (pid > 0)
		waitpid(pid, NULL, __WCLONE);
	close(ends[1]);
	/* The pipe holds all that was written. */
	if (!call.error)
		got = read_all(ends[0], image, size);
	close(ends[0]);
	close(call.program);
	errno = call.error;
	return got;
}
