// SPDX-License-Identifier: GPL-2.0
/*
 * How threads are started: without signals, and what is said if they can't be.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include "background.h"
#include "tap.h"

/* What starting a thread fails with; 0: it does not. */
static int error;

/* Linked in place of the C library's. */
int pthread_create(pthread_t *newthread, const pthread_attr_t *attr,
		   void *(*start_routine)(void *arg), void *arg)
{
	int (*real)(pthread_t *newthread, const pthread_attr_t *attr,
		    void *(*start_routine)(void *arg), void *arg);

	real = dlsym(RTLD_NEXT, "pthread_create");
	return error ?: real(newthread, attr, start_routine, arg);
}

static bool is_blocked(int signal)
{
	sigset_t now;

	check(!pthread_sigmask(SIG_SETMASK, NULL, &now));
	return sigismember(&now, signal);
}

/* Returns its argument if all signals are blocked. */
static void *work(void *arg)
{
	return is_blocked(SIGINT) && is_blocked(SIGCHLD) && is_blocked(SIGUSR1) ? arg : NULL;
}

static void started(void)
{
	pthread_t thread;
	void *result;
	int arg;

	same(hybrid_background_start(&thread, work, &arg), 0);
	same(pthread_join(thread, &result), 0);
	check(result == &arg);
	check(!is_blocked(SIGINT) && !is_blocked(SIGCHLD) && !is_blocked(SIGUSR1));
}

/* The signals of who asks are as they were. */
static void not_started(void)
{
	pthread_t thread;
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	check(!pthread_sigmask(SIG_BLOCK, &one, NULL));
	error = EAGAIN;
	same(hybrid_background_start(&thread, work, NULL), EAGAIN);
	error = 0;
	check(is_blocked(SIGUSR1) && !is_blocked(SIGINT));
	check(!pthread_sigmask(SIG_UNBLOCK, &one, NULL));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "threads: no signal goes to them", started },
		{ "threads: they can't be started", not_started },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
