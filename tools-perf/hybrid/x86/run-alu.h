/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_ALU_H
#define __PERF_HYBRID_RUN_ALU_H

#include "run-state.h"

/* Of ModRM.reg in 80 to 83, and of bits 3 to 5 of the opcodes below 40. */
enum hybrid_run_op {
	HYBRID_RUN_ADD,
	HYBRID_RUN_OR,
	HYBRID_RUN_ADC,
	HYBRID_RUN_SBB,
	HYBRID_RUN_AND,
	HYBRID_RUN_SUB,
	HYBRID_RUN_XOR,
	HYBRID_RUN_CMP,
};

/* Of ModRM.reg in c0, c1 and d0 to d3. */
enum hybrid_run_shift {
	HYBRID_RUN_SHL = 4,
	HYBRID_RUN_SHR = 5,
	HYBRID_RUN_SAR = 7,
};

/**
 * hybrid_run_alu - one of the eight operations
 * @state: its flags are set
 * @op: which one; adc and sbb are not computed
 * @a: the operand that is set, unless it is a comparison
 * @b: the other one
 * @size: bytes: 1, 2, 4 or 8
 *
 * Return: the result; of a comparison the difference.
 */
struct hybrid_run_value hybrid_run_alu(struct hybrid_run_state *state, enum hybrid_run_op op,
				       struct hybrid_run_value a, struct hybrid_run_value b,
				       unsigned int size);

/* inc, with @by 1, or dec, with -1: as hybrid_run_alu(), but the carry flag stays. */
struct hybrid_run_value hybrid_run_inc(struct hybrid_run_state *state,
				       struct hybrid_run_value a, int by, unsigned int size);

/* A shift by @count; what is no enum hybrid_run_shift is not computed, nor are the flags. */
struct hybrid_run_value hybrid_run_shift(struct hybrid_run_state *state, unsigned int op,
					 struct hybrid_run_value a,
					 struct hybrid_run_value count, unsigned int size);

/* Does the condition of jcc, setcc or cmovcc hold? 1: yes, 0: no, -1: it is not known. */
int hybrid_run_condition(const struct hybrid_run_state *state, u8 opcode);

#endif /* __PERF_HYBRID_RUN_ALU_H */
