// SPDX-License-Identifier: GPL-2.0
/*
 * Frames with arrays that are larger than the usual copy of a stack: one that is written
 * to, and one of which all pages but the outermost are left alone.
 *
 * usage: rooms wide|holed SECONDS
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDE	20000
#define HOLED	49152

static volatile unsigned long sink;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static __attribute__((noinline)) void leaf(void)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		sink += i;
}

static __attribute__((noinline)) void wide(void)
{
	volatile char room[WIDE];
	unsigned int i;

	for (i = 0; i < WIDE; i += 64)
		room[i] = i;
	leaf();
	sink += room[0];
}

static __attribute__((noinline)) void holed(void)
{
	volatile char room[HOLED];

	room[HOLED - 1] = 1;
	leaf();
	sink += room[HOLED - 1];
}

static __attribute__((noinline)) void middle(int wanted)
{
	if (wanted)
		wide();
	else
		holed();
	sink++;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 2 ? atof(argv[2]) : 1);
	int wanted = argc > 1 && !strcmp(argv[1], "wide");

	while (now() < end)
		middle(wanted);
	return 0;
}
