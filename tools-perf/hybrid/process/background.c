// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include "background.h"

int hybrid_background_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
