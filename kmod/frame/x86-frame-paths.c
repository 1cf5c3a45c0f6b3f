// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the paths of a scan that wait, and the stretches of code
 * that it has followed.
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

/**
 * x86_start_stretch - start to follow code at the path's pc
 * @scan:	the scan
 *
 * Returns: false where it has been followed before
 */
bool x86_start_stretch(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	s32 pc = work->path.pc;
	int i;

	scan->start = pc;
	scan->stop = X86_SCAN_REACH;
	for (i = 0; i < scan->nr_seen; i++) {
		s32 from = work->seen[i].from;

		if (from > pc) {
			if (from < scan->stop)
				scan->stop = from;
		} else if (pc < work->seen[i].to) {
			return false;
		}
	}
	return pc < X86_SCAN_REACH && pc > -X86_SCAN_REACH;
}

/**
 * x86_end_stretch - remember a stretch
 * @scan:	the scan
 * @end:	where it ends
 */
void x86_end_stretch(struct x86_scan *scan, s32 end)
{
	struct x86_frame_work *work = scan->work;
	int i;

	/* Far stretches are not kept: 16 bits do for nearly all functions. */
	if (scan->start != (s16)scan->start || end != (s16)end)
		return;
	for (i = 0; i < scan->nr_seen; i++)
		if (work->seen[i].from == end) {
			work->seen[i].from = scan->start;
			return;
		}
	if (scan->nr_seen == X86_FRAME_SEEN)
		return;
	work->seen[scan->nr_seen].from = scan->start;
	work->seen[scan->nr_seen].to = end;
	scan->nr_seen++;
}

/**
 * x86_is_known - has code been followed, or will it be?
 * @scan:	the scan
 * @pc:		where it is
 *
 * Returns: true if so
 */
bool x86_is_known(const struct x86_scan *scan, s32 pc)
{
	const struct x86_frame_work *work = scan->work;
	int i;

	if (pc >= scan->start && pc <= work->path.pc)
		return true;
	for (i = 0; i < scan->nr_seen; i++)
		if (pc >= work->seen[i].from && pc < work->seen[i].to)
			return true;
	for (i = 0; i < scan->nr_todo; i++)
		if (work->todo[i].pc == pc)
			return true;
	return false;
}

/**
 * x86_contradicts - does another path come to code with another sp?
 * @scan:	the scan, the path being the one that it follows
 * @pc:		where both come to
 *
 * Then this path, if it went over more calls, went over one that never
 * returns, as one that is given arguments on the stack and reports an error.
 *
 * Returns: true if so
 */
bool x86_contradicts(const struct x86_scan *scan, s32 pc)
{
	const struct x86_frame_work *work = scan->work;
	const struct x86_path *path = &work->path, *todo = work->todo;
	int i;

	if (!path->called || path->sp_base != X86_BASE_SP)
		return false;
	for (i = 0; i < scan->nr_todo; i++)
		if (todo[i].pc == pc)
			return todo[i].sp_base == X86_BASE_SP &&
			       todo[i].sp != path->sp &&
			       todo[i].called < path->called;
	return false;
}

/**
 * x86_end_run - the path leaves the straight code from ip on
 * @path:	the path
 */
void x86_end_run(struct x86_path *path)
{
	/* No overflow: straight code is no longer than the budget allows. */
	if (!path->run)
		path->run = path->pc + 1;
}

/**
 * x86_add_todo - let a path wait
 * @scan:	the scan, the path being the one that it follows
 * @pc:		where it will go on
 */
void x86_add_todo(struct x86_scan *scan, s32 pc)
{
	struct x86_frame_work *work = scan->work;

	if (scan->nr_todo == X86_FRAME_TODO || x86_is_known(scan, pc))
		return;
	work->todo[scan->nr_todo] = work->path;
	x86_end_run(&work->todo[scan->nr_todo]);
	work->todo[scan->nr_todo++].pc = pc;
}

/* The waiting path whose code comes first, or last. */
static int pick_todo(const struct x86_scan *scan, bool last)
{
	const struct x86_path *todo = scan->work->todo;
	int i, best = 0;

	for (i = 1; i < scan->nr_todo; i++)
		if (last ? todo[i].pc > todo[best].pc :
			   todo[i].pc < todo[best].pc)
			best = i;
	return best;
}

/**
 * x86_next_todo - follow a path that has waited
 * @scan:	the scan
 *
 * The one whose code comes first: compilers put what is likely before what is
 * not, so an exit is more often there than among errors and their handling.
 *
 * Returns: false where there is none
 */
bool x86_next_todo(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	int pick;

	while (scan->nr_todo) {
		pick = pick_todo(scan, false);
		work->path = work->todo[pick];
		work->todo[pick] = work->todo[--scan->nr_todo];
		if (x86_start_stretch(scan))
			return true;
	}
	return false;
}

/**
 * x86_take_turns - let a path that goes on and on wait
 * @scan:	the scan, with a path that waits
 *
 * Another one gets its turn, the one whose code comes last: behind a branch
 * that skips much, the exit may be near.
 *
 * Returns: false where there is none
 */
bool x86_take_turns(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	int pick = pick_todo(scan, true);
	struct x86_path next = work->todo[pick];

	x86_end_stretch(scan, work->path.pc);
	work->todo[pick] = work->path;
	work->path = next;
	return x86_start_stretch(scan) || x86_next_todo(scan);
}
