/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FROM_ENTRY_H
#define __PERF_HYBRID_FROM_ENTRY_H

#include "../rules/rule.h"

struct x86_frame_mem;
struct x86_path;

/* Functions begin at multiples of it. */
#define HYBRID_ENTRY_ALIGN	16

/* Bytes of int3 before a function, at least: one may follow a call that does not return. */
#define HYBRID_ENTRY_PADDING	4

/**
 * hybrid_from_entry_rule - the frame by a way from the beginning of the function
 * @mem: reads the code
 * @ip: of the next instruction
 * @rule: out
 * @took: out: instructions that were looked at, and other reads of code
 *
 * For functions that end in a jump to a register's address, as V8's builtins do that look at what
 * is called and go there: no way from @ip on shows what is on the stack. A function begins here if
 * its address is a multiple of 16 and some bytes of int3 precede it, by which V8 fills up. A way
 * from there on has to come to @ip, without a call, as a callee may take arguments off the stack.
 *
 * Return: false if there is no such way, or @rule is not known. @rule is unchanged then.
 */
bool hybrid_from_entry_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule,
			    unsigned int *took);

/**
 * hybrid_path_rule - the frame at the end of a way from the beginning of a function
 * @path: what sp and bp are there, from what they were at the beginning
 * @rule: out: by sp
 *
 * Return: false if the way does not show where sp is; @rule is unchanged then.
 */
bool hybrid_path_rule(const struct x86_path *path, struct hybrid_rule *rule);

/* Are the HYBRID_ENTRY_PADDING bytes at @code such as precede a function? */
bool hybrid_is_padding(const u8 *code);

#endif /* __PERF_HYBRID_FROM_ENTRY_H */
