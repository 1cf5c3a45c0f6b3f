/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FIBER_H
#define __PERF_HYBRID_FIBER_H

#include "unwind.h"

/**
 * hybrid_fiber_end - end a walk at the first function of a fiber
 * @unwinder: caches
 * @u: the sample, walked; @u->stop says that the walk did not end by the CFI
 *
 * A library of fibers puts an address on a new stack, where the fiber's first function finds its
 * return address: that of abort(), of a helper, 0. A frame is the outermost one of a fiber if two
 * things hold:
 *
 * - Its return address is 0, or hybrid_called_frame() shows that no call returns there.
 * - Its CFA is at the top of a stack: of the next 1,024 bytes, those that are memory of the
 *   process and of the stack's mapping hold no address after a call. If wrong CFI leads to a
 *   pointer to a function, the return addresses of the true callers are there.
 *
 * If there is such a frame, it becomes the last one: @u->stop is HYBRID_STOP_OUTERMOST,
 * @u->rule.kind is HYBRID_RULE_OUTERMOST, and @u->fiber_end is the place of the frame's return
 * address.
 */
void hybrid_fiber_end(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

/**
 * hybrid_is_stack_top - is a place the top of a stack, above which no frame is?
 * @unwinder: caches
 * @u: the sample
 * @cfa: the place, in the task
 *
 * Return: does none of the next 1,024 bytes, as far as they are memory of the process and of the
 * stack's mapping, hold an address after a call?
 */
bool hybrid_is_stack_top(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 cfa);

#endif /* __PERF_HYBRID_FIBER_H */
