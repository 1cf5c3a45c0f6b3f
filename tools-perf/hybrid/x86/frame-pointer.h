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

/**
 * hybrid_entered_frame - does a way from the function's prologue lead to an address?
 * @mem: reads the code
 * @ip: of the next instruction
 *
 * The last "push %rbp; mov %rsp,%rbp" in the 4,096 bytes before @ip is the prologue. On the way,
 * nothing sets bp. Code that V8 makes for a loop has no "leave" if it leaves the loop only by
 * going back to the interpreter. 4,096 instructions are looked at, at most.
 */
bool hybrid_entered_frame(const struct x86_frame_mem *mem, u64 ip);

/* May an instruction with a VEX or EVEX prefix set bp? r13 counts as bp. */
bool hybrid_vex_sets_bp(struct insn *insn);

#endif /* __PERF_HYBRID_FRAME_POINTER_H */
