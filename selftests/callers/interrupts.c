// SPDX-License-Identifier: GPL-2.0
/*
 * Two timers' signals, one handled on the stack that it finds, one on an alternate
 * stack; what they call, what they interrupt, and what that calls is the same
 * functions with other callers.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include "callers.h"

static uint32_t state = 4;
/* The handlers' own: what they interrupt may be in the middle of its. */
static uint32_t plain_state = 5, alternate_state = 6;

FN_A(void, account, (unsigned long n), "@logged")
{
	char room[2500];

	ENTER(account);
	touch(room, sizeof(room));
	burn(n);
	keep(room);
	LEAVE(account);
}

#define CALLER(half, name, size)					\
FN_##half(void, name, (unsigned long n), "@logged")			\
{									\
	char room[size];						\
									\
	ENTER(name);							\
	touch(room, sizeof(room));					\
	spin(10000);							\
	account(n);							\
	spin(10000);							\
	keep(room);							\
	LEAVE(name);							\
}

CALLER(B, read_some, 3000)
CALLER(A, write_some, 3000)
CALLER(B, check_some, 1000)

__spin void call_any(uint32_t *random)
{
	unsigned long n = some(random, 150000);

	switch (any(random) >> 7 & 3) {
	case 0:
		read_some(n);
		break;
	case 1:
		write_some(n);
		break;
	case 2:
		check_some(n);
		break;
	default:
		account(n);
	}
}

FN_A(void, plain_handler, (int sig), "@logged")
{
	HANDLER_ENTER(plain_handler);
	call_any(&plain_state);
	spin(sig);
	HANDLER_LEAVE(plain_handler);
}

FN_B(void, alternate_handler, (int sig), "@logged")
{
	HANDLER_ENTER(alternate_handler);
	call_any(&alternate_state);
	spin(sig);
	HANDLER_LEAVE(alternate_handler);
}

FN_A(void, start_timer, (int sig, long nsec, int flags, void (*handler)(int)), "@logged libc")
{
	struct itimerspec spec = { .it_interval.tv_nsec = nsec, .it_value.tv_nsec = nsec };
	struct sigevent event;
	struct sigaction sa;
	timer_t timer;

	ENTER(start_timer);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags | SA_RESTART;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = sig;
	if (sigaction(sig, &sa, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &spec, NULL))
		abort();
	LEAVE(start_timer);
}

FN_B(void, start_timers, (void), "@logged libc")
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	static int started;

	ENTER(start_timers);
	if (!started && sigaltstack(&stack, NULL))
		abort();
	if (!started) {
		start_timer(SIGUSR1, 1700003, 0, plain_handler);
		start_timer(SIGUSR2, 2300009, SA_ONSTACK, alternate_handler);
	}
	started = 1;
	LEAVE(start_timers);
}

FN_A(void, work_on, (void), "@logged")
{
	char room[1000];

	ENTER(work_on);
	touch(room, sizeof(room));
	call_any(&state);
	keep(room);
	LEAVE(work_on);
}

#define WORK() do {		\
	start_timers();		\
	work_on();		\
} while (0)

#include "main.h"
