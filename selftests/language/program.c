// SPDX-License-Identifier: GPL-2.0
/*
 * An interpreter of a language that nobody has: a function is a string of digits, which call
 * functions, and of "w", which works. Which functions it is in is in a list of frames.
 *
 * usage: toy SECONDS	of a processor
 */
#include <stdlib.h>
#include <time.h>

/* What is in memory is there when the program is sampled. */
static inline void barrier(void)
{
	asm volatile("" ::: "memory");
}

struct function {
	const char *code;
	const char *name;
};

struct frame {
	struct frame *caller;
	const struct function *function;
};

static const struct function functions[] = {
	{ "1", "main" }, { "22", "outer" }, { "3", "middle" }, { "w", "leaf" },
};

/* Exported: a profiler finds it by its name. */
struct frame *toy_frames;
static double seconds;

static __attribute__((noinline)) void work(void)
{
	struct timespec began, now;
	int i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	do {
		for (i = 0; i < 10000; i++)
			barrier();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec - began.tv_sec + (now.tv_nsec - began.tv_nsec) / 1e9 < seconds / 2);
}

/* The evaluator: each function has a native frame of it. */
__attribute__((noinline)) void toy_run(const struct function *function)
{
	struct frame frame = { .caller = toy_frames, .function = function };
	const char *at;

	toy_frames = &frame;
	barrier();
	for (at = function->code; *at; at++) {
		if (*at == 'w')
			work();
		else
			toy_run(&functions[*at - '0']);
	}
	barrier();
	toy_frames = frame.caller;
}

int main(int argc, char **argv)
{
	seconds = argc > 1 ? atof(argv[1]) : 1;
	toy_run(&functions[0]);
	return 0;
}
