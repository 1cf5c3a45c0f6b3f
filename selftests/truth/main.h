/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of a truth program: main() runs WORK() until the time is over.
 * Include it last, after defining WORK() from functions that name main as
 * their caller. usage: PROGRAM [SECONDS], 2 unless given.
 *
 * On a busy machine the time goes on until half of it was CPU time, so that the
 * samples are at least half of what they are elsewhere; for at most 20 times as long.
 */
#ifndef SELFTESTS_TRUTH_MAIN_H
#define SELFTESTS_TRUTH_MAIN_H

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

FN_B(double, now, (void), "main libc")
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* This process's, and that of its children that have ended. */
FN_B(double, cpu_time, (void), "main libc")
{
	struct timespec ts;
	struct rusage ru;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	getrusage(RUSAGE_CHILDREN, &ru);
	return ts.tv_sec + ts.tv_nsec / 1e9 +
	       ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6;
}

FN_B(double, duration, (const char *arg), "main libc")
{
	return arg ? strtod(arg, NULL) : 2.0;
}

#ifndef SETUP
#define SETUP()		do { } while (0)
#define CLEANUP()	do { } while (0)
#endif

FN_A(int, main, (int argc, char **argv), "@start")
{
	double end, span = duration(argc > 1 ? argv[1] : NULL);

	SETUP();
	end = now() + span;
	while (now() < end || (cpu_time() < span / 2 && now() < end + 20 * span))
		WORK();
	CLEANUP();
	return 0;
}

#endif
