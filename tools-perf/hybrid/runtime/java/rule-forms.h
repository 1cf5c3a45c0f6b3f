/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RULE_FORMS_H
#define __PERF_HYBRID_RULE_FORMS_H

#include "../../unwind/unwind.h"

/* Bytes: of a word, and of the ABI's frame pointer and return address. */
#define JAVA_WORD	8
#define JAVA_SAVED	(2 * JAVA_WORD)

/* Number of a register. */
#define JAVA_R13	13

/* A frame that ends @cfa_off bytes above sp, with the return address below its end. */
static inline struct hybrid_rule java_rule_of(s32 cfa_off, enum hybrid_rule_bp bp)
{
	return (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = bp, .cfa_off = cfa_off,
		.ra_off = -JAVA_WORD, .bp_off = -JAVA_SAVED,
	};
}

/**
 * java_rule_by_register - the rule of a frame whose caller's sp is in a register
 * @u: the walk, at its innermost frame
 * @reg: number of the register
 * @ra: from sp to the return address, in bytes
 * @bp: where the caller's bp is
 * @rule: out
 *
 * Return: false if the register is not known or has no address of this stack.
 */
static inline bool java_rule_by_register(const struct hybrid_unwind *u, unsigned int reg, s32 ra,
					 enum hybrid_rule_bp bp, struct hybrid_rule *rule)
{
	u64 cfa = u->regs.value[reg], depth = cfa - u->regs.value[u->abi->sp];

	if (!(u->regs.known & (1U << reg)) || depth > INT32_MAX || depth % JAVA_WORD)
		return false;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_REG + reg, .bp = bp,
		.ra_off = ra - (s32)depth, .bp_off = -(s32)depth,
	};
	return true;
}

#endif /* __PERF_HYBRID_RULE_FORMS_H */
