/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CONTINUATION_H
#define __PERF_HYBRID_CONTINUATION_H

#include "../../unwind/unwind.h"
#include "code-cache.h"

/**
 * java_is_return_barrier - is that where a virtual thread's frames go on in the heap?
 * @vm: open
 * @pc: a return address
 *
 * A virtual thread that goes on after it has waited has only its innermost frames on the stack. The
 * last of them returns to a stub that copies more of them from the heap:
 * StubRoutines::cont_returnBarrier(), src/hotspot/cpu/x86/stubGenerator_x86_64.cpp.
 */
bool java_is_return_barrier(struct java_vm *vm, u64 pc);

/**
 * java_continuation_rule - how to leave that stub
 * @cache: of @vm
 * @vm: open
 * @u: the walk
 * @at: index of the stub's frame
 * @rule: out
 *
 * On the stack follows the frame of what has entered the virtual thread. The caller is its caller.
 *
 * Return: false if that is not found.
 */
bool java_continuation_rule(struct java_code_cache *cache, struct java_vm *vm,
			    const struct hybrid_unwind *u, unsigned int at,
			    struct hybrid_rule *rule);

#endif /* __PERF_HYBRID_CONTINUATION_H */
