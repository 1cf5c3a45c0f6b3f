/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_VECTOR_H
#define __PERF_HYBRID_RUN_VECTOR_H

#include "run-state.h"

struct insn;

/**
 * hybrid_run_vector - do what an instruction for vectors does to general registers and the stack
 * @state: on a way
 * @insn: with a VEX prefix, or of the opcodes behind 0f
 *
 * Return: false if it is none that is known, or nothing is known of the stack any more.
 */
bool hybrid_run_vector(struct hybrid_run_state *state, const struct insn *insn);

#endif /* __PERF_HYBRID_RUN_VECTOR_H */
