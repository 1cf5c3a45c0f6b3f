// SPDX-License-Identifier: GPL-2.0
/* Four threads, each with a call tree of its own. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include "truth.h"

static double deadline;

/*
 * One tree for the thread T: names differ, so each function keeps one caller.
 * The deadline is looked at often enough to end in time.
 */
#define TREE(t)								\
FN_A(double, thread_now_##t, (void), "thread_main_" #t " libc")		\
{									\
	struct timespec ts;						\
									\
	clock_gettime(CLOCK_MONOTONIC, &ts);				\
	return ts.tv_sec + ts.tv_nsec / 1e9;				\
}									\
									\
FN_B(void, thread_memset_##t, (char *buf), "thread_mid_" #t " libc")	\
{									\
	keep(memset(buf, 1, opaque(2000)));				\
}									\
									\
FN_A(void, thread_leaf_##t, (unsigned long n), "thread_mid_" #t)	\
{									\
	spin(n);							\
}									\
									\
FN_B(void, thread_mid_##t, (unsigned long n), "thread_top_" #t)		\
{									\
	char buf[2000];							\
									\
	thread_leaf_##t(n);						\
	spin(20);							\
	thread_memset_##t(buf);						\
}									\
									\
FN_A(void, thread_top_##t, (unsigned long n), "thread_main_" #t)	\
{									\
	unsigned long i;						\
									\
	for (i = 0; i < n; i++)						\
		thread_mid_##t(100 + n);				\
}									\
									\
FN_B(void *, thread_main_##t, (void *end), "@thread")			\
{									\
	double until = *(double *)end;					\
									\
	while (thread_now_##t() < until)				\
		thread_top_##t(100);					\
	return NULL;							\
}

TREE(one)
TREE(two)
TREE(three)
TREE(four)

FN_A(void, start_threads, (pthread_t *id, double *end), "run_threads libc")
{
	pthread_create(&id[0], NULL, thread_main_one, end);
	pthread_create(&id[1], NULL, thread_main_two, end);
	pthread_create(&id[2], NULL, thread_main_three, end);
	pthread_create(&id[3], NULL, thread_main_four, end);
}

FN_B(void, join_threads, (pthread_t *id), "run_threads libc")
{
	int i;

	for (i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
}

/* The threads live for 200 ms, then new ones start on the same stacks. */
FN_A(void, run_threads, (double until), "main")
{
	pthread_t id[4];

	deadline = until;
	start_threads(id, &deadline);
	join_threads(id);
}

#define WORK() run_threads(now() + 0.2)

#include "main.h"
