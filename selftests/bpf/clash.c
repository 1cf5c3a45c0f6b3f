// SPDX-License-Identifier: GPL-2.0
/*
 * Built with -fstack-clash-protection: nearly all the time in the loop that touches each
 * page of a frame of 256 KiB, where CFI counts the CFA from r11 and the stack pointer is
 * further from the return address than a stack dump reaches.
 *
 * usage: clash SECONDS
 */
#include <stdlib.h>
#include "clock.h"

__attribute__((noipa)) void clash_leaf(void)
{
	char frame[256 << 10];

	asm volatile("" : : "r" (frame) : "memory");
}

__attribute__((noipa)) void clash_middle(int n)
{
	while (n--)
		clash_leaf();
	asm volatile("");
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);

	while (now() < end)
		clash_middle(1000);
	return 0;
}
