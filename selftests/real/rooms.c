// SPDX-License-Identifier: GPL-2.0
/*
 * Frames with arrays that are larger than the usual copy of a stack: one that is written
 * to, and one of which all pages but the outermost are left alone. And frames that are
 * larger than any copy, in threads whose first function calls them once, once among other calls,
 * from two other functions, or twice.
 *
 * usage: rooms wide|holed|once|among|either|twice SECONDS
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDE	20000
#define HOLED	49152
#define HUGE	100000

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

static __attribute__((noinline)) void huge(double *end)
{
	volatile char room[HUGE];
	unsigned int i;

	for (i = 0; i < HUGE; i += 64)
		room[i] = i;
	do {
		leaf();
	} while (now() < *end);
	sink += room[0];
}

/* No jump, and no other call: what its caller is now it was before. */
static void *once(void *end)
{
	huge(end);
	return NULL;
}

static __attribute__((noinline)) void other(int nr)
{
	sink += nr;
}

/* As CRuby's threads do it, whose frame has the stack of the interpreter. */
static void *among(void *end)
{
	double begun = 0;
	int i;

	for (i = 0; now() < *(double *)end; i++) {
		if (i & 1)
			other(i);
		huge(&begun);
		other(1);
	}
	return NULL;
}

/* Two functions with frames of one size, which each call it at one place. */
static __attribute__((noinline)) void left(double *begun)
{
	huge(begun);
	sink++;
}

static __attribute__((noinline)) void right(double *begun)
{
	huge(begun);
	sink += 2;
}

static void *either(void *end)
{
	double begun = 0;

	while (now() < *(double *)end) {
		left(&begun);
		right(&begun);
	}
	return NULL;
}

static void *twice(void *end)
{
	double begun = 0;

	while (now() < *(double *)end) {
		huge(&begun);
		sink++;
		huge(&begun);
	}
	return NULL;
}

static void run_thread(void *(*first)(void *), double end)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, first, &end))
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 2 ? atof(argv[2]) : 1);
	int wanted = argc > 1 && !strcmp(argv[1], "wide");

	if (argc > 1 && !strcmp(argv[1], "once"))
		run_thread(once, end);
	if (argc > 1 && !strcmp(argv[1], "among"))
		run_thread(among, end);
	if (argc > 1 && !strcmp(argv[1], "either"))
		run_thread(either, end);
	if (argc > 1 && !strcmp(argv[1], "twice"))
		run_thread(twice, end);

	while (now() < end)
		middle(wanted);
	return 0;
}
