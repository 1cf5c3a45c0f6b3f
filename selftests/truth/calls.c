// SPDX-License-Identifier: GPL-2.0
/* Ordinary call trees, shrink-wrapped functions, recursion of a known depth. */
#include "truth.h"

/*
 * Short bodies, called often, so that many samples fall into prologues and
 * epilogues, where the frame does not stand.
 */
FN_B(unsigned long, short_leaf, (unsigned long n), "short_three")
{
	spin(2);
	return n + 1;
}

FN_A(unsigned long, short_three, (unsigned long n), "short_two")
{
	unsigned long m = n * 3;

	m += short_leaf(n);
	return m;
}

FN_B(unsigned long, short_two, (unsigned long n), "short_one")
{
	unsigned long m = n ^ 5;

	return m + short_three(m) + n;
}

FN_A(void, short_one, (void), "main")
{
	unsigned long i;

	for (i = 0; i < 5000; i++)
		keep((void *)short_two(i));
}

/* A fan of leaves below a chain, each level with work of its own. */
FN_A(void, fan_left, (void), "level6")
{
	spin(300);
}

FN_B(void, fan_mid, (void), "level6")
{
	spin(300);
}

FN_A(unsigned long, fan_right_leaf, (unsigned long a, unsigned long b), "fan_right")
{
	spin(a + b);
	return a;
}

FN_B(void, fan_right, (void), "level6")
{
	unsigned long a = opaque(100), b = opaque(200);

	spin(50);
	keep((void *)(fan_right_leaf(a, b) + a + b));
}

FN_A(void, level6, (void), "level5")
{
	spin(50);
	fan_left();
	fan_mid();
	fan_right();
}

FN_B(void, level5, (void), "level4")
{
	spin(60);
	level6();
	spin(60);
}

/* Many callee-saved registers pushed. */
FN_B(void, level4, (void), "level3")
{
	unsigned long a = opaque(1), b = opaque(2), c = opaque(3);
	unsigned long d = opaque(4), e = opaque(5), f = opaque(6);

	level5();
	spin(a + b + c + d + e + f);
	keep((void *)(a ^ b ^ c ^ d ^ e ^ f));
}

FN_A(void, level3, (void), "level2")
{
	spin(50);
	level4();
	spin(50);
}

FN_A(void, level2, (void), "level1")
{
	level3();
	spin(100);
}

FN_B(void, level1, (void), "main")
{
	int i;

	for (i = 0; i < 30; i++) {
		spin(50);
		level2();
	}
}

/*
 * Shrink-wrapped: the early return runs before anything is pushed, the rest
 * has a frame.
 */
FN_A(unsigned long, wrap_slow, (unsigned long n), "wrapped")
{
	spin(n & 63 ? 20 : 40);
	return n + 2;
}

FN_B(unsigned long, wrapped, (unsigned long n), "wrap_loop")
{
	unsigned long kept;

	if (__builtin_expect(n & 7, 1)) {
		spin(4);
		return n;
	}
	kept = n * 7;
	return wrap_slow(n) + kept + wrap_slow(kept) + n;
}

FN_A(void, wrap_loop, (void), "main")
{
	unsigned long i;

	for (i = 0; i < 4000; i++)
		keep((void *)wrapped(i));
}

/* 40 equal frames: only a count can tell whether one is missing. */
#define RECURSE_DEPTH 40

FN_B(void, recurse_leaf, (void), "recurse")
{
	spin(400);
}

FN_A(unsigned long, recurse, (unsigned int left), "recurse_start depth=40")
{
	unsigned long below;

	if (left == 1) {
		recurse_leaf();
		return 1;
	}
	below = recurse(left - 1);
	return below + left;
}

FN_B(void, recurse_start, (void), "main")
{
	int i;

	for (i = 0; i < 40; i++)
		keep((void *)recurse(RECURSE_DEPTH));
}

/* Two functions that call each other look like recursion in no table: a chain. */
FN_A(void, tail_leaf, (unsigned long n), "tail_top")
{
	spin(n);
}

/* Its call stands last: a sibling call if the compiler were allowed to. */
FN_B(void, tail_top, (unsigned long n), "main")
{
	spin(2000);
	tail_leaf(n);
}

#define WORK() do {		\
	short_one();		\
	level1();		\
	wrap_loop();		\
	recurse_start();	\
	tail_top(2000);		\
} while (0)

#include "main.h"
