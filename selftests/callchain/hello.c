// SPDX-License-Identifier: GPL-2.0
/*
 * func_a() calls func_b() calls func_c() calls func_d(), all with frame
 * pointers but for func_d(), a leaf that a compiler gives none. func_b() also
 * raises a signal; its handler calls func_d(), too.
 */
#include <signal.h>

#define CALLED	__attribute__((noinline, noclone))

/* Counted in assembler, so that no call becomes a jump and nothing is left out. */
static int sum;

CALLED __attribute__((optimize("omit-frame-pointer"))) void func_d(int i)
{
	(void)i;
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void func_c(int i)
{
	func_d(i);
	asm volatile("incl %0" : "+m" (sum));
}

static void handler(int sig)
{
	func_d(sig);
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void func_b(int i)
{
	raise(SIGUSR1);
	func_c(i);
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void func_a(int i)
{
	func_b(i);
	asm volatile("incl %0" : "+m" (sum));
}

int main(void)
{
	int i;

	signal(SIGUSR1, handler);
	for (i = 0; i < 10; i++)
		func_a(i);
	return 0;
}
