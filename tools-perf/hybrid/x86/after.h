/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_AFTER_H
#define __PERF_HYBRID_AFTER_H

#include "../rules/arch.h"

struct x86_frame_mem;

/**
 * hybrid_after - what the instruction at an address leaves
 * @mem: reads the code
 * @ip: the instruction
 * @next: out: the address behind it
 *
 * Return: HYBRID_AFTER_SAME where it can't be read, too.
 */
enum hybrid_after hybrid_after(const struct x86_frame_mem *mem, u64 ip, u64 *next);

#endif /* __PERF_HYBRID_AFTER_H */
