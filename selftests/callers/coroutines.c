// SPDX-License-Identifier: GPL-2.0
/*
 * Coroutines with stacks of their own, which one thread runs in turn: the same
 * functions on each, called in other ways, and left where they stand.
 */
#include <ucontext.h>
#include "callers.h"

#define NR_COROUTINES	5
#define STACK_SIZE	(1 << 18)

ucontext_t resumer, coroutines[NR_COROUTINES];
uint32_t state;

/* Stack 0 is the thread's own. */
__spin void log_switch(unsigned int stack)
{
	call_event(CALL_SWITCH, stack);
}

FN_A(void, yield, (int nr), "@logged libc")
{
	ENTER(yield);
	log_switch(0);
	swapcontext(&coroutines[nr], &resumer);
	LEAVE(yield);
}

FN_B(void, resume, (int nr), "@logged libc")
{
	ENTER(resume);
	log_switch(nr + 1);
	swapcontext(&resumer, &coroutines[nr]);
	LEAVE(resume);
}

FN_A(void, produce, (int nr), "@logged")
{
	ENTER(produce);
	burn(some(&state, 200000));
	if (any(&state) >> 7 & 1)
		yield(nr);
	burn(some(&state, 50000));
	LEAVE(produce);
}

void parse(int nr, unsigned int left);

#define STEP(half, name, size, next)						\
FN_##half(void, name, (int nr, unsigned int left), "@logged")		\
{									\
	char room[size];						\
									\
	ENTER(name);							\
	touch(room, sizeof(room));					\
	spin(10000);							\
	if (left)							\
		next(nr, left - 1);					\
	produce(nr);							\
	spin(10000);							\
	keep(room);							\
	LEAVE(name);							\
}

STEP(B, expand, 1200, parse)
STEP(A, include, 1200, parse)

FN_B(void, parse, (int nr, unsigned int left), "@logged")
{
	char room[2000];

	ENTER(parse);
	touch(room, sizeof(room));
	if (any(&state) >> 7 & 1)
		expand(nr, left);
	else
		include(nr, left);
	spin(10000);
	keep(room);
	LEAVE(parse);
}

FN_A(void, coroutine, (int nr), "@logged")
{
	ENTER(coroutine);
	for (;;)
		parse(nr, any(&state) % 8);
}

FN_B(void, create, (int nr), "@logged libc")
{
	ENTER(create);
	getcontext(&coroutines[nr]);
	coroutines[nr].uc_stack.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	coroutines[nr].uc_stack.ss_size = STACK_SIZE;
	makecontext(&coroutines[nr], (void (*)(void))coroutine, 1, nr);
	LEAVE(create);
}

FN_A(void, turn, (void), "@logged")
{
	int nr = any(&state) % NR_COROUTINES;

	ENTER(turn);
	if (!coroutines[nr].uc_stack.ss_sp)
		create(nr);
	spin(5000);
	resume(nr);
	LEAVE(turn);
}

#define WORK() turn()

#include "main.h"
