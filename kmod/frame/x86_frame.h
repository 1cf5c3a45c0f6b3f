/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86 frame analysis: find the caller of the instruction at ip by the code alone.
 *
 * It needs neither frame pointers nor unwind tables. The kernel, the module, perf and the tests
 * compile the same files.
 */
#ifndef _X86_FRAME_H
#define _X86_FRAME_H

#include <linux/types.h>

/**
 * enum x86_frame_kind - what found a rule
 * @X86_FRAME_UNKNOWN:	no rule was found
 * @X86_FRAME_ENTRY:	ip is the first instruction of a function
 * @X86_FRAME_PROLOGUE:	ip is between the push and the mov of a prologue
 * @X86_FRAME_EPILOGUE:	ip is at the leave or the last pop of an epilogue
 * @X86_FRAME_RET:	ip is at a return
 * @X86_FRAME_PLT:	ip is in the first entry of a procedure linkage table
 * @X86_FRAME_SCAN_SP:	a path to the exit was found, the CFA counts from sp
 * @X86_FRAME_SCAN_BP:	a path to the exit was found, bp is the frame
 * @X86_FRAME_SCAN_MEM:	a path to the exit was found that loads sp from the frame (assemblers
 *			that realign a frame do so)
 * @X86_FRAME_SCAN_REG:	a path to the exit was found that sets sp from another register
 *			than bp
 * @X86_FRAME_SIGNAL:	ip is in a signal trampoline; there is no rule
 * @X86_FRAME_NR:	number of kinds
 */
enum x86_frame_kind {
	X86_FRAME_UNKNOWN,
	X86_FRAME_ENTRY,
	X86_FRAME_PROLOGUE,
	X86_FRAME_EPILOGUE,
	X86_FRAME_RET,
	X86_FRAME_PLT,
	X86_FRAME_SCAN_SP,
	X86_FRAME_SCAN_BP,
	X86_FRAME_SCAN_MEM,
	X86_FRAME_SCAN_REG,
	X86_FRAME_SIGNAL,
	X86_FRAME_NR,
};

/**
 * struct x86_frame_rule - how to step from a frame to its caller
 * @cfa_off:	offset of the CFA from sp or, with @use_fp, from bp
 * @ra_off:	offset of the return address from the CFA
 * @fp_off:	offset of the caller's bp from the CFA; 0: it is still in bp
 * @use_fp:	the CFA counts from bp
 * @fp_lost:	the caller's bp is not known; only if struct x86_frame_mem allows that
 * @reg:	X86_FRAME_SCAN_REG: the CFA counts from this register, by the processor's
 *		numbers. Use it only with the registers of ip.
 * @mem_off:	X86_FRAME_SCAN_MEM: the CFA counts from a word in memory. This is the offset of
 *		the word from sp or, with @use_fp, from bp.
 *
 * The first four members are those of struct unwind_user_frame.
 */
struct x86_frame_rule {
	s32	cfa_off;
	s32	ra_off;
	s32	fp_off;
	bool	use_fp;
	bool	fp_lost;
	u8	reg;
	s32	mem_off;
};

/**
 * struct x86_frame_mem - the code to analyse
 * @read:	copies @len bytes at @addr to @dst. Returns 0, or anything else if a byte can't be
 *		read. It may fail at any time, and is never called for bytes of two pages.
 * @ctx:	for @read
 * @is_64bit:	the code runs in 64-bit mode
 * @any_bp:	return a rule even if the caller's bp is not known. Not with a cache, which does not
 *		store that.
 *
 * The analysis reads memory through @read only.
 */
struct x86_frame_mem {
	int	(*read)(void *ctx, unsigned long addr, void *dst,
			unsigned int len);
	void	*ctx;
	bool	is_64bit;
	bool	any_bp;
};

/**
 * enum x86_frame_sigreturn - signal trampolines, which signal handlers return to
 * @X86_SIGRETURN_NONE:	not a signal trampoline
 * @X86_SIGRETURN_64:	64-bit; the stack has a struct rt_sigframe
 * @X86_SIGRETURN_32:	32-bit; the stack has a struct sigframe_ia32. The trampoline pops the
 *			signal number first.
 * @X86_SIGRETURN_RT_32: 32-bit; the stack has a struct rt_sigframe_ia32
 */
enum x86_frame_sigreturn {
	X86_SIGRETURN_NONE,
	X86_SIGRETURN_64,
	X86_SIGRETURN_32,
	X86_SIGRETURN_RT_32,
};

/**
 * struct x86_path - what is known of sp and bp at one point of a path from ip
 * @pc:		offset of the next instruction from ip, in bytes
 * @sp:		sp, as offset from @sp_base
 * @bp:		bp, see enum x86_bp
 * @save:	stack slot that the path stored bp in, as offset from the sp of ip
 * @save_bp:	@bp when it was stored
 * @run:	length of the straight code from ip on in which sp is as at ip and bp is not
 *		stored, in bytes; 0 while the path is still in that code
 * @call_sp:	highest @sp at a call; valid if @called is not 0
 * @from:	X86_BASE_MEM_SP, X86_BASE_MEM_BP: stack slot that sp was loaded from, as offset
 *		from the sp or bp of ip.  X86_BASE_REG: register that sp was set from
 * @kept_sp:	@sp when the path copied it to @kept_reg
 * @sp_base:	enum x86_base
 * @bp_kind:	enum x86_bp
 * @bp_base:	enum x86_base
 * @saved:	@save, @save_bp, @save_kind and @save_base are valid
 * @save_kind:	@bp_kind when bp was stored: X86_BP_SAME, or X86_BP_LOADED
 * @called:	number of calls that the path went over, at most 3
 * @bp_used:	the path used the bp of ip as a value
 * @cold:	the path made a far jump, to the unlikely part of the function
 * @cold_call:	the path went over a call in that part
 * @tail:	the path made a far jump that has to be a tail call, see may_follow()
 * @kept:	enum x86_kept
 * @kept_reg:	register that sp was copied to
 * @save_base:	@bp_base when bp was stored: X86_BASE_SP or X86_BASE_BP
 *
 * Offsets of stack slots are in words, so that 16 bits are enough: a search keeps many paths.
 */
struct x86_path {
	s32	pc;
	s16	sp;
	s16	bp;
	s16	save;
	s16	save_bp;
	s16	call_sp;
	u16	run;
	s16	from;
	s16	kept_sp;
	u16	sp_base:3;
	u16	bp_kind:2;
	u16	bp_base:3;
	u16	saved:1;
	u16	save_kind:1;
	u16	called:2;
	u16	tail:1;
	u16	bp_used:1;
	u16	cold:1;
	u16	cold_call:1;
	u8	kept:2;
	u8	kept_reg:5;
	u8	save_base:1;
};

/*
 * Most units of one analysis, and of all analyses of a walk. An instruction is one unit; those that
 * take longer, reads of code and jumps are more, see X86_SCAN_READ. Tests use other limits.
 */
#ifndef X86_FRAME_INSNS
#define X86_FRAME_INSNS	2048
#endif
/* Most waiting paths, and most remembered stretches of code. */
#define X86_FRAME_TODO	24
#define X86_FRAME_SEEN	24
/* Most remembered targets of calls. */
#define X86_FRAME_CALLEES	4
/* How many bytes of code are read at once. */
#define X86_FRAME_WINDOW	64
/* Zeroes after these bytes: the decoder may read beyond the last instruction. */
#define X86_FRAME_SLACK		16

/**
 * struct x86_frame_work - memory of a search
 * @path:	the path that is being followed
 * @todo:	paths that wait for their turn
 * @seen:	stretches of code that have been followed, as offsets from ip
 * @window:	code that was read last
 * @decoder:	a struct insn, for the kernel's decoder
 * @aside:	a second path: to follow code that is not on @path
 * @callees:	targets of the direct calls that the paths went over, as offsets from ip
 * @nr_callees:	length of @callees; X86_FRAME_CALLEES + 1: one of the calls may never return
 * @limit:	limit of @insns; all that takes more than one unit reduces it
 * @insns:	number of instructions that the search looked at
 * @took:	result: the units that the search took
 * @run:	result: the rule holds for all instructions that begin within so many bytes
 *		from ip on
 *
 * Too large for the stack of an NMI.  A search uses nothing of the search before it.
 */
struct x86_frame_work {
	struct x86_path	path;
	struct x86_path	todo[X86_FRAME_TODO];
	struct {
		s16	from;
		s16	to;
	} seen[X86_FRAME_SEEN];
	u8		window[X86_FRAME_WINDOW + X86_FRAME_SLACK];
	unsigned long	decoder[16];
	struct x86_path	aside;
	s32		callees[X86_FRAME_CALLEES];
	u8		nr_callees;
	u16		limit;
	u16		insns;
	u16		took;
	u16		run;
};

enum x86_frame_kind x86_frame_analyze(const struct x86_frame_mem *mem,
				      unsigned long ip,
				      struct x86_frame_rule *rule,
				      struct x86_frame_work *work);
enum x86_frame_kind x86_frame_analyze_within(const struct x86_frame_mem *mem,
					     unsigned long ip,
					     struct x86_frame_rule *rule,
					     struct x86_frame_work *work,
					     unsigned int limit);
enum x86_frame_kind x86_frame_look(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule);
bool x86_frame_call_before(const struct x86_frame_mem *mem, unsigned long ra);
enum x86_frame_sigreturn x86_frame_sigreturn(const struct x86_frame_mem *mem,
					     unsigned long ra);
enum x86_frame_sigreturn x86_frame_in_sigreturn(const struct x86_frame_mem *mem,
						unsigned long ip);

#endif /* _X86_FRAME_H */
