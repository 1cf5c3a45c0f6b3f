/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_FUNCTIONS_BPF_H
#define __HYBRID_FUNCTIONS_BPF_H

/*
 * The functions that a task's interpreter runs, and where they are written.
 */
#include "frame.bpf.h"

static __always_inline void read_languages(struct state *st, struct task_struct___h *task)
{
	if (st->met_languages & ~st->languages)
		learn_languages(st);
	if (!st->languages)
		return;
	st->fs = BPF_CORE_READ(task, thread.fsbase);
	st->is_main = task->pid == task->tgid;
	/* The walk has added those that have native frames. */
	if (st->in_native)
		end_language(st, NATIVE_LANGUAGE);
#define HYBRID_INTERPRETER(name, folder)	add_##folder(st);
#include "../runtime/languages.h"
}

/* Reads which functions the task is in, if it runs interpreters. @task: that was walked. */
static __always_inline void read_functions(struct state *st, struct task_struct___h *task)
{
	if (any_interpreters && st->code_key.space)
		read_languages(st, task);
	/* The last part that was begun has no functions. */
	st->nr_interpreted = st->nr_parts ? st->nr_interpreted - 1 : 0;
}

/* The functions of frames that the walk came through, where there is room. */
static __always_inline void append_frames(struct state *st)
{
	__u32 at = st->nr_words, nr = st->nr_functions;
	__u64 size = (__u64)nr * sizeof(*st->functions);
	struct hybrid_walk_part *part;

	barrier_var(size);
	if ((!nr && !st->code_hash) || size > sizeof(st->functions) ||
	    at > HYBRID_WALK_IPS - 2 * HYBRID_WALK_FUNCTIONS - 2)
		return;
	part = (void *)&st->record.ips[at];
	part->kind = HYBRID_WALK_PART_FRAMES;
	part->nr = nr;
	part->language = HYBRID_NO_LANGUAGE;
	part->is_whole = false;
	part->code_hash = st->code_hash;
	if (nr && bpf_probe_read_kernel(&st->record.ips[at + 2], size, st->functions))
		return;
	st->nr_words = at + 2 + 2 * nr;
	st->record.head.nr_parts = 1;
}

/* The functions of interpreters, where there is room. */
static __always_inline void append_interpreted(struct state *st)
{
	__u32 at = st->nr_words, nr = st->nr_interpreted;
	__u64 size = (__u64)nr * sizeof(st->interpreted.frames[0]);

	barrier_var(size);
	if (!nr || size > sizeof(st->interpreted.frames) ||
	    at > HYBRID_WALK_IPS - 2 * HYBRID_WALK_FUNCTIONS ||
	    bpf_probe_read_kernel(&st->record.ips[at], size, st->interpreted.frames))
		return;
	st->nr_words = at + 2 * nr;
	st->record.head.nr_parts += st->nr_parts;
}

/* Completes the record of a walk that came to the outermost frame. */
static __always_inline void append_parts(struct state *st)
{
	st->record.head.nr_user = st->nr + 1;
	st->nr_words = st->record.head.nr_kernel + 1 + st->nr;
	append_frames(st);
	append_interpreted(st);
}

/* In a record of their own, before the sample. */
static __always_inline void write_interpreted(void *ctx, struct state *st)
{
	__u64 size;

	if (!st->nr_interpreted)
		return;
	st->interpreted.head = st->record.head;
	st->interpreted.head.info = 0;
	st->interpreted.head.kind = HYBRID_WALK_RECORD_FUNCTIONS;
	st->interpreted.head.nr_kernel = 0;
	st->interpreted.head.nr_parts = st->nr_parts;
	size = sizeof(st->interpreted.head) +
	       (__u64)st->nr_interpreted * sizeof(st->interpreted.frames[0]);
	barrier_var(size);
	if (size <= sizeof(st->interpreted))
		bpf_perf_event_output(ctx, &output, st->output, &st->interpreted, size);
}

/* Tells perf the texts of one function; for bpf_loop(). */
static long tell_function(__u32 i, void *arg)
{
	struct text_loop *loop = arg;

	if (i >= NR_UNTOLD)
		return 1;
	switch (loop->st->untold[i].language) {
#define HYBRID_INTERPRETER(name, folder) \
	case HYBRID_LANGUAGE_##name: \
		tell_##folder(loop, i); \
		break;
#define HYBRID_NATIVE	HYBRID_INTERPRETER
#include "../runtime/languages.h"
	}
	return 0;
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
	bpf_loop(st->nr_untold, tell_function, &loop, 0);
	return room - st->text_room;
}

#endif /* __HYBRID_FUNCTIONS_BPF_H */
