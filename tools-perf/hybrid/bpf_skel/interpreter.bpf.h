/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_BPF_H
#define __HYBRID_INTERPRETER_BPF_H

/*
 * The functions that a thread of an interpreter is in. Each frame of the interpreter says which
 * code it runs, where in it, and which frame is its caller's. perf reads names later: the frames
 * may be gone then.
 */
#include "language.bpf.h"
#include "text.bpf.h"

/* Of @frame_size: bytes of a frame that may be read. */
#define FRAME_BYTES	128

/* Of glibc: nptl/descr.h, where a thread has the values of pthread keys. */
#define SPECIFIC_FIRST	0x310
#define SPECIFIC_BLOCKS	0x510
#define SPECIFIC_BLOCK	32
#define SPECIFIC_SIZE	16
#define SPECIFIC_KEYS	1024

/*
 * What pthread_getspecific() returns for a key. struct pthread of glibc has the first 32 values,
 * and then the addresses of blocks of 32.
 */
static __always_inline __u64 thread_specific(const struct state *st, __u32 key)
{
	__u64 block = st->fs + SPECIFIC_FIRST;

	if (key >= SPECIFIC_BLOCK)
		block = user_word(st->fs + SPECIFIC_BLOCKS + key / SPECIFIC_BLOCK * 8);
	return key < SPECIFIC_KEYS && block ?
		user_word(block + key % SPECIFIC_BLOCK * SPECIFIC_SIZE + 8) : 0;
}

/* What begin_language() finds: nothing; the interpreter; and the thread of the last sample. */
#define NO_LANGUAGE	0
#define SOME_THREAD	1
#define SAME_THREAD	2

/* The functions of a language are to be read. */
__noinline int begin_language(struct state *st, __u32 language)
{
	int found = SAME_THREAD;

	if (!st || !has_language(st->languages, language))
		return NO_LANGUAGE;
	if (!st->thread || st->interpreter.language != language || st->thread_of != st->fs ||
	    st->thread_space != st->code_key.space) {
		if (!find_interpreter(st, language))
			return NO_LANGUAGE;
		found = SOME_THREAD;
	}
	st->thread_of = st->fs;
	st->thread_space = st->code_key.space;
	st->language = language;
	st->is_whole = false;
	st->window_size = 0;
	return found;
}

/* They were read: says how many there are. */
__noinline int end_language(struct state *st, __u32 language)
{
	struct hybrid_walk_part *part;
	__u32 at;

	if (!st)
		return 0;
	at = st->begin - 1;
	if (st->nr_interpreted == st->begin || at >= HYBRID_WALK_FUNCTIONS)
		return 0;
	part = (void *)&st->interpreted.frames[at];
	part->kind = HYBRID_WALK_PART_LANGUAGE;
	part->nr = st->nr_interpreted - st->begin;
	part->language = language;
	part->is_whole = st->is_whole;
	part->code_hash = 0;
	st->nr_parts++;
	begin_part(st);
	return 0;
}

/*
 * Reads the frame, and what is before it: frames of callers mostly are there, if they are in a
 * stack of the interpreter's own that grows upwards.
 */
static __always_inline bool read_frame(struct state *st, __u64 frame, __u32 size, bool is_apart)
{
	__u64 from = frame + FRAME_BYTES - WINDOW, page = frame & ~(PAGE - 1);

	/* Before the page may be nothing: a read that faults takes as long as 30 frames. */
	if (from < page)
		from = page;
	if (frame >= st->window_at && frame + FRAME_BYTES - st->window_at <= st->window_size)
		return true;
	st->window_at = from;
	st->window_size = WINDOW;
	if (!is_apart && !bpf_probe_read_user(st->window, WINDOW, (void *)from))
		return true;
	/* The memory begins, or ends, at the frame. */
	st->window_at = frame;
	st->window_size = FRAME_BYTES;
	return size <= FRAME_BYTES && !bpf_probe_read_user(st->window, size, (void *)frame);
}

/* A word of the frame that was read. */
static __always_inline __u64 frame_word(const struct state *st, __u64 frame, __u32 at)
{
	__u64 place = frame - st->window_at + at;

	return place <= WINDOW - sizeof(__u64) ? *(const __u64 *)&st->window[place] : 0;
}

/* The mark of a function, which has it @at so many bytes; that of a moment ago, mostly. */
static __always_inline __u64 mark_of(struct state *st, __u64 function, __u32 at)
{
	__u32 i = mark_index(function);

	if (i >= NR_MARKS)
		return 0;
	if (!is_marked(st, i, function))
		put_mark(st, i, function, user_word(function + at));
	return HYBRID_WALK_FUNCTION_MARK(st->marks[i].word);
}

/* The frames so far are those that one native frame of the interpreter runs. */
__noinline int end_run(struct state *st)
{
	__u32 at;

	if (!st)
		return 0;
	at = st->nr_interpreted - 1;
	if (st->nr_interpreted > st->begin && at < HYBRID_WALK_FUNCTIONS &&
	    !(st->interpreted.frames[at].function & HYBRID_WALK_RUN_ENDS))
		st->interpreted.frames[at].function |= HYBRID_WALK_RUN_ENDS;
	else
		put_function(st, HYBRID_WALK_RUN_ENDS, 0);
	return 0;
}

#endif /* __HYBRID_INTERPRETER_BPF_H */
