// SPDX-License-Identifier: GPL-2.0
/*
 * System calls, one after the other, some calls deep: where an interrupt finds the
 * program in the kernel.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

long sum;

static __attribute__((noinline)) void ask(long depth)
{
	if (depth)
		ask(depth - 1);
	else
		sum += syscall(SYS_getppid);
	sum++;
}

int main(void)
{
	for (;;)
		ask(3);
}
