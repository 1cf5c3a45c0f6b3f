// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: what one instruction does to the path it is on.
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

/* 81, 83: add, sub, and, cmp ... with an immediate */
static void step_alu_imm(const struct x86_code *code, struct x86_path *path)
{
	int rm = x86_modrm_rm(code), op = X86_MODRM_REG(code->modrm);

	if (op == 7)
		return;
	if (rm == X86_REG_SP && x86_full_width(code) && (op == 0 || op == 5))
		/* The least number has no negative one: it stays what it is, and is too far. */
		x86_sp_add(code, path, op ? -(u32)code->imm : code->imm);
	else
		x86_clobber(path, rm);
}

/* 00 to 3f: the eight operations between registers and memory */
static void step_alu(const struct x86_code *code, struct x86_path *path, u8 op)
{
	int rm = x86_modrm_rm(code), reg = x86_modrm_reg(code);

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
	x86_clobber(path, op & 2 ? reg : rm);
}

static void note_call(struct x86_path *path)
{
	/* Where sp was loaded or taken from a register, an exit is all that follows. */
	if (path->sp_base > X86_BASE_NONE)
		path->sp_base = X86_BASE_NONE;
	if (path->sp_base != X86_BASE_SP)
		return;
	/*
	 * A function aligns sp before it calls, so where it was entered by a
	 * jump, this is not the function that was entered.
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
		x86_clobber(path, x86_modrm_rm(code));
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
		x86_sp_add(code, path, -x86_word_size(code));
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
		x86_push(code, path, -1);
		break;
	case 0xa1:
	case 0xa9:
		x86_pop(code, path, -1);
		break;
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		x86_clobber(path, x86_modrm_reg(code));
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
		x86_push(code, path, -1);
		return X86_STEP_NEXT;
	}
	note_call(path);
	return X86_STEP_NEXT;
}

/* The opcodes that neither jump nor touch the stack, but may set bp or sp. */
static enum x86_step step_data(const struct x86_code *code,
			       struct x86_path *path, u8 op)
{
	int low = x86_reg_number(code, op & 7, 1);

	switch (op) {
	case 0x00 ... 0x3f:
		step_alu(code, path, op);
		break;
	case 0x40 ... 0x4f:
		x86_clobber(path, op & 7);
		break;
	case 0x63:
	case 0x69:
	case 0x6b:
		x86_clobber(path, x86_modrm_reg(code));
		break;
	case 0x81:
	case 0x83:
		step_alu_imm(code, path);
		break;
	case 0x87:
		x86_clobber(path, x86_modrm_reg(code));
		x86_clobber(path, x86_modrm_rm(code));
		break;
	case 0x89:
	case 0x8b:
		x86_mov(code, path, op == 0x8b);
		break;
	case 0x8d:
		x86_lea(code, path);
		break;
	case 0x91 ... 0x97:
	case 0xb8 ... 0xbf:
		x86_clobber(path, low);
		break;
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
		x86_clobber(path, x86_modrm_rm(code));
		break;
	case 0xf7:
		if (X86_MODRM_REG(code->modrm) > 1)
			x86_clobber(path, x86_modrm_rm(code));
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
		x86_push(code, path, low);
		return X86_STEP_NEXT;
	case 0x58 ... 0x5f:
		x86_pop(code, path, low);
		return X86_STEP_NEXT;
	case 0x06:
	case 0x0e:
	case 0x16:
	case 0x1e:
	case 0x68:
	case 0x6a:
	case 0x9c:
		x86_push(code, path, -1);
		return X86_STEP_NEXT;
	case 0x07:
	case 0x17:
	case 0x1f:
	case 0x9d:
		x86_pop(code, path, -1);
		return X86_STEP_NEXT;
	case 0x8f:
		x86_pop(code, path, x86_modrm_rm(code));
		return X86_STEP_NEXT;
	case 0xc9:
		x86_leave(code, path);
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
 * Does the instruction read bp, as it was at ip, as a value?  The function that
 * put it there restores bp before it returns.
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
 * x86_step_insn - carry a path over one instruction
 * @code:	the instruction, decoded
 * @path:	the path, its pc not touched
 * @target:	where a jump or branch goes, as offset from its end
 *
 * Returns: how the path goes on
 */
enum x86_step x86_step_insn(const struct x86_code *code, struct x86_path *path,
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
		/* It can push and pop, which is left alone. */
		return X86_STEP_DEAD;
	}
}
