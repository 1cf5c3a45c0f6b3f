/* SPDX-License-Identifier: GPL-2.0 */
/* x86 frame analysis: shared by its sources only. */
#ifndef _X86_FRAME_SCAN_H
#define _X86_FRAME_SCAN_H

#include <linux/types.h>
#include <asm/insn.h>

#include "x86_frame.h"

/* The numbers of the two registers that matter. */
#define X86_REG_SP	4
#define X86_REG_BP	5

/* The opcode maps. */
enum x86_map {
	X86_MAP_ONE,		/* one byte */
	X86_MAP_0F,		/* after 0f */
	X86_MAP_VEX,		/* others: no instruction that jumps, or sets sp or bp */
	X86_MAP_APX,		/* has such instructions */
};

#define X86_CODE_64	0x01	/* 64-bit code */
#define X86_CODE_MODRM	0x02	/* has a ModRM byte */
#define X86_CODE_16	0x04	/* has the prefix with the operand size */
#define X86_CODE_ADDR	0x08	/* has the prefix with the address size */

/**
 * struct x86_code - an instruction
 * @len:	length in bytes
 * @map:	enum x86_map
 * @op:		opcode in the map
 * @modrm:	0 if there is none
 * @sib:	0 if there is none
 * @rex:	W, R, X, B from bit 3 down; REX2 has three more from bit 6 down
 * @flags:	X86_CODE_*
 * @disp:	displacement, sign-extended
 * @imm:	immediate, sign-extended; the low half of one that has 64 bits
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

/* How many bytes x86_frame_decode_next() may read for one instruction. */
#define X86_QUICK_BYTES	16

/*
 * The tables of insn.c, which inat-tables.c has. Its functions would be called once for each
 * instruction, which makes a search 6 to 10 % longer.
 */
extern const insn_attr_t inat_primary_table[INAT_OPCODE_TABLE_SIZE];
extern const insn_attr_t inat_escape_table_1[INAT_OPCODE_TABLE_SIZE];
extern const insn_attr_t inat_escape_table_1_1[INAT_OPCODE_TABLE_SIZE];
extern const insn_attr_t inat_escape_table_1_2[INAT_OPCODE_TABLE_SIZE];
extern const insn_attr_t inat_escape_table_1_3[INAT_OPCODE_TABLE_SIZE];

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

/* What the value of a register is an offset from. */
enum x86_base {
	X86_BASE_SP,		/* the sp of ip */
	X86_BASE_BP,		/* the bp of ip */
	X86_BASE_NONE,		/* nothing that is known */
	X86_BASE_MEM_SP,	/* a word in memory, at an offset from the sp of ip */
	X86_BASE_MEM_BP,	/* ... from the bp of ip */
	X86_BASE_REG,		/* the value of another register at ip */
};

/* Whether a path copied sp to another register. */
enum x86_kept {
	X86_KEPT_NONE,		/* no */
	X86_KEPT_SP,		/* yes: kept_reg is the sp of ip + kept_sp */
	X86_KEPT_LOST,		/* yes, but the value of the copy is not known */
};

/* The value of bp. */
enum x86_bp {
	X86_BP_SAME,		/* the bp of ip */
	X86_BP_LOADED,		/* the stack slot at bp_base + bp was loaded */
	X86_BP_VALUE,		/* bp_base + bp */
	X86_BP_LOST,		/* not known */
};

/*
 * Units of X86_FRAME_INSNS that are taken besides the one of each instruction: for a read of code,
 * a read that fails, a branch, jump or end of a path, a search for the table of a jump, an
 * instruction that is not quiet, and one that insn.c decodes. A unit takes the processor at most
 * some 120 instructions: selftests/frame/test-cost looks for code that takes more.
 */
#define X86_SCAN_READ		2
#define X86_SCAN_FAILED		128
#define X86_SCAN_JUMP		3
#define X86_SCAN_TABLE		8
#define X86_SCAN_NOT_QUIET	4
#define X86_SCAN_SLOW		11

/* No function is larger than this, in bytes to either side of ip. */
#define X86_SCAN_REACH	0x10000000

/**
 * struct x86_scan - state of a search
 * @mem:	the code
 * @ip:		address at which the search starts
 * @code:	the current instruction
 * @work:	the paths, and more
 * @start:	start of the stretch that is being followed, as offset from @ip
 * @stop:	start of the next stretch that has been followed already
 * @win_pc:	offset of the window from @ip
 * @win_len:	number of valid bytes in the window
 * @table:	table of a jump, as offset from @ip
 * @base:	address that its entries are offsets from, as offset from @ip
 * @nr_todo:	number of waiting paths
 * @nr_seen:	number of remembered stretches
 */
struct x86_scan {
	const struct x86_frame_mem *mem;
	unsigned long	ip;
	struct x86_code	code;
	struct x86_frame_work *work;
	s32		start;
	s32		stop;
	s32		win_pc;
	u8		win_len;
	u8		nr_todo;
	u8		nr_seen;
	s32		table;
	s32		base;
};

/* Where a path continues after an instruction. */
enum x86_step {
	X86_STEP_NEXT,		/* continue after the instruction */
	X86_STEP_JUMP,		/* continue at the target */
	X86_STEP_BRANCH,	/* either */
	X86_STEP_EXIT,		/* the function returns: sp points to the return address */
	X86_STEP_TABLE,		/* continue at an entry of a table */
	X86_STEP_DEAD,		/* the path ends without a result */
};

/* Returns @pc + @offset, or X86_SCAN_REACH if that is too far away. */
static inline s32 x86_pc_add(s32 pc, s32 offset)
{
	s64 sum = (s64)pc + offset;

	return sum < X86_SCAN_REACH && sum > -X86_SCAN_REACH ? sum :
							       X86_SCAN_REACH;
}

/* Takes @units of the budget, besides the instruction's own one. */
static inline void x86_charge(struct x86_scan *scan, unsigned int units)
{
	struct x86_frame_work *work = scan->work;

	work->limit = units < work->limit ? work->limit - units : 0;
}

/* Has the search reached its limit? */
static inline bool x86_is_spent(const struct x86_scan *scan)
{
	return scan->work->insns > scan->work->limit;
}

/* x86_frame.c */
unsigned int x86_frame_fetch(const struct x86_frame_mem *mem,
			     unsigned long addr, u8 *dst, unsigned int len);
enum x86_frame_kind x86_frame_guess_entry(const struct x86_frame_mem *mem, unsigned long ip,
					  struct x86_frame_rule *rule);
bool x86_frame_is_go_check(const u8 *p, unsigned int len);
bool x86_frame_is_plt0(const u8 *p, unsigned int len);
bool x86_frame_is_return_thunk(const u8 *p, unsigned int len);

/* x86_frame_decode.c */
const u8 *x86_frame_decode_next(const u8 *p, const u8 *last, unsigned int max,
				bool is_64bit, struct x86_code *code, unsigned int *skipped);
bool x86_frame_decode(struct insn *insn, const u8 *p, int len, bool is_64bit,
		      struct x86_code *code);
unsigned int x86_frame_scan_read(struct x86_scan *scan, unsigned long addr, u8 *dst,
				 unsigned int len);
void x86_frame_fill_window(struct x86_scan *scan, s32 pc);
bool x86_frame_decode_window(struct x86_scan *scan, unsigned int off);
bool x86_frame_scan_decode(struct x86_scan *scan);

/* x86_frame_step.c */
enum x86_step x86_frame_step(const struct x86_code *code, struct x86_path *path, s32 *target);

/* x86_frame_path.c */
bool x86_frame_start_stretch(struct x86_scan *scan);
void x86_frame_end_stretch(struct x86_scan *scan, s32 end);
bool x86_frame_contradicts(const struct x86_scan *scan, s32 pc);
void x86_frame_end_run(struct x86_path *path);
void x86_frame_add_todo(struct x86_scan *scan, s32 pc);
bool x86_frame_next_todo(struct x86_scan *scan);
bool x86_frame_take_turns(struct x86_scan *scan);
bool x86_frame_find_table(struct x86_scan *scan);
bool x86_frame_follow_table(struct x86_scan *scan);
bool x86_frame_is_kept(struct x86_scan *scan, int reg);

#endif /* _X86_FRAME_SCAN_H */
