/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_INSN_OPERAND_H
#define __PERF_HYBRID_INSN_OPERAND_H

/*
 * Registers of an instruction of 64-bit code that has no VEX prefix: numbers as the instruction
 * has them, with the bit of its REX prefix (Intel SDM, volume 2, 2.2.1).
 */
#include <stdbool.h>
#include <linux/kernel.h>
#include <asm/insn.h>

/* The one that ModRM.reg names. */
static inline unsigned int hybrid_insn_reg(const struct insn *insn)
{
	return X86_MODRM_REG(insn->modrm.value) | !!X86_REX_R(insn->rex_prefix.value) << 3;
}

/* The one that ModRM.rm names: the operand, or in front of a displacement its base. */
static inline unsigned int hybrid_insn_rm(const struct insn *insn)
{
	return X86_MODRM_RM(insn->modrm.value) | !!X86_REX_B(insn->rex_prefix.value) << 3;
}

/* The one in the opcode, of push and pop. */
static inline unsigned int hybrid_insn_opcode_reg(const struct insn *insn)
{
	return (insn->opcode.bytes[0] & 7) | !!X86_REX_B(insn->rex_prefix.value) << 3;
}

/* Is what ModRM.rm names a register, not memory? */
static inline bool hybrid_insn_is_register(const struct insn *insn)
{
	return X86_MODRM_MOD(insn->modrm.value) == 3;
}

/*
 * Does a legacy prefix (before REX) have this value? insn->prefixes.nbytes also counts repeated
 * prefixes, which the decoder does not store again.
 */
static inline bool hybrid_insn_has_prefix(const struct insn *insn, u8 prefix)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(insn->prefixes.bytes); i++) {
		if (insn->prefixes.bytes[i] == prefix)
			return true;
	}
	return false;
}

#endif /* __PERF_HYBRID_INSN_OPERAND_H */
