/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FRAME_RULE_H
#define __PERF_HYBRID_FRAME_RULE_H

#include "../../unwind/unwind.h"
#include "code-cache.h"
#include "interpreter.h"

/**
 * java_frame_rule - how to leave a frame of HotSpot's code cache
 * @vm: open
 * @interpreter: of it, read
 * @blob: that holds the frame's address
 * @u: the walk
 * @at: index of the frame
 * @rule: out
 *
 * A caller's instruction is behind a call, where a frame is whole. Of the innermost frame the
 * code around its address tells whether it is made or left there. Frames of the interpreter hold
 * the stack pointer that their caller had, which is not always that behind the return address:
 * src/hotspot/cpu/x86/frame_x86.hpp.
 *
 * Return: false if that is not known.
 */
bool java_frame_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
		     const struct java_blob *blob, const struct hybrid_unwind *u,
		     unsigned int at, struct hybrid_rule *rule);

/*
 * Does a walker that knows the JVM find the rule by itself? Not of all addresses in a prologue, nor
 * where a loop is entered that was compiled while it ran.
 */
bool java_frame_is_walked(const struct java_blob *blob, bool innermost);

/**
 * java_frame_range - the code around an address whose frames are all of one kind
 * @vm: open
 * @interpreter: of it, read
 * @blob: that holds the address
 * @pc: the address
 * @range: out
 *
 * Return: false if it is not the interpreter's, or where that makes a frame.
 */
bool java_frame_range(struct java_vm *vm, const struct java_interpreter *interpreter,
		      const struct java_blob *blob, u64 pc, struct hybrid_runtime_range *range);

#endif /* __PERF_HYBRID_FRAME_RULE_H */
