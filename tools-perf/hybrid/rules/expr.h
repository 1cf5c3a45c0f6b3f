/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EXPR_H
#define __PERF_HYBRID_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <elfutils/libdw.h>
#include "rule.h"

/**
 * struct hybrid_regs - the registers of one frame, by DWARF number
 * @value: one word each
 * @known: bit N is set where value[N] holds the frame's register
 */
struct hybrid_regs {
	u64	value[HYBRID_MAX_REGS];
	u32	known;
};

/**
 * struct hybrid_expr_ctx - what a DWARF expression may look at
 * @regs: the frame's registers
 * @cfa: for DW_OP_call_frame_cfa
 * @word: bytes of an address, 4 or 8
 * @read: reads @size (1 to 8) bytes of the task's memory, zero-extended;
 *	0, or -1 where the memory is not at hand
 * @arg: for @read
 */
struct hybrid_expr_ctx {
	const struct hybrid_regs	*regs;
	u64				 cfa;
	u8				 word;
	int (*read)(void *arg, u64 addr, unsigned int size, u64 *value);
	void				*arg;
};

/**
 * hybrid_expr_eval - run the DWARF expression of a CFI row
 * @ops: as libdw decoded it
 * @nr: number of @ops
 * @ctx: registers and memory
 * @result: top of the stack at the end
 *
 * libdw exports no evaluator for a row outside of a libdwfl session, and a
 * session for each frame is what this unwinder is there to avoid. Steps and
 * stack are bounded: expressions come from files, and files lie.
 *
 * Return: 0, or -1 where the expression is not valid, does not end, or needs
 * what @ctx does not have.
 */
int hybrid_expr_eval(const Dwarf_Op *ops, size_t nr,
		     const struct hybrid_expr_ctx *ctx, u64 *result);

#endif /* __PERF_HYBRID_EXPR_H */
