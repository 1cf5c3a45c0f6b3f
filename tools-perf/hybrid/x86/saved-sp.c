// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that return by an sp which they have saved on the stack.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "saved-sp.h"
#include "x86_frame.h"

#define MAX_INSNS	16

#define REG_SP		4
#define REG_BP		5

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

static unsigned int reg_of(const struct insn *insn)
{
	return X86_MODRM_REG(insn->modrm.value) | !!X86_REX_R(insn->rex_prefix.value) << 3;
}

static unsigned int rm_of(const struct insn *insn)
{
	return X86_MODRM_RM(insn->modrm.value) | !!X86_REX_B(insn->rex_prefix.value) << 3;
}

static bool is_register(const struct insn *insn)
{
	return X86_MODRM_MOD(insn->modrm.value) == 3;
}

static bool pop(struct way *way, const struct insn *insn)
{
	unsigned int reg = (insn->opcode.bytes[0] & 7) | !!X86_REX_B(insn->rex_prefix.value) << 3;

	if (reg == REG_SP || reg == REG_BP)
		return false;
	way->loaded |= 1U << reg;
	way->slots[reg] = way->sp;
	way->sp += 8;
	return true;
}

/* add, sub, cmp and the like of a number and another register than sp and bp. */
static bool number(struct way *way, const struct insn *insn)
{
	if (!is_register(insn) || rm_of(insn) == REG_SP || rm_of(insn) == REG_BP)
		return false;
	way->loaded &= ~(1U << rm_of(insn));
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
	return !insn->vex_prefix.nbytes && insn->opcode.bytes[0] == 0x89 && is_register(insn) &&
	       rm_of(insn) == REG_SP && X86_REX_W(insn->rex_prefix.value) &&
	       way->loaded & 1U << reg_of(insn);
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
				.bp = HYBRID_BP_SAME, .cfa_off = way.slots[reg_of(&insn)],
				.deref_off = 8, .ra_off = -8,
			};
			return hybrid_flow_fetch(mem, ip, &byte, 1) == 1 && byte == 0xc3;
		}
		if (!step(&way, &insn))
			return false;
	}
	return false;
}
