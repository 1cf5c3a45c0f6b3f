// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"

/* A test that takes more seconds of CPU time hangs. One that sleeps so long hangs, too. */
#define MAX_CPU_SECONDS	120
#define MAX_SECONDS	1800

/* At the end of a test its other threads have MAX_LOOKS times LOOK us to end. */
#define MAX_LOOKS	20000
#define LOOK		1000

/* One loop may fail thousands of times: the first few tell enough. */
#define MAX_SAID	10

static unsigned int failed;
static u64 random_state;

/* What CLOCK_MONOTONIC_COARSE shows, in ns. */
static u64 coarse_clock;

/* What CLOCK_MONOTONIC shows, in ns; 0: the time. */
static u64 monotonic_clock;

static bool speaks(void)
{
	return failed++ < MAX_SAID;
}

bool tap_check(bool holds, const char *file, int line, const char *what)
{
	if (!holds && speaks())
		printf("# %s:%d: %s\n", file, line, what);
	return holds;
}

bool tap_same(u64 got, u64 want, const char *file, int line, const char *what)
{
	if (got != want && speaks())
		printf("# %s:%d: %s is %#" PRIx64 ", not %#" PRIx64 "\n",
		       file, line, what, got, want);
	return got == want;
}

bool tap_same_text(const char *got, const char *want, const char *file, int line)
{
	bool equal = !strcmp(got, want);

	if (!equal && speaks())
		printf("# %s:%d: \"%s\"\n# should be \"%s\"\n", file, line, got, want);
	return equal;
}

void tap_seed(u64 seed)
{
	random_state = seed;
}

/* splitmix64 */
u64 tap_random(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* libc's. */
int __real_clock_gettime(clockid_t clock, struct timespec *time);

/*
 * The Makefile has the linker put this in place of clock_gettime(): the coarse clock stands still
 * between two calls of tap_pass(), however busy the machine is.
 */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	u64 ns = 0;

	if (clock == CLOCK_MONOTONIC_COARSE)
		ns = __atomic_load_n(&coarse_clock, __ATOMIC_RELAXED);
	else if (clock == CLOCK_MONOTONIC)
		ns = __atomic_load_n(&monotonic_clock, __ATOMIC_RELAXED);
	if (!ns)
		return __real_clock_gettime(clock, time);
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
	return 0;
}

void tap_pass(u64 ns)
{
	__atomic_fetch_add(&coarse_clock, ns, __ATOMIC_RELAXED);
}

void tap_set_monotonic(u64 ns)
{
	__atomic_store_n(&monotonic_clock, ns, __ATOMIC_RELAXED);
}

u64 tap_stopped_clock(void)
{
	return 1000000000;
}

static void stop_coarse_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	tap_pass(time.tv_sec * 1000000000ULL + time.tv_nsec);
}

/* Descriptors that are looked at: no test has more. */
#define MAX_FILES	1024

static unsigned int files_before;

static unsigned int open_files(void)
{
	unsigned int nr = 0;
	int fd;

	for (fd = 0; fd < MAX_FILES; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/*
 * Are there threads beside this one? One that was told to end may still have a file open. The
 * directory has a link for each thread, and two of its own.
 */
static bool has_threads(void)
{
	struct stat task;

	return !stat("/proc/self/task", &task) && task.st_nlink > 3;
}

/* At the end of the program, when all is given back. */
static void check_files(void)
{
	unsigned int i, nr;

	for (i = 0; i < MAX_LOOKS && has_threads(); i++)
		usleep(LOOK);
	nr = open_files();
	if (nr <= files_before)
		return;
	printf("not ok - %u descriptors are still open\n", nr - files_before);
	fflush(stdout);
	_exit(1);
}

/* Ends this program if it goes on for that long. */
static void limit(unsigned int cpu_seconds, unsigned int seconds)
{
	const struct itimerval timer = { .it_value.tv_sec = cpu_seconds };

	setitimer(ITIMER_PROF, &timer, NULL);
	alarm(seconds);
}

int tap_run(const struct tap_test *tests, unsigned int nr)
{
	unsigned int i, bad = 0;

	/* What a crash leaves behind must name the tests before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%u\n", nr);
	stop_coarse_clock();
	/* 0 is a descriptor as any other: the next file that is opened has it. */
	close(STDIN_FILENO);
	files_before = open_files();
	atexit(check_files);
	for (i = 0; i < nr; i++) {
		failed = 0;
		tap_seed(i);
		limit(MAX_CPU_SECONDS, MAX_SECONDS);
		tests[i].run();
		limit(0, 0);
		printf("%sok %u - %s\n", failed ? "not " : "", i + 1, tests[i].name);
		bad += failed != 0;
	}
	return bad != 0;
}
