// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that call the same functions, each in its own order; new ones take over the
 * stacks of the old.
 */
#include <pthread.h>
#include "callers.h"

#define NR_THREADS	3

const char *prefix;

FN_B(void, resolve, (unsigned long n), "@logged")
{
	char room[3000];

	ENTER(resolve);
	touch(room, sizeof(room));
	burn(n);
	keep(room);
	LEAVE(resolve);
}

FN_A(void, look_up, (unsigned long n), "@logged")
{
	char room[100];

	ENTER(look_up);
	touch(room, sizeof(room));
	spin(60000);
	resolve(n);
	keep(room);
	LEAVE(look_up);
}

/* Where resolve() runs, the dump does not hold who called this. */
FN_A(void, translate, (unsigned long n), "@logged")
{
	char room[6800];

	ENTER(translate);
	touch(room, sizeof(room));
	look_up(n);
	keep(room);
	LEAVE(translate);
}

#define CALLER(half, name, next)					\
FN_##half(void, name, (unsigned long n), "@logged")			\
{									\
	ENTER(name);							\
	spin(5000);							\
	next(n);							\
	spin(5000);							\
	LEAVE(name);							\
}

CALLER(B, read_page, translate)
CALLER(B, write_page, translate)
CALLER(A, map_page, resolve)
CALLER(B, move_page, look_up)

FN_A(void, serve, (uint32_t *state), "@logged")
{
	unsigned long n = some(state, 600000);

	ENTER(serve);
	switch (any(state) >> 7 & 7) {
	case 0:
		move_page(n);
		break;
	case 1:
		map_page(n);
		break;
	case 2 ... 4:
		read_page(n);
		break;
	default:
		write_page(n);
	}
	LEAVE(serve);
}

FN_B(void *, worker, (void *number), "@logged")
{
	uint32_t state = 7 + (uintptr_t)number, i;

	open_log(prefix);
	ENTER(worker);
	for (i = 0; i < 1000; i++)
		serve(&state);
	LEAVE(worker);
	return NULL;
}

FN_A(void, run_threads, (uintptr_t round), "@logged libc")
{
	ENTER(run_threads);
	RUN_THREADS(worker, round);
	LEAVE(run_threads);
}

uintptr_t round_nr;

#define WORK() do {			\
	prefix = argv[2];		\
	run_threads(round_nr++);	\
} while (0)

#include "main.h"
