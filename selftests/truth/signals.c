// SPDX-License-Identifier: GPL-2.0
/*
 * Timer signals that interrupt any instruction, in libc and the vdso too. With
 * ALTSTACK (altstack.c) a second handler runs on an alternate stack and they
 * may nest.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "truth.h"

FN_A(void, plain_leaf, (void), "plain_mid")
{
	spin(40000);
}

FN_B(void, plain_mid, (void), "plain_handler")
{
	spin(20000);
	plain_leaf();
	spin(20000);
}

FN_A(void, plain_handler, (int sig), "@signal")
{
	plain_mid();
	spin(10000 + sig);
}

#ifdef ALTSTACK
FN_B(void, alt_memset, (char *buf), "alt_mid libc")
{
	int i;

	for (i = 0; i < 100; i++)
		keep(memset(buf, i, opaque(2000)));
}

FN_A(void, alt_mid, (void), "alt_handler")
{
	static char buf[2000];

	spin(40000);
	alt_memset(buf);
}

FN_B(void, alt_handler, (int sig, siginfo_t *info, void *context), "@signal")
{
	alt_mid();
	keep(context);
	spin(10000 + sig);
}
#endif

/* What they interrupt. */
FN_B(void, quiet_leaf, (unsigned long n), "quiet_mid")
{
	spin(n);
}

FN_A(void, quiet_mid, (unsigned long n), "quiet_top")
{
	spin(5);
	quiet_leaf(n);
	spin(5);
}

FN_B(void, quiet_top, (void), "main")
{
	int i;

	for (i = 0; i < 1000; i++)
		quiet_mid(20);
}

FN_A(void, quiet_memcmp, (const char *a, const char *b), "quiet_libc libc")
{
	int i;

	for (i = 0; i < 200; i++)
		keep((void *)(long)memcmp(a, b, opaque(1000)));
}

FN_B(void, quiet_clock, (void), "quiet_libc libc")
{
	struct timespec ts;
	int i;

	for (i = 0; i < 200; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

FN_A(void, quiet_libc, (void), "main")
{
	static char a[1000], b[1000];

	quiet_memcmp(a, b);
	quiet_clock();
}

FN_A(timer_t, start_timer, (int sig, long nsec), "start_timers libc")
{
	struct sigevent event;
	struct itimerspec spec = {
		.it_interval.tv_nsec = nsec,
		.it_value.tv_nsec = nsec,
	};
	timer_t timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = sig;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &spec, NULL))
		abort();
	return timer;
}

FN_B(void, set_plain, (void), "start_timers libc")
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = plain_handler;
	sigaction(SIGUSR1, &sa, NULL);
}

#ifdef ALTSTACK
FN_A(void, set_alt, (void), "start_timers libc")
{
	static char stack[65536];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sigaltstack(&alt, NULL);
	sa.sa_sigaction = alt_handler;
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGUSR2, &sa, NULL);
}
#endif

FN_A(void, start_timers, (timer_t *timers), "main")
{
	set_plain();
	timers[0] = start_timer(SIGUSR1, 700000);
#ifdef ALTSTACK
	set_alt();
	timers[1] = start_timer(SIGUSR2, 900000);
#endif
}

FN_B(void, stop_timers, (timer_t *timers), "main libc")
{
	timer_delete(timers[0]);
#ifdef ALTSTACK
	timer_delete(timers[1]);
#endif
}

#define SETUP() timer_t timers[2]; start_timers(timers)
#define CLEANUP() stop_timers(timers)

#define WORK() do {		\
	quiet_top();		\
	quiet_libc();		\
} while (0)

#include "main.h"
