// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions for vectors: Intel SDM, volume 2, appendix A.3. Few of them set a general register,
 * or store.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "insn-operand.h"
#include "run-operand.h"
#include "run-vector.h"

/* Bytes of the largest vector. */
#define MAX_STORE	64

/* The first byte of a prefix that VEX's is not. */
#define EVEX		0x62

#define CX		1

static const struct hybrid_run_value none;

/*
 * The bits of the prefix are inverted. The decoder has the last byte of a short one at 2, too, but
 * for the bit that extends ModRM.reg, which is in byte 1.
 */
static void clobber_vex(struct hybrid_run_state *state, const struct insn *insn)
{
	bool is_short = insn->vex_prefix.nbytes == 2;
	u8 first = insn->vex_prefix.bytes[1];

	hybrid_run_clobber(state, X86_MODRM_REG(insn->modrm.value) | (X86_VEX_R(first) ? 0 : 8));
	if (hybrid_insn_is_register(insn))
		hybrid_run_clobber(state, X86_MODRM_RM(insn->modrm.value) |
				   (is_short || X86_VEX_B(first) ? 0 : 8));
	hybrid_run_clobber(state, ~X86_VEX_V(insn->vex_prefix.bytes[2]) & 15);
}

static void clobber(struct hybrid_run_state *state, const struct insn *insn)
{
	if (insn->vex_prefix.nbytes) {
		clobber_vex(state, insn);
		return;
	}
	hybrid_run_clobber(state, hybrid_insn_reg(insn));
	if (hybrid_insn_is_register(insn))
		hybrid_run_clobber(state, hybrid_insn_rm(insn));
}

/*
 * To be called before registers are clobbered, as one of them may be the operand's base. A
 * displacement of EVEX may be a multiple of what the decoder says.
 */
static bool store(struct hybrid_run_state *state, const struct insn *insn)
{
	if (hybrid_insn_is_register(insn))
		return true;
	return insn->vex_prefix.bytes[0] != EVEX &&
	       hybrid_run_put_rm(state, insn, MAX_STORE, none);
}

/* Behind 0f, and of the first map of VEX. */
static bool run_first_map(struct hybrid_run_state *state, const struct insn *insn, u8 op)
{
	bool is_stored;

	switch (op) {
	case 0x11: case 0x13: case 0x17: case 0x29: case 0x2b: case 0x7f: case 0xc3: case 0xd6:
	case 0xe7:
		return store(state, insn);
	case 0x7e:
		is_stored = store(state, insn);
		clobber(state, insn);
		return is_stored;
	case 0x2c: case 0x2d: case 0x50: case 0x78: case 0x79: case 0x93: case 0xc5: case 0xd7:
		clobber(state, insn);
		return true;
	case 0x2e: case 0x2f:
		state->flags_known = 0;
		return true;
	case 0x10: case 0x12: case 0x14 ... 0x16: case 0x28: case 0x2a: case 0x51 ... 0x77:
	case 0x7c: case 0x7d: case 0xc2: case 0xc4: case 0xc6: case 0xd0 ... 0xd5:
	case 0xd8 ... 0xe6: case 0xe8 ... 0xf6: case 0xf8 ... 0xfe:
		return true;
	default:
		return false;
	}
}

bool hybrid_run_vector(struct hybrid_run_state *state, const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];
	bool is_stored;

	if (insn->vex_prefix.nbytes) {
		if (insn_vex_m_bits((struct insn *)insn) == 1)
			return run_first_map(state, insn, op);
	} else {
		op = insn->opcode.bytes[1];
		if (op != 0x38 && op != 0x3a)
			return run_first_map(state, insn, op);
		op = insn->opcode.bytes[2];
	}
	is_stored = store(state, insn);
	/* pcmpestri, pcmpistri */
	if (op == 0x61 || op == 0x63)
		hybrid_run_clobber(state, CX);
	/* The others: BMI, movbe, crc32, the tests, pextr, and stores of parts. */
	state->flags_known = 0;
	if (op >= 0xf0 || (op >= 0x14 && op <= 0x17))
		clobber(state, insn);
	return is_stored;
}
