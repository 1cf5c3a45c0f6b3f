/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_FUNCTIONS_BPF_H
#define __HYBRID_FUNCTIONS_BPF_H

/*
 * The functions that a task's interpreter runs, and where they are written.
 */
#include "perl.bpf.h"
#include "php.bpf.h"
#include "ruby.bpf.h"

/* Reads which functions the task is in, if it runs an interpreter. @task: that was walked. */
static __always_inline void read_functions(struct state *st, struct task_struct___h *task)
{
	__u64 thread;

	st->nr_untold = 0;
	if (!any_interpreters || !st->code_key.space || st->in_native)
		return;
	thread = thread_data(st, BPF_CORE_READ(task, thread.fsbase));
	if (!thread)
		return;
	st->interpreted_whole = 0;
	st->window_size = 0;
	switch (st->interpreter.language) {
	case HYBRID_WALK_PYTHON:
		read_python(st);
		break;
	case HYBRID_WALK_RUBY:
		read_ruby(st, thread);
		break;
	case HYBRID_WALK_PERL:
		read_perl(st, thread);
		break;
	case HYBRID_WALK_PHP:
		read_php(st, task);
		break;
	}
}

/* In the record of a walk, after its chain, if there is room: the walk's own are overwritten. */
static __always_inline void append_interpreted(struct state *st)
{
	__u32 at = st->record.head.nr_kernel + 1 + st->nr, nr = st->nr_interpreted;
	__u64 size = (__u64)nr * sizeof(st->interpreted.frames[0]);

	barrier_var(size);
	if (!nr || size > sizeof(st->interpreted.frames) ||
	    at > HYBRID_WALK_IPS - 2 * HYBRID_WALK_FUNCTIONS ||
	    bpf_probe_read_kernel(&st->record.ips[at], size, st->interpreted.frames))
		return;
	st->nr_words = at + 2 * nr;
	st->record.head.nr_kernel |= HYBRID_WALK_INTERPRETED | st->interpreted_whole;
}

/* In a record of their own, before the sample. */
static __always_inline void write_interpreted(void *ctx, struct state *st)
{
	__u64 size;

	if (!st->nr_interpreted)
		return;
	st->interpreted.head = st->record.head;
	st->interpreted.head.info = 0;
	st->interpreted.head.nr_kernel = HYBRID_WALK_INTERPRETED | st->interpreted_whole;
	size = sizeof(st->interpreted.head) +
	       (__u64)st->nr_interpreted * sizeof(st->interpreted.frames[0]);
	barrier_var(size);
	if (size <= sizeof(st->interpreted))
		bpf_perf_event_output(ctx, &output, st->output, &st->interpreted, size);
}

/* Bytes of texts that are written at a sample, at most; and the last one may be longer. */
#define MOST_TEXT	32768

/*
 * Tells perf the texts of the functions that this walk has met first, before it gets the walk.
 * @room: in the ring. Returns how many bytes it took.
 */
static __always_inline __u64 tell_functions(void *ctx, struct state *st, __u64 room)
{
	struct text_loop loop = { .st = st, .ctx = ctx };

	if (st->record.head.nr_kernel + 1 + st->nr + 2 * HYBRID_WALK_FUNCTIONS > TEXT_AT)
		return 0;
	if (room > MOST_TEXT)
		room = MOST_TEXT;
	st->text_room = room;
	if (st->interpreter.language == HYBRID_WALK_PYTHON)
		bpf_loop(st->nr_untold, tell_code, &loop, 0);
	else
		bpf_loop(st->nr_untold, tell_strings, &loop, 0);
	return room - st->text_room;
}

#endif /* __HYBRID_FUNCTIONS_BPF_H */
