// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks in pieces. SPLIT: -fsplit-stack, each thirtieth frame or so begins a
 * new one. Else a handler on an alternate stack that lies above the thread's:
 * what was interrupted is below the dump.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "truth.h"

#ifdef SPLIT

FN_A(void, split_leaf, (char *p), "split")
{
	keep(p);
	spin(2000);
}

FN_B(unsigned long, split, (unsigned int left), "split_start depth=20")
{
	char room[2000];
	unsigned long below = 0;

	room[0] = left;
	keep(room);
	if (left == 1)
		split_leaf(room);
	else
		below = split(left - 1);
	keep(room);
	return below + left;
}

FN_A(void, split_start, (void), "main")
{
	keep((void *)split(20));
}

#define WORK() do {			\
	int i;				\
					\
	for (i = 0; i < 1000; i++)	\
		split_start();		\
} while (0)

#else

static double deadline;

FN_A(void, above_leaf, (void), "above_handler")
{
	spin(300000);
}

FN_B(void, above_handler, (int sig), "@signal")
{
	above_leaf();
	spin(5000 + sig);
}

FN_A(void, below_leaf, (void), "below_work")
{
	spin(5000);
}

FN_B(void, below_work, (void), "below_thread")
{
	below_leaf();
	spin(500);
}

FN_A(double, below_now, (void), "below_thread libc")
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

FN_B(void *, below_thread, (void *alt), "@thread libc")
{
	stack_t stack = { .ss_sp = alt, .ss_size = 65536 };
	timer_t timer;
	struct itimerspec spec = {
		/* Beside the sampling period of 500,000 all phases come. */
		.it_interval.tv_nsec = 703001, .it_value.tv_nsec = 703001,
	};
	struct sigevent event;
	struct sigaction sa;

	memset(&event, 0, sizeof(event));
	memset(&sa, 0, sizeof(sa));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGUSR1;
	sa.sa_handler = above_handler;
	sa.sa_flags = SA_ONSTACK;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	while (below_now() < deadline)
		below_work();
	timer_delete(timer);
	return NULL;
}

FN_A(void, run_thread, (double span), "main libc")
{
	/* Lower than anything that is mapped for it. */
	static char room[1 << 18];
	char *alt = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t set;
	pthread_attr_t attr;
	pthread_t thread;

	deadline = span;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, room, sizeof(room));
	pthread_create(&thread, &attr, below_thread, alt);
	/* The signals are the thread's. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_join(thread, NULL);
}

#define WORK() run_thread(now() + 0.2)

#endif

#include "main.h"
