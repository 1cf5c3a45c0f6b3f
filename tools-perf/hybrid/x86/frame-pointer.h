/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FRAME_POINTER_H
#define __PERF_HYBRID_FRAME_POINTER_H

#include <stdbool.h>
#include <linux/types.h>

struct insn;
struct x86_frame_mem;

/**
 * hybrid_has_frame_pointer - does the code show that bp points to its frame?
 * @mem: reads the code
 * @ip: of the next instruction, the function's prologue done
 * @run: out: bytes of straight code from @ip on of which the same is true
 * @took: out: instructions that were looked at
 *
 * It does where a way from @ip on leads to a "leave", or what does the same, before anything
 * else sets bp: then what bp points to is the caller's bp, and the return address stands above
 * it (psABI x86-64 3.2.2). Where sp is then, or how the function returns, need not be known:
 * JavaScript functions take their arguments off the stack, as many as there are. 4,096
 * instructions are looked at, at most.
 */
bool hybrid_has_frame_pointer(const struct x86_frame_mem *mem, u64 ip, u64 *run,
			      unsigned int *took);

/* May an instruction with a VEX or EVEX prefix set bp? r13 counts as bp. */
bool hybrid_vex_sets_bp(struct insn *insn);

#endif /* __PERF_HYBRID_FRAME_POINTER_H */
