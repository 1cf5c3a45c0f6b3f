// SPDX-License-Identifier: GPL-2.0
/*
 * A stack of more frames than a walk follows.
 * usage: deepest SECONDS
 */
#include <stdlib.h>
#include "clock.h"

#define CALLS	20000

static double end;

__attribute__((noipa, noinline)) static void deepest_leaf(void)
{
	while (now() < end)
		;
}

__attribute__((noipa, noinline)) static void deepest_caller(int left)
{
	if (left)
		deepest_caller(left - 1);
	else
		deepest_leaf();
	asm volatile("");
}

int main(int argc, char **argv)
{
	end = now() + (argc > 1 ? atof(argv[1]) : 1);
	deepest_caller(CALLS);
	return 0;
}
