// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: search the code for an exit of the function.
 *
 * Whatever path leads from ip to a return, sp points to the return address there. So the first
 * path that reaches a return shows where the return address is now. A path that can't be followed
 * shows nothing, and the search tries the next one.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "x86_frame_scan.h"

/* After so many instructions another path gets its turn. */
#define X86_SCAN_TURN	64
/* A jump of less than this many bytes stays in the function. */
#define X86_SCAN_NEAR		0x4000
/* The same if the path went over more than one call. */
#define X86_SCAN_NEAR_CALLS	0x1000

/* How many instructions of a call's target are followed, at most. */
#define X86_CALLEE_INSNS	256
/* How many targets, with the targets of their calls. Recursion ends there. */
#define X86_CALLEES_MAX		8

static int word_size(const struct x86_scan *scan)
{
	return scan->mem->is_64bit ? 8 : 4;
}

/*
 * Assemblers have parts of a function that the function calls, and that do not save its registers:
 * the function has saved bp itself. Such a part calls nothing.
 */
static bool may_lose_bp(const struct x86_scan *scan)
{
	const struct x86_path *path = &scan->work->path;

	return scan->mem->any_bp && !path->called && path->sp_base == X86_BASE_SP;
}

/* Notes the target of a direct call. */
static void note_callee(struct x86_scan *scan, s32 pc)
{
	struct x86_frame_work *work = scan->work;
	int i;

	for (i = 0; i < work->nr_callees && i < X86_FRAME_CALLEES; i++)
		if (work->callees[i] == pc)
			return;
	if (work->nr_callees < X86_FRAME_CALLEES)
		work->callees[work->nr_callees] = pc;
	if (work->nr_callees <= X86_FRAME_CALLEES)
		work->nr_callees++;
}

/* A call with a direct target, made with sp at the return address? Notes the target. */
static bool note_inner(struct x86_scan *scan, s32 next)
{
	struct x86_path *path = &scan->work->path;

	if (scan->code.map != X86_MAP_ONE || scan->code.op != 0xe8 ||
	    path->sp_base != X86_BASE_SP || path->sp)
		return false;
	path->called = 0;
	note_callee(scan, x86_pc_add(next, scan->code.imm));
	return true;
}

/*
 * Does the straight code at the path's pc return with sp unchanged? Calls in it are noted, and
 * have to return, too.
 */
static bool returns(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;
	unsigned int end = scan->work->insns + X86_CALLEE_INSNS;
	enum x86_step step;
	s32 next, target;

	while (scan->work->insns < end && ++scan->work->insns <= scan->work->limit) {
		target = 0;
		if (!x86_frame_scan_decode(scan))
			return false;
		next = path->pc + scan->code.len;
		step = x86_frame_step(&scan->code, path, &target);
		if (step == X86_STEP_EXIT)
			return scan->code.map == X86_MAP_ONE && (scan->code.op & 0xfe) == 0xc2 &&
			       path->sp_base == X86_BASE_SP && !path->sp;
		if (step == X86_STEP_JUMP) {
			x86_charge(scan, X86_SCAN_JUMP);
			next = x86_pc_add(next, target);
		} else if (step != X86_STEP_NEXT && step != X86_STEP_BRANCH) {
			return false;
		}
		if ((path->called && !note_inner(scan, next)) ||
		    next >= X86_SCAN_REACH || next <= -X86_SCAN_REACH)
			return false;
		path->pc = next;
	}
	return false;
}

/*
 * Do all noted calls return?
 *
 * Compilers align sp before a call, so that sp is lower there than at the exit, see exit_rule().
 * Assemblers call parts of their own with sp at the return address. The search believes that such
 * a call returns if the code at its target does, and all that this code calls.
 *
 * Overwrites the stretch and the instruction of @scan: the path ends here. Targets that return
 * are forgotten.
 */
static bool callees_return(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	unsigned int left = X86_CALLEES_MAX;
	bool ok = true;

	work->aside = work->path;
	scan->stop = X86_SCAN_REACH;
	while (ok && work->nr_callees && work->nr_callees <= X86_FRAME_CALLEES) {
		work->path = (struct x86_path) { .pc = work->callees[--work->nr_callees] };
		ok = left-- && returns(scan);
	}
	if (!ok)
		work->nr_callees = X86_FRAME_CALLEES + 1;
	work->path = work->aside;
	return !work->nr_callees;
}

/*
 * The path is at a return: makes the rule of it, if the path can be trusted. A path over a call
 * that never returns is in another function.
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
		if (!path->tail && path->sp == path->call_sp && !callees_return(scan))
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

/*
 * The path is at the start of a Go function: after the call that grows its stack, the function
 * jumps back to the start.
 */
static enum x86_step step_go_check(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;

	if (path->called > 1)
		return X86_STEP_DEAD;
	path->called = 0;
	return X86_STEP_EXIT;
}

/*
 * 32-bit code gets its ip by a call of a function that loads its own return address:
 * mov (%esp),%reg; ret. Many functions begin with this call, and it returns.
 */
static bool calls_pc_thunk(struct x86_scan *scan)
{
	s32 pc = x86_pc_add(scan->work->path.pc + scan->code.len,
			    scan->code.imm);
	u8 code[4];

	return x86_frame_scan_read(scan, scan->ip + pc, code, sizeof(code)) ==
		       sizeof(code) &&
	       code[0] == 0x8b && (code[1] & 0xc7) == 0x04 && code[2] == 0x24 &&
	       code[3] == 0xc3;
}

/* Instructions that mean something else together with others. */
static enum x86_step step_special(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;
	unsigned int off = path->pc - scan->win_pc, len = scan->win_len - off;
	const u8 *bytes = scan->work->window + off;

	if (scan->code.map == X86_MAP_0F) {
		/*
		 * No code jumps to padding: the function ended before it. 90 is different: gcc -O0
		 * makes one of an empty statement.
		 */
		return scan->code.op == 0x1f && path->pc == scan->start &&
		       scan->start ? X86_STEP_DEAD : X86_STEP_NEXT;
	}
	switch (scan->code.op) {
	case 0x3b:
		if (scan->mem->is_64bit && path->pc &&
		    x86_frame_is_go_check(bytes, len))
			return step_go_check(scan);
		break;
	case 0xe8:
		if (x86_frame_is_return_thunk(bytes, len))
			return X86_STEP_EXIT;
		note_callee(scan, x86_pc_add(path->pc + scan->code.len, scan->code.imm));
		/* For the stack it is a nop. After another call it counts as a call. */
		if (!scan->mem->is_64bit && !path->called && calls_pc_thunk(scan))
			scan->code.op = 0x90;
		break;
	case 0xff:
		if (X86_MODRM_REG(scan->code.modrm) == 2)
			scan->work->nr_callees = X86_FRAME_CALLEES + 1;
		if (!x86_frame_is_plt0(bytes, len))
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
 * Notes a far jump, which leads to the unlikely part of a function or back. Returns false if it
 * leads back after a call in the unlikely part. If that call never returns, the code after it is
 * of another function, and so is the code that it jumps back to.
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
 * May the path follow a jump from @from? A jump to far away is a tail call, or leads from the
 * unlikely part of a function to the rest. If the path went over a call, or to an unlikely part,
 * it may have left its function: the call may never return, or the branch never be taken. Then
 * only a tail call is followed: sp has to be at the return address, which the exit confirms.
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

/* Lets the path that takes a branch wait. False if the current path is wrong. */
static bool add_branch(struct x86_scan *scan, s32 next, s32 target)
{
	struct x86_path *path = &scan->work->path;
	bool cold = path->cold;

	if (x86_frame_contradicts(scan, target))
		return false;
	if (path->sp_base != X86_BASE_SP || note_far(path, target - next))
		x86_frame_add_todo(scan, target);
	path->cold = cold;
	return true;
}

/* Makes one step. False if the scan ends; then the kind is set. */
static bool scan_step(struct x86_scan *scan, struct x86_frame_rule *rule,
		      enum x86_frame_kind *kind)
{
	struct x86_path *path = &scan->work->path;
	enum x86_step step = X86_STEP_DEAD;
	s32 next = path->pc, target = 0;
	u8 called = path->called, base = path->sp_base;

	if (next < scan->stop && x86_frame_scan_decode(scan) && path->pc < scan->stop) {
		next = path->pc + scan->code.len;
		step = step_special(scan);
		if (step == X86_STEP_NEXT)
			step = x86_frame_step(&scan->code, path, &target);
		if (path->sp_base == X86_BASE_REG && base != X86_BASE_REG &&
		    !x86_frame_is_kept(scan, path->from))
			path->sp_base = X86_BASE_NONE;
		if (path->sp || path->sp_base || path->saved ||
		    step == X86_STEP_JUMP || step == X86_STEP_TABLE)
			x86_frame_end_run(path);
	}
	if (step != X86_STEP_NEXT)
		x86_charge(scan, X86_SCAN_JUMP);
	switch (step) {
	case X86_STEP_BRANCH:
		if (!add_branch(scan, next, x86_pc_add(next, target)))
			break;
		fallthrough;
	case X86_STEP_NEXT:
		path->pc = next;
		if (path->called != called && x86_frame_contradicts(scan, next))
			break;
		return true;
	case X86_STEP_JUMP:
		x86_frame_end_stretch(scan, next);
		path->pc = x86_pc_add(next, target);
		if (may_follow(scan, next) && x86_frame_start_stretch(scan))
			return true;
		return x86_frame_next_todo(scan);
	case X86_STEP_TABLE:
		x86_frame_end_stretch(scan, next);
		if (x86_frame_find_table(scan) && x86_frame_follow_table(scan) &&
		    x86_frame_start_stretch(scan))
			return true;
		return x86_frame_next_todo(scan);
	case X86_STEP_EXIT:
		*kind = exit_rule(scan, rule);
		if (*kind != X86_FRAME_UNKNOWN) {
			/* The exit itself is one of the exact states. */
			scan->work->run = path->run ?: path->pc ?: 1;
			return false;
		}
		break;
	case X86_STEP_DEAD:
		break;
	}
	x86_frame_end_stretch(scan, next);
	return x86_frame_next_todo(scan);
}

/*
 * Follows the code from @ip as it would run, over calls, until a path reaches an exit. Branches
 * are first followed as not taken.
 */
static enum x86_frame_kind scan_paths(const struct x86_frame_mem *mem,
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
	x86_frame_start_stretch(&scan);
	for (turn = X86_SCAN_TURN; ++work->insns <= work->limit;) {
		if (!scan_step(&scan, rule, &kind))
			break;
		if (work->insns >= turn && scan.nr_todo) {
			turn = work->insns + X86_SCAN_TURN;
			if (!x86_frame_take_turns(&scan))
				break;
		}
	}
	return kind;
}

/**
 * x86_frame_analyze_within - find the caller of the instruction at ip
 * @mem:	the code
 * @ip:		the instruction, not yet executed
 * @rule:	the rule, valid unless X86_FRAME_UNKNOWN or X86_FRAME_SIGNAL is returned
 * @work:	memory to work with, used by nobody else meanwhile
 * @limit:	how many units it may take, X86_FRAME_INSNS at most
 *
 * Context: any. It takes no lock, allocates nothing, does not recurse, and reads only through
 *	@mem.
 *
 * Returns: what found the rule
 */
enum x86_frame_kind x86_frame_analyze_within(const struct x86_frame_mem *mem,
					     unsigned long ip,
					     struct x86_frame_rule *rule,
					     struct x86_frame_work *work,
					     unsigned int limit)
{
	enum x86_frame_kind kind;

	work->insns = 0;
	work->limit = limit;
	work->run = 1;
	rule->fp_lost = false;
	kind = x86_frame_look(mem, ip, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = scan_paths(mem, ip, rule, work);
	work->took = work->insns + limit - work->limit;
	if (kind == X86_FRAME_UNKNOWN) {
		/* A rejected path may have set it. */
		rule->fp_lost = false;
		kind = x86_frame_guess_entry(mem, ip, rule);
	}
	return kind;
}

/* x86_frame_analyze_within() with the largest limit */
enum x86_frame_kind x86_frame_analyze(const struct x86_frame_mem *mem,
				      unsigned long ip,
				      struct x86_frame_rule *rule,
				      struct x86_frame_work *work)
{
	return x86_frame_analyze_within(mem, ip, rule, work, X86_FRAME_INSNS);
}
