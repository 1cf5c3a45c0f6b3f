// SPDX-License-Identifier: GPL-2.0
/*
 * Operands of instructions: Intel SDM, volume 2, 2.1.5 and 2.2.1.
 */
#include <linux/kernel.h>
#include <asm/insn.h>
#include "insn-operand.h"
#include "run-operand.h"
#include "x86_frame_scan.h"

#define NO_INDEX	4

/* Of ModRM.rm: a SIB byte follows. Of ModRM.rm, or SIB.base, without a displacement: no base. */
#define HAS_SIB		4
#define NO_BASE		5

/* Prefixes that add a segment's base. */
#define PREFIX_FS	0x64
#define PREFIX_GS	0x65

/* Without a REX prefix these are the second bytes of the first four registers. */
static bool is_second_byte(const struct insn *insn, unsigned int reg, unsigned int size)
{
	return size == 1 && !insn->rex_prefix.nbytes && reg >= 4 && reg < 8;
}

struct hybrid_run_value hybrid_run_get_reg(const struct hybrid_run_state *state,
					   const struct insn *insn, unsigned int reg,
					   unsigned int size)
{
	struct hybrid_run_value value;

	if (is_second_byte(insn, reg, size)) {
		value = state->regs[reg - 4];
		value.value >>= 8;
	} else {
		value = state->regs[reg % HYBRID_RUN_REGS];
	}
	value.value &= hybrid_run_mask(size);
	return value;
}

void hybrid_run_put_reg(struct hybrid_run_state *state, const struct insn *insn,
			unsigned int reg, unsigned int size, struct hybrid_run_value value)
{
	struct hybrid_run_value *to = &state->regs[reg % HYBRID_RUN_REGS];
	u64 mask = hybrid_run_mask(size);

	if (is_second_byte(insn, reg, size)) {
		hybrid_run_clobber(state, reg - 4);
	} else if (size >= 4) {
		to->known = value.known;
		to->value = value.value & mask;
	} else {
		to->known = to->known && value.known;
		to->value = (to->value & ~mask) | (value.value & mask);
	}
}

/* Does the prefix extend the base, or the index? VEX has these bits inverted, if it is long. */
static unsigned int base_bit(const struct insn *insn)
{
	if (insn->vex_prefix.nbytes > 2)
		return X86_VEX_B(insn->vex_prefix.bytes[1]) ? 0 : 8;
	return X86_REX_B(insn->rex_prefix.value) ? 8 : 0;
}

static unsigned int index_bit(const struct insn *insn)
{
	if (insn->vex_prefix.nbytes > 2)
		return X86_VEX_X(insn->vex_prefix.bytes[1]) ? 0 : 8;
	return X86_REX_X(insn->rex_prefix.value) ? 8 : 0;
}

static void add_part(const struct hybrid_run_state *state, unsigned int reg, unsigned int scale,
		     struct hybrid_run_value *sum, bool *near_stack)
{
	const struct hybrid_run_value *part = &state->regs[reg];

	sum->known = sum->known && part->known;
	sum->value += part->value << scale;
	*near_stack = *near_stack || reg == X86_REG_SP ||
		      (part->known && hybrid_run_is_stack(state, part->value));
}

struct hybrid_run_value hybrid_run_address(const struct hybrid_run_state *state,
					   const struct insn *insn, bool *near_stack)
{
	struct hybrid_run_value sum = { .value = (s64)insn->displacement.value, .known = true };
	unsigned int mod = X86_MODRM_MOD(insn->modrm.value), index;
	unsigned int base = X86_MODRM_RM(insn->modrm.value);
	u8 sib = insn->sib.value;

	*near_stack = false;
	/* Relative to the instruction: no stack is there. */
	if (insn->addr_bytes != 8 || (!mod && base == NO_BASE))
		sum.known = false;
	if (hybrid_insn_has_prefix(insn, PREFIX_FS) || hybrid_insn_has_prefix(insn, PREFIX_GS))
		return (struct hybrid_run_value) {};
	if (base == HAS_SIB) {
		base = X86_SIB_BASE(sib);
		index = X86_SIB_INDEX(sib) | index_bit(insn);
		if (index != NO_INDEX)
			add_part(state, index, X86_SIB_SCALE(sib), &sum, near_stack);
	}
	if (mod || base != NO_BASE)
		add_part(state, base | base_bit(insn), 0, &sum, near_stack);
	if (sum.known)
		*near_stack = false;
	return sum;
}

struct hybrid_run_value hybrid_run_get_rm(const struct hybrid_run_state *state,
					  const struct insn *insn, unsigned int size)
{
	struct hybrid_run_value at, none = {};
	bool near_stack;

	if (hybrid_insn_is_register(insn))
		return hybrid_run_get_reg(state, insn, hybrid_insn_rm(insn), size);
	at = hybrid_run_address(state, insn, &near_stack);
	return at.known ? hybrid_run_load(state, at.value, size) : none;
}

bool hybrid_run_put_rm(struct hybrid_run_state *state, const struct insn *insn,
		       unsigned int size, struct hybrid_run_value value)
{
	struct hybrid_run_value at;
	bool near_stack;

	if (hybrid_insn_is_register(insn)) {
		hybrid_run_put_reg(state, insn, hybrid_insn_rm(insn), size, value);
		return true;
	}
	at = hybrid_run_address(state, insn, &near_stack);
	return at.known ? hybrid_run_store(state, at.value, size, value) : !near_stack;
}
