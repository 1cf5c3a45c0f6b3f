/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_LIVE_STACK_H
#define __PERF_HYBRID_LIVE_STACK_H

#include "unwind.h"

/**
 * hybrid_live_stack_follow - go on to the start of the thread by words of the process
 * @unwinder: caches
 * @u: an unwound sample that stopped at HYBRID_STOP_DUMP_END; gains frames
 *
 * Where what is read now must have been there when the sample was taken.
 *
 * Return: true where it came to the outermost frame; else nothing has changed.
 */
bool hybrid_live_stack_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

/**
 * hybrid_live_stack_guess - the callers behind the end of a dump, as the thread's stack is now
 * @unwinder: caches
 * @u: an unwound sample that stopped at HYBRID_STOP_DUMP_END
 *
 * The stack may have changed since: these say which rules to load, and are never shown. They
 * are put behind the first @u->nr of @u->frames; @u->nr stays.
 *
 * Return: how many there are.
 */
unsigned int hybrid_live_stack_guess(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

#endif /* __PERF_HYBRID_LIVE_STACK_H */
