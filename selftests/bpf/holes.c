// SPDX-License-Identifier: GPL-2.0
/*
 * A stack with pages that nothing was ever written to: each of some functions has an array
 * that it leaves alone, and calls the next one.
 * usage: holes SECONDS
 */
#include <stdlib.h>
#include "clock.h"

#define ARRAY	(3 * 4096)

static double end;

__attribute__((noipa, noinline)) static void holes_leaf(void)
{
	while (now() < end)
		;
}

__attribute__((noipa, noinline)) static void holes_inner(void)
{
	char array[ARRAY];

	asm volatile("" : : "r"(array) : "memory");
	holes_leaf();
	asm volatile("" : : "r"(array) : "memory");
}

__attribute__((noipa, noinline)) static void holes_middle(void)
{
	char array[ARRAY];

	asm volatile("" : : "r"(array) : "memory");
	holes_inner();
	asm volatile("" : : "r"(array) : "memory");
}

__attribute__((noipa, noinline)) static void holes_outer(void)
{
	char array[ARRAY];

	asm volatile("" : : "r"(array) : "memory");
	holes_middle();
	asm volatile("" : : "r"(array) : "memory");
}

int main(int argc, char **argv)
{
	end = now() + atof(argv[argc - 1]);
	holes_outer();
	return 0;
}
