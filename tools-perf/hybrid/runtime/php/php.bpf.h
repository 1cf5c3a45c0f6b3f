/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PHP_BPF_H
#define __HYBRID_PHP_BPF_H

/*
 * The frames of PHP: internal functions have some, too. A frame whose caller's is that of C code
 * begins an execute_ex().
 */
#include "../../bpf_skel/interpreter.bpf.h"

/*
 * Zend/zend_compile.h: what a function begins with; that it stands for __call() until that is
 * called; flags of a frame.
 */
#define PHP_TRAMPOLINE	7
#define PHP_TRAMPOLINE_FLAG	(0x40000ULL << 32)
#define PHP_CODE	1
#define PHP_TOP		2
#define PHP_CLOSURE	0x40

/* Zend/zend_types.h: the type of an object. Where a frame has one, from the flags on. */
#define PHP_OBJECT	8
#define PHP_TYPE	2
#define PHP_THIS	10

/* How many instructions of one function are believed. */
#define PHP_MOST_OPS	0x100000

/* Generators that delegate to each other. */
#define PHP_DELEGATES	64

/*
 * Of a function: a pointer that shows whether it is the same, and what it begins with in the
 * lowest bits. That of a moment ago, mostly, as mark_of(); but closures come and go.
 */
__noinline __u64 php_mark(struct state *st, __u64 function, __u32 is_closure)
{
	__u32 i = mark_index(function);
	__u64 kind, word;
	__u32 at;

	if (!st || i >= NR_MARKS)
		return 0;
	if (is_marked(st, i, function) && !is_closure)
		return st->marks[i].word;
	kind = user_word(function);
	if (kind & PHP_TRAMPOLINE_FLAG)
		return PHP_TRAMPOLINE;
	kind &= 7;
	at = kind == PHP_INTERNAL ? PHP_FUNCTION_NAME : st->interpreter.php.code;
	word = kind | user_word(function + at);
	if (!is_marked(st, i, function) || st->marks[i].word != word)
		meet_function(st, function, function | HYBRID_WALK_FUNCTION_MARK(word));
	put_mark(st, i, function, word);
	return word;
}

/*
 * Where a function is. The innermost frame is told only now and then; execute_ex() has the frame in
 * r14, and the instruction in r15. What that calls may have something else there.
 */
static __always_inline __u64 php_position(struct state *st, __u64 frame, __u64 code)
{
	__u64 told = frame_word(st, frame, st->interpreter.php.position), in_code;
	struct pt_regs___h *regs = (void *)st->regs;

	if (st->nr_interpreted != st->begin || BPF_CORE_READ(regs, r14) != frame)
		return told;
	in_code = BPF_CORE_READ(regs, r15) - code;
	return in_code < PHP_MOST_OPS * PHP_OP && !(in_code % PHP_OP) ? code + in_code : told;
}

/* A generator that has delegated, on to the one that it has delegated to. */
static long count_delegate(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 next = user_word(st->generator + st->interpreter.php.delegate);

	if (!next)
		return 1;
	st->generator = next;
	st->nr_delegates++;
	return 0;
}

/* The same: its function comes before those of the generators that have delegated to it. */
static long put_delegate(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	const struct hybrid_walk_php *in = &st->interpreter.php;
	__u64 frame = user_word(st->generator + in->generator_frame), function, mark;
	__u32 at;

	if (i >= st->nr_delegates)
		return 1;
	function = user_word(frame + in->function) & HYBRID_WALK_FUNCTION_ADDR;
	mark = php_mark(st, function, true);
	at = st->nr_interpreted + st->nr_delegates - 1 - i;
	barrier_var(at);
	if (at >= HYBRID_WALK_FUNCTIONS)
		return 1;
	st->interpreted.frames[at].function = function | HYBRID_WALK_FUNCTION_MARK(mark);
	st->interpreted.frames[at].position = user_word(frame + in->position);
	st->generator = user_word(st->generator + in->delegate);
	return 0;
}

/*
 * A generator that has delegated to others ("yield from") does not run: the innermost of those
 * does. Their frames are not among the callers': a frame without a function stands for them.
 * Returns 1 if there are too many.
 */
static __always_inline long put_delegates(struct state *st, __u64 generator)
{
	struct loop loop = { .st = st };
	__u32 nr = st->nr_interpreted, last = nr - 1;

	st->generator = generator;
	st->nr_delegates = 0;
	bpf_loop(PHP_DELEGATES, count_delegate, &loop, 0);
	if (nr <= st->begin || last >= HYBRID_WALK_FUNCTIONS ||
	    nr + st->nr_delegates > HYBRID_WALK_FUNCTIONS)
		return 1;
	st->generator = generator;
	bpf_loop(PHP_DELEGATES, put_delegate, &loop, 0);
	st->nr_interpreted = nr + st->nr_delegates;
	/* The one that runs has the native frame of all. */
	st->interpreted.frames[last].function &= ~HYBRID_WALK_RUN_ENDS;
	end_run(st);
	return 0;
}

/*
 * A file's outermost code, or what is evaluated: it is freed when it has run, but the name of the
 * file stays.
 */
__noinline int put_php_code(struct state *st, __u64 function, __u64 position)
{
	__u64 file, word;
	__u32 i, line;

	if (!st)
		return 0;
	file = user_word(function + st->interpreter.php.file) & HYBRID_WALK_FUNCTION_ADDR;
	line = user_word(position + PHP_OP_LINE);
	word = file | HYBRID_WALK_PHP_FILE;
	i = mark_index(file);
	if (i >= NR_MARKS)
		return 0;
	if (is_marked(st, i, file)) {
		word |= HYBRID_WALK_FUNCTION_MARK(st->marks[i].word);
	} else {
		put_mark(st, i, file, user_word(file + PHP_STRING_HASH));
		word |= HYBRID_WALK_FUNCTION_MARK(st->marks[i].word);
		meet_function(st, file, word);
	}
	put_function(st, word, line);
	return 0;
}

/* The next frame of PHP. One without a function is C code's own, or a generator's. */
static long php_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	const struct hybrid_walk_php *in = &st->interpreter.php;
	__u64 frame = st->frame, function, mark, position;
	__u8 flags;

	if (!frame) {
		st->is_whole = true;
		return 1;
	}
	if (st->nr_interpreted >= HYBRID_WALK_FUNCTIONS ||
	    !read_frame(st, frame, in->frame_size, false))
		return 1;
	st->frame = frame_word(st, frame, in->caller);
	function = frame_word(st, frame, in->function) & HYBRID_WALK_FUNCTION_ADDR;
	if (!function) {
		function = frame_word(st, frame, in->flags - PHP_THIS);
		if ((__u8)frame_word(st, frame, in->flags - PHP_TYPE) == PHP_OBJECT &&
		    function + in->own_frame == frame)
			return put_delegates(st, function);
		return 0;
	}
	flags = frame_word(st, frame, in->flags);
	mark = php_mark(st, function, flags & PHP_CLOSURE);
	/* What a fiber begins with has no name; the frame of who has resumed it is its caller's. */
	if (mark == PHP_INTERNAL) {
		st->is_whole = true;
		return 1;
	}
	position = php_position(st, frame, mark & HYBRID_WALK_FUNCTION_ADDR);
	if (flags & PHP_CODE)
		put_php_code(st, function, position);
	else if (mark != PHP_TRAMPOLINE)
		put_function(st, function | HYBRID_WALK_FUNCTION_MARK(mark), position);
	if ((mark & 7) != PHP_INTERNAL && flags & PHP_TOP)
		end_run(st);
	return 0;
}

/* Of a process one thread runs PHP. */
static __always_inline void read_php(struct state *st)
{
	struct loop loop = { .st = st };

	if (!st->is_main)
		return;
	st->frame = user_word(st->runtime);
	if (st->frame)
		bpf_loop(2 * HYBRID_WALK_FUNCTIONS, php_frame, &loop, 0);
}

__noinline int add_php(struct state *st)
{
	if (!st || !begin_language(st, HYBRID_LANGUAGE_PHP))
		return 0;
	st->thread = st->runtime;
	read_php(st);
	return end_language(st, HYBRID_LANGUAGE_PHP);
}

static __always_inline void find_php_string(struct state *st, __u32 i, __u64 string)
{
	st->pieces[i].at = string + PHP_STRING_BYTES;
	st->pieces[i].size = string ? user_word(string + PHP_STRING_LENGTH) : 0;
}

/* Class, name and file; of the outermost code of a file that alone. */
__noinline int find_php_strings(struct state *st, __u64 function, bool is_file)
{
	const struct hybrid_walk_php *in;
	struct hybrid_walk_text *text;
	__u64 class, code;

	if (!st)
		return 0;
	in = &st->interpreter.php;
	text = (void *)&st->record.ips[TEXT_AT];
	if (is_file) {
		find_php_string(st, 2, function);
		return 0;
	}
	class = user_word(function + PHP_FUNCTION_SCOPE);
	if (class)
		find_php_string(st, 0, user_word(class + PHP_CLASS_NAME));
	find_php_string(st, 1, user_word(function + PHP_FUNCTION_NAME));
	/* An internal one has no code. */
	if ((__u8)user_word(function) == PHP_INTERNAL)
		return 0;
	find_php_string(st, 2, user_word(function + in->file));
	code = user_word(function + in->code);
	text->line = user_word(code + PHP_OP_LINE);
	return 0;
}

/* Tells perf the strings of one function. @i: less than NR_UNTOLD. */
static __always_inline void tell_php(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;

	if (!begin_strings(st, i, HYBRID_LANGUAGE_PHP))
		return;
	find_php_strings(st, st->untold[i].code, st->telling.identity & HYBRID_WALK_PHP_FILE);
	tell_strings(loop);
}

#endif /* __HYBRID_PHP_BPF_H */
