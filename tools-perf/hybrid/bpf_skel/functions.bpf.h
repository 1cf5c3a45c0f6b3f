/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_FUNCTIONS_BPF_H
#define __HYBRID_FUNCTIONS_BPF_H

/*
 * The functions that a task's interpreter runs, and where they are written.
 */
#include "perl.bpf.h"
#include "php.bpf.h"
#include "ruby.bpf.h"

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

__noinline int add_ruby(struct state *st)
{
	int found = st ? begin_language(st, HYBRID_LANGUAGE_RUBY) : NO_LANGUAGE;

	if (!st || found == NO_LANGUAGE)
		return 0;
	/* Another thread may have got the number of one that has ended. */
	if (found != SAME_THREAD || st->context_when != st->moment)
		st->thread = find_context(st);
	else
		st->thread = user_word(st->context_at);
	if (st->thread)
		read_ruby(st, st->thread);
	return end_language(st, HYBRID_LANGUAGE_RUBY);
}

/* The key of the interpreter that a thread of Perl ran last. Python's is the address. */
#define PERL_THREAD(fs)	((fs) | 1)

/*
 * A thread that copies or destroys the interpreter of another one has set that as its own
 * (perl_clone(), threads.xs). That one runs nothing, or what objects have run when they are
 * destroyed: outside of it are the functions of the one before, if that runs any still.
 */
static __always_inline void add_perl_before(struct state *st)
{
	struct interpreter_thread found = { .thread = st->thread };
	__u32 nr = st->nr_interpreted, is_whole = st->is_whole;

	if (st->perl_before) {
		st->is_whole = false;
		read_perl(st, st->perl_before);
	}
	if (st->nr_interpreted != nr)
		return;
	st->is_whole = is_whole;
	if (nr == st->begin)
		return;
	st->perl_before = found.thread;
	keep_language(st, PERL_THREAD(st->fs), &found);
}

__noinline int add_perl(struct state *st)
{
	int found = st ? begin_language(st, HYBRID_LANGUAGE_PERL) : NO_LANGUAGE;
	struct interpreter_thread *known;

	if (!st || found == NO_LANGUAGE)
		return 0;
	if (found != SAME_THREAD) {
		st->specific = user_word(st->runtime);
		known = known_language(st, PERL_THREAD(st->fs));
		st->perl_before = known ? known->thread : 0;
	}
	st->thread = thread_specific(st);
	if (st->thread)
		read_perl(st, st->thread);
	if (st->thread != st->perl_before)
		add_perl_before(st);
	return end_language(st, HYBRID_LANGUAGE_PERL);
}

__noinline int add_php(struct state *st)
{
	if (!st || !begin_language(st, HYBRID_LANGUAGE_PHP))
		return 0;
	st->thread = st->runtime;
	read_php(st);
	return end_language(st, HYBRID_LANGUAGE_PHP);
}

static __always_inline void read_languages(struct state *st, struct task_struct___h *task)
{
	if (st->met_languages & ~st->languages)
		learn_languages(st);
	if (st->in_native)
		end_language(st, HYBRID_LANGUAGE_V8);
	if (!st->languages)
		return;
	st->fs = BPF_CORE_READ(task, thread.fsbase);
	st->is_main = task->pid == task->tgid;
	add_python(st);
	add_ruby(st);
	add_perl(st);
	add_php(st);
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
	struct state *st = loop->st;
	__u32 language;

	if (i >= NR_UNTOLD)
		return 1;
	language = st->untold[i].language;
	if (language == HYBRID_LANGUAGE_V8) {
		tell_native(loop, i);
		return 0;
	}
	if (st->interpreter.language != language && !find_interpreter(st, language))
		return 0;
	if (language == HYBRID_LANGUAGE_PYTHON)
		tell_code(loop, i);
	else
		tell_strings(loop, i);
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
