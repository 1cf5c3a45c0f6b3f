// SPDX-License-Identifier: GPL-2.0
/*
 * libc between and above the program's own frames: leaves written in
 * assembler, callbacks, system calls, the vdso. Buffers are static: the whole
 * stack shall fit into perf's default dump of 8 KiB.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "truth.h"

/* One leaf, one caller: all frameless in libc. */
FN_A(void, do_memcmp, (const char *a, const char *b), "leaves libc")
{
	int i;

	for (i = 0; i < 20; i++)
		keep((void *)(long)memcmp(a, b, opaque(4096)));
}

FN_B(void, do_memcmp_short, (const char *a, const char *b), "leaves libc")
{
	int i;

	for (i = 0; i < 200; i++)
		keep((void *)(long)memcmp(a, b, opaque(24)));
}

FN_B(void, do_strlen, (const char *a), "leaves libc")
{
	int i;

	for (i = 0; i < 20; i++)
		keep((void *)strlen(a));
}

FN_A(void, do_memcpy, (char *to, const char *from), "leaves libc")
{
	int i;

	for (i = 0; i < 10; i++)
		keep(memcpy(to, from, opaque(8000)));
}

FN_B(void, do_memset, (char *to), "leaves libc")
{
	int i;

	for (i = 0; i < 10; i++)
		keep(memset(to, 'x', opaque(8000)));
}

FN_A(void, do_memchr, (const char *a), "leaves libc")
{
	int i;

	for (i = 0; i < 20; i++)
		keep(memchr(a, 'y', opaque(4096)));
}

FN_B(void, do_snprintf, (void), "leaves libc")
{
	char line[80];
	int i;

	for (i = 0; i < 4; i++)
		keep((void *)(long)snprintf(line, sizeof(line), "%d %s %lx",
					    i, "text", opaque(i)));
	keep(line);
}

FN_A(void, do_malloc, (void), "leaves libc")
{
	unsigned long i;
	void *p;

	for (i = 0; i < 20; i++) {
		p = malloc(opaque(16 + i * 200));
		keep(p);
		free(p);
	}
}

FN_A(void, leaves, (void), "main")
{
	static char a[8192], b[8192];

	do_memset(a);
	a[8191] = 0;
	do_memcpy(b, a);
	do_memcmp(a, b);
	do_memcmp_short(a, b);
	do_strlen(a);
	do_memchr(a);
	do_snprintf();
	do_malloc();
	spin(200);
}

/*
 * Callbacks. The callback itself never calls libc: a lost caller of memcmp()
 * would look like a part of qsort().
 */
FN_B(int, order_compare, (const char *a, const char *b), "order libc")
{
	return memcmp(a, b, opaque(64));
}

FN_A(int, order, (const void *a, const void *b), "do_qsort via")
{
	int ret;

	spin(8);
	ret = order_compare(a, b);
	spin(2);
	return ret;
}

FN_B(void, do_qsort, (char (*table)[64], unsigned long n), "sorting libc")
{
	qsort(table, n, sizeof(*table), order);
}

FN_A(void, fill, (char (*table)[64], unsigned long n), "sorting")
{
	unsigned long i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < 64; j++)
			table[i][j] = j < 60 ? 'k' : (i * 7919 >> (j - 60)) & 63;
}

FN_A(void, sorting, (void), "main")
{
	static char table[128][64];

	fill(table, 128);
	do_qsort(table, 128);
	spin(100);
}

FN_A(int, find_compare_leaf, (long a, long b), "find_compare")
{
	spin(10);
	return a < b ? -1 : a > b;
}

FN_B(int, find_compare, (const void *a, const void *b), "do_bsearch via")
{
	int ret = find_compare_leaf(*(const long *)a, *(const long *)b);

	spin(5);
	return ret;
}

FN_A(void, do_bsearch, (const long *table, unsigned long n), "searching libc")
{
	long key;

	for (key = 0; key < 200; key++)
		keep(bsearch(&key, table, n, sizeof(*table), find_compare));
}

FN_B(void, searching, (void), "main")
{
	long table[256];
	int i;

	for (i = 0; i < 256; i++)
		table[i] = i;
	do_bsearch(table, 256);
}

FN_A(int, tree_compare, (const void *a, const void *b), "do_tsearch via")
{
	spin(10);
	return (long)a < (long)b ? -1 : (long)a > (long)b;
}

FN_B(void, do_tsearch, (void **root), "walking libc")
{
	long i;

	for (i = 1; i < 32; i++)
		tsearch((void *)i, root, tree_compare);
}

FN_A(void, visit_leaf, (VISIT which), "visit")
{
	spin(20 + which);
}

/* Of the topmost node, twalk() calls it last. */
FN_B(void, visit, (const void *node, VISIT which, int depth), "do_twalk via tail")
{
	visit_leaf(which);
	spin(5);
}

FN_A(void, do_twalk, (const void *root), "walking libc")
{
	int i;

	for (i = 0; i < 5; i++)
		twalk(root, visit);
}

FN_A(void, forget, (void *node), "do_tdestroy via")
{
	spin(50);
}

FN_A(void, do_tdestroy, (void *root), "walking libc")
{
	tdestroy(root, forget);
}

FN_B(void, walking, (void), "main")
{
	void *root = NULL;

	do_tsearch(&root);
	do_twalk(root);
	do_tdestroy(root);
}

/* Samples in the kernel have a user chain too. */
FN_B(void, do_getppid, (void), "kernel_side libc")
{
	int i;

	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
}

FN_A(void, do_clock, (void), "kernel_side libc")
{
	struct timespec ts;
	int i;

	for (i = 0; i < 400; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

FN_B(void, kernel_side, (void), "main")
{
	do_getppid();
	spin(100);
	do_clock();
}

#define WORK() do {		\
	leaves();		\
	sorting();		\
	searching();		\
	walking();		\
	kernel_side();		\
} while (0)

#include "main.h"
