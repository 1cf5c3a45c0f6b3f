/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_EVALUATOR_H
#define __PERF_HYBRID_PYTHON_EVALUATOR_H

#include "../../rules/fde.h"
#include "../../rules/space.h"

#define PYTHON_PARTS	8

/**
 * struct python_evaluator - the code of _PyEval_EvalFrameDefault()
 * @object_id: of the file; 0: it was not looked for
 * @parts: where the compiler has put it, as the ELF file numbers addresses
 * @nr: number of @parts
 */
struct python_evaluator {
	u64			object_id;
	struct hybrid_fde	parts[PYTHON_PARTS];
	unsigned int		nr;
};

/**
 * python_evaluator__find - find the evaluator's code
 * @evaluator: out
 * @mapping: of CPython's code, its object open
 *
 * GCC puts apart what is seldom run. It is what the rest jumps to that is not where a function
 * begins.
 */
void python_evaluator__find(struct python_evaluator *evaluator,
			    const struct hybrid_mapping *mapping);

/* Is an address of a process that has mapped the file in it? @ip: as struct hybrid_frame has it. */
bool python_evaluator__has(const struct python_evaluator *evaluator, struct hybrid_space *space,
			   u64 ip);

#endif /* __PERF_HYBRID_PYTHON_EVALUATOR_H */
