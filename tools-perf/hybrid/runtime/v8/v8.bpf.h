/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_V8_BPF_H
#define __HYBRID_V8_BPF_H

/*
 * Functions that have native frames, with bp. Each such frame holds, below the word at bp, what it
 * runs: v8-layout.c says where. It is read while the stack is walked, as the frame is the one that
 * the walk is at.
 */
#include "../../bpf_skel/language.bpf.h"
#include "../../bpf_skel/stack.bpf.h"
#include "v8-text.bpf.h"

/* Frames that are followed by bp: each one, and its function, is an entry of the record. */
#define MAX_FOLLOWED	512

/* Words of the stack that are looked at for a frame of a function, if bp leads to none. */
#define MAX_SCANNED	2048

/* push %rbp; mov %rsp,%rbp */
#define NATIVE_FRAME	16
#define NATIVE_ROW	((__u64)PERF_UNWIND_CFA << 8 | (__u64)PERF_UNWIND_BASE_FP << 11 | \
			 (__u64)PERF_UNWIND_FP_AT_CFA << 12 | \
			 (__u64)(__u16)-NATIVE_FRAME << 24 | (__u64)NATIVE_FRAME << 40)

/* Of a row: what makes it such a frame's. It may not say where the caller's bp is. */
#define NATIVE_MASK	0xffffff0000000f00ULL

/* Is the frame's address in code that may run a function? */
static __always_inline bool is_native_code(const struct state *st)
{
	__u64 offset = st->ip + st->now.shift;

	return st->no_file || (st->now.end && offset >= st->native.v8.code &&
			       offset < st->native.v8.code_end);
}

/* The row of an address behind a call in such code: its frames have bp, all that call. */
static __always_inline __u64 native_row(const struct state *st)
{
	return st->in_native && !st->exact && st->bp_known && is_native_code(st) ? NATIVE_ROW : 0;
}

/* The mark of what functions share. */
static __always_inline __u32 native_mark(struct state *st, __u64 shared)
{
	__u32 i = mark_index(shared), mark;

	if (i >= NR_MARKS)
		return 0;
	if (!is_marked(st, i, shared)) {
		mark = user_word(shared + st->native.v8.mark);
		put_mark(st, i, shared, HYBRID_WALK_NATIVE_MARK(mark, user_word(shared +
								st->native.v8.owner)));
		meet_native(st, shared, st->marks[i].word);
	}
	return st->marks[i].word;
}

/* The function of the frame with this bp, if it runs one. @i: number of the frame. */
__noinline int put_native(struct state *st, __u64 bp, __u32 i)
{
	__u64 function, context, place, shared;
	__u32 mark;

	if (!st)
		return 0;
	if (!read_stack(st, bp - st->native.v8.below_position, &place) ||
	    !read_stack(st, bp - st->native.v8.below_function, &function) ||
	    !read_stack(st, bp - st->native.v8.below_context, &context) ||
	    !is_object(function) || !is_object(context))
		return 0;
	shared = user_word(function - V8_TAG + st->native.v8.shared);
	if (!is_object(shared))
		return 0;
	shared -= V8_TAG;
	mark = native_mark(st, shared);
	place = (__u32)place ? HYBRID_WALK_NO_PLACE : place >> 32;
	st->has_native = true;
	put_function(st, HYBRID_WALK_NATIVE_FUNCTION(shared, mark),
		     HYBRID_WALK_NATIVE_POSITION(i, bp + NATIVE_FRAME, mark, place));
	return 0;
}

/*
 * The function of frame @i of the walk. The innermost one may not have put it there yet. Returns
 * the row of the frame, which is @row but for where the caller's bp is.
 */
__noinline __u64 add_native(struct state *st, __u64 row, __u32 i)
{
	if (!st)
		return row;
	if ((row ^ NATIVE_ROW) & NATIVE_MASK || !st->bp_known || i >= HYBRID_WALK_NO_FRAME ||
	    !is_native_code(st) || (st->exact && st->sp > st->bp - st->native.v8.below_function))
		return row;
	put_native(st, st->bp, i);
	return NATIVE_ROW;
}

static long follow_native(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 bp = st->bp, ret;

	if (!read_stack(st, bp + 8, &ret))
		return 1;
	put_function(st, bp | HYBRID_WALK_NATIVE_LINK, ret);
	put_native(st, bp, HYBRID_WALK_NO_FRAME);
	return !read_stack(st, bp, &st->bp) || st->bp <= bp;
}

/*
 * Is the next word of the stack where a frame of a function has bp? Its function and its context
 * are below it. What looks so and is none has a CFA that no frame has: perf does not find it then.
 */
static long scan_native(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 bp = st->scanned, function, context, next;

	st->scanned = bp + 8;
	if (!read_stack(st, bp - st->native.v8.below_function, &function))
		return 1;
	if (!is_object(function))
		return 0;
	if (!read_stack(st, bp - st->native.v8.below_context, &context) || !is_object(context) ||
	    !read_stack(st, bp, &next) || next <= bp || next - bp > HYBRID_WALK_LOCALS ||
	    !is_object(user_word(function - V8_TAG + st->native.v8.shared)))
		return 0;
	st->bp = bp;
	st->bp_found = true;
	return 1;
}

/* The functions of the frames from bp on. */
__noinline int follow_bp(struct state *st)
{
	struct loop loop = { .st = st };

	if (st)
		bpf_loop(MAX_FOLLOWED, follow_native, &loop, 0);
	return 0;
}

/*
 * The walk has ended before the outermost frame: goes on by bp. perf finds out which of the frames
 * are those of functions. If the dump that it unwinds is too short, it goes on by these frames,
 * too.
 */
static __always_inline void follow_natives(struct state *st)
{
	struct loop loop = { .st = st };
	__u32 nr = st->nr_interpreted;

	if (!st->in_native || st->end == PERF_UNWIND_END_OUTERMOST)
		return;
	st->has_native = false;
	if (st->bp_known)
		follow_bp(st);
	if (st->has_native)
		return;
	/* In code that uses bp for other things, such as that of an addon. */
	st->nr_interpreted = nr;
	st->bp_found = false;
	st->scanned = st->sp + st->native.v8.below_function;
	bpf_loop(MAX_SCANNED, scan_native, &loop, 0);
	if (st->bp_found)
		follow_bp(st);
}

#endif /* __HYBRID_V8_BPF_H */
