/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BACKGROUND_H
#define __PERF_HYBRID_BACKGROUND_H

#include <pthread.h>

/**
 * hybrid_background_start - start a thread that no signal goes to
 * @thread: is to be joined, or detached
 * @work: what it does
 * @arg: for @work
 *
 * Signals are for those who read the rings: they wake them.
 *
 * Return: 0, or what pthread_create() returned.
 */
int hybrid_background_start(pthread_t *thread, void *(*work)(void *), void *arg);

#endif /* __PERF_HYBRID_BACKGROUND_H */
