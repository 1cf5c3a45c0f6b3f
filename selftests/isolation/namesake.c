// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose functions say which of two files with one build-id they are of: WHO is good or
 * evil. The evil one has its functions at other addresses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define JOIN(a, b)	a ## _ ## b
#define NAME_OF(a, b)	JOIN(a, b)
#define NAME(b)		NAME_OF(WHO, b)
#define OWN		__attribute__((noipa)) uint64_t

volatile uint64_t seed;

#ifdef MOVED
OWN NAME(unused)(uint64_t x)
{
	volatile char pad[300];

	pad[x & 7] = x;
	return pad[0] * 3;
}
#endif

OWN NAME(spin)(uint64_t x)
{
	for (int i = 0; i < 3000; i++)
		x = x * 6364136223846793005ULL + i;
	seed = x;
	return x;
}

OWN NAME(third)(uint64_t x)
{
	uint64_t r = NAME(spin)(x);
#ifdef MOVED
	volatile char pad[500];

	pad[x & 7] = x;
	r += pad[x & 7];
#endif
	seed = r;
	return r + 3;
}

OWN NAME(second)(uint64_t x)
{
	return NAME(third)(x) + 2;
}

OWN NAME(first)(uint64_t x)
{
	return NAME(second)(x) + 1;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0) + 2;

	while (time(NULL) < end)
		NAME(first)(seed);
	return 0;
}
