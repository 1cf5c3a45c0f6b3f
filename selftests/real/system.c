// SPDX-License-Identifier: GPL-2.0
/* System calls and page faults, for samples of the kernel. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "truth.h"

#define ROOM	(1UL << 20)

static int zero;
static char room[ROOM];

FN_A(void, do_read, (void), "reading libc")
{
	keep((void *)read(zero, room, opaque(ROOM)));
}

FN_B(void, reading, (void), "main")
{
	spin(100);
	do_read();
	spin(100);
}

/* The call itself, without libc: nothing stands between the two. */
FN_A(long, raw_call, (long nr), "raw_calls")
{
	long ret;

	asm volatile("syscall" : "=a" (ret) : "0" (nr) : "rcx", "r11", "memory");
	return ret;
}

FN_B(void, raw_calls, (void), "main")
{
	int i;

	for (i = 0; i < 500; i++)
		keep((void *)raw_call(SYS_getppid));
}

FN_A(void, touch_leaf, (char *p), "touch")
{
	*p = 1;
	keep(p);
}

FN_B(void, touch, (char *p), "faulting")
{
	unsigned long i;

	for (i = 0; i < ROOM; i += 4096)
		touch_leaf(p + i);
}

FN_A(void, map, (char **p), "faulting libc")
{
	*p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

FN_B(void, unmap, (char *p), "faulting libc")
{
	munmap(p, ROOM);
}

FN_A(void, faulting, (void), "main")
{
	char *p;

	map(&p);
	touch(p);
	unmap(p);
}

FN_B(void, set_up, (void), "main libc")
{
	zero = open("/dev/zero", O_RDONLY);
}

#define SETUP() set_up()
#define CLEANUP() do { } while (0)

#define WORK() do {		\
	reading();		\
	raw_calls();		\
	faulting();		\
} while (0)

#include "main.h"
