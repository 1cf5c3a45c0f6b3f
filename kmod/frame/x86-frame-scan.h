/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86 frame analysis: what its parts share, for nobody else to include.
 */
#ifndef _X86_FRAME_SCAN_H
#define _X86_FRAME_SCAN_H

#include <linux/types.h>

#include "x86-frame.h"
#include "x86-frame-insn.h"

/* Where a value counts from: sp or bp as they are at ip, or nothing known. */
enum x86_base {
	X86_BASE_SP,
	X86_BASE_BP,
	X86_BASE_NONE,
	X86_BASE_MEM_SP,	/* what a slot holds that counts from sp */
	X86_BASE_MEM_BP,	/* ... from bp */
	X86_BASE_REG,		/* what another register holds at ip */
};

/* What a path knows of copies that it made of sp. */
enum x86_kept {
	X86_KEPT_NONE,		/* it made none */
	X86_KEPT_SP,		/* a register holds sp as it was: sp_base was X86_BASE_SP */
	X86_KEPT_LOST,		/* it made one, and it is not known which value that has */
};

/* What bp holds. */
enum x86_bp {
	X86_BP_SAME,		/* what it holds at ip */
	X86_BP_LOADED,		/* what the stack slot at bp_base + bp holds */
	X86_BP_VALUE,		/* bp_base + bp */
	X86_BP_LOST,		/* something else */
};

/*
 * What else takes time, as instructions: to read code, to find that it can't be
 * read, and to keep account of a branch or a jump.
 */
#define X86_SCAN_READ		2
#define X86_SCAN_FAILED		64
#define X86_SCAN_JUMP		1

/* No function is larger than this, in bytes to either side of ip. */
#define X86_SCAN_REACH	0x10000000

/**
 * struct x86_scan - the state of a scan
 * @mem:	the code
 * @ip:		where the scan starts
 * @code:	the instruction being looked at
 * @work:	the path being followed, those still to follow, and more
 * @start:	where the stretch being followed started
 * @stop:	where it runs into another one
 * @win_pc:	offset of the code read from @ip
 * @win_len:	bytes of it
 * @table:	the table that a jump goes by, as offset from @ip
 * @base:	what its entries count from, as offset from @ip
 * @nr_todo:	number of paths to follow
 * @nr_seen:	number of stretches
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

/* What an instruction does to a path. */
enum x86_step {
	X86_STEP_NEXT,		/* goes on behind the instruction */
	X86_STEP_JUMP,		/* goes on at the target */
	X86_STEP_BRANCH,	/* either */
	X86_STEP_EXIT,		/* leaves the function: sp is at the return address */
	X86_STEP_TABLE,		/* goes on where a table of jump targets says */
	X86_STEP_DEAD,		/* ends, and tells nothing */
};

void x86_sp_add(const struct x86_code *code, struct x86_path *path, s32 bytes);
void x86_push(const struct x86_code *code, struct x86_path *path, int reg);
void x86_pop(const struct x86_code *code, struct x86_path *path, int reg);
void x86_leave(const struct x86_code *code, struct x86_path *path);
void x86_clobber(struct x86_path *path, int reg);
void x86_set_sp(struct x86_path *path, int base, s16 words);
void x86_load_sp(struct x86_path *path, int base, s16 words);
void x86_keep_sp(struct x86_path *path, int reg);
void x86_restore_sp(const struct x86_code *code, struct x86_path *path, int reg);
void x86_lea(const struct x86_code *code, struct x86_path *path);
int x86_move_by(const struct x86_code *code, int base, s16 *words, s32 bytes);
void x86_mov(const struct x86_code *code, struct x86_path *path, bool load);

/* @pc + @offset, or what is too far away where that is. */
static inline s32 x86_pc_add(s32 pc, s32 offset)
{
	s64 sum = (s64)pc + offset;

	return sum < X86_SCAN_REACH && sum > -X86_SCAN_REACH ? sum :
							       X86_SCAN_REACH;
}

enum x86_step x86_step_insn(const struct x86_code *code, struct x86_path *path,
			    s32 *target);

bool x86_start_stretch(struct x86_scan *scan);
void x86_end_stretch(struct x86_scan *scan, s32 end);
bool x86_is_known(const struct x86_scan *scan, s32 pc);
bool x86_contradicts(const struct x86_scan *scan, s32 pc);
void x86_end_run(struct x86_path *path);
void x86_add_todo(struct x86_scan *scan, s32 pc);
bool x86_next_todo(struct x86_scan *scan);
bool x86_take_turns(struct x86_scan *scan);

bool x86_is_kept(struct x86_scan *scan, int reg);

void x86_note_callee(struct x86_scan *scan, s32 pc);
bool x86_callees_return(struct x86_scan *scan);

bool x86_find_table(struct x86_scan *scan);
bool x86_follow_table(struct x86_scan *scan);

bool x86_scan_decode(struct x86_scan *scan);
void x86_fill_window(struct x86_scan *scan, s32 pc);
unsigned int x86_scan_read(struct x86_scan *scan, unsigned long addr, u8 *dst,
			   unsigned int len);

/* What takes time and is no instruction leaves less for those. */
static inline void x86_charge(struct x86_scan *scan, unsigned int insns)
{
	struct x86_frame_work *work = scan->work;

	work->limit = insns < work->limit ? work->limit - insns : 0;
}

/* Has the scan taken as long as it may? */
static inline bool x86_is_spent(const struct x86_scan *scan)
{
	return scan->work->insns > scan->work->limit;
}

enum x86_frame_kind x86_frame_scan(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule,
				   struct x86_frame_work *work);

unsigned int x86_frame_fetch(const struct x86_frame_mem *mem,
			     unsigned long addr, u8 *dst, unsigned int len);

enum x86_frame_kind x86_frame_guess_entry(const struct x86_frame_mem *mem,
					  unsigned long ip,
					  struct x86_frame_rule *rule);

bool x86_is_go_check(const u8 *p, unsigned int len);
bool x86_is_plt0(const u8 *p, unsigned int len);
bool x86_is_return_thunk(const u8 *p, unsigned int len);

#endif /* _X86_FRAME_SCAN_H */
