/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86 frame analysis: what its parts share, for nobody else to include.
 */
#ifndef _X86_FRAME_SCAN_H
#define _X86_FRAME_SCAN_H

#include <linux/types.h>
#include <asm/insn.h>

#include "x86-frame.h"

/* The decoder's numbers of the two registers that matter. */
#define X86_REG_SP	4
#define X86_REG_BP	5

/* Where a value counts from: sp or bp as they are at ip, or nothing known. */
enum x86_base {
	X86_BASE_SP,
	X86_BASE_BP,
	X86_BASE_NONE,
};

/* What bp holds. */
enum x86_bp {
	X86_BP_SAME,		/* what it holds at ip */
	X86_BP_LOADED,		/* what the stack slot at bp_base + bp holds */
	X86_BP_VALUE,		/* bp_base + bp */
	X86_BP_LOST,		/* something else */
};

/* What an instruction does to a path. */
enum x86_step {
	X86_STEP_NEXT,		/* goes on behind the instruction */
	X86_STEP_JUMP,		/* goes on at the target */
	X86_STEP_BRANCH,	/* either */
	X86_STEP_EXIT,		/* leaves the function: sp is at the return address */
	X86_STEP_TABLE,		/* goes on where a table of jump targets says */
	X86_STEP_DEAD,		/* ends, and tells nothing */
};

enum x86_step x86_step_insn(struct insn *insn, struct x86_path *path,
			    s32 *target);

enum x86_frame_kind x86_frame_scan(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule,
				   struct x86_frame_work *work);

unsigned int x86_frame_fetch(const struct x86_frame_mem *mem,
			     unsigned long addr, u8 *dst, unsigned int len);

enum x86_frame_kind x86_frame_look(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule);
enum x86_frame_kind x86_frame_guess_entry(const struct x86_frame_mem *mem,
					  unsigned long ip,
					  struct x86_frame_rule *rule);

bool x86_is_go_check(const u8 *p, unsigned int len);
bool x86_is_plt0(const u8 *p, unsigned int len);
bool x86_is_return_thunk(const u8 *p, unsigned int len);

static inline u32 x86_get_le32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

#endif /* _X86_FRAME_SCAN_H */
