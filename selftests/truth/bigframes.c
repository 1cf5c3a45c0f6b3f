// SPDX-License-Identifier: GPL-2.0
/*
 * Frames larger than perf's default dump of 8 KiB. Built with
 * -fstack-clash-protection, so that they are made in a loop that has a CFA
 * register of its own.
 */
#include "truth.h"

FN_A(void, large_leaf, (unsigned long n), "large")
{
	spin(n);
}

FN_B(void, large, (char *p), "huge")
{
	char buf[9000];

	keep(buf);
	large_leaf(60);
	spin(40);
	keep(buf);
	keep(p);
}

FN_A(void, huge_leaf, (unsigned long n), "huge")
{
	spin(n);
}

FN_B(void, huge, (void), "huge_loop")
{
	/* A dump of BPF's ends with a page: it has 53,249 bytes at least, with those of large(). */
	char buf[43000];

	keep(buf);
	spin(20);
	huge_leaf(60);
	large(buf);
	keep(buf);
}

FN_A(void, huge_loop, (void), "main")
{
	int i;

	for (i = 0; i < 60; i++)
		huge();
}

#define WORK() huge_loop()

#include "main.h"
