/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_NEAREST_H
#define __PERF_HYBRID_V8_NEAREST_H

#include "v8-code.h"

/**
 * v8_nearest - the place that optimised code comes to from an instruction on
 * @code: optimised, its instructions known
 * @at: offset of the instruction
 *
 * Follows the code to a call, or to a jump to an exit. In a loop it looks in the loop first.
 *
 * Return: the exit that has its functions; negative: none was met.
 */
s64 v8_nearest(const struct v8_code *code, u32 at);

#endif /* __PERF_HYBRID_V8_NEAREST_H */
