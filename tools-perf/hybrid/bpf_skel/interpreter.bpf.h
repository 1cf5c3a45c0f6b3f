/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_BPF_H
#define __HYBRID_INTERPRETER_BPF_H

/*
 * The functions that a thread of an interpreter is in. Each frame of the interpreter says which
 * code it runs, where in it, and which frame is its caller's. perf reads names later: the frames
 * may be gone then.
 */
#include "output.bpf.h"

/* Thread states that are looked through for that of a thread. */
#define MAX_THREADS	2048

/* Of struct hybrid_walk_interpreter: bytes of a frame that may be read. */
#define FRAME_BYTES	128

/**
 * struct interpreter_thread - a thread that was found; or, as thread 0, an address space
 * @runtime: address of the interpreter's data
 * @thread: address of the thread's; of an address space 0
 * @number: of the interpreter, from 1 on
 * @unused: 0
 */
struct interpreter_thread {
	__u64 runtime;
	__u64 thread;
	__u32 number;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct hybrid_walk_interpreter));
	__uint(max_entries, HYBRID_WALK_INTERPRETERS);
} interpreters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct interpreter_thread);
	__uint(max_entries, 8192);
} interpreter_threads SEC(".maps");

/* perf's: some file is an interpreter. */
__u32 any_interpreters;

/* Returns 0 where nothing can be read. */
static __always_inline __u64 user_word(__u64 addr)
{
	__u64 word = 0;

	return bpf_probe_read_user(&word, sizeof(word), (void *)addr) ? 0 : word;
}

static __always_inline bool is_of_thread(const struct state *st, __u64 thread)
{
	return thread && user_word(thread + st->interpreter.thread_id) == st->code_key.ip;
}

/* One interpreter of the process, or one of its threads, on. */
static long find_thread(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 at = st->interpreter_at;

	if (is_of_thread(st, st->thread))
		return 1;
	if (st->thread) {
		st->thread = user_word(st->thread + st->interpreter.thread_next);
		return 0;
	}
	if (!at)
		return 1;
	st->thread = user_word(at + st->interpreter.threads);
	st->interpreter_at = user_word(at + st->interpreter.next);
	return 0;
}

/* What the address space is known to have; or what the walk came through. */
static __always_inline bool find_runtime(struct state *st)
{
	struct interpreter_thread *known, found = {};
	struct hybrid_walk_interpreter *interpreter;
	__u32 index;

	st->code_key.ip = 0;
	known = bpf_map_lookup_elem(&interpreter_threads, &st->code_key);
	if (known)
		found = *known;
	else
		found.number = st->interpreter_number;
	index = found.number - 1;
	interpreter = bpf_map_lookup_elem(&interpreters, &index);
	if (!interpreter)
		return false;
	st->interpreter = *interpreter;
	if (!known) {
		found.runtime = interpreter->runtime - st->interpreter_shift;
		bpf_map_update_elem(&interpreter_threads, &st->code_key, &found, BPF_ANY);
	}
	st->interpreter_number = found.number;
	st->runtime = found.runtime;
	return true;
}

/* The data of the thread that runs; 0: it runs nothing of the interpreter. @fs: what it is known by. */
static __always_inline __u64 thread_data(struct state *st, __u64 fs)
{
	struct loop loop = { .st = st };
	struct interpreter_thread *known, found = {};

	st->code_key.ip = fs;
	known = bpf_map_lookup_elem(&interpreter_threads, &st->code_key);
	if (known && is_of_thread(st, known->thread))
		return known->thread;
	st->thread = 0;
	st->interpreter_at = user_word(st->runtime + st->interpreter.first);
	bpf_loop(MAX_THREADS, find_thread, &loop, 0);
	if (!is_of_thread(st, st->thread))
		return 0;
	found.thread = st->thread;
	bpf_map_update_elem(&interpreter_threads, &st->code_key, &found, BPF_ANY);
	return found.thread;
}

/* A word of the frame that was read. */
static __always_inline __u64 frame_word(const struct state *st, __u32 at)
{
	return at <= FRAME_BYTES - sizeof(__u64) ? *(const __u64 *)&st->window[at] : 0;
}

static __always_inline void put_function(struct state *st, __u64 function, __u64 position)
{
	__u32 at = st->nr_interpreted;

	if (at >= HYBRID_WALK_FUNCTIONS)
		return;
	st->interpreted.frames[at].function = function;
	st->interpreted.frames[at].position = position;
	st->nr_interpreted = at + 1;
}

/* The frames so far are those that one native frame of the interpreter runs. */
static __always_inline void end_run(struct state *st)
{
	__u32 at = st->nr_interpreted - 1;

	if (at < HYBRID_WALK_FUNCTIONS && !(st->interpreted.frames[at].function & HYBRID_WALK_RUN_ENDS))
		st->interpreted.frames[at].function |= HYBRID_WALK_RUN_ENDS;
	else
		put_function(st, HYBRID_WALK_RUN_ENDS, 0);
}

static long interpreter_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	const struct hybrid_walk_interpreter *in = &st->interpreter;
	__u32 size = in->frame_size, kind_at = in->kind;
	__u64 frame = st->frame, function;
	bool ends;

	if (!frame) {
		st->interpreted.head.info = 1;
		return 1;
	}
	if (size > FRAME_BYTES || st->nr_interpreted >= HYBRID_WALK_FUNCTIONS ||
	    bpf_probe_read_user(st->window, size, (void *)frame))
		return 1;
	ends = kind_at < FRAME_BYTES && st->window[kind_at] >= in->ends_from;
	function = frame_word(st, in->function) & HYBRID_WALK_FUNCTION_ADDR;
	if (!ends || in->ends_with)
		put_function(st, function | HYBRID_WALK_FUNCTION_MARK(user_word(function + in->mark)),
			     frame_word(st, in->position));
	if (ends)
		end_run(st);
	st->frame = frame_word(st, in->caller);
	return 0;
}

/*
 * Writes which functions the task is in, if it runs an interpreter, before its sample. @task: that
 * runs, which was walked.
 */
static __always_inline void write_functions(void *ctx, struct state *st,
					    struct task_struct___h *task)
{
	struct loop loop = { .st = st };
	__u64 thread, size;

	if (!any_interpreters || !st->code_key.space || !find_runtime(st))
		return;
	thread = thread_data(st, BPF_CORE_READ(task, thread.fsbase));
	if (!thread)
		return;
	st->frame = user_word(thread + st->interpreter.frame);
	if (st->interpreter.frame_in_frame && st->frame)
		st->frame = user_word(st->frame + st->interpreter.frame_in_frame);
	if (!st->frame)
		return;
	st->interpreted.head = st->record.head;
	st->interpreted.head.nr_kernel = HYBRID_WALK_INTERPRETED;
	st->interpreted.head.info = 0;
	st->nr_interpreted = 0;
	bpf_loop(HYBRID_WALK_FUNCTIONS, interpreter_frame, &loop, 0);
	size = sizeof(st->interpreted.head) +
	       (__u64)st->nr_interpreted * sizeof(st->interpreted.frames[0]);
	barrier_var(size);
	if (size <= sizeof(st->interpreted))
		bpf_perf_event_output(ctx, &output, st->output, &st->interpreted, size);
}

#endif /* __HYBRID_INTERPRETER_BPF_H */
