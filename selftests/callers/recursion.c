// SPDX-License-Identifier: GPL-2.0
/*
 * Recursion of a depth that changes from one call to the next, by a function that
 * calls itself and by two that call each other: 1 to 60 KiB of equal frames.
 */
#include "callers.h"

FN_A(void, bottom, (unsigned long n), "@logged")
{
	ENTER(bottom);
	burn(n);
	LEAVE(bottom);
}

FN_B(void, again, (unsigned int left, unsigned long n), "@logged")
{
	char room[700];

	ENTER(again);
	touch(room, sizeof(room));
	spin(3000);
	if (left)
		again(left - 1, n);
	else
		bottom(n);
	spin(3000);
	keep(room);
	LEAVE(again);
}

void odd(unsigned int left, unsigned long n);

FN_A(void, even, (unsigned int left, unsigned long n), "@logged")
{
	char room[1500];

	ENTER(even);
	touch(room, sizeof(room));
	spin(3000);
	if (left)
		odd(left - 1, n);
	else
		again(3, n);
	spin(3000);
	keep(room);
	LEAVE(even);
}

FN_B(void, odd, (unsigned int left, unsigned long n), "@logged")
{
	char room[100];

	ENTER(odd);
	touch(room, sizeof(room));
	spin(3000);
	if (left)
		even(left - 1, n);
	else
		bottom(n);
	spin(3000);
	keep(room);
	LEAVE(odd);
}

FN_A(void, choose, (uint32_t *state), "@logged")
{
	unsigned int depth = any(state) % 80;
	unsigned long n = some(state, 300000);

	ENTER(choose);
	switch (any(state) >> 7 & 3) {
	case 0:
		again(depth, n);
		break;
	case 1:
		even(depth, n);
		break;
	case 2:
		odd(depth, n);
		break;
	default:
		bottom(n);
	}
	LEAVE(choose);
}

static uint32_t state = 2;

#define WORK() choose(&state)

#include "main.h"
