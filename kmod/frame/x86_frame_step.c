// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: what an instruction does to the path.
 *
 * A path follows sp and bp, and a copy of sp in another register. If an instruction sets one of
 * them to a value that can't be followed, the value becomes unknown. That is never wrong: a later
 * leave can still set sp, and a pop can set bp.
 *
 * Assemblers realign a frame without bp. They store the caller's sp in the frame and leave by
 * mov N(%rsp),%rsp or pop %rsp (x86inc, libjpeg-turbo), or they keep it in a register and leave by
 * mov %rbx,%rsp (OpenBLAS, x86inc).
 */
#include <linux/types.h>

#include "x86_frame_scan.h"

/* The longest offset that a path follows, in words: it has 16 bits for them. */
#define X86_MAX_WORDS	16000

/*
 * The first two arguments. Code that switches stacks is given the new sp in one of them, and the
 * caller is not on that stack.
 */
#define X86_REG_SI	6
#define X86_REG_DI	7

/* Adds @bytes to *@words, which counts from @base. Returns @base, X86_BASE_NONE on overflow. */
static int move_by(const struct x86_code *code, int base, s16 *words, s32 bytes)
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

/* Adds @bytes to sp. */
static void sp_add(const struct x86_code *code, struct x86_path *path, s32 bytes)
{
	s16 words = path->sp;

	path->sp_base = move_by(code, path->sp_base, &words, bytes);
	path->sp = words;
	if (path->sp_base == X86_BASE_SP && path->save < words)
		path->saved = 0;
}

/* The value of bp: what it counts from, and how many words. */
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

/* Of the other bases path->from says which, and sp may get another one of these. */
static void set_bp(struct x86_path *path, int base, s16 words)
{
	path->bp_kind = base >= X86_BASE_NONE ? X86_BP_LOST : X86_BP_VALUE;
	path->bp_base = base;
	path->bp = words;
}

/* Sets sp to @words from @base. */
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
	if (path->bp_kind == X86_BP_LOADED && path->bp_base > X86_BASE_BP)
		return;
	/* As long as the first copy is on the stack, later ones do not count. */
	if (path->saved)
		return;
	path->saved = 1;
	path->save = words;
	path->save_bp = path->bp;
	path->save_kind = path->bp_kind;
	path->save_base = path->bp_base;
}

/* bp is loaded from @base + @words. */
static void load_bp(struct x86_path *path, int base, s16 words)
{
	if (base == X86_BASE_NONE) {
		path->bp_kind = X86_BP_LOST;
	} else if (base == X86_BASE_SP && path->saved && path->save == words) {
		path->bp_kind = path->save_kind;
		path->bp_base = path->save_base;
		path->bp = path->save_bp;
	} else if (base == X86_BASE_SP &&
		   (words < 0 || (path->saved && path->save < 0))) {
		/*
		 * bp was pushed and is popped from another slot, or it was not pushed: the path has
		 * come into another function.
		 */
		path->bp_kind = X86_BP_LOST;
	} else {
		path->bp_kind = X86_BP_LOADED;
		path->bp_base = base;
		path->bp = words;
	}
}

/* Sets @reg to a value that is not followed; -1: no register. */
static void clobber(struct x86_path *path, int reg)
{
	if (reg == X86_REG_SP)
		path->sp_base = X86_BASE_NONE;
	else if (reg == X86_REG_BP)
		path->bp_kind = X86_BP_LOST;
	else if (path->kept && reg == path->kept_reg)
		path->kept = X86_KEPT_LOST;
}

/* Do functions restore the register before they return? */
static bool is_preserved(int reg)
{
	return reg == 3 || (reg >= 12 && reg <= 15);
}

/*
 * Loads sp from the place at @words from @base. What the path itself stored there is not known, so
 * the place has to be above all that the path and its calls may have written.
 */
static void load_sp(struct x86_path *path, int base, s16 words)
{
	if (base == X86_BASE_SP && words >= 0 && (!path->called || words > path->call_sp)) {
		set_sp(path, X86_BASE_MEM_SP, 0);
		path->from = words;
	} else if (base == X86_BASE_BP) {
		set_sp(path, X86_BASE_MEM_BP, 0);
		path->from = words;
	} else {
		path->sp_base = X86_BASE_NONE;
	}
}

/* Copies sp to @reg. */
static void keep_sp(struct x86_path *path, int reg)
{
	path->kept = path->sp_base == X86_BASE_SP ? X86_KEPT_SP : X86_KEPT_LOST;
	path->kept_reg = reg;
	path->kept_sp = path->sp;
}

/*
 * Sets sp to @reg plus a displacement, by mov or lea; -1: no register.
 *
 * The register still has its value of ip, unless the path itself copied sp to a register. Then ip
 * is in the prologue, and that copy is the value.
 */
static void restore_sp(const struct x86_code *code, struct x86_path *path, int reg)
{
	int base = X86_BASE_NONE;
	s16 words = 0;

	if (path->kept == X86_KEPT_SP && path->kept_reg == reg) {
		base = X86_BASE_SP;
		words = path->kept_sp;
	} else if (path->kept == X86_KEPT_NONE && reg >= 0 && reg < 16 &&
		   reg != X86_REG_SI && reg != X86_REG_DI &&
		   (!path->called || is_preserved(reg))) {
		base = X86_BASE_REG;
		path->from = reg;
	}
	base = move_by(code, base, &words, code->disp);
	set_sp(path, base, words);
}

/* A push of @reg; -1: of something else. */
static void step_push(const struct x86_code *code, struct x86_path *path, int reg)
{
	sp_add(code, path, -x86_word_size(code));
	if (code->flags & X86_CODE_16)
		path->sp_base = X86_BASE_NONE;
	if (reg == X86_REG_BP)
		store_bp(path, path->sp_base, path->sp);
}

/* A pop to @reg; -1: to something else. */
static void step_pop(const struct x86_code *code, struct x86_path *path, int reg)
{
	if (reg == X86_REG_BP)
		load_bp(path, path->sp_base, path->sp);
	else if (reg == X86_REG_SP)
		load_sp(path, path->sp_base, path->sp);
	else
		clobber(path, reg);
	if (reg != X86_REG_SP)
		sp_add(code, path, x86_word_size(code));
	if (code->flags & X86_CODE_16)
		path->sp_base = X86_BASE_NONE;
}

/* leave */
static void step_leave(const struct x86_code *code, struct x86_path *path)
{
	s16 words;
	int base = bp_value(path, &words);

	set_sp(path, base, words);
	step_pop(code, path, X86_REG_BP);
}

static void move_reg(const struct x86_code *code, struct x86_path *path, int dst,
		     int src)
{
	s16 words;
	int base;

	if (!x86_full_width(code)) {
		clobber(path, dst);
	} else if (dst == X86_REG_SP && src == X86_REG_BP) {
		base = bp_value(path, &words);
		set_sp(path, base, words);
	} else if (dst == X86_REG_BP && src == X86_REG_SP) {
		set_bp(path, path->sp_base, path->sp);
	} else if (dst == X86_REG_SP) {
		restore_sp(code, path, src);
	} else if (src == X86_REG_SP) {
		keep_sp(path, dst);
	} else {
		clobber(path, dst);
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
	return move_by(code, base, words, code->disp);
}

/*
 * The last instruction of a function that realigned its stack: lea -8(%r10),%rsp, or
 * lea -4(%ecx),%esp. Its prologue pushed a copy of the return address below the saved bp. So the
 * frame looks like any other from bp, and the copy is at sp after bp has been restored. If the
 * function uses r13 for this, it pops r13 after that instruction, which is lea -16(%r13),%rsp then.
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

/* lea */
static void step_lea(const struct x86_code *code, struct x86_path *path)
{
	int reg = x86_modrm_reg(code), base;
	s16 words = 0;

	if (reg != X86_REG_SP && reg != X86_REG_BP) {
		clobber(path, reg);
		return;
	}
	if (reg == X86_REG_SP && is_realign_exit(code, path))
		return;
	if (reg == X86_REG_SP && x86_full_width(code) &&
	    (x86_mem_base(code) & ~1) != X86_REG_SP) {
		restore_sp(code, path, x86_mem_base(code));
		return;
	}
	base = x86_full_width(code) ? mem_address(code, path, &words) :
				      X86_BASE_NONE;
	if (reg == X86_REG_SP)
		set_sp(path, base, words);
	else
		set_bp(path, base, words);
}

/* mov, between registers or a register and memory; @load: ModRM.reg is written. */
static void step_mov(const struct x86_code *code, struct x86_path *path, bool load)
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
			clobber(path, reg);
		return;
	}
	base = x86_full_width(code) ? mem_address(code, path, &words) :
				      X86_BASE_NONE;
	if (load && reg == X86_REG_SP)
		load_sp(path, base, words);
	else if (load)
		load_bp(path, base, words);
	else
		store_bp(path, base, words);
}

/* 81, 83: add, sub, and, cmp ... with an immediate */
static void step_alu_imm(const struct x86_code *code, struct x86_path *path)
{
	int rm = x86_modrm_rm(code), op = X86_MODRM_REG(code->modrm);

	if (op == 7)
		return;
	if (rm == X86_REG_SP && x86_full_width(code) && (op == 0 || op == 5))
		/* The smallest number has no negative: it stays the same, and is too large. */
		sp_add(code, path, op ? -(u32)code->imm : code->imm);
	else
		clobber(path, rm);
}

/* 00 to 3f: the eight operations between registers and memory */
static void step_alu(const struct x86_code *code, struct x86_path *path, u8 op)
{
	int rm = x86_modrm_rm(code), reg = x86_modrm_reg(code);

	if ((op & 7) > 3)
		return;
	if ((op & 0x38) == 0x38) {
		/*
		 * A loop that touches each page of a large frame ends by a comparison of sp with a
		 * register. In it sp differs from turn to turn.
		 */
		if (rm == X86_REG_SP || (rm >= 0 && reg == X86_REG_SP))
			path->sp_base = X86_BASE_NONE;
		return;
	}
	clobber(path, op & 2 ? reg : rm);
}

static void note_call(struct x86_path *path)
{
	if (path->kept && !is_preserved(path->kept_reg))
		path->kept = X86_KEPT_LOST;
	/* After sp was loaded, or set from a register, only an exit can follow. */
	if (path->sp_base > X86_BASE_NONE)
		path->sp_base = X86_BASE_NONE;
	if (path->sp_base != X86_BASE_SP)
		return;
	/*
	 * A function aligns sp before it calls. If it does not, the path did not come to the start
	 * of a function by the far jump.
	 */
	if (path->tail && path->sp >= path->call_sp)
		path->sp_base = X86_BASE_NONE;
	if (!path->tail && (!path->called || path->sp > path->call_sp))
		path->call_sp = path->sp;
	if (path->called < 3)
		path->called++;
	path->cold_call = path->cold;
}

static enum x86_step step_group5(const struct x86_code *code,
				 struct x86_path *path)
{
	switch (X86_MODRM_REG(code->modrm)) {
	case 0:
	case 1:
		clobber(path, x86_modrm_rm(code));
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
		if (x86_modrm_rm(code) >= 0 ||
		    (X86_MODRM_RM(code->modrm) == 4 && x86_mem_base(code) < 0))
			return X86_STEP_TABLE;
		return X86_STEP_EXIT;
	case 6:
		sp_add(code, path, -x86_word_size(code));
		return X86_STEP_NEXT;
	default:
		return X86_STEP_DEAD;
	}
}

static enum x86_step step_two_byte(const struct x86_code *code,
				   struct x86_path *path, s32 *target)
{
	switch (code->op) {
	case 0x80 ... 0x8f:
		*target = code->imm;
		return X86_STEP_BRANCH;
	case 0xa0:
	case 0xa8:
		step_push(code, path, -1);
		break;
	case 0xa1:
	case 0xa9:
		step_pop(code, path, -1);
		break;
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		clobber(path, x86_modrm_reg(code));
		break;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return X86_STEP_DEAD;
	}
	return X86_STEP_NEXT;
}

static enum x86_step step_call(const struct x86_code *code,
			       struct x86_path *path)
{
	/* 32-bit code reads its ip by a call to the next instruction. */
	if (!code->imm) {
		step_push(code, path, -1);
		return X86_STEP_NEXT;
	}
	note_call(path);
	return X86_STEP_NEXT;
}

/* Opcodes that neither jump nor push nor pop, but may set bp or sp. */
static enum x86_step step_data(const struct x86_code *code,
			       struct x86_path *path, u8 op)
{
	int low = x86_reg_number(code, op & 7, 1);

	switch (op) {
	case 0x00 ... 0x3f:
		step_alu(code, path, op);
		break;
	case 0x40 ... 0x4f:
		clobber(path, op & 7);
		break;
	case 0x63:
	case 0x69:
	case 0x6b:
		clobber(path, x86_modrm_reg(code));
		break;
	case 0x81:
	case 0x83:
		step_alu_imm(code, path);
		break;
	case 0x87:
		clobber(path, x86_modrm_reg(code));
		clobber(path, x86_modrm_rm(code));
		break;
	case 0x89:
	case 0x8b:
		step_mov(code, path, op == 0x8b);
		break;
	case 0x8d:
		step_lea(code, path);
		break;
	case 0x90 ... 0x97:
		/* xchg with rax; 90 without REX is a nop. */
		if (!low)
			break;
		clobber(path, 0);
		clobber(path, low);
		break;
	case 0xb8 ... 0xbf:
		clobber(path, low);
		break;
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
		clobber(path, x86_modrm_rm(code));
		break;
	case 0xf7:
		if (X86_MODRM_REG(code->modrm) > 1)
			clobber(path, x86_modrm_rm(code));
		break;
	}
	return X86_STEP_NEXT;
}

static enum x86_step step_one_byte(const struct x86_code *code,
				   struct x86_path *path, s32 *target, u8 op)
{
	int low = x86_reg_number(code, op & 7, 1);

	switch (op) {
	case 0x50 ... 0x57:
		step_push(code, path, low);
		return X86_STEP_NEXT;
	case 0x58 ... 0x5f:
		step_pop(code, path, low);
		return X86_STEP_NEXT;
	case 0x06:
	case 0x0e:
	case 0x16:
	case 0x1e:
	case 0x68:
	case 0x6a:
	case 0x9c:
		step_push(code, path, -1);
		return X86_STEP_NEXT;
	case 0x07:
	case 0x17:
	case 0x1f:
	case 0x9d:
		step_pop(code, path, -1);
		return X86_STEP_NEXT;
	case 0x8f:
		step_pop(code, path, x86_modrm_rm(code));
		return X86_STEP_NEXT;
	case 0xc9:
		step_leave(code, path);
		return X86_STEP_NEXT;
	case 0xc2 ... 0xc3:
		return X86_STEP_EXIT;
	case 0xe8:
		return step_call(code, path);
	case 0xe9:
	case 0xeb:
		*target = code->imm;
		return X86_STEP_JUMP;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		*target = code->imm;
		return X86_STEP_BRANCH;
	case 0xff:
		return step_group5(code, path);
	case 0x60 ... 0x61:	/* pusha, popa */
	case 0x9a:		/* far call */
	case 0xc8:		/* enter */
	case 0xca ... 0xcc:	/* far return, int3 */
	case 0xcf:		/* iret */
	case 0xea:		/* far jump */
	case 0xf4:		/* hlt */
		return X86_STEP_DEAD;
	default:
		return step_data(code, path, op);
	}
}

/*
 * Notes an instruction that uses the bp of ip as a value. Then the function itself has set bp, and
 * restores it before it returns.
 */
static void note_use(const struct x86_code *code, struct x86_path *path)
{
	int base = x86_mem_base(code);

	if (path->bp_kind != X86_BP_SAME)
		return;
	/* A store of bp to the stack saves it. */
	if (base == X86_REG_BP ||
	    (code->map == X86_MAP_ONE &&
	     ((code->op == 0x89 && base != X86_REG_SP &&
	       x86_modrm_reg(code) == X86_REG_BP) ||
	      (code->op == 0x8b && x86_modrm_rm(code) == X86_REG_BP))))
		path->bp_used = 1;
}

/**
 * x86_frame_step - apply one instruction to a path
 * @code:	the instruction, decoded
 * @path:	the path; its pc is not changed
 * @target:	out: target of a jump or branch, as offset from the end of the instruction
 *
 * Returns: where the path continues
 */
enum x86_step x86_frame_step(const struct x86_code *code, struct x86_path *path,
			     s32 *target)
{
	if (code->flags & X86_CODE_MODRM)
		note_use(code, path);
	switch (code->map) {
	case X86_MAP_ONE:
		return step_one_byte(code, path, target, code->op);
	case X86_MAP_0F:
		return step_two_byte(code, path, target);
	case X86_MAP_VEX:
		return X86_STEP_NEXT;
	default:
		/* Such an instruction may push or pop. */
		return X86_STEP_DEAD;
	}
}
