// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that switch stacks, in assembler without CFI.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "context-switch.h"
#include "flow.h"
#include "insn-operand.h"
#include "x86_frame_scan.h"

#define ALIGN		16
/* Functions begin no further before an address; and have no more instructions. */
#define MAX_SIZE	256
#define MAX_INSNS	64

/**
 * struct sim - a function that is followed from its beginning
 * @sp: bytes from where sp was at the beginning, or from what was loaded into it
 * @switched: sp was loaded
 * @loaded: bit for each register that was loaded from the new stack
 * @slots: from where, as @sp counts
 * @here: @sp at the address that is asked about
 * @here_switched: @switched there
 * @here_loaded: @loaded there
 * @found: the address was reached
 */
struct sim {
	s32	sp;
	bool	switched;
	u32	loaded;
	s32	slots[16];
	s32	here;
	bool	here_switched;
	u32	here_loaded;
	bool	found;
};

enum sim_step {
	SIM_ON,
	SIM_RETURNS,
	SIM_FAILS,
};

/* N(%rsp) */
static bool is_on_stack(const struct insn *insn)
{
	return !hybrid_insn_is_register(insn) && X86_MODRM_RM(insn->modrm.value) == 4 &&
	       X86_SIB_BASE(insn->sib.value) == X86_REG_SP && X86_SIB_INDEX(insn->sib.value) == 4 &&
	       !X86_REX_B(insn->rex_prefix.value) && !X86_REX_X(insn->rex_prefix.value);
}

static bool is_64(const struct insn *insn)
{
	return X86_REX_W(insn->rex_prefix.value);
}

static void load(struct sim *sim, unsigned int reg, s32 slot)
{
	sim->loaded |= 1U << reg;
	sim->slots[reg] = slot;
}

/* Sets sp to what is on no known stack: once. */
static enum sim_step switch_stack(struct sim *sim)
{
	if (sim->switched)
		return SIM_FAILS;
	sim->switched = true;
	sim->sp = 0;
	return SIM_ON;
}

/* Sets a register other than sp: bp only from the new stack. */
static enum sim_step set_register(struct sim *sim, const struct insn *insn, unsigned int reg)
{
	if (sim->switched && is_64(insn) && is_on_stack(insn)) {
		load(sim, reg, sim->sp + insn->displacement.value);
		return SIM_ON;
	}
	sim->loaded &= ~(1U << reg);
	return reg == X86_REG_BP ? SIM_FAILS : SIM_ON;
}

static enum sim_step step_move(struct sim *sim, const struct insn *insn, bool to_rm)
{
	unsigned int reg = to_rm ? hybrid_insn_rm(insn) : hybrid_insn_reg(insn);

	/* To memory. */
	if (to_rm && !hybrid_insn_is_register(insn))
		return SIM_ON;
	if (reg == X86_REG_SP)
		return switch_stack(sim);
	if (to_rm) {
		sim->loaded &= ~(1U << reg);
		return reg == X86_REG_BP ? SIM_FAILS : SIM_ON;
	}
	return set_register(sim, insn, reg);
}

static enum sim_step step_lea(struct sim *sim, const struct insn *insn)
{
	unsigned int reg = hybrid_insn_reg(insn);

	if (reg == X86_REG_SP && (!is_on_stack(insn) || !is_64(insn)))
		return SIM_FAILS;
	if (reg == X86_REG_SP)
		sim->sp += insn->displacement.value;
	else
		sim->loaded &= ~(1U << reg);
	return reg == X86_REG_BP ? SIM_FAILS : SIM_ON;
}

/* add and sub of a number; xor, test, cmp, and moves of a number, of other registers. */
static enum sim_step step_number(struct sim *sim, const struct insn *insn)
{
	unsigned int what = X86_MODRM_REG(insn->modrm.value);

	if (!hybrid_insn_is_register(insn))
		return SIM_ON;
	if (hybrid_insn_rm(insn) != X86_REG_SP)
		return hybrid_insn_rm(insn) == X86_REG_BP ? SIM_FAILS : SIM_ON;
	if (what && what != 5)
		return SIM_FAILS;
	sim->sp += what ? -insn->immediate.value : insn->immediate.value;
	return SIM_ON;
}

static enum sim_step step_push(struct sim *sim, const struct insn *insn)
{
	unsigned int reg = hybrid_insn_opcode_reg(insn);

	if (insn->opcode.bytes[0] < 0x58) {
		sim->sp -= 8;
		return SIM_ON;
	}
	/* What it has saved it takes back from the other stack. */
	if (!sim->switched || reg == X86_REG_SP)
		return SIM_FAILS;
	load(sim, reg, sim->sp);
	sim->sp += 8;
	return SIM_ON;
}

/* jmp *%reg, to the word below what sp is then. */
static enum sim_step step_jump(struct sim *sim, const struct insn *insn)
{
	unsigned int reg = hybrid_insn_rm(insn);

	if (X86_MODRM_REG(insn->modrm.value) != 4 || !hybrid_insn_is_register(insn) ||
	    !sim->switched || !(sim->loaded & 1U << reg) || sim->slots[reg] + 8 != sim->sp)
		return SIM_FAILS;
	return SIM_RETURNS;
}

/* Not sp, nor bp: save and load of the control words; endbr64, nops. */
static enum sim_step step_two(const struct insn *insn)
{
	switch (insn->opcode.bytes[1]) {
	case 0x1e: case 0x1f: case 0x28: case 0x29: case 0x10: case 0x11: case 0x77: case 0xae:
		return SIM_ON;
	default:
		return SIM_FAILS;
	}
}

static enum sim_step step(struct sim *sim, const struct insn *insn)
{
	if (insn->vex_prefix.nbytes)
		return SIM_FAILS;
	switch (insn->opcode.bytes[0]) {
	case 0x50 ... 0x5f:
		return step_push(sim, insn);
	case 0x89:
		return step_move(sim, insn, true);
	case 0x8b:
		return step_move(sim, insn, false);
	case 0x8d:
		return step_lea(sim, insn);
	case 0x31: case 0x81: case 0x83: case 0xc7:
		return step_number(sim, insn);
	case 0x85: case 0x90: case 0x9b: case 0xd9: case 0xdb:
		return SIM_ON;
	case 0xc3:
		sim->sp += 8;
		return sim->switched ? SIM_RETURNS : SIM_FAILS;
	case 0xff:
		return step_jump(sim, insn);
	case 0x0f:
		return step_two(insn);
	default:
		return SIM_FAILS;
	}
}

/* Follows the function that begins at @start. */
static bool follow(struct sim *sim, const struct x86_frame_mem *mem, u64 start, u64 ip)
{
	enum sim_step next = SIM_ON;
	struct insn insn;
	unsigned int i;

	memset(sim, 0, sizeof(*sim));
	for (i = 0; next == SIM_ON && i < MAX_INSNS; i++) {
		if (start == ip) {
			sim->here = sim->sp;
			sim->here_switched = sim->switched;
			sim->here_loaded = sim->loaded;
			sim->found = true;
		}
		if (!hybrid_decode_insn(mem, start, &insn))
			return false;
		start += insn.length;
		next = step(sim, &insn);
	}
	return sim->found && next == SIM_RETURNS;
}

/* Is what stands before it the end of another function, or fills the space after that? */
static bool is_start(const struct x86_frame_mem *mem, u64 addr)
{
	u8 before;

	/* Nothing is before the first page of code. */
	if (hybrid_flow_fetch(mem, addr - 1, &before, 1) < 1)
		return true;
	return before == 0x00 || before == 0x90 || before == 0xc3 || before == 0xcc ||
	       before == 0xf4;
}

static void make_rule(const struct sim *sim, struct hybrid_rule *rule)
{
	const u32 bp = 1U << X86_REG_BP;
	s32 cfa = sim->here_switched ? sim->sp : 8;

	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
		.cfa_off = cfa - sim->here, .ra_off = -8,
	};
	if (!sim->here_switched || sim->here_loaded & bp || !(sim->loaded & bp))
		return;
	rule->bp = HYBRID_BP_AT_CFA;
	rule->bp_off = sim->slots[X86_REG_BP] - cfa;
}

bool hybrid_switch_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule)
{
	u64 start = ip - ip % ALIGN;
	struct sim sim;

	if (!mem->is_64bit)
		return false;
	for (; ip - start < MAX_SIZE; start -= ALIGN) {
		if (is_start(mem, start) && follow(&sim, mem, start, ip)) {
			make_rule(&sim, rule);
			return true;
		}
	}
	return false;
}
