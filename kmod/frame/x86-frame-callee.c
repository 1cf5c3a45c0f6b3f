// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: does a call return?
 *
 * What compilers make aligns sp before it calls, so that sp is lower there than
 * at the exit, see exit_rule().  Assemblers call parts of their own where they
 * are.  Such a call is believed to return where the code at its target does, and
 * what that calls in the same way.
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

/* Instructions looked at from a target on. */
#define X86_CALLEE_INSNS	256
/* Targets looked at, with those of targets; a function that calls itself ends there. */
#define X86_CALLEES_MAX		8

/**
 * x86_note_callee - remember the target of a call
 * @scan:	the scan, its path at a direct call
 * @pc:		the target
 */
void x86_note_callee(struct x86_scan *scan, s32 pc)
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

/* Is it a call of a known target, with sp where a return would have it?  Notes that. */
static bool note_inner(struct x86_scan *scan, s32 next)
{
	struct x86_path *path = &scan->work->path;

	if (scan->code.map != X86_MAP_ONE || scan->code.op != 0xe8 ||
	    path->sp_base != X86_BASE_SP || path->sp)
		return false;
	path->called = 0;
	x86_note_callee(scan, x86_pc_add(next, scan->code.imm));
	return true;
}

/*
 * Does the code at the path's pc return, straight on, with sp as it is there, if what it
 * calls does?
 */
static bool returns(struct x86_scan *scan)
{
	struct x86_path *path = &scan->work->path;
	unsigned int end = scan->work->insns + X86_CALLEE_INSNS;
	enum x86_step step;
	s32 next, target;

	while (scan->work->insns < end && ++scan->work->insns <= scan->work->limit) {
		target = 0;
		if (!x86_scan_decode(scan))
			return false;
		next = path->pc + scan->code.len;
		step = x86_step_insn(&scan->code, path, &target);
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

/**
 * x86_callees_return - do all calls return that paths went over so far?
 * @scan:	the scan, its path at an exit
 *
 * What is found out is kept: calls that return are forgotten.  The stretch and the
 * instruction are not: the path ends here.
 *
 * Returns: true if all do
 */
bool x86_callees_return(struct x86_scan *scan)
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
