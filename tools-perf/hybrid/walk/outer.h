/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OUTER_H
#define __PERF_HYBRID_OUTER_H

#include "unwind.h"

/**
 * hybrid_outer_follow - go on to the start of the thread by words of the process
 * @unwinder: caches
 * @u: an unwound sample that stopped at HYBRID_STOP_DUMP_END; gains frames
 *
 * Where what is read now must have been there when the sample was taken.
 *
 * Return: true where it came to the outermost frame; else nothing has changed.
 */
bool hybrid_outer_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

/**
 * hybrid_outer_guess - what the thread is in behind the end of its dump, most likely
 * @unwinder: caches
 * @u: an unwound sample that stopped at HYBRID_STOP_DUMP_END: behind its frames others are put
 *
 * As its stack is now. For what is good to know early, and need not be true of the sample.
 *
 * Return: how many frames there are behind @u->nr.
 */
unsigned int hybrid_outer_guess(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

#endif /* __PERF_HYBRID_OUTER_H */
