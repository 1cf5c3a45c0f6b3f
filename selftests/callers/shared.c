// SPDX-License-Identifier: GPL-2.0
/*
 * Four functions, with frames of one size, call the same one. It has 7 KiB of
 * locals and callees of different depth: a dump that is taken in the inner ones does
 * not hold who called it. One that is taken in the first callee does, and has the
 * same addresses at the same places as the others.
 */
#include "callers.h"

/* A function of SIZE bytes of locals that calls the next one. */
#define SHARED(half, name, size, rounds, next)				\
FN_##half(void, name, (unsigned long n), "@logged")			\
{									\
	char room[size];						\
									\
	ENTER(name);							\
	touch(room, sizeof(room));					\
	spin(rounds);							\
	next(n);							\
	spin(rounds);							\
	keep(room);							\
	LEAVE(name);							\
}

FN_A(void, shared_leaf, (unsigned long n), "@logged")
{
	ENTER(shared_leaf);
	burn(n);
	LEAVE(shared_leaf);
}

SHARED(B, shared_inner, 3000, 5000, shared_leaf)
SHARED(A, shared_callee, 100, 40000, shared_inner)
SHARED(B, shared, 7000, 5000, shared_callee)

#define CALLER(half, name)						\
FN_##half(void, name, (unsigned long n), "@logged")			\
{									\
	ENTER(name);							\
	spin(1000);							\
	shared(n);							\
	spin(1000);							\
	LEAVE(name);							\
}

CALLER(B, caller_a)
CALLER(B, caller_b)
CALLER(B, caller_c)
CALLER(B, caller_d)

FN_A(void, choose, (uint32_t *state), "@logged")
{
	unsigned long n = some(state, 1000000);

	ENTER(choose);
	switch (any(state) >> 7 & 3) {
	case 0:
		caller_a(n);
		break;
	case 1:
		caller_b(n);
		break;
	case 2:
		caller_c(n);
		break;
	default:
		caller_d(n);
	}
	LEAVE(choose);
}

static uint32_t state = 1;

#define WORK() choose(&state)

#include "main.h"
