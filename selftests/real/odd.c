// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks that jump: makecontext() and swapcontext(), setjmp() and longjmp(), a
 * nested function that is called through code on the stack (-z execstack).
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>
#include "truth.h"

static ucontext_t here, there;

FN_A(void, context_leaf, (void), "context_mid")
{
	spin(3000);
}

FN_B(void, context_mid, (void), "context_top")
{
	spin(500);
	context_leaf();
	spin(500);
}

FN_A(void, context_back, (void), "context_top libc")
{
	swapcontext(&there, &here);
}

FN_B(void, context_top, (void), "@context")
{
	for (;;) {
		context_mid();
		context_back();
	}
}

FN_A(void, context_make, (void), "contexts libc")
{
	static char stack[65536];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, context_top, 0);
}

FN_B(void, context_go, (void), "contexts libc")
{
	swapcontext(&here, &there);
}

FN_A(void, contexts, (void), "main")
{
	int i;

	context_make();
	for (i = 0; i < 200; i++) {
		context_go();
		spin(500);
	}
}

static jmp_buf env;

FN_B(void, jump_leaf, (unsigned long n), "jump_mid libc")
{
	spin(300);
	if (opaque(n))
		longjmp(env, 1);
}

FN_A(void, jump_mid, (unsigned long n), "jump_top")
{
	char room[100];

	keep(room);
	spin(100);
	jump_leaf(n);
	keep(room);
}

FN_B(void, jump_top, (unsigned long n), "jumps libc")
{
	if (!_setjmp(env))
		jump_mid(n);
	spin(300);
}

FN_A(void, jumps, (void), "main")
{
	unsigned long i;

	for (i = 1; i < 500; i++)
		jump_top(i);
}

FN_B(void, nested_leaf, (unsigned long n), "nested_order")
{
	spin(n);
}

/* The name of a nested function has a number behind it: this one is plain. */
FN_A(int, nested_order, (long a, long b), "nested_sort via tail")
{
	nested_leaf(50);
	spin(5);
	return a < b ? -1 : a > b;
}

FN_B(void, nested_sort, (long *table, unsigned long n, long sign), "nested libc")
{
	/* Needs sign, so that qsort() gets a trampoline on the stack. */
	int order(const long *a, const long *b) { spin(sign); return nested_order(*a, *b); }

	qsort(table, n, sizeof(*table), (int (*)(const void *, const void *))order);
	keep(&sign);
}

FN_A(void, nested, (void), "main")
{
	static long table[64];
	long i;

	for (i = 0; i < 64; i++)
		table[i] = i * 7919 % 64;
	nested_sort(table, 64, 5);
}

#define WORK() do {		\
	contexts();		\
	jumps();		\
	nested();		\
} while (0)

#include "main.h"
