/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_STACK_SWITCH_H
#define __PERF_HYBRID_STACK_SWITCH_H

#include "unwind.h"

/**
 * hybrid_stack_switch_follow - go on to the stack that the last frame has switched from
 * @unwinder: caches
 * @u: an unwound sample that stopped at a HYBRID_RULE_SWITCHED; gains frames
 * @user: user part of the kernel's callchain
 * @nr_user: number of @user
 *
 * The other stack is in no dump, but the kernel has followed the frame pointers to it.
 *
 * Return: true where it came to the outermost frame.
 */
bool hybrid_stack_switch_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
				const u64 *user, unsigned int nr_user);

#endif /* __PERF_HYBRID_STACK_SWITCH_H */
