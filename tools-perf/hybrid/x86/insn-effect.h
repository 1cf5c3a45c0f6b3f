/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_INSN_EFFECT_H
#define __PERF_HYBRID_INSN_EFFECT_H

#include "../rules/arch.h"

struct x86_frame_mem;

/**
 * hybrid_insn_effect - what the instruction at an address leaves
 * @mem: reads the code
 * @ip: the instruction
 * @next: out: the address behind it
 *
 * Return: HYBRID_EFFECT_SAME where it can't be read, too.
 */
enum hybrid_effect hybrid_insn_effect(const struct x86_frame_mem *mem, u64 ip, u64 *next);

/* See hybrid_code_jump(). */
u64 hybrid_insn_jump(const struct x86_frame_mem *mem, u64 ip, u64 *next);

/* See hybrid_code_returns(). */
bool hybrid_returns(const struct x86_frame_mem *mem, u64 ip);

/**
 * hybrid_sets_sp - where code leaves its stack, or moves on it by more than a constant
 * @mem: reads the code
 * @start: of its first instruction
 * @end: behind the last
 *
 * Return: the first instruction that does, or that can't be read; @end where none does.
 */
u64 hybrid_sets_sp(const struct x86_frame_mem *mem, u64 start, u64 end);

/**
 * hybrid_leaves_stack - may a function go to another stack?
 * @mem: reads the code
 * @start: of its first instruction
 * @end: behind the last
 *
 * Return: true, too, if it can't be read or is too long.
 */
bool hybrid_leaves_stack(const struct x86_frame_mem *mem, u64 start, u64 end);

/**
 * hybrid_sp_is_moved - does sp differ from what a row of the CFI says?
 * @mem: reads the code; of 64 bits
 * @start: of the row
 * @vaddr: the instruction, or a byte of it
 * @end: of the row
 * @pushed: bytes between sp and the return address, as the row says
 * @from: out: first address with the same answer as @vaddr
 * @to: out: the end of these addresses
 *
 * Assembler may push registers in the middle of a row. After a jump or a return sp is taken to be
 * where the row says. After pushes it is there again if they are @pushed bytes: then the code
 * before was a function's prologue. If the row's code calls a subroutine in the row, sp points to
 * the return address at the first instruction of the subroutine. A conditional jump does not move
 * sp: at its target sp is where it was before the jump.
 *
 * Return: true: the row is wrong at @vaddr. False, too, if the code can't be read or is too long.
 */
bool hybrid_sp_is_moved(const struct x86_frame_mem *mem, u64 start, u64 vaddr, u64 end, s64 pushed,
			u64 *from, u64 *to);

/**
 * hybrid_saves_bp - does a function save the frame pointer as Go's assembler has it do?
 * @mem: reads the code
 * @start: of the function
 * @end: behind it
 * @off: where, in bytes from sp as it is in the function's body
 *
 * Before anything jumps or is called.
 */
bool hybrid_saves_bp(const struct x86_frame_mem *mem, u64 start, u64 end, s32 off);

#endif /* __PERF_HYBRID_INSN_EFFECT_H */
