// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: read code, and decode the part of an instruction that matters.
 *
 * The kernel's decoder, insn.c, takes some 200 instructions for one instruction, and a search
 * decodes a hundred. So this file decodes the common opcodes itself. What operands an opcode has
 * is in insn.c's own tables (inat), so that the two can't differ. All other opcodes are left to
 * insn.c. Tests compare both decoders for every opcode, at every byte of whole binaries, and on
 * random bytes.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "x86_frame_scan.h"

/* What the attribute of a common opcode without ModRM byte may have set. */
#define SHORT_ATTRS	(INAT_IMM_MASK | INAT_FORCE64 | INAT_NO_REX2)

/*
 * Quiet opcodes: such an instruction does not jump, and it neither reads nor writes sp or bp
 * unless one of its operands names it. Word N has a bit for each opcode from 64 * N on. cmp (3b),
 * movslq (63) and lea (8d) are not among them: other parts of the search look at these.
 */
static const u64 quiet_one_byte[4] = {
	0x373f3f3f3f3f3f3fULL, 0x00000a0000000000ULL,
	0xcffffff0c3015ffbULL, 0x73200000ff8f00c3ULL,
};

/* The same of the opcodes after 0f. */
static const u64 quiet_two_byte[4] = {
	0x0002ff0041ff2020ULL, 0xf0f1ffffffffffffULL,
	0xfcfff83cffff0000ULL, 0x7fffffffffffffffULL,
};

static __always_inline bool has_opcode(const u64 *words, u8 op)
{
	return words[op >> 6] >> (op & 63) & 1;
}

/* The attribute of an opcode after 0f; @pfx is the prefix before it, or 0. */
static __always_inline insn_attr_t two_byte_attr(u8 op, u8 pfx)
{
	insn_attr_t attr = inat_escape_table_1[op];

	if (!inat_has_variant(attr))
		return attr;
	/* These make other SSE instructions of it. */
	switch (pfx) {
	case 0x66:
		return inat_escape_table_1_1[op];
	case 0xf3:
		return inat_escape_table_1_2[op];
	case 0xf2:
		return inat_escape_table_1_3[op];
	default:
		return attr;
	}
}

/* How many bytes the ModRM byte adds: SIB and displacement. */
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

/*
 * Does a quiet opcode name sp or bp as a register operand, or bp as the base of a memory operand?
 * A read through sp does not matter. @attr: its attribute
 */
static __always_inline bool names_sp_or_bp(insn_attr_t attr, u8 modrm, u8 sib, u8 rex)
{
	u8 reg = (modrm >> 3 & 7) | (rex << 1 & 8), rm = modrm & 7;

	/* In a group ModRM.reg is part of the opcode. */
	if ((reg & 14) == 4 && !inat_is_group(attr))
		return true;
	if (modrm >= 0xc0)
		return (rm & 6) == 4 && !(rex & 1);
	if (rm == 4)
		rm = sib & 7;
	return rm == 5 && modrm >= 0x40;
}

/*
 * Returns the length of a quiet instruction, or 0 for any other instruction. Most instructions
 * are quiet, and of these nothing else is needed.
 */
static __always_inline unsigned int quiet_length(const u8 *p, bool is_64bit)
{
	u8 op = p[0], pfx = 0, rex = 0, modrm;
	const u8 *q = p + 1;
	insn_attr_t attr;

	if (unlikely(op == 0x66 || (op & 0xfe) == 0xf2)) {
		pfx = op;
		op = *q++;
	}
	if ((op & 0xf0) == 0x40 && is_64bit) {
		rex = op;
		op = *q++;
	}
	if (op != 0x0f) {
		if (!has_opcode(quiet_one_byte, op))
			return 0;
		/* mov with an immediate of 64 bits */
		if ((rex & 8) && (op & 0xf8) == 0xb8)
			return 0;
		attr = inat_primary_table[op];
	} else {
		op = *q++;
		if (!has_opcode(quiet_two_byte, op))
			return 0;
		attr = two_byte_attr(op, pfx);
	}
	if (inat_has_modrm(attr)) {
		modrm = *q++;
		if (names_sp_or_bp(attr, modrm, *q, rex))
			return 0;
		q += modrm_bytes(modrm, *q);
	}
	if (inat_has_immediate(attr)) {
		if (inat_immediate_size(attr) == INAT_IMM_BYTE)
			q++;
		else
			q += pfx == 0x66 && !(rex & 8) ? 2 : 4;
	}
	return q - p;
}

/* Reads ModRM, SIB and displacement at @p. Returns where the immediate starts. */
static __always_inline const u8 *get_modrm(const u8 *p, struct x86_code *code)
{
	u8 modrm = *p++, mod = modrm >> 6, rm = modrm & 7;

	code->modrm = modrm;
	code->flags |= X86_CODE_MODRM;
	if (mod == 3)
		return p;
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
	return p;
}

/* Reads the operands at @p of an opcode with @attr. Returns their end, NULL if insn.c has to. */
static __always_inline const u8 *get_operands(const u8 *p, insn_attr_t attr,
					      struct x86_code *code)
{
	if (inat_has_modrm(attr))
		p = get_modrm(p, code);
	switch (inat_immediate_size(attr)) {
	case 0:
		return p;
	case INAT_IMM_BYTE:
		code->imm = (s8)*p++;
		return p;
	case INAT_IMM_VWORD:
		if (code->rex & 8)
			return NULL;
		fallthrough;
	case INAT_IMM_VWORD32:
		if (!(code->flags & X86_CODE_16) || (code->rex & 8)) {
			code->imm = x86_get_le32(p);
			return p + 4;
		}
		/* A push, jump or call of 16 bits is not what a compiler writes. */
		if (inat_is_force64(attr))
			return NULL;
		code->imm = (s16)(p[0] | p[1] << 8);
		return p + 2;
	default:
		return NULL;
	}
}

/*
 * After the first byte of a VEX prefix. False if there is no such instruction. Which opcodes exist
 * is in the tables only.
 */
static bool get_vex(const u8 **p, u8 first, struct x86_code *code, insn_attr_t *attr)
{
	u8 b = *(*p)++, map = 1;

	code->map = X86_MAP_VEX;
	code->rex = ~b >> 5 & 4;
	if (first == 0xc4) {
		code->rex = ~b >> 5 & 7;
		map = b & 0x1f;
		b = *(*p)++;
	}
	code->op = *(*p)++;
	*attr = inat_get_avx_attribute(code->op, map, b & 3);
	return inat_accept_vex(*attr) && !inat_must_evex(*attr) && !inat_is_group(*attr);
}

/* After 0f. @pfx: the last of @prefixes. False if insn.c has to decode it. */
static __always_inline bool get_two_byte(const u8 **p, u8 pfx, unsigned int prefixes,
					 struct x86_code *code, insn_attr_t *attr)
{
	code->op = *(*p)++;
	code->map = X86_MAP_0F;
	if (code->op == 0x38 || code->op == 0x3a) {
		*attr = INAT_MODRM | (code->op == 0x3a ? INAT_MAKE_IMM(INAT_IMM_BYTE) : 0);
		code->op = *(*p)++;
		code->map = X86_MAP_VEX;
		return true;
	}
	*attr = two_byte_attr(code->op, pfx);
	/* Which of several prefixes counts is left to insn.c. */
	if (prefixes > 1 && inat_has_variant(inat_escape_table_1[code->op]))
		return false;
	/* Of some groups ModRM says whether there is an immediate. */
	return !inat_is_escape(*attr) && !inat_is_group(*attr) && !inat_must_vex(*attr) &&
	       !inat_has_second_immediate(*attr);
}

/*
 * Opcodes of one byte with nothing but an immediate after them: pushes, pops, branches and calls,
 * which are half of what is not quiet.
 */
static __always_inline bool decode_short(const u8 *p, bool is_64bit, struct x86_code *code)
{
	insn_attr_t attr = inat_primary_table[p[0]];

	if (attr & ~(insn_attr_t)SHORT_ATTRS)
		return false;
	*code = (struct x86_code) {
		.op = p[0],
		.flags = is_64bit ? X86_CODE_64 : 0,
		.len = 1,
	};
	switch (inat_immediate_size(attr)) {
	case 0:
		return true;
	case INAT_IMM_BYTE:
		code->imm = (s8)p[1];
		code->len = 2;
		return true;
	case INAT_IMM_VWORD:
	case INAT_IMM_VWORD32:
		code->imm = x86_get_le32(p + 1);
		code->len = 5;
		return true;
	default:
		return false;
	}
}

/* Reads the opcode at @p; false if insn.c has to decode the instruction. */
static __always_inline bool get_opcode(const u8 **p, bool is_64bit, unsigned int prefixes,
				       u8 pfx, struct x86_code *code, insn_attr_t *attr)
{
	u8 op = *(*p)++;

	*attr = inat_primary_table[op];
	if (op == 0x0f)
		return get_two_byte(p, pfx, prefixes, code, attr);
	code->op = op;
	if ((op & 0xfe) == 0xc4)
		return is_64bit && !prefixes && !code->rex && get_vex(p, op, code, attr);
	if ((op & 0xf0) == 0x40 && !is_64bit)
		*attr = 0;	/* inc and dec, which 64-bit mode has as REX */
	/* test has an immediate, the rest of its group has none. */
	if ((op & 0xfe) == 0xf6 && !(**p & 0x30))
		*attr |= INAT_MAKE_IMM(op & 1 ? INAT_IMM_VWORD32 : INAT_IMM_BYTE);
	return !(*attr & ~(insn_attr_t)(SHORT_ATTRS | INAT_MODRM | INAT_GRP_MASK | INAT_VARIANT));
}

/* Decodes an instruction that is not quiet; false if insn.c has to decode it. */
static __always_inline bool decode_quick(const u8 *p, bool is_64bit, struct x86_code *code)
{
	const u8 *start = p;
	unsigned int prefixes = 0;
	insn_attr_t attr;
	u8 pfx = 0;

	*code = (struct x86_code) { .flags = is_64bit ? X86_CODE_64 : 0 };
	while (inat_is_legacy_prefix(inat_primary_table[*p])) {
		pfx = *p++;
		if (pfx == 0x66)
			code->flags |= X86_CODE_16;
		if (pfx == 0x67 || ++prefixes == 4)
			return false;
	}
	if ((*p & 0xf0) == 0x40 && is_64bit) {
		code->rex = *p++ & 15;
		/* The last of two counts, and VEX can't have one. */
		if (inat_primary_table[*p] & INAT_PFX_MASK)
			return false;
	}
	if (!get_opcode(&p, is_64bit, prefixes, pfx, code, &attr))
		return false;
	p = get_operands(p, attr, code);
	if (!p)
		return false;
	code->len = p - start;
	return code->len <= MAX_INSN_SIZE;
}

/* Inlined, because most of a search's time is spent here: see x86_frame_decode_next(). */
static __always_inline const u8 *decode_next(const u8 *p, const u8 *last, unsigned int max,
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
	    (!decode_short(p, is_64bit, code) && !decode_quick(p, is_64bit, code)))
		code->len = 0;
	return p;
}

/**
 * x86_frame_decode_next - decode the next instruction that is not quiet
 * @p:		where to start
 * @last:	the last address with X86_QUICK_BYTES that can be read
 * @max:	how many quiet instructions to skip, at most
 * @is_64bit:	64-bit code
 * @code:	the instruction; its length is 0 if it is not a common one, if it is after @last,
 *		or if @max have been skipped
 * @skipped:	how many were skipped
 *
 * Returns: where the instruction is
 */
const u8 *x86_frame_decode_next(const u8 *p, const u8 *last, unsigned int max,
				bool is_64bit, struct x86_code *code, unsigned int *skipped)
{
	return decode_next(p, last, max, is_64bit, code, skipped);
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

/* Sets the map and the opcode in it. */
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
 * x86_frame_decode - decode by the kernel's decoder
 * @insn:	memory for the decoder
 * @p:		the instruction
 * @len:	bytes that can be read there
 * @is_64bit:	64-bit code
 * @code:	the instruction
 *
 * Calls the steps of insn_decode(), which nests seven functions, and so needs more stack.
 *
 * Returns: false if it is no instruction
 */
bool x86_frame_decode(struct insn *insn, const u8 *p, int len, bool is_64bit,
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

/**
 * x86_frame_scan_read - read code, and take units of the budget
 * @scan:	the search
 * @addr:	its address
 * @dst:	out: the bytes
 * @len:	how many, less than a page
 *
 * Returns: how many bytes were read
 */
unsigned int x86_frame_scan_read(struct x86_scan *scan, unsigned long addr, u8 *dst,
				 unsigned int len)
{
	unsigned int got = x86_frame_fetch(scan->mem, addr, dst, len);

	x86_charge(scan, got < len ? X86_SCAN_FAILED : X86_SCAN_READ);
	return got;
}

/**
 * x86_frame_fill_window - read code into the window
 * @scan:	the search
 * @pc:		its address, as offset from ip
 */
void x86_frame_fill_window(struct x86_scan *scan, s32 pc)
{
	scan->win_pc = pc;
	scan->win_len = x86_frame_scan_read(scan, scan->ip + pc, scan->work->window,
					    X86_FRAME_WINDOW);
}

/**
 * x86_frame_decode_window - decode by the kernel's decoder, and take units of the budget
 * @scan:	the search
 * @off:	where the instruction is in the window
 *
 * Returns: false if it is no instruction
 */
bool x86_frame_decode_window(struct x86_scan *scan, unsigned int off)
{
	static_assert(sizeof(struct insn) <= sizeof(scan->work->decoder));
	x86_charge(scan, X86_SCAN_SLOW);
	return x86_frame_decode((struct insn *)scan->work->decoder, scan->work->window + off,
				scan->win_len - off, scan->mem->is_64bit, &scan->code);
}

/* Does the window end at a byte that can't be read? Then it can't be filled any further. */
static bool is_cut(const struct x86_scan *scan, unsigned int off)
{
	return scan->win_len < X86_FRAME_WINDOW && off < scan->win_len;
}

/*
 * Decodes what is not common, and what is close to a byte that can't be read. All other bytes of
 * the instruction are in the window: X86_QUICK_BYTES are more than an instruction has.
 */
static noinline bool decode_slow(struct x86_scan *scan)
{
	static_assert(X86_QUICK_BYTES >= MAX_INSN_SIZE);
	return x86_frame_decode_window(scan, scan->work->path.pc - scan->win_pc);
}

/* Decodes the next instruction that may matter. */
static __always_inline bool decode(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	const u8 *p, *next, *last;
	unsigned int off, skipped;

	do {
		off = work->path.pc - scan->win_pc;
		if (off > X86_FRAME_WINDOW ||
		    off + X86_QUICK_BYTES > scan->win_len) {
			if (!is_cut(scan, off)) {
				x86_frame_fill_window(scan, scan->work->path.pc);
				off = 0;
			}
			if (x86_is_spent(scan))
				return false;
			if (scan->win_len < off + X86_QUICK_BYTES)
				return decode_slow(scan);
		}
		p = work->window + off;
		last = work->window + scan->win_len - X86_QUICK_BYTES;
		next = decode_next(p, last, work->limit - work->insns,
				   scan->mem->is_64bit, &scan->code,
				   &skipped);
		work->insns += skipped;
		work->path.pc += next - p;
		if (scan->code.len) {
			x86_charge(scan, X86_SCAN_NOT_QUIET);
			return true;
		}
		/* The skipped code may run into another stretch. */
		if (work->path.pc >= scan->stop)
			return false;
	} while (next > last);
	return work->insns < work->limit && decode_slow(scan);
}

/**
 * x86_frame_scan_decode - decode the next instruction that may matter
 * @scan:	the search; its path is at or before the instruction, and moves there
 *
 * Returns: false if there is none, or if the limit is reached
 */
noinline bool x86_frame_scan_decode(struct x86_scan *scan)
{
	return decode(scan);
}
