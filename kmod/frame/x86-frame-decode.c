// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: from bytes to the little of an instruction that matters.
 *
 * The kernel's decoder takes some 200 instructions for one, and a scan decodes
 * a hundred.  So the common opcodes go by the two tables below, and whatever
 * these leave out goes to the kernel's decoder.  The tests compare the two at
 * every instruction of whole binaries, and on random bytes.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "x86-frame-scan.h"

/* What a table says of an opcode; 0 leaves it to the kernel's decoder. */
#define N	0x01		/* nothing behind the opcode */
#define M	0x02		/* ModRM */
#define B	0x04		/* an immediate of 8 bits */
#define Z	0x08		/* one of 16 or 32 bits, by operand size */
#define P	0x10		/* a prefix */
#define X	0x20		/* decided by what follows */
#define G	0x40		/* ModRM.reg is no register */
#define Q	0x80		/* quiet, unless it writes sp or bp: see is_quiet() */
#define QN	(Q | N)
#define QM	(Q | M)
#define QB	(Q | B)
#define QZ	(Q | Z)
#define QMB	(Q | M | B)
#define QMZ	(Q | M | Z)
#define GM	(Q | G | M)
#define GMB	(Q | G | M | B)
#define GMZ	(Q | G | M | Z)

static const u8 one_byte[256] = {
	/* 00 */ QM, QM, QM, QM, QB, QZ, 0, 0, QM, QM, QM, QM, QB, QZ, 0, X,
	/* 10 */ QM, QM, QM, QM, QB, QZ, 0, 0, QM, QM, QM, QM, QB, QZ, 0, 0,
	/* 20 */ QM, QM, QM, QM, QB, QZ, P, 0, QM, QM, QM, QM, QB, QZ, P, 0,
	/* 30 */ QM, QM, QM, QM, QB, QZ, P, 0, QM, QM, QM, M, QB, QZ, P, 0,
	/* 40 */ N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
	/* 50 */ N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
	/* 60 */ 0, 0, 0, M, P, P, P, 0, Z, QMZ, B, QMB, 0, 0, 0, 0,
	/* 70 */ B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	/* 80 */ GMB, GMZ, 0, GMB, QM, QM, QM, QM, QM, QM, QM, QM, QM, M, QM, 0,
	/* 90 */ QN, N, N, N, N, N, N, N, QN, QN, 0, 0, N, N, QN, QN,
	/* a0 */ 0, 0, 0, 0, QN, QN, QN, QN, QB, QZ, QN, QN, QN, QN, QN, QN,
	/* b0 */ QB, QB, QB, QB, QB, QB, QB, QB, QZ, QZ, QZ, QZ, Z, Z, QZ, QZ,
	/* c0 */ GMB, GMB, 0, N, X, X, GMB, GMZ, 0, N, 0, 0, N, 0, 0, 0,
	/* d0 */ GM, GM, GM, GM, 0, 0, 0, QN, GM, GM, GM, GM, GM, GM, GM, GM,
	/* e0 */ B, B, B, B, 0, 0, 0, 0, Z, Z, 0, B, 0, 0, 0, 0,
	/* f0 */ P, 0, P, P, N, QN, X, X, QN, QN, 0, 0, QN, QN, GM, M,
};

static const u8 two_byte[256] = {
	/* 00 */ 0, 0, 0, 0, 0, QN, 0, 0, 0, 0, 0, 0, 0, QM, 0, 0,
	/* 10 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, 0, 0, 0, 0, 0, QM, M,
	/* 20 */ 0, 0, 0, 0, 0, 0, 0, 0, QM, QM, QM, QM, QM, QM, QM, QM,
	/* 30 */ 0, QN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 40 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* 50 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* 60 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* 70 */ QMB, 0, 0, 0, QM, QM, QM, QN, 0, 0, 0, 0, QM, QM, QM, QM,
	/* 80 */ Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z,
	/* 90 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* a0 */ N, N, QN, QM, QMB, QM, 0, 0, N, N, 0, QM, QMB, QM, QM, QM,
	/* b0 */ QM, QM, QM, QM, QM, QM, QM, QM, 0, 0, QMB, QM, QM, QM, QM, QM,
	/* c0 */ QM, QM, QMB, QM, QMB, QMB, QMB, QM, QN, QN, QN, QN, QN, QN, QN, QN,
	/* d0 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* e0 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM,
	/* f0 */ QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, QM, 0,
};

/* Bytes behind ModRM that it asks for. */
static __always_inline unsigned int modrm_bytes(u8 modrm, u8 sib)
{
	unsigned int bytes = 0;
	u8 rm = modrm & 7;

	if (modrm >= 0xc0)
		return 0;
	if (rm == 4) {
		bytes = 1;
		rm = sib & 7;
	}
	if (modrm < 0x40)
		return rm == 5 ? bytes + 4 : bytes;
	return modrm < 0x80 ? bytes + 1 : bytes + 4;
}

/* The operands of an opcode that a table knows; where the next one starts. */
static __always_inline const u8 *get_operands(const u8 *p, u8 attr,
					      struct x86_code *code)
{
	if (attr & M) {
		u8 modrm = *p++, mod = modrm >> 6, rm = modrm & 7;

		code->modrm = modrm;
		code->flags |= X86_CODE_MODRM;
		if (mod != 3) {
			if (rm == 4) {
				code->sib = *p++;
				rm = code->sib & 7;
			}
			if (mod == 1) {
				code->disp = (s8)*p++;
			} else if (mod == 2 || rm == 5) {
				code->disp = x86_get_le32(p);
				p += 4;
			}
		}
	}
	if (attr & B) {
		code->imm = (s8)*p++;
	} else if (attr & Z) {
		if ((code->flags & X86_CODE_16) && !(code->rex & 8)) {
			code->imm = (s16)(p[0] | p[1] << 8);
			p += 2;
		} else {
			code->imm = x86_get_le32(p);
			p += 4;
		}
	}
	return p;
}

/* Behind 0f; the table's word for it, 0 for what is left out. */
static u8 get_two_byte(const u8 **p, struct x86_code *code)
{
	code->op = *(*p)++;
	code->map = X86_MAP_0F;
	if (code->op == 0x38 || code->op == 0x3a) {
		u8 attr = code->op == 0x38 ? M : M | B;

		code->op = *(*p)++;
		code->map = X86_MAP_VEX;
		return attr;
	}
	/* A jump of 16 bits is not something that a compiler writes. */
	if ((code->op & 0xf0) == 0x80 && (code->flags & X86_CODE_16))
		return 0;
	return two_byte[code->op];
}

/*
 * Behind the first byte of a VEX prefix.  Which opcodes there are is for the
 * kernel's tables to say: here that is cheap enough.
 */
static u8 get_vex(const u8 **p, struct x86_code *code, u8 first)
{
	u8 b = *(*p)++, map = 1;
	insn_attr_t attr;

	code->map = X86_MAP_VEX;
	code->rex = ~b >> 5 & 4;
	if (first == 0xc4) {
		code->rex = ~b >> 5 & 7;
		map = b & 0x1f;
		b = *(*p)++;
	}
	code->op = *(*p)++;
	attr = inat_get_avx_attribute(code->op, map, b & 3);
	if (!inat_accept_vex(attr) || inat_must_evex(attr) ||
	    inat_is_group(attr))
		return 0;
	if (!inat_has_modrm(attr))
		return N;
	return inat_has_immediate(attr) ? M | B : M;
}

/*
 * Is an instruction, quiet by its opcode, so by its registers?  Not where one
 * is sp or bp, unless as the base of a memory operand, in which only bp tells
 * something: it is read.
 */
static __always_inline bool is_quiet(u8 attr, u8 modrm, u8 sib, u8 rex)
{
	u8 reg = (modrm >> 3 & 7) | (rex << 1 & 8), rm = modrm & 7;

	if ((reg & 14) == 4 && !(attr & G))
		return false;
	if (modrm >= 0xc0)
		return (rm & 6) != 4 || rex & 1;
	if (rm == 4)
		rm = sib & 7;
	return rm != 5 || modrm < 0x40;
}

/*
 * One byte and an immediate: pushes, pops, branches and calls, which are half
 * of what is not quiet.
 */
static __always_inline bool decode_short(const u8 *p, bool is_64bit,
					 struct x86_code *code)
{
	u8 op = p[0], attr = one_byte[op];

	if (attr & (M | P | X) || !attr || ((op & 0xf0) == 0x40 && is_64bit))
		return false;
	*code = (struct x86_code) {
		.op = op,
		.flags = is_64bit ? X86_CODE_64 : 0,
		.len = 1,
	};
	if (attr & B) {
		code->imm = (s8)p[1];
		code->len = 2;
	} else if (attr & Z) {
		code->imm = x86_get_le32(p + 1);
		code->len = 5;
	}
	return true;
}

/* Decodes by the tables; false for what is left to the kernel's decoder. */
static __always_inline bool decode_quick(const u8 *p, bool is_64bit,
					 struct x86_code *code)
{
	const u8 *start = p;
	int prefixes = 0;
	u8 op, attr;

	*code = (struct x86_code) { .flags = is_64bit ? X86_CODE_64 : 0 };
	for (op = *p++; (attr = one_byte[op]) == P; op = *p++) {
		if (op == 0x66)
			code->flags |= X86_CODE_16;
		if (++prefixes == 4)
			return false;
	}
	if ((op & 0xf0) == 0x40 && is_64bit) {
		code->rex = op & 15;
		op = *p++;
		attr = one_byte[op];
		/* The last of two counts, and none does before VEX. */
		if (attr == P || (op & 0xf0) == 0x40 || (op & 0xfe) == 0xc4)
			return false;
	}
	code->op = op;
	if (attr == X) {
		if (op == 0x0f)
			attr = get_two_byte(&p, code);
		else if (op >= 0xf6)
			attr = *p & 0x30 ? M : op == 0xf6 ? M | B : M | Z;
		else
			attr = is_64bit && !prefixes ?
			       get_vex(&p, code, op) : 0;
	} else if ((op & 0xfe) == 0xe8 && (code->flags & X86_CODE_16)) {
		return false;
	} else if ((op & 0xf8) == 0xb8 && (code->rex & 8)) {
		return false;
	}
	if (!attr)
		return false;
	code->len = get_operands(p, attr, code) - start;
	return code->len <= MAX_INSN_SIZE;
}

/*
 * The length of an instruction that neither jumps nor has to do with sp or bp,
 * as most do; 0 for another one, or one that is not common.  These cost little
 * only here, where no more is found out about them.
 */
static __always_inline unsigned int quiet_length(const u8 *p, bool is_64bit)
{
	u8 op = p[0], rex = 0, attr, modrm, word = 4;
	const u8 *q = p + 1;

	if (op == 0x66) {
		word = 2;
		op = *q++;
	} else if (op == 0xf2 || op == 0xf3) {
		op = *q++;
	}
	if ((op & 0xf0) == 0x40 && is_64bit) {
		rex = op;
		op = *q++;
	}
	attr = one_byte[op];
	if (op == 0x0f)
		attr = two_byte[*q++];
	if (!(attr & Q))
		return 0;
	if (attr & M) {
		modrm = *q++;
		if (!is_quiet(attr, modrm, *q, rex))
			return 0;
		q += modrm_bytes(modrm, *q);
	}
	if (attr & B) {
		q++;
	} else if (attr & Z) {
		if (rex & 8) {
			if ((op & 0xf8) == 0xb8)
				return 0;
			word = 4;
		}
		q += word;
	}
	return q - p;
}

/**
 * x86_decode_next - decode the next instruction that is not quiet
 * @p:		where to start
 * @last:	the last address with X86_QUICK_BYTES that can be read
 * @max:	how many quiet instructions to skip, at most
 * @is_64bit:	64-bit code
 * @code:	the instruction; its length is 0 where it is not a common one,
 *		or behind @last, or @max have been skipped
 * @skipped:	how many were skipped
 *
 * Returns: where the instruction is
 */
const u8 *x86_decode_next(const u8 *p, const u8 *last, unsigned int max,
			  bool is_64bit, struct x86_code *code,
			  unsigned int *skipped)
{
	unsigned int nr = 0, len;

	while (p <= last && nr < max) {
		len = quiet_length(p, is_64bit);
		if (!len)
			break;
		p += len;
		nr++;
	}
	*skipped = nr;
	if (p > last || nr == max ||
	    (!decode_short(p, is_64bit, code) &&
	     !decode_quick(p, is_64bit, code)))
		code->len = 0;
	return p;
}

/* The prefix with the operand size; the decoder keeps each of them once. */
static bool has_16bit_prefix(const struct insn *insn)
{
	int i;

	for (i = 0; i < 4 && insn->prefixes.bytes[i]; i++)
		if (insn->prefixes.bytes[i] == 0x66)
			return true;
	return false;
}

static u8 get_rex(const struct insn *insn)
{
	switch (insn->vex_prefix.nbytes) {
	case 0:
		break;
	case 2:
		return ~insn->vex_prefix.bytes[1] >> 5 & 4;
	default:
		return ~insn->vex_prefix.bytes[1] >> 5 & 7;
	}
	if (insn->rex_prefix.nbytes == 2)
		return insn->rex_prefix.bytes[1] & 0x7f;
	return insn->rex_prefix.nbytes ? insn->rex_prefix.bytes[0] & 15 : 0;
}

/* Which map the opcode is in. */
static void get_map(const struct insn *insn, struct x86_code *code)
{
	const u8 *op = insn->opcode.bytes, *vex = insn->vex_prefix.bytes;

	code->op = op[0];
	if (insn->vex_prefix.nbytes) {
		code->map = insn->vex_prefix.nbytes == 4 &&
			    X86_EVEX_M(vex[1]) == 4 ? X86_MAP_APX : X86_MAP_VEX;
	} else if (insn->rex_prefix.nbytes == 2 &&
		   X86_REX2_M(insn->rex_prefix.bytes[1])) {
		code->map = X86_MAP_0F;
	} else if (op[0] == 0x0f) {
		code->op = op[insn->opcode.nbytes > 2 ? 2 : 1];
		code->map = insn->opcode.nbytes > 2 ? X86_MAP_VEX : X86_MAP_0F;
	}
}

/**
 * x86_decode - decode by the kernel's decoder
 * @insn:	memory for the decoder
 * @p:		the instruction
 * @len:	bytes that can be read there
 * @is_64bit:	64-bit code
 * @code:	the instruction
 *
 * In the decoder's own steps: insn_decode() nests seven functions, which costs
 * stack.
 *
 * Returns: false for what is no instruction
 */
bool x86_decode(struct insn *insn, const u8 *p, int len, bool is_64bit,
		struct x86_code *code)
{
	insn_init(insn, p, len, is_64bit);
	if (insn_get_prefixes(insn) || insn_get_opcode(insn) ||
	    insn_get_modrm(insn) || insn_get_displacement(insn) ||
	    insn_get_immediate(insn) || insn_get_length(insn) || !insn->length)
		return false;
	*code = (struct x86_code) {
		.len = insn->length,
		.modrm = insn->modrm.value,
		.sib = insn->sib.value,
		.rex = get_rex(insn),
		.flags = is_64bit ? X86_CODE_64 : 0,
		.disp = insn->displacement.value,
		.imm = insn->immediate.value,
	};
	if (insn->modrm.nbytes)
		code->flags |= X86_CODE_MODRM;
	if (has_16bit_prefix(insn))
		code->flags |= X86_CODE_16;
	if (insn->addr_bytes != (is_64bit ? 8 : 4))
		code->flags |= X86_CODE_ADDR;
	get_map(insn, code);
	return true;
}
