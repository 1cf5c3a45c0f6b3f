// SPDX-License-Identifier: GPL-2.0
/*
 * What one instruction of 64-bit code does to registers and to the stack: Intel SDM, volume 2,
 * appendix A.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "insn-operand.h"
#include "run-alu.h"
#include "run-insn.h"
#include "run-operand.h"
#include "run-vector.h"
#include "x86_frame_scan.h"

#define WORD		8

#define PREFIX_16	0x66

static const struct hybrid_run_value none;

static struct hybrid_run_value constant(s64 value)
{
	return (struct hybrid_run_value) { .value = value, .known = true };
}

static enum hybrid_run_step next_if(bool is_known)
{
	return is_known ? HYBRID_RUN_NEXT : HYBRID_RUN_DEAD;
}

static bool push(struct hybrid_run_state *state, struct hybrid_run_value value)
{
	struct hybrid_run_value *sp = &state->regs[X86_REG_SP];

	sp->value -= WORD;
	return sp->known && hybrid_run_store(state, sp->value, WORD, value);
}

static struct hybrid_run_value pop(struct hybrid_run_state *state)
{
	struct hybrid_run_value *sp = &state->regs[X86_REG_SP], value = none;

	if (sp->known)
		value = hybrid_run_load(state, sp->value, WORD);
	sp->value += WORD;
	return value;
}

/* 00 to 3f; @size is that of the odd opcodes. */
static enum hybrid_run_step run_alu(struct hybrid_run_state *state, const struct insn *insn,
				    u8 op, unsigned int size)
{
	enum hybrid_run_op which = op >> 3;
	struct hybrid_run_value reg, rm, result;
	bool to_reg = op & 2;

	if ((op & 7) > 5)
		return HYBRID_RUN_DEAD;
	if (!(op & 1))
		size = 1;
	if (op & 4) {
		reg = hybrid_run_get_reg(state, insn, 0, size);
		result = hybrid_run_alu(state, which, reg, constant(insn->immediate.value), size);
		if (which != HYBRID_RUN_CMP)
			hybrid_run_put_reg(state, insn, 0, size, result);
		return HYBRID_RUN_NEXT;
	}
	reg = hybrid_run_get_reg(state, insn, hybrid_insn_reg(insn), size);
	rm = hybrid_run_get_rm(state, insn, size);
	/* The result is 0, whatever the register holds. */
	if ((which == HYBRID_RUN_XOR || which == HYBRID_RUN_SUB) && size >= 4 &&
	    hybrid_insn_is_register(insn) && hybrid_insn_reg(insn) == hybrid_insn_rm(insn)) {
		reg = constant(0);
		rm = reg;
	}
	result = hybrid_run_alu(state, which, to_reg ? reg : rm, to_reg ? rm : reg, size);
	if (which == HYBRID_RUN_CMP)
		return HYBRID_RUN_NEXT;
	if (!to_reg)
		return next_if(hybrid_run_put_rm(state, insn, size, result));
	hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size, result);
	return HYBRID_RUN_NEXT;
}

/* 80, 81, 83 */
static enum hybrid_run_step run_alu_constant(struct hybrid_run_state *state,
					     const struct insn *insn, unsigned int size)
{
	enum hybrid_run_op which = X86_MODRM_REG(insn->modrm.value);
	struct hybrid_run_value result;

	result = hybrid_run_alu(state, which, hybrid_run_get_rm(state, insn, size),
				constant(insn->immediate.value), size);
	return which == HYBRID_RUN_CMP ||
	       hybrid_run_put_rm(state, insn, size, result) ? HYBRID_RUN_NEXT : HYBRID_RUN_DEAD;
}

/* c0, c1, d0 to d3 */
static enum hybrid_run_step run_shift(struct hybrid_run_state *state, const struct insn *insn,
				      u8 op, unsigned int size)
{
	struct hybrid_run_value count = constant(1), result;

	if (op < 0xd0)
		count = constant(insn->immediate.value & 0xff);
	else if (op >= 0xd2)
		count = hybrid_run_get_reg(state, insn, 1, 4);
	result = hybrid_run_shift(state, X86_MODRM_REG(insn->modrm.value),
				  hybrid_run_get_rm(state, insn, size), count, size);
	return next_if(hybrid_run_put_rm(state, insn, size, result));
}

/* f6, f7 */
static enum hybrid_run_step run_group3(struct hybrid_run_state *state, const struct insn *insn,
				       unsigned int size)
{
	struct hybrid_run_value rm = hybrid_run_get_rm(state, insn, size);

	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 0: case 1:
		hybrid_run_alu(state, HYBRID_RUN_AND, rm, constant(insn->immediate.value), size);
		return HYBRID_RUN_NEXT;
	case 2:
		rm.value = ~rm.value;
		return next_if(hybrid_run_put_rm(state, insn, size, rm));
	case 3:
		rm = hybrid_run_alu(state, HYBRID_RUN_SUB, constant(0), rm, size);
		return next_if(hybrid_run_put_rm(state, insn, size, rm));
	default:
		state->flags_known = 0;
		hybrid_run_clobber(state, 0);
		hybrid_run_clobber(state, 2);
		return HYBRID_RUN_NEXT;
	}
}

/* Does it push or pop 2 bytes? No compiler writes that. */
static bool is_short(const struct insn *insn)
{
	return hybrid_insn_has_prefix(insn, PREFIX_16) && !X86_REX_W(insn->rex_prefix.value);
}

/* fe, ff */
static enum hybrid_run_step run_group5(struct hybrid_run_state *state, const struct insn *insn,
				       u8 op, unsigned int size)
{
	unsigned int which = X86_MODRM_REG(insn->modrm.value);
	struct hybrid_run_value rm;

	if (which < 2) {
		rm = hybrid_run_inc(state, hybrid_run_get_rm(state, insn, size), which ? -1 : 1,
				    size);
		return next_if(hybrid_run_put_rm(state, insn, size, rm));
	}
	if (op != 0xff)
		return HYBRID_RUN_DEAD;
	switch (which) {
	case 2:
		return HYBRID_RUN_CALL;
	case 4:
		/* By a table: the target is in the same function. */
		return !hybrid_insn_is_register(insn) && insn->sib.nbytes ?
			HYBRID_RUN_DEAD : HYBRID_RUN_LEAVE;
	case 6:
		return next_if(!is_short(insn) &&
			       push(state, hybrid_run_get_rm(state, insn, WORD)));
	default:
		return HYBRID_RUN_DEAD;
	}
}

static void run_lea(struct hybrid_run_state *state, const struct insn *insn, unsigned int size)
{
	bool near_stack;

	hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size,
			   hybrid_run_address(state, insn, &near_stack));
}

static enum hybrid_run_step run_exchange(struct hybrid_run_state *state,
					 const struct insn *insn, unsigned int size)
{
	unsigned int reg = hybrid_insn_reg(insn);
	struct hybrid_run_value value = hybrid_run_get_reg(state, insn, reg, size);
	struct hybrid_run_value rm = hybrid_run_get_rm(state, insn, size);

	/* Its address may be made of the register. */
	if (!hybrid_run_put_rm(state, insn, size, value))
		return HYBRID_RUN_DEAD;
	hybrid_run_put_reg(state, insn, reg, size, rm);
	return HYBRID_RUN_NEXT;
}

/* 0f b0, b1, c0, c1: cmpxchg, xadd */
static enum hybrid_run_step run_exchange_add(struct hybrid_run_state *state,
					     const struct insn *insn, unsigned int size)
{
	state->flags_known = 0;
	if (!hybrid_run_put_rm(state, insn, size, none))
		return HYBRID_RUN_DEAD;
	hybrid_run_clobber(state, 0);
	hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size, none);
	return HYBRID_RUN_NEXT;
}

/* 0f ae: rdfsbase and the like, fences; in memory the state of vector registers */
static enum hybrid_run_step run_group15(struct hybrid_run_state *state, const struct insn *insn)
{
	unsigned int which = X86_MODRM_REG(insn->modrm.value);

	if (hybrid_insn_is_register(insn)) {
		if (which < 2)
			hybrid_run_clobber(state, hybrid_insn_rm(insn));
		return HYBRID_RUN_NEXT;
	}
	switch (which) {
	case 0: case 4: case 6:
		return HYBRID_RUN_DEAD;
	case 3:
		return next_if(hybrid_run_put_rm(state, insn, 4, none));
	default:
		return HYBRID_RUN_NEXT;
	}
}

static void run_exchange_ax(struct hybrid_run_state *state, const struct insn *insn,
			    unsigned int size)
{
	unsigned int reg = hybrid_insn_opcode_reg(insn);
	struct hybrid_run_value value = hybrid_run_get_reg(state, insn, reg, size);

	/* xchg %ax,%ax is nop: it does not clear the upper half of the register. */
	if (!reg)
		return;
	hybrid_run_put_reg(state, insn, reg, size, hybrid_run_get_reg(state, insn, 0, size));
	hybrid_run_put_reg(state, insn, 0, size, value);
}

/* b8 to bf: the only ones with 8 bytes of a constant */
static void run_mov_constant(struct hybrid_run_state *state, const struct insn *insn,
			     unsigned int size)
{
	struct hybrid_run_value value = constant((u32)insn->immediate1.value);

	if (size == WORD)
		value.value |= (u64)(u32)insn->immediate2.value << 32;
	hybrid_run_put_reg(state, insn, hybrid_insn_opcode_reg(insn), size, value);
}

static enum hybrid_run_step run_leave(struct hybrid_run_state *state)
{
	state->regs[X86_REG_SP] = state->regs[X86_REG_BP];
	state->regs[X86_REG_BP] = pop(state);
	return HYBRID_RUN_NEXT;
}

static enum hybrid_run_step run_branch(struct hybrid_run_state *state, const struct insn *insn,
				       u8 op, u64 *target)
{
	*target = state->ip + insn->immediate.value;
	switch (hybrid_run_condition(state, op)) {
	case 0:
		return HYBRID_RUN_NEXT;
	case 1:
		return HYBRID_RUN_JUMP;
	default:
		return HYBRID_RUN_BRANCH;
	}
}

/* cmov: what is moved, or stays, is known if the condition is. */
static void run_cmov(struct hybrid_run_state *state, const struct insn *insn, u8 op,
		     unsigned int size)
{
	unsigned int reg = hybrid_insn_reg(insn);
	struct hybrid_run_value value = hybrid_run_get_reg(state, insn, reg, size);
	int holds = hybrid_run_condition(state, op);

	if (holds < 0)
		value = none;
	else if (holds)
		value = hybrid_run_get_rm(state, insn, size);
	hybrid_run_put_reg(state, insn, reg, size, value);
}

/* movzx, movsx, movsxd: from @from bytes */
static void run_extend(struct hybrid_run_state *state, const struct insn *insn,
		       unsigned int from, bool is_signed, unsigned int size)
{
	struct hybrid_run_value value = hybrid_run_get_rm(state, insn, from);
	unsigned int shift = 64 - from * 8;

	if (is_signed)
		value.value = (u64)((s64)(value.value << shift) >> shift);
	hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size, value);
}

static enum hybrid_run_step run_two_byte(struct hybrid_run_state *state,
					 const struct insn *insn, u64 *target)
{
	unsigned int size = insn->opnd_bytes;
	u8 op = insn->opcode.bytes[1];

	switch (op) {
	case 0x0d: case 0x18 ... 0x1f:
		return HYBRID_RUN_NEXT;
	case 0xae:
		return run_group15(state, insn);
	case 0x40 ... 0x4f:
		run_cmov(state, insn, op, size);
		return HYBRID_RUN_NEXT;
	case 0x80 ... 0x8f:
		return run_branch(state, insn, op, target);
	case 0x90 ... 0x9f:
		return next_if(hybrid_run_put_rm(state, insn, 1, none));
	case 0xb6: case 0xb7:
		run_extend(state, insn, op == 0xb6 ? 1 : 2, false, size);
		return HYBRID_RUN_NEXT;
	case 0xbe: case 0xbf:
		run_extend(state, insn, op == 0xbe ? 1 : 2, true, size);
		return HYBRID_RUN_NEXT;
	case 0xa3: case 0xaf: case 0xbc: case 0xbd:
		state->flags_known = 0;
		hybrid_run_clobber(state, hybrid_insn_reg(insn));
		return HYBRID_RUN_NEXT;
	case 0xba:
		state->flags_known = 0;
		return X86_MODRM_REG(insn->modrm.value) == 4 ? HYBRID_RUN_NEXT :
			next_if(hybrid_run_put_rm(state, insn, size, none));
	case 0xb0: case 0xb1: case 0xc0: case 0xc1:
		return run_exchange_add(state, insn, op & 1 ? size : 1);
	default:
		return hybrid_run_vector(state, insn) ? HYBRID_RUN_NEXT : HYBRID_RUN_DEAD;
	}
}

/* Opcodes that neither jump nor push nor pop. */
static enum hybrid_run_step run_data(struct hybrid_run_state *state, const struct insn *insn,
				     u8 op, unsigned int size)
{
	struct hybrid_run_value value;

	switch (op) {
	case 0x63:
		run_extend(state, insn, 4, true, size);
		return HYBRID_RUN_NEXT;
	case 0x69: case 0x6b:
		state->flags_known = 0;
		hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size, none);
		return HYBRID_RUN_NEXT;
	case 0x80: case 0x81: case 0x83:
		return run_alu_constant(state, insn, op == 0x80 ? 1 : size);
	case 0x84: case 0x85:
		size = op == 0x84 ? 1 : size;
		hybrid_run_alu(state, HYBRID_RUN_AND, hybrid_run_get_rm(state, insn, size),
			       hybrid_run_get_reg(state, insn, hybrid_insn_reg(insn), size), size);
		return HYBRID_RUN_NEXT;
	case 0x86: case 0x87:
		return run_exchange(state, insn, op == 0x86 ? 1 : size);
	case 0x88: case 0x89:
		size = op == 0x88 ? 1 : size;
		value = hybrid_run_get_reg(state, insn, hybrid_insn_reg(insn), size);
		return next_if(hybrid_run_put_rm(state, insn, size, value));
	case 0x8a: case 0x8b:
		size = op == 0x8a ? 1 : size;
		hybrid_run_put_reg(state, insn, hybrid_insn_reg(insn), size,
				   hybrid_run_get_rm(state, insn, size));
		return HYBRID_RUN_NEXT;
	case 0x8d:
		run_lea(state, insn, size);
		return HYBRID_RUN_NEXT;
	case 0x90 ... 0x97:
		run_exchange_ax(state, insn, size);
		return HYBRID_RUN_NEXT;
	case 0x98: case 0x99:
		hybrid_run_clobber(state, op == 0x98 ? 0 : 2);
		return HYBRID_RUN_NEXT;
	case 0xa8: case 0xa9:
		size = op == 0xa8 ? 1 : size;
		hybrid_run_alu(state, HYBRID_RUN_AND, hybrid_run_get_reg(state, insn, 0, size),
			       constant(insn->immediate.value), size);
		return HYBRID_RUN_NEXT;
	case 0xb0 ... 0xb7:
		hybrid_run_put_reg(state, insn, hybrid_insn_opcode_reg(insn), 1,
				   constant(insn->immediate.value));
		return HYBRID_RUN_NEXT;
	case 0xb8 ... 0xbf:
		run_mov_constant(state, insn, size);
		return HYBRID_RUN_NEXT;
	case 0xc6: case 0xc7:
		return next_if(hybrid_run_put_rm(state, insn, op == 0xc6 ? 1 : size,
						 constant(insn->immediate.value)));
	case 0xc0: case 0xc1: case 0xd0 ... 0xd3:
		return run_shift(state, insn, op, op & 1 ? size : 1);
	case 0xf6: case 0xf7:
		return run_group3(state, insn, op == 0xf6 ? 1 : size);
	default:
		return HYBRID_RUN_DEAD;
	}
}

static bool is_stack_op(u8 op)
{
	return (op >= 0x50 && op <= 0x5f) || op == 0x68 || op == 0x6a || op == 0xc9;
}

enum hybrid_run_step hybrid_run_insn(struct hybrid_run_state *state, struct insn *insn,
				     u64 *target)
{
	unsigned int size = insn->opnd_bytes;
	u8 op = insn->opcode.bytes[0];

	state->ip += insn->length;
	if (insn->vex_prefix.nbytes)
		return next_if(hybrid_run_vector(state, insn));
	if (is_stack_op(op) && is_short(insn))
		return HYBRID_RUN_DEAD;
	switch (op) {
	case 0x0f:
		return run_two_byte(state, insn, target);
	case 0x00 ... 0x0e: case 0x10 ... 0x3f:
		return run_alu(state, insn, op, size);
	case 0x50 ... 0x57:
		return next_if(push(state, state->regs[hybrid_insn_opcode_reg(insn)]));
	case 0x58 ... 0x5f:
		state->regs[hybrid_insn_opcode_reg(insn)] = pop(state);
		return HYBRID_RUN_NEXT;
	case 0x68: case 0x6a:
		return next_if(push(state, constant(insn->immediate.value)));
	case 0x70 ... 0x7f:
		return run_branch(state, insn, op, target);
	case 0xc2: case 0xc3:
		return HYBRID_RUN_RETURN;
	case 0xc9:
		return run_leave(state);
	case 0xe8:
		return HYBRID_RUN_CALL;
	case 0xe9: case 0xeb:
		*target = state->ip + insn->immediate.value;
		return HYBRID_RUN_JUMP;
	case 0xfe: case 0xff:
		return run_group5(state, insn, op, op == 0xfe ? 1 : size);
	default:
		return run_data(state, insn, op, size);
	}
}
