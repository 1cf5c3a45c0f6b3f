/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PERL_BPF_H
#define __HYBRID_PERL_BPF_H

/*
 * The frames of Perl. Each of an interpreter's stacks has an array of them, and C code that calls
 * back has mostly made a new stack. Of a frame that ends, Perl's evaluator (runops) returns if
 * there is nothing to go on with.
 */
#include "../../bpf_skel/interpreter.bpf.h"
#include "perl-text.bpf.h"

/* cop.h of Perl: what a stack was made for. */
#define STACK_OF_SORT	3

/* The first byte of a frame: what it is, and a flag of what is evaluated: no code of its own. */
#define PERL_KIND	0xf
#define PERL_NULL	0
#define PERL_BLOCK	2
#define PERL_SUB	9
#define PERL_EVAL	11
#define PERL_DEFER	13
#define PERL_IN_SUB	0x40

/* Of a sub: it is code in a regular expression. */
#define PERL_IN_REGEX	0xc0

/* cv.h: flags of a sub: it has no name; it is run once. */
#define SUB_ANONYMOUS	0x80
#define SUB_UNIQUE	0x100

/* op.h: in an operation: the next one, its code; of some: another one that it goes on with. */
#define OP_NEXT		0
#define OP_CODE		16
#define OP_OTHER	48

/* Words below what die() jumps by, in the frame of docatch(). */
#define CATCH_WORDS	4

/* In an SV: its string. */
#define SV_STRING	16

/* Frames that are looked at: loops and blocks have some, too. And those of one stack. */
#define MAX_PERL_FRAMES	8192
#define MAX_STACK	0x100000
#define MAX_PASSED	4

/* Reads the frame, and what is before it in the array: the callers. */
static __always_inline bool read_perl_frame(struct state *st, __u64 frame)
{
	__u64 end = frame + st->interpreter.perl.frame_size, size = end - st->frames_start;

	if (frame >= st->window_at && end - st->window_at <= st->window_size)
		return true;
	if (size > WINDOW)
		size = WINDOW;
	st->window_size = 0;
	if (bpf_probe_read_user(st->window, size, (void *)(end - size)))
		return false;
	st->window_at = end - size;
	st->window_size = size;
	return true;
}

/* Goes on in a stack; returns whether there is one. */
__noinline int enter_stack(struct state *st, __u64 stack)
{
	__s32 top, top_sub;

	if (!st || bpf_probe_read_user(&st->perl, sizeof(st->perl), (void *)stack))
		return false;
	top = st->perl.top;
	top_sub = st->perl.top_sub;
	st->frames_start = st->perl.frames;
	if (!st->frames_start || top < -1 || top > MAX_STACK || top_sub > MAX_STACK)
		return false;
	st->frame = st->frames_start + (__s64)top * st->interpreter.perl.frame_size;
	/* What is above the innermost sub is about to be one: its frame is not filled in yet. */
	st->frames_end = st->frames_start + (__s64)(top_sub + 1) * st->interpreter.perl.frame_size;
	return true;
}

/*
 * What the record has of a sub: its address, and the root of its code as the mark. Closures come
 * and go: of those it is the root, and what is below it.
 */
__noinline __u64 word_of_sub(struct state *st, __u64 sub)
{
	__u32 i = mark_index(sub);
	__u64 body, root, word, flags;

	if (!st || i >= NR_MARKS)
		return sub;
	if (!is_marked(st, i, sub)) {
		body = user_word(sub);
		root = user_word(body + st->interpreter.perl.root);
		word = sub | HYBRID_WALK_FUNCTION_MARK(root);
		flags = user_word(body + st->interpreter.perl.flags);
		if (flags & SUB_UNIQUE)
			word |= HYBRID_WALK_PERL_CODE;
		else if (flags & SUB_ANONYMOUS)
			word = (root & HYBRID_WALK_FUNCTION_ADDR) | HYBRID_WALK_PERL_ANONYMOUS |
			       HYBRID_WALK_FUNCTION_MARK(user_word(root + PERL_OP_FIRST));
		put_mark(st, i, sub, word);
		if (!(word & HYBRID_WALK_PERL_CODE))
			meet_function(st, sub, word);
	}
	return st->marks[i].word;
}

/* Of a file that is loaded: its name. */
static __always_inline void put_text(struct state *st, __u64 name)
{
	__u32 at = st->nr_interpreted;

	if (at > HYBRID_WALK_FUNCTIONS - HYBRID_WALK_PERL_TEXT)
		return;
	st->interpreted.frames[at].function = 0;
	bpf_probe_read_user_str(&st->interpreted.frames[at],
				HYBRID_WALK_PERL_TEXT * sizeof(st->interpreted.frames[0]),
				(void *)user_word(name + SV_STRING));
	st->nr_interpreted = at + HYBRID_WALK_PERL_TEXT;
}

/* Code that is at @st->statement, of no sub that stays. */
static __always_inline void put_perl_code(struct state *st, __u64 what)
{
	__u64 line = user_word(st->statement + WORD_OF(PERL_COP_LINE)) >> 32;

	put_function(st, what | HYBRID_WALK_PERL_CODE, HYBRID_WALK_PERL_AT(st->statement, line));
}

/* Is the frame's caller a block of code that the evaluator runs for C code? */
static __always_inline bool is_in_block(struct state *st, __u64 frame)
{
	__u64 outer = frame - st->interpreter.perl.frame_size;
	__u32 type, kind;

	if (outer < st->frames_start || !read_perl_frame(st, outer))
		return false;
	type = (__u8)frame_word(st, outer, 0);
	kind = type & PERL_KIND;
	return kind == PERL_NULL || kind == PERL_DEFER ||
	       (kind == PERL_SUB && type & PERL_IN_REGEX);
}

/*
 * Does the evaluator return when the frame ends? Such a block does not go on, either, after what it
 * calls last. Reads another frame.
 */
static __always_inline bool ends_run(struct state *st, __u64 frame)
{
	return !frame_word(st, frame, st->interpreter.perl.goes_on) && !is_in_block(st, frame);
}

/*
 * The operation that docatch() runs in a new evaluator. Its compiler has put that, and the code of
 * the operation, below what die() jumps by: both are used after setjmp() has returned.
 */
static __always_inline __u64 caught_operation(__u64 jump)
{
	__u64 words[CATCH_WORDS], code;
	__u32 i, j;

	if (bpf_probe_read_user(words, sizeof(words), (void *)(jump - sizeof(words))))
		return 0;
	for (i = 0; i < CATCH_WORDS; i++) {
		code = user_word(words[i] + OP_CODE);
		for (j = 0; code && j < CATCH_WORDS; j++) {
			if (j != i && code == words[j])
				return words[i];
		}
	}
	return 0;
}

/*
 * Has docatch() begun an evaluator for the eval? Not if it has for one before it, which is over:
 * that evaluator goes on after the eval, and all that it calls has the same to jump by.
 */
static __always_inline bool is_caught(__u64 jump, __u64 goes_on)
{
	__u64 operation = caught_operation(jump), other;

	if (!operation)
		return false;
	other = user_word(operation + OP_OTHER);
	return goes_on == user_word(operation + OP_NEXT) || goes_on == other ||
	       goes_on == user_word(other + OP_NEXT);
}

/*
 * What is at @frame, the next of the record, counts as tried if it is. An eval that is further in
 * and has the same operation, as of a sub that calls itself, does not.
 */
__noinline int tried(struct state *st, __u64 frame)
{
	__u64 jump;
	__u32 at;

	if (!st)
		return 0;
	jump = frame_word(st, frame, st->interpreter.perl.jump);
	if (!jump || !is_caught(jump, frame_word(st, frame, st->interpreter.perl.goes_on)))
		return 0;
	at = st->tried_at;
	if (st->tried == jump && at < HYBRID_WALK_FUNCTIONS)
		st->interpreted.frames[at].function &=
			~(HYBRID_WALK_PERL_TRIED | HYBRID_WALK_RUN_ENDS);
	st->tried = jump;
	st->tried_at = st->nr_interpreted;
	return HYBRID_WALK_PERL_TRIED | HYBRID_WALK_RUN_ENDS;
}

/* A block. Returns whether it is a frame of its own. */
static __always_inline bool put_eval_block(struct state *st, __u64 frame)
{
	__u64 word = tried(st, frame);

	if (word)
		put_function(st, word, st->statement);
	return word;
}

/* A string that is evaluated, or a file that is loaded. */
__noinline int put_eval(struct state *st, __u64 frame)
{
	__u64 name, ends;

	if (!st)
		return 0;
	name = frame_word(st, frame, st->interpreter.perl.file);
	ends = tried(st, frame);
	ends |= ends_run(st, frame);
	if (st->nr_interpreted > HYBRID_WALK_FUNCTIONS - HYBRID_WALK_PERL_TEXT - 1)
		name = 0;
	put_perl_code(st, (name ? HYBRID_WALK_PERL_FILE : HYBRID_WALK_PERL_EVAL) | ends);
	if (name)
		put_text(st, name);
	return 0;
}

__noinline int put_sub(struct state *st, __u64 frame)
{
	__u64 sub, word;

	if (!st)
		return 0;
	sub = frame_word(st, frame, st->interpreter.perl.function);
	word = word_of_sub(st, sub & HYBRID_WALK_FUNCTION_ADDR);
	word |= ends_run(st, frame);
	if (word & HYBRID_WALK_PERL_CODE)
		put_perl_code(st, word);
	else
		put_function(st, word, st->statement);
	return 0;
}

/* Behind the outermost frame: the program, if it runs already. */
static __always_inline bool leave_stack(struct state *st)
{
	if (st->perl.prev)
		return enter_stack(st, st->perl.prev);
	if (st->chain_at == PERL_BLOCK) {
		meet_function(st, st->statement, HYBRID_WALK_PERL_PROGRAM | HYBRID_WALK_PERL_CODE);
		put_function(st, HYBRID_WALK_PERL_PROGRAM | HYBRID_WALK_PERL_CODE |
				 HYBRID_WALK_RUN_ENDS, st->statement);
	}
	st->is_whole = true;
	return false;
}

/* A new frame is none before its kind is there: it is all 0, or has that of an old one. */
static __always_inline bool is_block(const struct state *st, __u64 frame, __u32 kind)
{
	if (kind == PERL_NULL)
		return st->perl.kind == STACK_OF_SORT && frame == st->frames_start;
	return kind == PERL_DEFER;
}

/* Loops and other blocks are between the frames of subs: passes over them, if they were read. */
static __always_inline __u64 pass_over(const struct state *st, __u64 frame)
{
	__u32 size = st->interpreter.perl.frame_size, i, kind;

	for (i = 0; i < MAX_PASSED && frame > st->frames_start &&
	     frame - size - st->window_at < st->window_size; i++) {
		kind = (__u8)frame_word(st, frame, 0) & PERL_KIND;
		if (kind < PERL_BLOCK || kind >= PERL_SUB)
			break;
		frame -= size;
	}
	return frame;
}

static long perl_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 frame = st->frame, statement;
	__u32 type, kind;

	if (st->nr_interpreted >= HYBRID_WALK_FUNCTIONS)
		return 1;
	if (frame < st->frames_start)
		return !leave_stack(st);
	if (!read_perl_frame(st, frame))
		return 1;
	frame = pass_over(st, frame);
	type = (__u8)frame_word(st, frame, 0);
	kind = type & PERL_KIND;
	statement = frame_word(st, frame, st->interpreter.perl.position);
	st->chain_at = kind;
	st->frame = frame - st->interpreter.perl.frame_size;
	if (is_block(st, frame, kind))
		put_function(st, HYBRID_WALK_RUN_ENDS, st->statement);
	else if (frame >= st->frames_end || kind < PERL_SUB || kind > PERL_EVAL)
		return 0;
	else if (kind != PERL_EVAL)
		put_sub(st, frame);
	else if (!(type & PERL_IN_SUB))
		put_eval(st, frame);
	else if (!put_eval_block(st, frame))
		return 0;
	st->statement = statement;
	return 0;
}

/* @interpreter: of the thread. */
__noinline int read_perl(struct state *st, __u64 interpreter)
{
	struct loop loop = { .st = st };
	__u64 *words;

	if (!st)
		return 0;
	st->chain_at = 0;
	st->window_size = 0;
	st->tried = 0;
	/* The statement, a word, and the stack. */
	words = (__u64 *)&st->perl;
	if (bpf_probe_read_user(words, 3 * sizeof(*words),
				(void *)(interpreter + st->interpreter.perl.statement)))
		return 0;
	st->statement = words[0];
	if (enter_stack(st, words[2]))
		bpf_loop(MAX_PERL_FRAMES, perl_frame, &loop, 0);
	return 0;
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
	st->thread = thread_specific(st, st->specific);
	if (st->thread)
		read_perl(st, st->thread);
	if (st->thread != st->perl_before)
		add_perl_before(st);
	return end_language(st, HYBRID_LANGUAGE_PERL);
}

#endif /* __HYBRID_PERL_BPF_H */
