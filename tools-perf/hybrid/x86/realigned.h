/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_REALIGNED_H
#define __PERF_HYBRID_REALIGNED_H

#include "../rules/rule.h"

struct x86_frame_mem;

/**
 * hybrid_realigned_rule - the CFA of a function that aligns its stack
 * @mem: reads the code; of 64 bits
 * @ip: of the next instruction
 * @rule: of a frame that bp points to; out: with the CFA
 * @took: out: instructions that were looked at
 *
 * gcc's functions that align the stack have a frame with copies of the caller's bp and of the
 * return address. Their CFA is further out, in the frame: they return by "leave; lea -8(%r10),%rsp;
 * ret". The caller's bp and address are known without it, but not the caller's sp.
 *
 * Return: false if the function does not return so; @rule is as it was.
 */
bool hybrid_realigned_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule,
			   unsigned int *took);

#endif /* __PERF_HYBRID_REALIGNED_H */
