/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_RUBY_BPF_H
#define __HYBRID_RUBY_BPF_H

/*
 * The frames of CRuby: an array at the end of a stack, whose beginning has the words that frames
 * refer to.
 */
#include "../../bpf_skel/interpreter.bpf.h"
#include "ruby-text.bpf.h"

/* Of glibc: where a thread has its blocks of variables, and bytes of an entry, by module. */
#define DTV		8
#define DTV_ENTRY	16
#define MAX_MODULES	4096

/* vm_core.h of CRuby: the last words of an environment, from its end; flags of a frame. */
#define ENV_WORDS	3
#define ENV_METHOD	3
#define ENV_FLAGS	1
#define RUBY_TYPE	0x7fff0001
#define RUBY_DUMMY	0x79990001
#define RUBY_METHOD	0x11110001
#define RUBY_FINISH	0x20

/* Reads the frames of an array from one on, up to @end: the callers are behind it. */
static __always_inline bool read_array(struct state *st, __u64 frame, __u64 end)
{
	__u64 size = end - frame;

	if (frame >= st->window_at &&
	    frame + st->interpreter.ruby.frame_size - st->window_at <= st->window_size)
		return true;
	if (size < st->interpreter.ruby.frame_size)
		return false;
	if (size > WINDOW)
		size = WINDOW;
	st->window_size = 0;
	if (bpf_probe_read_user(st->window, size, (void *)frame))
		return false;
	st->window_at = frame;
	st->window_size = size;
	return true;
}

/*
 * Reads the last words of an environment, and what is before it in the stack: the environments of
 * callers, which are below, but for those that were moved to memory of their own.
 */
static __always_inline bool read_env(struct state *st, __u64 env)
{
	__u64 from = env - ENV_WORDS * 8, size = ENV_WORDS * 8, below = from - st->frames_start;

	if (from >= st->env_at && from + size - st->env_at <= st->env_size)
		return true;
	if (env >= st->frames_start && env < st->frames_end)
		size += below;
	if (size > ENV_WINDOW)
		size = ENV_WINDOW;
	st->env_size = 0;
	if (size < ENV_WORDS * 8 || bpf_probe_read_user(st->env, size, (void *)(env - size)))
		return false;
	st->env_at = env - size;
	st->env_size = size;
	return true;
}

/* The words count from the end. */
static __always_inline __u64 env_word(const struct state *st, __u64 env, __u32 word)
{
	__u64 place = env - word * 8 - st->env_at;

	return place <= ENV_WINDOW - sizeof(__u64) ? *(const __u64 *)&st->env[place] : 0;
}

/*
 * Is an object the entry of a method? A method that matched an expression has another object there.
 * That of a moment ago, mostly, as mark_of().
 */
static __always_inline bool is_entry(struct state *st, __u64 object)
{
	__u32 when = st->moment, i;

	i = (object * 0x9e3779b97f4a7c15ULL) >> 56;
	if (i >= NR_ENTRIES)
		return false;
	if (st->entries[i].object != object || st->entries[i].when != when || !when) {
		st->entries[i].is_entry = (user_word(object) & RUBY_KIND_MASK) ==
					  RUBY_IS_ENTRY;
		st->entries[i].object = object;
		st->entries[i].when = when;
	}
	return st->entries[i].is_entry;
}

/* What the record has of code, or of a method. A child of fork() has what its parent has. */
static __always_inline __u64 word_of_ruby(struct state *st, __u64 function)
{
	__u64 key = function ^ st->code_key.space, word;
	__u32 i = mark_index(key);

	if (i >= NR_MARKS)
		return function;
	if (!is_marked(st, i, key)) {
		word = function | HYBRID_WALK_FUNCTION_MARK(ruby_identity(st, function));
		put_mark(st, i, key, word);
		meet_function(st, function, word);
	}
	return st->marks[i].word;
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
 * The next frame of CRuby. The method's entry says what runs, or the code does. Of a method in C
 * there is no code, and the position is 0. A block in C has an object of another kind in its place.
 */
static long ruby_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	const struct hybrid_walk_ruby *in = &st->interpreter.ruby;
	__u64 frame = st->frame, env, flags, function, position;

	if (st->nr_interpreted >= HYBRID_WALK_FUNCTIONS || !read_array(st, frame, st->frames_end))
		return 1;
	env = frame_word(st, frame, in->environment) + 8;
	if (!read_env(st, env))
		return 1;
	flags = env_word(st, env, ENV_FLAGS);
	/* What a stack begins with. */
	if ((flags & RUBY_TYPE) == RUBY_DUMMY) {
		st->is_whole = true;
		return 1;
	}
	function = frame_word(st, frame, in->function);
	position = frame_word(st, frame, in->position);
	/* What YJIT has compiled leaves the position of a method in C as it was. */
	if (!function) {
		function = env_word(st, env, ENV_METHOD);
		position = 0;
	} else if (!position) {
		function = 0;
	} else if ((flags & RUBY_TYPE) == RUBY_METHOD &&
		   is_entry(st, env_word(st, env, ENV_METHOD))) {
		function = env_word(st, env, ENV_METHOD);
	}
	function &= HYBRID_WALK_FUNCTION_ADDR;
	if (function)
		put_function(st, word_of_ruby(st, function), position);
	if (flags & RUBY_FINISH)
		end_run(st);
	st->frame = frame + in->frame_size;
	return 0;
}

/*
 * @context: of the thread, which begins with where its stack is, of how many words, and its
 *	innermost frame: struct rb_execution_context_struct of vm_core.h
 */
static __always_inline void read_ruby(struct state *st, __u64 context)
{
	struct loop loop = { .st = st };

	if (bpf_probe_read_user(st->ruby_words, 3 * sizeof(st->ruby_words[0]), (void *)context))
		return;
	st->frames_start = st->ruby_words[0];
	st->frames_end = st->frames_start + st->ruby_words[1] * 8;
	st->frame = st->ruby_words[2];
	st->env_size = 0;
	if (st->frame < st->frames_start || st->frame >= st->frames_end)
		return;
	bpf_loop(HYBRID_WALK_FUNCTIONS + 1, ruby_frame, &loop, 0);
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

#endif /* __HYBRID_RUBY_BPF_H */
