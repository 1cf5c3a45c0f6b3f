/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PROBE_LOOP_H
#define __PERF_HYBRID_PROBE_LOOP_H

#include <stdbool.h>
#include <linux/types.h>

struct x86_frame_mem;

/**
 * hybrid_probe_loop - is an address in a loop that makes a large frame?
 * @mem: reads the code; of 64 bits
 * @ip: of the next instruction
 * @end: out: the address after the loop, where sp is what r11 is in it
 * @from_sp: out: before the loop: r11 is going to be sp - @from_sp; 0: r11 is valid
 *
 * gcc's -fstack-clash-protection makes frames by pages, which it touches: "lea -N(%rsp),%r11; sub
 * $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne back".
 */
bool hybrid_probe_loop(const struct x86_frame_mem *mem, u64 ip, u64 *end, s32 *from_sp);

#endif /* __PERF_HYBRID_PROBE_LOOP_H */
