/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PYTHON_BPF_H
#define __HYBRID_PYTHON_BPF_H

/*
 * The frames of CPython: a list. The interpreters of a process are a list, too, and the threads of
 * each one.
 */
#include "../../bpf_skel/interpreter.bpf.h"
#include "python-text.bpf.h"

/* Thread states that are looked through for that of a thread. */
#define MAX_THREADS	2048

/*
 * For how long a thread that was not found is not looked for: not at all, as it may be about to
 * begin, then 1 ms, 2 ms and so on. The unit, in bits of ns, and the longest time. And how many
 * times as long as a search no other is begun on a CPU.
 */
#define MISS_UNIT	20
#define LONGEST_MISS	128
#define SEARCH_SHARE	16

/*
 * Interpreters and threads that are looked through, at each sample, for others of which the thread
 * runs functions: in processes that have several interpreters.
 */
#define MAX_OTHERS	64

/* Bytes of code with which CPython's evaluator begins, before it runs anything. */
#define PROLOGUE	256

static __always_inline bool is_of_thread(const struct state *st, __u64 thread)
{
	return thread && user_word(thread + st->interpreter.python.thread_id) == st->fs;
}

/* Address of the innermost frame; 0: there is none. */
static __always_inline __u64 first_frame(const struct state *st, __u64 thread)
{
	__u64 frame = user_word(thread + st->interpreter.python.frame);

	return frame && st->interpreter.python.is_indirect ?
		user_word(frame + st->interpreter.python.frame_in_frame) : frame;
}

/*
 * Is it of the thread, and runs functions? @st->frame: the innermost one's. That of a thread which
 * has ended may have the same number: it runs none. So does one that has just begun, @st->idle.
 */
static __always_inline bool is_running(struct state *st, __u64 thread)
{
	if (!is_of_thread(st, thread))
		return false;
	st->frame = first_frame(st, thread);
	if (!st->frame)
		st->idle = thread;
	return st->frame;
}

/*
 * Is it in the list of threads still? CPython frees what a thread has when that ends. A new thread
 * has its stack, and so its number, which the memory may have still, beside what is there by now.
 * Include/cpython/pystate.h: the data of a thread begins with the previous thread's and the next
 * one's.
 */
static __always_inline bool is_listed(const struct state *st, __u64 thread)
{
	__u32 at = st->interpreter.python.thread_next;
	__u64 next = user_word(thread + at);

	return is_zero(next) | is_zero(user_word(next + at - sizeof(next)) ^ thread);
}

/* As is_running(), of a thread that was found at an earlier sample. */
static __always_inline bool is_still_running(struct state *st, __u64 thread)
{
	return is_listed(st, thread) && is_running(st, thread);
}

/* One interpreter of the process, or one of its threads, on. */
static long find_thread(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 at = st->interpreter_at;

	if (is_running(st, st->thread))
		return 1;
	if (st->thread) {
		st->thread = user_word(st->thread + st->interpreter.python.thread_next);
		return 0;
	}
	if (!at)
		return 1;
	st->thread = user_word(at + st->interpreter.python.threads);
	st->interpreter_at = user_word(at + st->interpreter.python.next);
	st->has_threads |= st->thread != 0;
	return 0;
}

/*
 * Looks through the threads of the process's interpreters. Not again and again, for a thread that
 * runs none of them, or a process that lies.
 */
static __always_inline __u64 find_thread_data(struct state *st)
{
	__u64 now = bpf_ktime_get_ns();
	struct loop loop = { .st = st };
	struct interpreter_thread *known = known_language(st, st->fs), found = {};
	bool runs;

	if (known && is_still_running(st, known->thread))
		return known->thread;
	if (known && !known->thread) {
		if ((__u32)(now >> MISS_UNIT) - known->when < known->wait)
			return 0;
		found.wait = known->wait < LONGEST_MISS ? 2 * known->wait + 1 : LONGEST_MISS;
	}
	if (now < st->search_after)
		return 0;
	st->thread = 0;
	st->idle = 0;
	st->has_threads = 0;
	st->interpreter_at = user_word(st->runtime + st->interpreter.python.first);
	bpf_loop(MAX_THREADS, find_thread, &loop, 0);
	st->search_after = now + SEARCH_SHARE * (bpf_ktime_get_ns() - now);
	runs = is_running(st, st->thread);
	found.thread = runs ? st->thread : st->idle;
	/* It may run some again before long. An interpreter that begins has none for some ms. */
	if (!runs && ((known && known->thread) || !st->has_threads))
		return 0;
	found.when = now >> MISS_UNIT;
	keep_language(st, st->fs, &found);
	return runs ? found.thread : 0;
}

/* The innermost frame of the next interpreter that the thread is in; 0: it is in no other. */
static __always_inline __u64 next_chain(struct state *st)
{
	__u32 at = st->chain_at;

	if (at >= st->nr_chains || at >= NR_CHAINS)
		return 0;
	st->chain_at = at + 1;
	return st->chains[at];
}

static long python_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	const struct hybrid_walk_python *in = &st->interpreter.python;
	__u64 frame = st->frame, function;
	bool ends;

	/* A generator that ends has no caller, and is the innermost frame yet. */
	if (!frame && st->is_in_run)
		return 1;
	if (!frame)
		frame = next_chain(st);
	if (!frame) {
		st->is_whole = true;
		return 1;
	}
	if (st->nr_interpreted >= HYBRID_WALK_FUNCTIONS ||
	    !read_frame(st, frame, in->frame_size, in->is_apart))
		return 1;
	ends = (__u8)frame_word(st, frame, in->kind) >= in->ends_from;
	function = frame_word(st, frame, in->function) & HYBRID_WALK_FUNCTION_ADDR;
	if (!ends || in->ends_with)
		put_function(st, function | (in->code.is_known ?
					     code_mark(st, function) :
					     mark_of(st, function, in->mark)),
			     frame_word(st, frame, in->position));
	if (ends)
		end_run(st);
	st->frame = frame_word(st, frame, in->caller);
	/* The evaluator's frame is not linked to its caller's yet. */
	if (ends && st->is_beginning && st->frame != st->outer) {
		st->nr_interpreted = st->begin;
		return 1;
	}
	st->is_beginning &= !ends;
	st->is_in_run = !ends;
	return 0;
}

/* One interpreter of the process, or one of its threads, on. */
static long find_other(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 thread = st->other, at = st->interpreter_at, frame = 0;
	__u32 nr = st->nr_chains;

	if (!thread && !at)
		return 1;
	if (!thread) {
		st->other = user_word(at + st->interpreter.python.threads);
		st->interpreter_at = user_word(at + st->interpreter.python.next);
		return 0;
	}
	if (is_of_thread(st, thread))
		frame = first_frame(st, thread);
	st->other = frame ? 0 : user_word(thread + st->interpreter.python.thread_next);
	if (!frame)
		return 0;
	if (nr >= NR_CHAINS)
		return 1;
	st->chains[nr] = frame;
	st->nr_chains = nr + 1;
	return 0;
}

/* Does the process have more than one interpreter? It did a moment ago, mostly. */
static __always_inline bool has_several(struct state *st)
{
	__u64 when = st->moment, first;

	if (st->several_of == st->fs && st->several_when == when && when)
		return st->has_several;
	first = user_word(st->runtime + st->interpreter.python.first);
	st->has_several = first && user_word(first + st->interpreter.python.next);
	st->several_of = st->fs;
	st->several_when = when;
	return st->has_several;
}

/*
 * Where a thread runs functions of several interpreters, one has called the next. The newest one,
 * which is the first, is the innermost.
 */
static __always_inline void find_chains(struct state *st)
{
	struct loop loop = { .st = st };

	st->nr_chains = 0;
	st->chain_at = 0;
	st->other = 0;
	if (has_several(st)) {
		st->interpreter_at = user_word(st->runtime + st->interpreter.python.first);
		bpf_loop(MAX_OTHERS, find_other, &loop, 0);
	}
	if (st->nr_chains)
		return;
	st->chains[0] = st->frame;
	st->nr_chains = 1;
}

/*
 * Is it the frame that the evaluator runs? The evaluator has this in the register of its argument,
 * or in one that calls preserve. Compilers may use the former for something else early.
 */
static __always_inline bool is_in_register(struct pt_regs___h *user, __u64 frame)
{
	return is_zero(BPF_CORE_READ(user, si) ^ frame) | is_zero(BPF_CORE_READ(user, bx) ^ frame) |
	       is_zero(BPF_CORE_READ(user, bp) ^ frame) |
	       is_zero(BPF_CORE_READ(user, r12) ^ frame) |
	       is_zero(BPF_CORE_READ(user, r13) ^ frame) |
	       is_zero(BPF_CORE_READ(user, r14) ^ frame) |
	       is_zero(BPF_CORE_READ(user, r15) ^ frame);
}

/*
 * CPython 3.11 and 3.12: the evaluator has put the address of a word on its stack into the thread's
 * data, and not yet that of its frame into the word, or not yet the caller's into the frame. What
 * is there is of an earlier call. Returns false if the word has another frame than the registers.
 * Functions that the evaluator calls itself begin in the same code, so the caller of the last frame
 * of the run tells: @st->outer.
 */
static __always_inline bool has_begun(struct state *st)
{
	const struct hybrid_walk_python *in = &st->interpreter.python;
	struct pt_regs___h *user = (void *)st->regs;
	__u64 ip = BPF_CORE_READ(user, ip), at;

	st->is_beginning = false;
	if (!in->is_indirect || !in->evaluator ||
	    !has_language(st->met_languages, HYBRID_LANGUAGE_PYTHON) ||
	    ip + st->met[HYBRID_LANGUAGE_PYTHON].shift - in->evaluator >= PROLOGUE ||
	    BPF_CORE_READ(user, di) != st->thread)
		return true;
	at = user_word(st->thread + in->frame);
	if (at < BPF_CORE_READ(user, sp) || at >= st->first_cfa)
		return true;
	st->is_beginning = true;
	st->outer = user_word(user_word(at + in->frame_in_frame + 8) + in->frame_in_frame);
	return is_in_register(user, st->frame);
}

static __always_inline void read_python(struct state *st)
{
	struct loop loop = { .st = st };

	if (!has_begun(st))
		return;
	find_chains(st);
	st->frame = next_chain(st);
	st->is_in_run = false;
	if (st->frame)
		bpf_loop(HYBRID_WALK_FUNCTIONS + 1, python_frame, &loop, 0);
}

__noinline int add_python(struct state *st)
{
	int found = st ? begin_language(st, HYBRID_LANGUAGE_PYTHON) : NO_LANGUAGE;

	if (!st || found == NO_LANGUAGE)
		return 0;
	if (found != SAME_THREAD || !is_still_running(st, st->thread))
		st->thread = find_thread_data(st);
	if (st->thread)
		read_python(st);
	return end_language(st, HYBRID_LANGUAGE_PYTHON);
}

#endif /* __HYBRID_PYTHON_BPF_H */
