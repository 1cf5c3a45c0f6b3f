/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CALL_REACH_H
#define __PERF_HYBRID_CALL_REACH_H

#include "../rules/arch.h"

struct x86_frame_mem;

/**
 * hybrid_call_reaches - ask the code before a return address whether it called a callee
 * @mem: reads the code
 * @ret: the return address
 * @callee: an address of the instruction that runs, or that called on; 0: it is
 *	not in what @mem reads
 * @slot: out: with HYBRID_REACH_INDIRECT, where a PLT's entry that is called has the
 *	address that it jumps to; else 0
 *
 * Follows jumps from the target of a direct call, both ways of conditional ones,
 * over 2,048 instructions at most. Hostile code costs that, and no more.
 */
enum hybrid_reach hybrid_call_reaches(const struct x86_frame_mem *mem, u64 ret, u64 callee,
				      u64 *slot);

/**
 * hybrid_target_reaches - the same from the function that was called
 * @mem: reads the code
 * @target: of the call
 * @callee: as above
 * @slot: as above
 */
enum hybrid_reach hybrid_target_reaches(const struct x86_frame_mem *mem, u64 target, u64 callee,
					u64 *slot);

/**
 * hybrid_call_target - where the call before an address leads
 * @mem: reads the code
 * @ret: the return address
 *
 * Return: 0 where that is no direct call, or another may end there.
 */
u64 hybrid_call_target(const struct x86_frame_mem *mem, u64 ret);

/**
 * hybrid_call_site - the direct call to a function in another
 * @mem: reads the code
 * @object: whose code it is
 * @start: of the other function
 * @end: behind it
 * @target: where the call leads
 * @given: a function that is handed to it, by an address that is taken between the call
 *	and the one before: its own, or that of a word that holds it. 0: unknown
 *
 * Return: the return address of the only call, or of the only one that is given @given; 0
 * where there is none, or more than one, or something can't be decoded.
 */
u64 hybrid_call_site(const struct x86_frame_mem *mem, const struct hybrid_object *object,
		     u64 start, u64 end, u64 target, u64 given);

#endif /* __PERF_HYBRID_CALL_REACH_H */
