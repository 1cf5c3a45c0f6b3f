/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_INTERPRETER_RULE_H
#define __PERF_HYBRID_INTERPRETER_RULE_H

#include "../../unwind/unwind.h"
#include "interpreter.h"

/**
 * java_interpreter_rule - how to leave a frame of HotSpot's interpreter
 * @vm: open
 * @interpreter: of it, read
 * @u: the walk
 * @pc: the address
 * @innermost: it was sampled there: the frame may not be made yet, or be left in part
 * @rule: out
 *
 * Return: false if that is not known.
 */
bool java_interpreter_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
			   const struct hybrid_unwind *u, u64 pc, bool innermost,
			   struct hybrid_rule *rule);

/* The rule of a frame of the interpreter that is made. Returns false if the JVM does not tell. */
bool java_saved_sp_rule(struct java_vm *vm, struct hybrid_rule *rule);

/*
 * Narrows @range, that of the interpreter's code, to what is around @pc between the entries of
 * methods. Returns false if @pc is in an entry.
 */
bool java_interpreter_range(const struct java_interpreter *interpreter, u64 pc,
			    struct hybrid_runtime_range *range);

#endif /* __PERF_HYBRID_INTERPRETER_RULE_H */
