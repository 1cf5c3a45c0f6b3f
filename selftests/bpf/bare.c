// SPDX-License-Identifier: GPL-2.0
/*
 * Nearly all the time in code without CFI that has frames of 20 KiB (bare.S).
 *
 * usage: bare SECONDS
 */
#include <stdlib.h>
#include "clock.h"

void bare_plain(long n);
void bare_kept(long n);

__attribute__((noipa)) void bare_middle(long n)
{
	bare_plain(n);
	bare_kept(n);
	asm volatile("");
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);

	while (now() < end)
		bare_middle(100000);
	return 0;
}
