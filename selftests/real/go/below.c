// SPDX-License-Identifier: GPL-2.0
/* What Go calls, and what calls Go: see main.go. */
#include "_cgo_export.h"

static void spin(long n)
{
	asm volatile("1:\tsub $1, %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

/* TRUTH: c_leaf c_top */
__attribute__((noipa)) static void c_leaf(long n)
{
	spin(n);
}

/* TRUTH: c_top main.intoC via */
__attribute__((noipa)) void c_top(long n)
{
	c_leaf(n);
	spin(n);
}

/* TRUTH: c_under main.intoCAndBack via libc */
__attribute__((noipa)) void c_under(long n)
{
	spin(n);
	goBack(n);
	spin(n);
}
