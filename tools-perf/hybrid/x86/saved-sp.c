// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that return by an sp which they have saved on the stack.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "insn-operand.h"
#include "saved-sp.h"
#include "x86_frame.h"
#include "x86_frame_scan.h"

#define MAX_INSNS	16

/**
 * struct way - straight code
 * @sp: bytes from where sp was at the beginning
 * @loaded: bit for each register that was loaded from the stack
 * @slots: from where, as @sp counts
 */
struct way {
	s32	sp;
	u32	loaded;
	s32	slots[16];
};

static bool pop(struct way *way, const struct insn *insn)
{
	unsigned int reg = hybrid_insn_opcode_reg(insn);

	if (reg == X86_REG_SP || reg == X86_REG_BP)
		return false;
	way->loaded |= 1U << reg;
	way->slots[reg] = way->sp;
	way->sp += 8;
	return true;
}

/* add, sub, cmp and the like of a number and another register than sp and bp. */
static bool number(struct way *way, const struct insn *insn)
{
	unsigned int reg = hybrid_insn_rm(insn);

	if (!hybrid_insn_is_register(insn) || reg == X86_REG_SP || reg == X86_REG_BP)
		return false;
	way->loaded &= ~(1U << reg);
	return true;
}

/* False: the code is none of these. A branch is not taken. */
static bool step(struct way *way, const struct insn *insn)
{
	if (insn->vex_prefix.nbytes)
		return false;
	switch (insn->opcode.bytes[0]) {
	case 0x58 ... 0x5f:
		return pop(way, insn);
	case 0x70 ... 0x7f: case 0x90: case 0x39: case 0x3b: case 0x85:
		return true;
	case 0x81: case 0x83: case 0xc7:
		return number(way, insn);
	default:
		return false;
	}
}

/* mov %reg,%rsp: of one that was loaded. */
static bool is_restore(const struct way *way, const struct insn *insn)
{
	return !insn->vex_prefix.nbytes && insn->opcode.bytes[0] == 0x89 &&
	       hybrid_insn_is_register(insn) && hybrid_insn_rm(insn) == X86_REG_SP &&
	       X86_REX_W(insn->rex_prefix.value) &&
	       way->loaded & 1U << hybrid_insn_reg(insn);
}

bool hybrid_saved_sp_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule)
{
	struct way way = {};
	struct insn insn;
	unsigned int i;
	u8 byte;

	for (i = 0; mem->is_64bit && i < MAX_INSNS && hybrid_decode_insn(mem, ip, &insn); i++) {
		ip += insn.length;
		if (is_restore(&way, &insn)) {
			*rule = (struct hybrid_rule) {
				.kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_SP,
				.bp = HYBRID_BP_SAME, .cfa_off = way.slots[hybrid_insn_reg(&insn)],
				.deref_off = 8, .ra_off = -8,
			};
			return hybrid_flow_fetch(mem, ip, &byte, 1) == 1 && byte == 0xc3;
		}
		if (!step(&way, &insn))
			return false;
	}
	return false;
}
