/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FUNCTION_RULES_H
#define __PERF_HYBRID_FUNCTION_RULES_H

#include "../rules/rule.h"

struct x86_frame_mem;

/**
 * hybrid_function_rules - the rules of code, by ways from the beginnings of its functions
 * @mem: reads the code, of 64 bits
 * @first: functions begin at this address or behind it
 * @rules: @start and @size are set, the rest is 0; out: its @at is to be given to free(), and NULL
 *	if memory is short
 *
 * A function begins as hybrid_from_entry_rule() says. Each instruction is looked at once, or twice:
 * to find its end from each one takes a hundred times as long. What no way from a beginning comes
 * to without a call that may move sp has no rule.
 *
 * Return: how many instructions were looked at.
 */
unsigned int hybrid_function_rules(const struct x86_frame_mem *mem, u64 first,
				   struct hybrid_code_rules *rules);

#endif /* __PERF_HYBRID_FUNCTION_RULES_H */
