/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86 frame analysis: an instruction, as its parts hand it to each other; for
 * nobody else to include.
 */
#ifndef _X86_FRAME_INSN_H
#define _X86_FRAME_INSN_H

#include <linux/types.h>
#include <asm/insn.h>

/* The numbers of the two registers that matter. */
#define X86_REG_SP	4
#define X86_REG_BP	5

/* Where an opcode is from. */
enum x86_map {
	X86_MAP_ONE,		/* one byte */
	X86_MAP_0F,		/* behind 0f */
	X86_MAP_VEX,		/* others: neither jumps nor sets sp or bp */
	X86_MAP_APX,		/* can do both */
};

#define X86_CODE_64	0x01	/* 64-bit code */
#define X86_CODE_MODRM	0x02	/* has a ModRM byte */
#define X86_CODE_16	0x04	/* has the prefix with the operand size */
#define X86_CODE_ADDR	0x08	/* has the prefix with the address size */

/**
 * struct x86_code - an instruction
 * @len:	its bytes
 * @map:	an enum x86_map
 * @op:		opcode in the map
 * @modrm:	0 where there is none
 * @sib:	0 where there is none
 * @rex:	W, R, X, B from bit 3 down; REX2 has three more from bit 6 down
 * @flags:	X86_CODE_*
 * @disp:	displacement, with its sign
 * @imm:	immediate, with its sign; of a long one, 32 bits
 */
struct x86_code {
	u8	len;
	u8	map;
	u8	op;
	u8	modrm;
	u8	sib;
	u8	rex;
	u8	flags;
	s32	disp;
	s32	imm;
};

/* Bytes that x86_decode_next() may look at for one instruction. */
#define X86_QUICK_BYTES	16

const u8 *x86_decode_next(const u8 *p, const u8 *last, unsigned int max,
			  bool is_64bit, struct x86_code *code,
			  unsigned int *skipped);
bool x86_decode(struct insn *insn, const u8 *p, int len, bool is_64bit,
		struct x86_code *code);

static inline int x86_word_size(const struct x86_code *code)
{
	return code->flags & X86_CODE_64 ? 8 : 4;
}

/* Number of a register; @bit says which bit of REX extends it. */
static inline int x86_reg_number(const struct x86_code *code, int low, int bit)
{
	/* REX2 has one more bit for each. */
	return low | (code->rex & bit ? 8 : 0) |
	       (code->rex & (bit << 4) ? 16 : 0);
}

/* The register in ModRM.reg */
static inline int x86_modrm_reg(const struct x86_code *code)
{
	return x86_reg_number(code, X86_MODRM_REG(code->modrm), 4);
}

/* The register operand of ModRM.rm, -1 for memory. */
static inline int x86_modrm_rm(const struct x86_code *code)
{
	if (X86_MODRM_MOD(code->modrm) != 3)
		return -1;
	return x86_reg_number(code, X86_MODRM_RM(code->modrm), 1);
}

/* The base register of a memory operand without an index, -1 for others. */
static inline int x86_mem_base(const struct x86_code *code)
{
	int mod = X86_MODRM_MOD(code->modrm);
	int rm = X86_MODRM_RM(code->modrm);

	if (mod == 3 || code->flags & X86_CODE_ADDR)
		return -1;
	if (rm == 4) {
		rm = X86_SIB_BASE(code->sib);
		if (x86_reg_number(code, X86_SIB_INDEX(code->sib), 2) != 4)
			return -1;
	}
	if (rm == 5 && !mod)
		return -1;
	return x86_reg_number(code, rm, 1);
}

/* Are the operands as wide as sp and bp? */
static inline bool x86_full_width(const struct x86_code *code)
{
	if (code->flags & X86_CODE_64)
		return code->rex & 8;
	return !(code->flags & X86_CODE_16);
}

static inline u32 x86_get_le32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

#endif /* _X86_FRAME_INSN_H */
