/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SAVED_SP_H
#define __PERF_HYBRID_SAVED_SP_H

#include "../rules/rule.h"

struct x86_frame_mem;

/**
 * hybrid_saved_sp_rule - where the caller is if the function has its sp on the stack
 * @mem: reads the code; of 64 bits
 * @ip: of the next instruction
 * @rule: out
 *
 * Assembler saves sp on the stack that it makes, and returns by "pop %rcx; mov %rcx,%rsp; ret". Up
 * to 16 instructions of straight code from @ip on are looked at.
 *
 * Return: false if the code does not return so.
 */
bool hybrid_saved_sp_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule);

#endif /* __PERF_HYBRID_SAVED_SP_H */
