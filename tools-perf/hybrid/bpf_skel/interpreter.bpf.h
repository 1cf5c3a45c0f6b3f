/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_BPF_H
#define __HYBRID_INTERPRETER_BPF_H

/*
 * The functions that a thread of an interpreter is in. Each frame of the interpreter says which
 * code it runs, where in it, and which frame is its caller's. perf reads names later: the frames
 * may be gone then.
 */
#include "native.bpf.h"
#include "output.bpf.h"
#include "python.bpf.h"

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

/* Of @frame_size: bytes of a frame that may be read. */
#define FRAME_BYTES	128

/* Of glibc: where a thread has its blocks of variables, and bytes of an entry, by module. */
#define DTV		8
#define DTV_ENTRY	16
#define MAX_MODULES	4096

/* Of glibc: nptl/descr.h, where a thread has the values of pthread keys. */
#define SPECIFIC_FIRST	0x310
#define SPECIFIC_BLOCKS	0x510
#define SPECIFIC_BLOCK	32
#define SPECIFIC_SIZE	16
#define SPECIFIC_KEYS	1024

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

/* Without a branch, as user_word(). */
static __always_inline __u64 is_zero(__u64 value)
{
	return (~value & (value - 1)) >> 63;
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

/* Where the thread's variable of CRuby is. */
static __always_inline __u64 ruby_variable_at(const struct state *st)
{
	__s32 variable = st->interpreter.ruby.variable;
	__u64 module, block;

	if (variable)
		return st->fs + variable;
	module = user_word(st->runtime);
	if (!module || module >= MAX_MODULES)
		return 0;
	block = user_word(user_word(st->fs + DTV) + module * DTV_ENTRY);
	return block ? block + user_word(st->runtime + 8) : 0;
}

/* What the variable has: the context of the fiber that runs. */
static __always_inline __u64 find_context(struct state *st)
{
	st->context_at = ruby_variable_at(st);
	st->context_when = st->moment;
	return st->context_at ? user_word(st->context_at) : 0;
}

/*
 * What pthread_getspecific() returns for the key that is @st->specific. struct pthread of glibc
 * has the first 32 values, and then the addresses of blocks of 32.
 */
static __always_inline __u64 thread_specific(const struct state *st)
{
	__u32 key = st->specific;
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

/* The innermost frame of the next interpreter that the thread is in; 0: it is in no other. */
static __always_inline __u64 next_chain(struct state *st)
{
	__u32 at = st->chain_at;

	if (at >= st->nr_chains || at >= NR_CHAINS)
		return 0;
	st->chain_at = at + 1;
	return st->chains[at];
}

static long interpreter_frame(__u32 i, void *arg)
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
		bpf_loop(HYBRID_WALK_FUNCTIONS + 1, interpreter_frame, &loop, 0);
}

#endif /* __HYBRID_INTERPRETER_BPF_H */
