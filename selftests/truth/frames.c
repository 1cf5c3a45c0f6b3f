// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of odd shapes: alloca, realigned, big, and (frames-asm.S) leaves
 * without any. A leaf writes to the low end of its frame: a page of the stack
 * that was never touched can't be dumped.
 */
#include "frames-asm.h"
#include "truth.h"

FN_B(unsigned long, alloca_leaf, (char *p, unsigned long n), "alloca_frame")
{
	p[n - 1] = 1;
	spin(40);
	return n;
}

FN_A(unsigned long, alloca_frame, (unsigned long n), "alloca_deeper")
{
	char *p = __builtin_alloca(n);
	unsigned long got;

	p[0] = 0;
	spin(20);
	got = alloca_leaf(p, n);
	keep(p);
	return got;
}

/* Moves its stack pointer while it runs. */
FN_B(unsigned long, alloca_deeper, (unsigned long n), "alloca_loop")
{
	unsigned long i, sum = 0;

	for (i = 0; i < 4; i++) {
		keep(__builtin_alloca(n));
		sum += alloca_frame(n + i);
	}
	return sum;
}

FN_A(void, alloca_loop, (void), "main")
{
	unsigned long i;

	for (i = 16; i < 300; i += 17)
		keep((void *)alloca_deeper(i));
}

/* Aligned locals: the old stack pointer is kept only in %rbp. */
FN_A(void, aligned_leaf, (char *p), "aligned_frame")
{
	_Alignas(64) char buf[192];

	buf[0] = 1;
	keep(buf);
	spin(60);
	keep(p);
}

FN_B(void, aligned_frame, (void), "aligned_loop")
{
	_Alignas(64) char buf[128];

	keep(buf);
	spin(40);
	aligned_leaf(buf);
	keep(buf);
}

FN_A(void, aligned_loop, (void), "main")
{
	int i;

	for (i = 0; i < 60; i++)
		aligned_frame();
}

/*
 * Aligned locals and arguments on the stack: the compiler reaches those
 * through %r10, and the CFA is an expression.
 */
FN_B(long, drap_leaf, (long a, long b), "drap_frame")
{
	spin(60);
	return a - b;
}

FN_A(long, drap_frame,
     (long a, long b, long c, long d, long e, long f, long g, long h), "drap_outer")
{
	_Alignas(64) char buf[128];
	long ret;

	keep(buf);
	spin(20);
	ret = drap_leaf(a, h);
	keep(buf);
	return ret + b + c + d + e + f + g + h;
}

FN_B(long, drap_outer,
     (long a, long b, long c, long d, long e, long f, long g, long h), "drap_loop")
{
	_Alignas(32) char buf[96];
	char *p = __builtin_alloca(opaque(32));
	long ret;

	keep(buf);
	keep(p);
	ret = drap_frame(h, g, f, e, d, c, b, a);
	spin(20);
	keep(buf);
	return ret + a + b + c + d + e + f + g + h;
}

FN_A(void, drap_loop, (void), "main")
{
	long i;

	for (i = 0; i < 60; i++)
		keep((void *)drap_outer(i, 2, 3, 4, 5, 6, 7, 8));
}

/* A frame larger than a page, which still fits into a dump of 8 KiB. */
FN_A(void, big_leaf, (char *p), "big_frame")
{
	char buf[900];

	buf[0] = 1;
	keep(buf);
	spin(40);
	keep(p);
}

FN_B(void, big_frame, (void), "big_loop")
{
	char buf[4200];

	keep(buf);
	big_leaf(buf);
	spin(40);
	keep(buf);
}

FN_A(void, big_loop, (void), "main")
{
	int i;

	for (i = 0; i < 60; i++)
		big_frame();
}

/* Each leaf of frames-asm.S has a caller of its own. */
FN_B(void, call_asm_plain, (void), "asm_loop")
{
	spin(10);
	asm_plain();
}

FN_A(void, call_asm_push, (void), "asm_loop")
{
	spin(10);
	asm_push();
	spin(10);
}

FN_B(void, call_asm_sub, (void), "asm_loop")
{
	asm_sub();
	spin(10);
}

FN_A(void, call_asm_expression, (void), "asm_loop")
{
	asm_expression();
	spin(10);
}

FN_A(void, asm_loop, (void), "main")
{
	int i;

	for (i = 0; i < 60; i++) {
		call_asm_plain();
		call_asm_push();
		call_asm_sub();
		call_asm_expression();
	}
}

#define WORK() do {		\
	alloca_loop();		\
	aligned_loop();		\
	drap_loop();		\
	big_loop();		\
	asm_loop();		\
} while (0)

#include "main.h"
