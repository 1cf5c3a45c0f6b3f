// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: sp and bp along a path.
 *
 * Only these two registers are followed, and where sp is kept meanwhile, see
 * x86-frame-kept.c.  An instruction that sets one of
 * them to something that can't be followed makes it unknown, which is never
 * wrong: a leave can still find sp again, a pop can find bp again.
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

/* Frames beyond this are not followed: the offsets are 16 bits, in words. */
#define X86_MAX_WORDS	16000

/**
 * x86_move_by - move a place
 * @code:	the instruction
 * @base:	what the place counts from
 * @words:	where it is, in words
 * @bytes:	by how much
 *
 * Returns: @base, or X86_BASE_NONE on overflow
 */
int x86_move_by(const struct x86_code *code, int base, s16 *words, s32 bytes)
{
	int ws = x86_word_size(code);
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

/**
 * x86_sp_add - sp moves
 * @code:	the instruction
 * @path:	the path
 * @bytes:	by how much
 */
void x86_sp_add(const struct x86_code *code, struct x86_path *path, s32 bytes)
{
	s16 words = path->sp;

	path->sp_base = x86_move_by(code, path->sp_base, &words, bytes);
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

/**
 * x86_set_sp - sp is set
 * @path:	the path
 * @base:	what its value counts from
 * @words:	the value, in words
 */
void x86_set_sp(struct x86_path *path, int base, s16 words)
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

/**
 * x86_push - a push
 * @code:	the instruction
 * @path:	the path
 * @reg:	the register, -1 for what is none
 */
void x86_push(const struct x86_code *code, struct x86_path *path, int reg)
{
	x86_sp_add(code, path, -x86_word_size(code));
	if (code->flags & X86_CODE_16)
		path->sp_base = X86_BASE_NONE;
	if (reg == X86_REG_BP)
		store_bp(path, path->sp_base, path->sp);
}

/**
 * x86_pop - a pop
 * @code:	the instruction
 * @path:	the path
 * @reg:	the register, -1 for what is none
 */
void x86_pop(const struct x86_code *code, struct x86_path *path, int reg)
{
	if (reg == X86_REG_BP)
		load_bp(path, path->sp_base, path->sp);
	else if (reg == X86_REG_SP)
		x86_load_sp(path, path->sp_base, path->sp);
	else
		x86_clobber(path, reg);
	if (reg != X86_REG_SP)
		x86_sp_add(code, path, x86_word_size(code));
	if (code->flags & X86_CODE_16)
		path->sp_base = X86_BASE_NONE;
}

/**
 * x86_leave - a leave
 * @code:	the instruction
 * @path:	the path
 */
void x86_leave(const struct x86_code *code, struct x86_path *path)
{
	s16 words;
	int base = bp_value(path, &words);

	x86_set_sp(path, base, words);
	x86_pop(code, path, X86_REG_BP);
}

/**
 * x86_clobber - a register is set to something that is not followed
 * @path:	the path
 * @reg:	the register, -1 for none
 */
void x86_clobber(struct x86_path *path, int reg)
{
	if (reg == X86_REG_SP)
		path->sp_base = X86_BASE_NONE;
	else if (reg == X86_REG_BP)
		path->bp_kind = X86_BP_LOST;
	else if (path->kept && reg == path->kept_reg)
		path->kept = X86_KEPT_LOST;
}

static void move_reg(const struct x86_code *code, struct x86_path *path, int dst,
		     int src)
{
	s16 words;
	int base;

	if (!x86_full_width(code)) {
		x86_clobber(path, dst);
	} else if (dst == X86_REG_SP && src == X86_REG_BP) {
		base = bp_value(path, &words);
		x86_set_sp(path, base, words);
	} else if (dst == X86_REG_BP && src == X86_REG_SP) {
		set_bp(path, path->sp_base, path->sp);
	} else if (dst == X86_REG_SP) {
		x86_restore_sp(code, path, src);
	} else if (src == X86_REG_SP) {
		x86_keep_sp(path, dst);
	} else {
		x86_clobber(path, dst);
	}
}

/* The address of a memory operand, as base and words. */
static int mem_address(const struct x86_code *code, const struct x86_path *path,
		       s16 *words)
{
	int reg = x86_mem_base(code), base;

	*words = 0;
	if (reg == X86_REG_SP) {
		base = path->sp_base;
		*words = path->sp;
	} else if (reg == X86_REG_BP) {
		base = bp_value(path, words);
	} else {
		return X86_BASE_NONE;
	}
	return x86_move_by(code, base, words, code->disp);
}

/*
 * The last instruction of a function that realigned its stack, lea -8(%r10)
 * or lea -4(%ecx) to sp.  Its prologue pushed a copy of the return address
 * under the saved bp, so that the frame looks like any other from bp, and
 * the copy is at sp when bp has been restored.  Where r13 is used, it is popped
 * behind that instruction, lea -16(%r13).
 */
static bool is_realign_exit(const struct x86_code *code, struct x86_path *path)
{
	int reg = code->flags & X86_CODE_64 ? 10 : 1;

	if (path->bp_kind == X86_BP_LOST)
		return false;
	if (x86_mem_base(code) == 13 && code->disp == -16 && path->sp_base == X86_BASE_BP) {
		path->sp--;
		return true;
	}
	return x86_mem_base(code) == reg && code->disp == -x86_word_size(code);
}

/**
 * x86_lea - lea
 * @code:	the instruction
 * @path:	the path
 */
void x86_lea(const struct x86_code *code, struct x86_path *path)
{
	int reg = x86_modrm_reg(code), base;
	s16 words = 0;

	if (reg != X86_REG_SP && reg != X86_REG_BP) {
		x86_clobber(path, reg);
		return;
	}
	if (reg == X86_REG_SP && is_realign_exit(code, path))
		return;
	if (reg == X86_REG_SP && x86_full_width(code) &&
	    (x86_mem_base(code) & ~1) != X86_REG_SP) {
		x86_restore_sp(code, path, x86_mem_base(code));
		return;
	}
	base = x86_full_width(code) ? mem_address(code, path, &words) :
				      X86_BASE_NONE;
	if (reg == X86_REG_SP)
		x86_set_sp(path, base, words);
	else
		set_bp(path, base, words);
}

/**
 * x86_mov - mov, between registers or a register and memory
 * @code:	the instruction
 * @path:	the path
 * @load:	ModRM.reg is the one that is written
 */
void x86_mov(const struct x86_code *code, struct x86_path *path, bool load)
{
	int reg = x86_modrm_reg(code), rm = x86_modrm_rm(code), base;
	s16 words = 0;

	if (rm >= 0) {
		if (load)
			move_reg(code, path, reg, rm);
		else
			move_reg(code, path, rm, reg);
		return;
	}
	if (reg != X86_REG_BP && (reg != X86_REG_SP || !load)) {
		if (load)
			x86_clobber(path, reg);
		return;
	}
	base = x86_full_width(code) ? mem_address(code, path, &words) :
				      X86_BASE_NONE;
	if (load && reg == X86_REG_SP)
		x86_load_sp(path, base, words);
	else if (load)
		load_bp(path, base, words);
	else
		store_bp(path, base, words);
}
