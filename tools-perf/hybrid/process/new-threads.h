/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NEW_THREADS_H
#define __PERF_HYBRID_NEW_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

#define HYBRID_NEW_THREADS	256

/**
 * struct hybrid_new_threads - threads that were met, by the end of their number
 * @ids: of each the number; that times -1: it has begun, and was not met yet; 0: none
 */
struct hybrid_new_threads {
	pid_t	ids[HYBRID_NEW_THREADS];
};

/**
 * enum hybrid_new_thread - is a thread met for the first time?
 * @HYBRID_THREAD_MET: no, or it is a process's first one
 * @HYBRID_THREAD_OLD: yes, but it may have run before the recording
 * @HYBRID_THREAD_BEGUN: yes, and it began during the recording
 */
enum hybrid_new_thread {
	HYBRID_THREAD_MET,
	HYBRID_THREAD_OLD,
	HYBRID_THREAD_BEGUN,
};

/* A task begins: the number is no other thread's any more. */
void hybrid_new_threads_begun(struct hybrid_new_threads *threads, pid_t tid);

/**
 * hybrid_new_threads_meet - a thread is sampled
 * @threads: that were met
 * @pid: its process
 * @tid: its number
 *
 * Return: what it was until now. The next call for it returns HYBRID_THREAD_MET, unless another
 * thread with the same end of its number was met meanwhile.
 */
enum hybrid_new_thread hybrid_new_threads_meet(struct hybrid_new_threads *threads, pid_t pid,
					       pid_t tid);

#endif /* __PERF_HYBRID_NEW_THREADS_H */
