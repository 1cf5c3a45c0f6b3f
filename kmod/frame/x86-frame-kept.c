// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: where sp is kept while a frame is realigned.
 *
 * Assemblers do not need bp for that.  They store the caller's sp in the frame,
 * and leave it by mov N(%rsp),%rsp or pop %rsp (x86inc, libjpeg-turbo), or they
 * keep it in a register, and leave by mov %rbx,%rsp (OpenBLAS, x86inc).
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

/* Bytes before an instruction that are looked at. */
#define X86_KEPT_BEHIND	(X86_FRAME_WINDOW - X86_QUICK_BYTES)

/*
 * Arguments: code that switches stacks is given the other one in one of these.
 * The caller is then not on the stack that sp is set to.
 */
#define X86_REG_SI	6
#define X86_REG_DI	7

/* Do called functions leave the register as it is? */
static bool is_preserved(int reg)
{
	return reg == 3 || (reg >= 12 && reg <= 15);
}

/**
 * x86_load_sp - sp is loaded from memory
 * @path:	the path
 * @base:	what the place counts from
 * @words:	the place, in words
 *
 * What the path has stored there itself is not known.
 */
void x86_load_sp(struct x86_path *path, int base, s16 words)
{
	if (base == X86_BASE_SP && words >= 0 && (!path->called || words > path->call_sp)) {
		x86_set_sp(path, X86_BASE_MEM_SP, 0);
		path->from = words;
	} else if (base == X86_BASE_BP) {
		x86_set_sp(path, X86_BASE_MEM_BP, 0);
		path->from = words;
	} else {
		path->sp_base = X86_BASE_NONE;
	}
}

/**
 * x86_keep_sp - sp is copied to a register
 * @path:	the path
 * @reg:	the register
 */
void x86_keep_sp(struct x86_path *path, int reg)
{
	path->kept = path->sp_base == X86_BASE_SP ? X86_KEPT_SP : X86_KEPT_LOST;
	path->kept_reg = reg;
	path->kept_sp = path->sp;
}

/**
 * x86_restore_sp - sp is set to a register other than bp, or to what it points to
 * @code:	the instruction, a mov or a lea
 * @path:	the path
 * @reg:	the register, -1 for what is none
 *
 * The register holds what it held at ip, unless the path has copied sp: then it
 * is in the code before the function's body, and the copy is the one that counts.
 */
void x86_restore_sp(const struct x86_code *code, struct x86_path *path, int reg)
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
	base = x86_move_by(code, base, &words, code->disp);
	x86_set_sp(path, base, words);
}

/*
 * Does the code from @pc on, in the window, come to @end, or jump before?
 * @written: out: it sets the register
 */
static bool comes_to(struct x86_scan *scan, s32 pc, s32 end, int reg, bool *written)
{
	struct x86_frame_work *work = scan->work;
	struct x86_path *path = &work->aside;
	s32 target;

	path->kept = X86_KEPT_SP;
	path->kept_reg = reg;
	*written = false;
	while (pc < end) {
		work->insns++;
		if (!x86_decode((struct insn *)work->decoder, work->window + (pc - scan->win_pc),
				scan->win_len - (pc - scan->win_pc), scan->mem->is_64bit,
				&scan->code)) {
			*written = true;
			return false;
		}
		x86_step_insn(&scan->code, path, &target);
		pc += scan->code.len;
		*written = path->kept != X86_KEPT_SP;
	}
	return pc == end;
}

/* Is the register set in the straight code from ip on?  Then ip is in the prologue. */
static bool is_set_ahead(struct x86_scan *scan, int reg)
{
	const struct x86_path *path = &scan->work->path;
	s32 run = path->run ? path->run - 1 : path->pc;
	bool written = true;

	x86_fill_window(scan, 0);
	if (run > X86_KEPT_BEHIND)
		run = X86_KEPT_BEHIND;
	if (run > scan->win_len)
		return true;
	/* It may end within an instruction, behind the end. */
	comes_to(scan, 0, run, reg, &written);
	return written;
}

/**
 * x86_is_kept - did a register that sp is taken from keep what it held at ip?
 * @scan:	the scan, its path at the instruction that takes it
 * @reg:	the register
 *
 * Most instructions that set a register are none that the scan looks at.  Who
 * works out sp in a register does so right before, as OpenSSL, and a prologue
 * that is still to come sets it soon.
 *
 * The instruction is not kept: nobody looks at it any more.
 *
 * Returns: false if the register is set there, or that can't be known
 */
bool x86_is_kept(struct x86_scan *scan, int reg)
{
	s32 end = scan->work->path.pc, pc = end - X86_KEPT_BEHIND;
	bool written = true;

	scan->work->aside = (struct x86_path) { .pc = 0 };
	if (pc < scan->start)
		pc = scan->start;
	if (is_set_ahead(scan, reg))
		return false;
	x86_fill_window(scan, pc);
	for (; pc < end && scan->win_len > end - pc && !x86_is_spent(scan); pc++)
		if (comes_to(scan, pc, end, reg, &written) || pc == scan->start)
			break;
	return pc == end || !written;
}
