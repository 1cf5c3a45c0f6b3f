/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_H
#define __PERF_HYBRID_CODE_H

#include "object.h"

/**
 * hybrid_code_rule - work out from the code itself where the caller is
 * @object: open
 * @vaddr: of the next instruction, as the ELF file numbers them
 * @rule: out
 *
 * For code without CFI: hand-written assembler, crt files, musl. The analysis
 * is the kernel's, x86-frame.c. A signal trampoline is known by its bytes, in
 * 64-bit code.
 *
 * Return: false where it does not know.
 */
bool hybrid_code_rule(const struct hybrid_object *object, u64 vaddr, struct hybrid_rule *rule);

struct x86_frame_rule;

/**
 * hybrid_code_to_rule - a rule of the analysis as the unwinder's
 * @found: how to step to the caller
 * @rule: out
 */
void hybrid_code_to_rule(const struct x86_frame_rule *found, struct hybrid_rule *rule);

/**
 * hybrid_code_is_return - does a call stand before an address?
 * @object: open
 * @vaddr: as the ELF file numbers them
 */
bool hybrid_code_is_return(const struct hybrid_object *object, u64 vaddr);

#endif /* __PERF_HYBRID_CODE_H */
