// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the bounded scan from ip to an exit of the function.
 *
 * Whatever path leads from ip to a return, sp is at the return address there.
 * So the first path found to its end tells where the return address is now.
 * A path that can't be followed tells nothing, and the next one is tried.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "x86-frame-scan.h"

/* Instructions after which another path gets its turn. */
#define X86_SCAN_TURN	64
/* Jumps as far as this could lead to the unlikely part of a function. */
#define X86_SCAN_NEAR		0x4000
/* The same for a path that went over more than one call. */
#define X86_SCAN_NEAR_CALLS	0x1000

static int word_size(const struct x86_scan *scan)
{
	return scan->mem->is_64bit ? 8 : 4;
}

/**
 * x86_scan_read - read code, and count what that takes
 * @scan:	the scan
 * @addr:	where
 * @dst:	where to
 * @len:	at most, less than a page
 *
 * Returns: how many bytes were read
 */
unsigned int x86_scan_read(struct x86_scan *scan, unsigned long addr, u8 *dst,
			   unsigned int len)
{
	unsigned int got = x86_frame_fetch(scan->mem, addr, dst, len);

	x86_charge(scan, got < len ? X86_SCAN_FAILED : X86_SCAN_READ);
	return got;
}

/**
 * x86_fill_window - read code, as much as there is room for
 * @scan:	the scan
 * @pc:		where it is
 */
void x86_fill_window(struct x86_scan *scan, s32 pc)
{
	scan->win_pc = pc;
	scan->win_len = x86_scan_read(scan, scan->ip + pc, scan->work->window,
				      X86_FRAME_WINDOW);
}

/* Does the window end at what can't be read?  Then to read again shows no more. */
static bool is_cut(const struct x86_scan *scan, unsigned int off)
{
	return scan->win_len < X86_FRAME_WINDOW && off < scan->win_len;
}

/* What the tables leave out, and what stands before something unreadable. */
static noinline bool decode_slow(struct x86_scan *scan)
{
	unsigned int off = scan->work->path.pc - scan->win_pc;

	static_assert(sizeof(struct insn) <= sizeof(scan->work->decoder));
	if (off + MAX_INSN_SIZE > scan->win_len && !is_cut(scan, off)) {
		x86_fill_window(scan, scan->work->path.pc);
		off = 0;
	}
	return x86_decode((struct insn *)scan->work->decoder,
			  scan->work->window + off, scan->win_len - off,
			  scan->mem->is_64bit, &scan->code);
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
				x86_fill_window(scan, scan->work->path.pc);
				off = 0;
			}
			if (x86_is_spent(scan))
				return false;
			if (scan->win_len < off + X86_QUICK_BYTES)
				return decode_slow(scan);
		}
		p = work->window + off;
		last = work->window + scan->win_len - X86_QUICK_BYTES;
		next = x86_decode_next(p, last, work->limit - work->insns,
				       scan->mem->is_64bit, &scan->code,
				       &skipped);
		work->insns += skipped;
		work->path.pc += next - p;
		if (scan->code.len)
			return true;
		/* What was skipped may be part of another stretch. */
		if (work->path.pc >= scan->stop)
			return false;
	} while (next > last);
	return work->insns < work->limit && decode_slow(scan);
}

/**
 * x86_scan_decode - decode the next instruction that may matter
 * @scan:	the scan, its path at or before it; its pc goes there
 *
 * Returns: false where there is none, or the budget is used up
 */
noinline bool x86_scan_decode(struct x86_scan *scan)
{
	return decode(scan);
}

/*
 * Assemblers have parts of a function that it calls, and that leave all registers to it:
 * it has saved bp.  They make no call.
 */
static bool may_lose_bp(const struct x86_scan *scan)
{
	const struct x86_path *path = &scan->work->path;

	return scan->mem->any_bp && !path->called && path->sp_base == X86_BASE_SP;
}

/*
 * The path is at a return.  Makes the rule of it, if the path can be trusted:
 * one that went over a call that never returns is in another function.
 */
static enum x86_frame_kind exit_rule(struct x86_scan *scan,
				     struct x86_frame_rule *rule)
{
	struct x86_path *path = &scan->work->path;
	int ws = word_size(scan);

	rule->fp_lost = path->bp_kind == X86_BP_LOST || path->bp_kind == X86_BP_VALUE;
	if (path->sp_base == X86_BASE_NONE || (rule->fp_lost && !may_lose_bp(scan)))
		return X86_FRAME_UNKNOWN;
	rule->use_fp = path->sp_base == X86_BASE_BP || path->sp_base == X86_BASE_MEM_BP;
	rule->cfa_off = (path->sp + 1) * ws;
	rule->ra_off = -ws;
	rule->fp_off = 0;
	if (path->sp < 0 && path->sp_base != X86_BASE_REG)
		return X86_FRAME_UNKNOWN;
	if (path->called && path->sp_base == X86_BASE_SP) {
		if (path->tail ? path->sp != path->call_sp :
		    path->sp < path->call_sp)
			return X86_FRAME_UNKNOWN;
		if (!path->tail && path->sp == path->call_sp && !x86_callees_return(scan))
			return X86_FRAME_UNKNOWN;
		if (path->bp_used && path->bp_kind == X86_BP_SAME)
			return X86_FRAME_UNKNOWN;
	}
	if (path->bp_kind == X86_BP_LOADED) {
		if (path->bp_base != path->sp_base)
			return X86_FRAME_UNKNOWN;
		rule->fp_off = path->bp * ws - rule->cfa_off;
	}
	switch (path->sp_base) {
	case X86_BASE_MEM_SP:
	case X86_BASE_MEM_BP:
		rule->mem_off = path->from * ws;
		return X86_FRAME_SCAN_MEM;
	case X86_BASE_REG:
		rule->reg = path->from;
		return X86_FRAME_SCAN_REG;
	case X86_BASE_BP:
		return X86_FRAME_SCAN_BP;
	default:
		return X86_FRAME_SCAN_SP;
	}
}

/* The start of this function, by the jump behind its stack growth. */
static enum x86_step step_go_check(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;

	if (path->called > 1)
		return X86_STEP_DEAD;
	path->called = 0;
	return X86_STEP_EXIT;
}

/*
 * 32-bit code learns its ip from a function that loads its own return address:
 * mov (%esp),%reg; ret.  Many functions begin with that call, which returns.
 */
static bool calls_pc_thunk(struct x86_scan *scan)
{
	s32 pc = x86_pc_add(scan->work->path.pc + scan->code.len,
			    scan->code.imm);
	u8 code[4];

	return x86_scan_read(scan, scan->ip + pc, code, sizeof(code)) ==
		       sizeof(code) &&
	       code[0] == 0x8b && (code[1] & 0xc7) == 0x04 && code[2] == 0x24 &&
	       code[3] == 0xc3;
}

/* The instructions that mean something else together with others. */
static enum x86_step step_special(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;
	unsigned int off = path->pc - scan->win_pc, len = scan->win_len - off;
	const u8 *bytes = scan->work->window + off;

	if (scan->code.map == X86_MAP_0F) {
		/*
		 * Nobody jumps to padding: the function ended here.  Not so
		 * 90, which gcc -O0 writes where a statement does nothing.
		 */
		return scan->code.op == 0x1f && path->pc == scan->start &&
		       scan->start ? X86_STEP_DEAD : X86_STEP_NEXT;
	}
	switch (scan->code.op) {
	case 0x3b:
		if (scan->mem->is_64bit && path->pc &&
		    x86_is_go_check(bytes, len))
			return step_go_check(scan);
		break;
	case 0xe8:
		if (x86_is_return_thunk(bytes, len))
			return X86_STEP_EXIT;
		x86_note_callee(scan, x86_pc_add(path->pc + scan->code.len, scan->code.imm));
		/* A nop, as far as the stack goes; behind a call it is one more. */
		if (!scan->mem->is_64bit && !path->called && calls_pc_thunk(scan))
			scan->code.op = 0x90;
		break;
	case 0xff:
		if (X86_MODRM_REG(scan->code.modrm) == 2)
			scan->work->nr_callees = X86_FRAME_CALLEES + 1;
		if (!x86_is_plt0(bytes, len))
			break;
		path->sp++;
		return X86_STEP_EXIT;
	}
	return X86_STEP_NEXT;
}

static bool is_near(const struct x86_path *path, s32 distance)
{
	s32 limit = path->called > 1 ? X86_SCAN_NEAR_CALLS : X86_SCAN_NEAR;

	return distance < limit && distance > -limit;
}

/*
 * Notes a far jump.  False where it leads back from an unlikely part after a
 * call there, which may have been one that never returns: then what stands
 * behind it was another function's unlikely part, and leads to that one.
 */
static bool note_far(struct x86_path *path, s32 distance)
{
	if (distance < X86_SCAN_NEAR && distance > -X86_SCAN_NEAR)
		return true;
	if (path->cold_call)
		return false;
	path->cold = 1;
	return true;
}

/*
 * May the path follow a jump from @from?  A jump to far away is a tail call,
 * or leads from the unlikely part of a function, which lies elsewhere, to the
 * rest.  A path that went over a call, or to an unlikely part, could be
 * in any function's by now, if that call never returns or that branch is never
 * taken.  So then only a tail call is believed, where the jump finds sp at the
 * return address, and the exit tells whether it did.
 */
static bool may_follow(struct x86_scan *scan, s32 from)
{
	struct x86_path *path = &scan->work->path;

	if (path->sp_base == X86_BASE_SP && !note_far(path, path->pc - from))
		return false;
	if (path->sp_base != X86_BASE_SP || path->tail ||
	    is_near(path, path->pc) || is_near(path, path->pc - from) ||
	    (!path->called && is_near(path, from)))
		return true;
	if (path->called && path->sp <= path->call_sp)
		return false;
	path->tail = 1;
	path->called = 1;
	path->call_sp = path->sp;
	return true;
}

/* Lets the path that takes a branch wait; false where this one is wrong. */
static bool add_branch(struct x86_scan *scan, s32 next, s32 target)
{
	struct x86_path *path = &scan->work->path;
	bool cold = path->cold;

	if (x86_contradicts(scan, target))
		return false;
	if (path->sp_base != X86_BASE_SP || note_far(path, target - next))
		x86_add_todo(scan, target);
	path->cold = cold;
	return true;
}

/*
 * Makes one step.  False where the scan ends, with the kind set.
 */
static bool scan_step(struct x86_scan *scan, struct x86_frame_rule *rule,
		      enum x86_frame_kind *kind)
{
	struct x86_path *path = &scan->work->path;
	enum x86_step step = X86_STEP_DEAD;
	s32 next = path->pc, target = 0;
	u8 called = path->called, base = path->sp_base;

	if (next < scan->stop && decode(scan) && path->pc < scan->stop) {
		next = path->pc + scan->code.len;
		step = step_special(scan);
		if (step == X86_STEP_NEXT)
			step = x86_step_insn(&scan->code, path, &target);
		if (path->sp_base == X86_BASE_REG && base != X86_BASE_REG &&
		    !x86_is_kept(scan, path->from))
			path->sp_base = X86_BASE_NONE;
		if (path->sp || path->sp_base || path->saved ||
		    step == X86_STEP_JUMP || step == X86_STEP_TABLE)
			x86_end_run(path);
	}
	if (step == X86_STEP_BRANCH || step == X86_STEP_JUMP)
		x86_charge(scan, X86_SCAN_JUMP);
	switch (step) {
	case X86_STEP_BRANCH:
		if (!add_branch(scan, next, x86_pc_add(next, target)))
			break;
		fallthrough;
	case X86_STEP_NEXT:
		path->pc = next;
		if (path->called != called && x86_contradicts(scan, next))
			break;
		return true;
	case X86_STEP_JUMP:
		x86_end_stretch(scan, next);
		path->pc = x86_pc_add(next, target);
		if (may_follow(scan, next) && x86_start_stretch(scan))
			return true;
		return x86_next_todo(scan);
	case X86_STEP_TABLE:
		x86_end_stretch(scan, next);
		if (x86_find_table(scan) && x86_follow_table(scan) &&
		    x86_start_stretch(scan))
			return true;
		return x86_next_todo(scan);
	case X86_STEP_EXIT:
		*kind = exit_rule(scan, rule);
		if (*kind != X86_FRAME_UNKNOWN) {
			/* At the exit itself other states are looked for. */
			scan->work->run = path->run ?: path->pc ?: 1;
			return false;
		}
		break;
	case X86_STEP_DEAD:
		break;
	}
	x86_end_stretch(scan, next);
	return x86_next_todo(scan);
}

/**
 * x86_frame_scan - look for a path from ip to an exit of the function
 * @mem:	the code
 * @ip:		where to start
 * @rule:	the answer
 * @work:	memory to work with
 *
 * Follows the code as it would run on, over calls, first where branches are
 * not taken.
 *
 * Returns: an X86_FRAME_SCAN_* or X86_FRAME_UNKNOWN
 */
enum x86_frame_kind x86_frame_scan(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule,
				   struct x86_frame_work *work)
{
	enum x86_frame_kind kind = X86_FRAME_UNKNOWN;
	struct x86_scan scan;
	unsigned int turn;

	scan.mem = mem;
	scan.work = work;
	scan.ip = ip;
	scan.win_pc = 0;
	scan.win_len = 0;
	scan.nr_todo = 0;
	scan.nr_seen = 0;
	work->nr_callees = 0;
	memset(work->window + X86_FRAME_WINDOW, 0, X86_FRAME_SLACK);
	work->path = (struct x86_path) { .pc = 0 };
	x86_start_stretch(&scan);
	for (turn = X86_SCAN_TURN; ++work->insns <= work->limit;) {
		if (!scan_step(&scan, rule, &kind))
			break;
		if (work->insns >= turn && scan.nr_todo) {
			turn = work->insns + X86_SCAN_TURN;
			if (!x86_take_turns(&scan))
				break;
		}
	}
	return kind;
}
