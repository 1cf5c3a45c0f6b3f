// SPDX-License-Identifier: GPL-2.0
/*
 * A stack of which only the inner end changes: what it stands on is deeper than a
 * dump, was called once, and was seen then.
 */
#include "callers.h"

static double deadline, cpu_deadline;
static uint32_t state = 8;

FN_A(double, seconds_of, (clockid_t clock), "step libc")
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

FN_B(void, leaf, (unsigned long n), "@logged")
{
	ENTER(leaf);
	burn(n);
	LEAVE(leaf);
}

#define INNER(half, name)						\
FN_##half(void, name, (unsigned long n), "@logged")			\
{									\
	char room[600];							\
									\
	ENTER(name);							\
	touch(room, sizeof(room));					\
	spin(10000);							\
	leaf(n);							\
	spin(10000);							\
	keep(room);							\
	LEAVE(name);							\
}

INNER(A, add)
INNER(B, subtract)

FN_A(void, step, (void), "@logged")
{
	unsigned long n = some(&state, 200000);

	ENTER(step);
	/* Else main() would begin anew on a busy machine, with other frames. */
	while (seconds_of(CLOCK_MONOTONIC) < deadline ||
	       seconds_of(CLOCK_PROCESS_CPUTIME_ID) < cpu_deadline) {
		if (any(&state) >> 7 & 1)
			add(n);
		else
			subtract(n);
	}
	LEAVE(step);
}

/* Long enough at first that samples see it. */
#define OUTER(half, name, next)						\
FN_##half(void, name, (void), "@logged")				\
{									\
	char room[3000];						\
									\
	ENTER(name);							\
	touch(room, sizeof(room));					\
	burn(20000000);							\
	next();								\
	keep(room);							\
	LEAVE(name);							\
}

OUTER(B, outer_six, step)
OUTER(A, outer_five, outer_six)
OUTER(B, outer_four, outer_five)
OUTER(A, outer_three, outer_four)
OUTER(B, outer_two, outer_three)
OUTER(A, outer_one, outer_two)

#define WORK() do {		\
	deadline = end;		\
	cpu_deadline = span / 2;	\
	outer_one();		\
} while (0)

#include "main.h"
