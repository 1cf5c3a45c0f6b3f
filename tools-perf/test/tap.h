/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_TAP_H
#define __HYBRID_TEST_TAP_H

#include <stdbool.h>
#include <linux/kernel.h>
#include <linux/types.h>

struct tap_test {
	const char	*name;
	void		(*run)(void);
};

/**
 * tap_run - run all tests of a program and print their results as TAP
 * @tests: to run
 * @nr: number of @tests
 *
 * Return: the program's exit status.
 */
int tap_run(const struct tap_test *tests, unsigned int nr);

bool tap_check(bool holds, const char *file, int line, const char *what);
bool tap_same(u64 got, u64 want, const char *file, int line, const char *what);
bool tap_same_text(const char *got, const char *want, const char *file, int line);

/* Random numbers that are the same in each run. */
u64 tap_random(void);
void tap_seed(u64 seed);

/**
 * tap_pass - have CLOCK_MONOTONIC_COARSE go on, which stands still in tests
 * @ns: by that
 *
 * The unwinder's caches and what it waits for between two looks at a process are by that clock.
 */
void tap_pass(u64 ns);

/* Stops CLOCK_MONOTONIC at @ns, so that tests of time limits are exact; 0: it runs again. */
void tap_set_monotonic(u64 ns);

/* A clock that stands still, for budgets of which each second gives some back. */
u64 tap_stopped_clock(void);

/* A condition that fails the running test where it does not hold. */
#define check(cond)		tap_check(cond, __FILE__, __LINE__, #cond)
#define same(got, want)		tap_same(got, want, __FILE__, __LINE__, #got)
#define same_text(got, want)	tap_same_text(got, want, __FILE__, __LINE__)

#endif /* __HYBRID_TEST_TAP_H */
