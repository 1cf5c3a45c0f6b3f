/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CALLERS_FRAME_H
#define __PERF_HYBRID_CALLERS_FRAME_H

#include <stdbool.h>
#include <linux/types.h>

struct x86_frame_mem;

/**
 * hybrid_makes_callers_frame - does a function make a frame in place of its return address?
 * @mem: reads the code
 * @ip: address of an instruction at which sp is at the return address
 * @took: out: instructions that were looked at
 *
 * V8's functions that the baseline compiler has made call Builtins_BaselineOutOfLinePrologue, which
 * takes its return address off the stack and makes the frame of its caller. Until then the caller
 * has none, although it has called.
 *
 * Return: true if some way from @ip on comes to mov %rsp,%rbp with sp where the return address was,
 * or above it.
 */
bool hybrid_makes_callers_frame(const struct x86_frame_mem *mem, u64 ip, unsigned int *took);

/**
 * hybrid_calls_for_frame - does a call make the frame of the function that it is in?
 * @mem: reads the code
 * @addr: address of an instruction
 *
 * Return: true if it is a direct call to a function that hybrid_makes_callers_frame().
 */
bool hybrid_calls_for_frame(const struct x86_frame_mem *mem, u64 addr);

/**
 * hybrid_is_before_frame - is an instruction before such a call?
 * @mem: reads the code
 * @ip: address of the instruction
 *
 * Return: true if straight code leads from @ip to the call within few instructions that leave sp
 * and bp alone: at @ip sp is at the return address, and bp is the caller's, although all code that
 * follows has a frame.
 */
bool hybrid_is_before_frame(const struct x86_frame_mem *mem, u64 ip);

#endif /* __PERF_HYBRID_CALLERS_FRAME_H */
