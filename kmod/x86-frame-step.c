// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: what one instruction does to sp, to bp and to the path.
 *
 * Only these two registers are followed.  An instruction that sets one of
 * them to something that can't be followed makes it unknown, which is never
 * wrong: a leave can still find sp again, a pop can find bp again.
 */
#include <linux/types.h>
#include <asm/insn.h>

#include "x86-frame-scan.h"

/* Frames beyond this are not followed: the offsets are 16 bits, in words. */
#define X86_MAX_WORDS	16000

static int word_size(const struct insn *insn)
{
	return insn->x86_64 ? 8 : 4;
}

static int rex_bit(const struct insn *insn, int bit)
{
	return insn->rex_prefix.nbytes && (insn->rex_prefix.bytes[0] & bit);
}

/* Number of the register in ModRM.reg; @bit says which REX bit extends it. */
static int reg_number(const struct insn *insn, int low, int bit)
{
	/* REX2 has both of its extension bits in the second byte. */
	if (insn->rex_prefix.nbytes == 2) {
		u8 rex2 = insn->rex_prefix.bytes[1];

		return low | (rex2 & bit ? 8 : 0) | (rex2 & (bit << 4) ? 16 : 0);
	}
	return low | (rex_bit(insn, bit) ? 8 : 0);
}

static int modrm_reg(const struct insn *insn)
{
	return reg_number(insn, X86_MODRM_REG(insn->modrm.value), 4);
}

/* The register operand of ModRM.rm, -1 for memory. */
static int modrm_rm(const struct insn *insn)
{
	if (X86_MODRM_MOD(insn->modrm.value) != 3)
		return -1;
	return reg_number(insn, X86_MODRM_RM(insn->modrm.value), 1);
}

/* The base register of a memory operand without an index, -1 for others. */
static int mem_base(const struct insn *insn)
{
	int mod = X86_MODRM_MOD(insn->modrm.value);
	int rm = X86_MODRM_RM(insn->modrm.value);

	if (mod == 3 || insn->addr_bytes != word_size(insn))
		return -1;
	if (rm == 4) {
		rm = X86_SIB_BASE(insn->sib.value);
		if (reg_number(insn, X86_SIB_INDEX(insn->sib.value), 2) != 4)
			return -1;
	}
	if (rm == 5 && !mod)
		return -1;
	return reg_number(insn, rm, 1);
}

static bool full_width(const struct insn *insn)
{
	if (!insn->x86_64)
		return insn->opnd_bytes == 4;
	if (insn->rex_prefix.nbytes == 2)
		return X86_REX_W(insn->rex_prefix.bytes[1]);
	return rex_bit(insn, 8);
}

/* @base + @words moved by @bytes; the base becomes unknown on overflow. */
static int move_by(const struct insn *insn, int base, s16 *words, s32 bytes)
{
	int ws = word_size(insn);
	s32 sum;

	if (base == X86_BASE_NONE || bytes & (ws - 1))
		return X86_BASE_NONE;
	if (bytes > X86_MAX_WORDS * ws || bytes < -X86_MAX_WORDS * ws)
		return X86_BASE_NONE;
	sum = *words + bytes / ws;
	if (sum > X86_MAX_WORDS || sum < -X86_MAX_WORDS)
		return X86_BASE_NONE;
	*words = sum;
	return base;
}

static void sp_add(struct insn *insn, struct x86_path *path, s32 bytes)
{
	s16 words = path->sp;

	path->sp_base = move_by(insn, path->sp_base, &words, bytes);
	path->sp = words;
	if (path->sp_base == X86_BASE_SP && path->save < words)
		path->saved = 0;
}

/* The value of bp, as base and words. */
static int bp_value(const struct x86_path *path, s16 *words)
{
	if (path->bp_kind == X86_BP_SAME) {
		*words = 0;
		return X86_BASE_BP;
	}
	if (path->bp_kind == X86_BP_VALUE) {
		*words = path->bp;
		return path->bp_base;
	}
	*words = 0;
	return X86_BASE_NONE;
}

static void set_bp(struct x86_path *path, int base, s16 words)
{
	path->bp_kind = base == X86_BASE_NONE ? X86_BP_LOST : X86_BP_VALUE;
	path->bp_base = base;
	path->bp = words;
}

static void set_sp(struct x86_path *path, int base, s16 words)
{
	path->sp_base = base;
	path->sp = words;
	if (base == X86_BASE_SP && path->save < words)
		path->saved = 0;
}

/* bp is stored at @base + @words. */
static void store_bp(struct x86_path *path, int base, s16 words)
{
	if (path->bp_kind > X86_BP_LOADED || base != X86_BASE_SP)
		return;
	if (path->bp_kind == X86_BP_LOADED && path->bp_base != X86_BASE_SP)
		return;
	/* The first copy stays the one that counts, as long as it is there. */
	if (path->saved)
		return;
	path->saved = 1;
	path->save = words;
	path->save_bp = path->bp;
	path->save_kind = path->bp_kind;
}

/* bp is loaded from @base + @words. */
static void load_bp(struct x86_path *path, int base, s16 words)
{
	if (base == X86_BASE_NONE) {
		path->bp_kind = X86_BP_LOST;
	} else if (base == X86_BASE_SP && path->saved && path->save == words) {
		path->bp_kind = path->save_kind;
		path->bp_base = X86_BASE_SP;
		path->bp = path->save_bp;
	} else if (base == X86_BASE_SP &&
		   (words < 0 || (path->saved && path->save < 0))) {
		/*
		 * Pushed here and popped from elsewhere, or not pushed here and
		 * popped: the path has come into another function.
		 */
		path->bp_kind = X86_BP_LOST;
	} else {
		path->bp_kind = X86_BP_LOADED;
		path->bp_base = base;
		path->bp = words;
	}
}

/* The decoder's operand size says 8 for these even with the prefix. */
static bool has_16bit_prefix(const struct insn *insn)
{
	int i;

	for (i = 0; i < 4 && insn->prefixes.bytes[i]; i++)
		if (insn->prefixes.bytes[i] == 0x66)
			return true;
	return false;
}

static void push_reg(struct insn *insn, struct x86_path *path, int reg)
{
	sp_add(insn, path, -word_size(insn));
	if (has_16bit_prefix(insn))
		path->sp_base = X86_BASE_NONE;
	if (reg == X86_REG_BP)
		store_bp(path, path->sp_base, path->sp);
}

static void pop_reg(struct insn *insn, struct x86_path *path, int reg)
{
	if (reg == X86_REG_BP)
		load_bp(path, path->sp_base, path->sp);
	sp_add(insn, path, word_size(insn));
	if (reg == X86_REG_SP || has_16bit_prefix(insn))
		path->sp_base = X86_BASE_NONE;
}

static void leave(struct insn *insn, struct x86_path *path)
{
	s16 words;
	int base = bp_value(path, &words);

	set_sp(path, base, words);
	pop_reg(insn, path, X86_REG_BP);
}

/* @reg is set to something that is not followed. */
static void clobber(struct x86_path *path, int reg)
{
	if (reg == X86_REG_SP)
		path->sp_base = X86_BASE_NONE;
	else if (reg == X86_REG_BP)
		path->bp_kind = X86_BP_LOST;
}

static void move_reg(struct insn *insn, struct x86_path *path, int dst, int src)
{
	s16 words;
	int base;

	if (!full_width(insn)) {
		clobber(path, dst);
	} else if (dst == X86_REG_SP && src == X86_REG_BP) {
		base = bp_value(path, &words);
		set_sp(path, base, words);
	} else if (dst == X86_REG_BP && src == X86_REG_SP) {
		set_bp(path, path->sp_base, path->sp);
	} else {
		clobber(path, dst);
	}
}

/* The address of a memory operand, as base and words. */
static int mem_address(struct insn *insn, struct x86_path *path, s16 *words)
{
	int reg = mem_base(insn), base;

	*words = 0;
	if (reg == X86_REG_SP) {
		base = path->sp_base;
		*words = path->sp;
	} else if (reg == X86_REG_BP) {
		base = bp_value(path, words);
	} else {
		return X86_BASE_NONE;
	}
	return move_by(insn, base, words, insn->displacement.value);
}

/*
 * The last instruction of a function that realigned its stack, lea -8(%r10)
 * or lea -4(%ecx) to sp.  Its prologue pushed a copy of the return address
 * under the saved bp, so that the frame looks like any other from bp, and
 * the copy is at sp when bp has been restored.
 */
static bool is_realign_exit(struct insn *insn, struct x86_path *path)
{
	int reg = insn->x86_64 ? 10 : 1;

	return mem_base(insn) == reg && path->bp_kind != X86_BP_LOST &&
	       insn->displacement.value == -word_size(insn);
}

static void step_lea(struct insn *insn, struct x86_path *path)
{
	int reg = modrm_reg(insn), base;
	s16 words = 0;

	if (reg != X86_REG_SP && reg != X86_REG_BP)
		return;
	if (reg == X86_REG_SP && is_realign_exit(insn, path))
		return;
	base = full_width(insn) ? mem_address(insn, path, &words) :
				  X86_BASE_NONE;
	if (reg == X86_REG_SP)
		set_sp(path, base, words);
	else
		set_bp(path, base, words);
}

/* 89, 8b: mov between registers and memory */
static void step_mov(struct insn *insn, struct x86_path *path, bool load)
{
	int reg = modrm_reg(insn), rm = modrm_rm(insn), base;
	s16 words = 0;

	if (rm >= 0) {
		if (load)
			move_reg(insn, path, reg, rm);
		else
			move_reg(insn, path, rm, reg);
		return;
	}
	if (reg != X86_REG_BP) {
		if (load)
			clobber(path, reg);
		return;
	}
	base = full_width(insn) ? mem_address(insn, path, &words) :
				  X86_BASE_NONE;
	if (load)
		load_bp(path, base, words);
	else
		store_bp(path, base, words);
}

/* 81, 83: add, sub, and, cmp ... with an immediate */
static void step_alu_imm(struct insn *insn, struct x86_path *path)
{
	int rm = modrm_rm(insn), op = X86_MODRM_REG(insn->modrm.value);

	if (op == 7)
		return;
	if (rm == X86_REG_SP && full_width(insn) && (op == 0 || op == 5))
		sp_add(insn, path, op ? -insn->immediate.value :
					insn->immediate.value);
	else
		clobber(path, rm);
}

/* 00 to 3f: the eight operations between registers and memory */
static void step_alu(struct insn *insn, struct x86_path *path, u8 op)
{
	int rm = modrm_rm(insn), reg = modrm_reg(insn);

	if ((op & 7) > 3)
		return;
	if ((op & 0x38) == 0x38) {
		/*
		 * sp compared with a register ends the loop that touches each
		 * page of a big frame: the depth differs from turn to turn.
		 */
		if (rm == X86_REG_SP || (rm >= 0 && reg == X86_REG_SP))
			path->sp_base = X86_BASE_NONE;
		return;
	}
	clobber(path, op & 2 ? reg : rm);
}

static void note_call(struct x86_path *path)
{
	if (path->sp_base != X86_BASE_SP)
		return;
	if (!path->tail && (!path->called || path->sp > path->call_sp))
		path->call_sp = path->sp;
	if (path->called < 3)
		path->called++;
}

static enum x86_step step_group5(struct insn *insn, struct x86_path *path)
{
	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 0:
	case 1:
		clobber(path, modrm_rm(insn));
		return X86_STEP_NEXT;
	case 2:
		note_call(path);
		return X86_STEP_NEXT;
	case 4:
		/*
		 * A register, or memory with an index, goes by a table of
		 * targets within the function.  Other memory makes a tail
		 * call, from a linkage table or through an object's functions.
		 */
		if (modrm_rm(insn) >= 0 ||
		    (X86_MODRM_RM(insn->modrm.value) == 4 && mem_base(insn) < 0))
			return X86_STEP_TABLE;
		return X86_STEP_EXIT;
	case 6:
		sp_add(insn, path, -word_size(insn));
		return X86_STEP_NEXT;
	default:
		return X86_STEP_DEAD;
	}
}

static enum x86_step step_two_byte(struct insn *insn, struct x86_path *path,
				   s32 *target)
{
	u8 op = insn->opcode.bytes[1];

	switch (op) {
	case 0x80 ... 0x8f:
		*target = insn->immediate.value;
		return X86_STEP_BRANCH;
	case 0xa0:
	case 0xa8:
		push_reg(insn, path, -1);
		break;
	case 0xa1:
	case 0xa9:
		pop_reg(insn, path, -1);
		break;
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		clobber(path, modrm_reg(insn));
		break;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return X86_STEP_DEAD;
	}
	return X86_STEP_NEXT;
}

static enum x86_step step_call(struct insn *insn, struct x86_path *path)
{
	/* 32-bit code reads its ip by a call to the next instruction. */
	if (!insn->immediate.value) {
		push_reg(insn, path, -1);
		return X86_STEP_NEXT;
	}
	note_call(path);
	return X86_STEP_NEXT;
}

/* The opcodes that neither jump nor touch the stack, but may set bp or sp. */
static enum x86_step step_data(struct insn *insn, struct x86_path *path, u8 op)
{
	int low = reg_number(insn, op & 7, 1);

	switch (op) {
	case 0x00 ... 0x3f:
		step_alu(insn, path, op);
		break;
	case 0x40 ... 0x4f:
		clobber(path, op & 7);
		break;
	case 0x63:
	case 0x69:
	case 0x6b:
		clobber(path, modrm_reg(insn));
		break;
	case 0x81:
	case 0x83:
		step_alu_imm(insn, path);
		break;
	case 0x87:
		clobber(path, modrm_reg(insn));
		clobber(path, modrm_rm(insn));
		break;
	case 0x89:
	case 0x8b:
		step_mov(insn, path, op == 0x8b);
		break;
	case 0x8d:
		step_lea(insn, path);
		break;
	case 0x91 ... 0x97:
	case 0xb8 ... 0xbf:
		clobber(path, low);
		break;
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
		clobber(path, modrm_rm(insn));
		break;
	case 0xf7:
		if (X86_MODRM_REG(insn->modrm.value) > 1)
			clobber(path, modrm_rm(insn));
		break;
	}
	return X86_STEP_NEXT;
}

static enum x86_step step_one_byte(struct insn *insn, struct x86_path *path,
				   s32 *target, u8 op)
{
	int low = reg_number(insn, op & 7, 1);

	switch (op) {
	case 0x50 ... 0x57:
		push_reg(insn, path, low);
		return X86_STEP_NEXT;
	case 0x58 ... 0x5f:
		pop_reg(insn, path, low);
		return X86_STEP_NEXT;
	case 0x06:
	case 0x0e:
	case 0x16:
	case 0x1e:
	case 0x68:
	case 0x6a:
	case 0x9c:
		push_reg(insn, path, -1);
		return X86_STEP_NEXT;
	case 0x07:
	case 0x17:
	case 0x1f:
	case 0x9d:
		pop_reg(insn, path, -1);
		return X86_STEP_NEXT;
	case 0x8f:
		pop_reg(insn, path, modrm_rm(insn));
		return X86_STEP_NEXT;
	case 0xc9:
		leave(insn, path);
		return X86_STEP_NEXT;
	case 0xc2 ... 0xc3:
		return X86_STEP_EXIT;
	case 0xe8:
		return step_call(insn, path);
	case 0xe9:
	case 0xeb:
		*target = insn->immediate.value;
		return X86_STEP_JUMP;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		*target = insn->immediate.value;
		return X86_STEP_BRANCH;
	case 0xff:
		return step_group5(insn, path);
	case 0x60 ... 0x61:	/* pusha, popa */
	case 0x9a:		/* far call */
	case 0xc8:		/* enter */
	case 0xca ... 0xcc:	/* far return, int3 */
	case 0xcf:		/* iret */
	case 0xea:		/* far jump */
	case 0xf4:		/* hlt */
		return X86_STEP_DEAD;
	default:
		return step_data(insn, path, op);
	}
}

/*
 * Does the instruction read bp, as it was at ip, as a value?  The function that
 * put it there restores bp before it returns.
 */
static void note_use(struct insn *insn, struct x86_path *path, u8 op)
{
	int base = mem_base(insn);

	if (path->bp_kind != X86_BP_SAME)
		return;
	/* A store of bp to the stack saves it. */
	if (base == X86_REG_BP ||
	    (op == 0x89 && base != X86_REG_SP &&
	     modrm_reg(insn) == X86_REG_BP) ||
	    (op == 0x8b && modrm_rm(insn) == X86_REG_BP))
		path->bp_used = 1;
}

/**
 * x86_step_insn - carry a path over one instruction
 * @insn:	the instruction, decoded
 * @path:	the path, its pc not touched
 * @target:	where a jump or branch goes, as offset from its end
 *
 * Returns: how the path goes on
 */
enum x86_step x86_step_insn(struct insn *insn, struct x86_path *path,
			    s32 *target)
{
	u8 op = insn->opcode.bytes[0];

	if (insn->modrm.nbytes)
		note_use(insn, path, op);
	/* AVX touches neither; APX can push and pop, which is left alone. */
	if (insn->vex_prefix.nbytes)
		return insn->vex_prefix.nbytes == 4 &&
		       X86_EVEX_M(insn->vex_prefix.bytes[1]) == 4 ?
			X86_STEP_DEAD : X86_STEP_NEXT;

	if (op == 0x0f)
		return step_two_byte(insn, path, target);
	return step_one_byte(insn, path, target, op);
}
