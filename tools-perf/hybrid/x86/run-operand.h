/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_OPERAND_H
#define __PERF_HYBRID_RUN_OPERAND_H

#include "run-state.h"

struct insn;

/* An operand is a register of so many bytes, or as much memory. */

/**
 * hybrid_run_get_reg - the value of a register
 * @state: on a way
 * @insn: that names it
 * @reg: its number, with the bit of the prefix
 * @size: bytes: 1, 2, 4 or 8
 *
 * Return: zero-extended.
 */
struct hybrid_run_value hybrid_run_get_reg(const struct hybrid_run_state *state,
					   const struct insn *insn, unsigned int reg,
					   unsigned int size);

/* Sets the @size low bytes of a register; of 4 bytes the others are 0 then. */
void hybrid_run_put_reg(struct hybrid_run_state *state, const struct insn *insn,
			unsigned int reg, unsigned int size, struct hybrid_run_value value);

/**
 * hybrid_run_address - the address of an operand in memory
 * @state: on a way
 * @insn: the instruction, with such an operand
 * @near_stack: out: it is not known, but a part of it is a place in the stack
 */
struct hybrid_run_value hybrid_run_address(const struct hybrid_run_state *state,
					   const struct insn *insn, bool *near_stack);

/* The value of the operand that ModRM.rm names. */
struct hybrid_run_value hybrid_run_get_rm(const struct hybrid_run_state *state,
					  const struct insn *insn, unsigned int size);

/**
 * hybrid_run_put_rm - set the operand that ModRM.rm names
 * @state: on a way
 * @insn: the instruction
 * @size: bytes, in memory up to 64
 * @value: to set
 *
 * Return: false if nothing is known of the stack any more.
 */
bool hybrid_run_put_rm(struct hybrid_run_state *state, const struct insn *insn,
		       unsigned int size, struct hybrid_run_value value);

#endif /* __PERF_HYBRID_RUN_OPERAND_H */
