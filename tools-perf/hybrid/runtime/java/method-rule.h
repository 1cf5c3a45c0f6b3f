/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_METHOD_RULE_H
#define __PERF_HYBRID_METHOD_RULE_H

#include "../../unwind/unwind.h"
#include "code-cache.h"

/**
 * java_method_rule - how to leave the frame of a compiled method or of a stub that calls
 * @vm: open
 * @blob: its code
 * @pc: the address
 * @innermost: it was sampled there: the frame may not be made yet, or be left in part
 * @rule: out
 *
 * Return: false if that is not known.
 */
bool java_method_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc, bool innermost,
		      struct hybrid_rule *rule);

/* How many words, which its frame does not count, a method pops at the return address @pc. */
unsigned int java_pushed_words(struct java_vm *vm, u64 pc);

#endif /* __PERF_HYBRID_METHOD_RULE_H */
