/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CONTEXT_SWITCH_H
#define __PERF_HYBRID_CONTEXT_SWITCH_H

#include "../rules/rule.h"

struct x86_frame_mem;

/**
 * hybrid_switch_rule - where the caller is of a function that switches stacks
 * @mem: reads the code; of 64 bits
 * @ip: of the next instruction
 * @rule: out
 *
 * Such functions of libraries of fibers, as Boost's jump_fcontext(), are written in assembler
 * without CFI: straight code that saves registers on one stack, loads sp, and takes registers from
 * the other. The function is looked for at 16-byte boundaries up to @ip. Before it loads sp its
 * caller is where sp was at the beginning; afterwards, where the function leaves sp. A "jmp" to a
 * register that was loaded from below that place is a return.
 *
 * Return: false if the code is no such function.
 */
bool hybrid_switch_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule);

#endif /* __PERF_HYBRID_CONTEXT_SWITCH_H */
