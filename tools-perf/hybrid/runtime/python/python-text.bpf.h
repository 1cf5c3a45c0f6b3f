/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PYTHON_TEXT_BPF_H
#define __HYBRID_PYTHON_TEXT_BPF_H

/*
 * Code objects of CPython: which one is at an address, and its texts, which perf is told once.
 */
#include "../../bpf_skel/text.bpf.h"

/*
 * Of the word of a mark: the code object is looked at each time that it is met; it is old enough
 * not to be, but for what may be freed when it has run.
 */
#define IS_CHECKED	2
#define IS_SETTLED	4

/* For how long code objects are new, as marks have their time: 1 s. */
#define NEW_TIME	64

/* A word of the code object of which all was read. */
static __always_inline __u64 code_word(const struct state *st, __u32 at)
{
	return at <= HYBRID_PYTHON_CODE - sizeof(__u64) ? *(const __u64 *)&st->code_bytes[at] : 0;
}

/* One of those from its file name on. */
static __always_inline __u64 name_word(const struct state *st, __u32 at)
{
	return st->code_words[at & (HYBRID_PYTHON_WORDS - 1)];
}

/* The end of the string, which may begin in its head. */
static __always_inline bool read_tail(struct state *st, __u64 addr)
{
	const struct hybrid_walk_python_code *py = &st->interpreter.python.code;
	__u64 state = st->string.state, end;

	end = addr + hybrid_python_text_at(py, state) +
	      st->string.length * hybrid_python_width(py, state);
	return !bpf_probe_read_user(st->tail, sizeof(st->tail), (void *)(end - sizeof(st->tail)));
}

/* The file name, which may be that of the caller's code object, too. */
static __always_inline bool read_file(struct state *st, __u64 addr)
{
	if (st->string_at == addr && st->string_walk == st->walk)
		return true;
	st->string_at = 0;
	if (bpf_probe_read_user(&st->string, sizeof(st->string),
				(void *)(addr + st->interpreter.python.code.length)) ||
	    (st->string.hash == HYBRID_PYTHON_NO_HASH && !read_tail(st, addr)))
		return false;
	st->string_at = addr;
	st->string_walk = st->walk;
	return true;
}

/* Which code is at the address? 0: it can't be told. */
static __always_inline __u64 code_identity(struct state *st, __u64 code)
{
	const struct hybrid_walk_python_code *py = &st->interpreter.python.code;

	if (bpf_probe_read_user(st->code_words, sizeof(st->code_words),
				(void *)(code + py->file)) ||
	    !read_file(st, name_word(st, 0)))
		return 0;
	return hybrid_python_identity(name_word(st, 0), name_word(st, py->name),
				      name_word(st, py->table), &st->string, st->tail);
}

/*
 * Has the code of mark @i been at its address for long? @since is the time of the record that told
 * perf, from whichever CPU: this one does not see what other CPUs meet at the address.
 */
static __always_inline bool is_old(const struct state *st, __u32 i)
{
	return st->moment - st->marks[i].since > NEW_TIME;
}

/* What is not known of it, or was not when it was met first. Tells perf when the walk has ended. */
static __always_inline void meet_code(struct state *st, __u32 i, __u64 code, __u64 identity)
{
	const struct told_code *known = find_told(st, code);
	__u32 at = st->nr_untold;

	st->marks[i].since = st->moment;
	st->marks[i].word = identity | IS_CHECKED;
	if (known && known->identity == identity) {
		st->marks[i].since = known->since;
		if (is_old(st, i))
			st->marks[i].word = identity | IS_SETTLED |
					    (known->is_function ? 0 : IS_CHECKED);
		return;
	}
	if (at >= NR_UNTOLD) {
		st->marks[i].function = 0;
		return;
	}
	st->untold[at].code = code;
	st->untold[at].identity = identity;
	st->untold[at].language = st->language;
	st->nr_untold = at + 1;
}

/*
 * The mark of a code object. Most are functions, and were met a moment ago. What is new, or may be
 * freed when it has run, is looked at each time: the next one may have its address soon.
 */
static __always_inline __u64 code_mark(struct state *st, __u64 code)
{
	__u64 key = code ^ st->code_key.space, identity;
	__u32 i = mark_index(key);
	bool is_same;

	if (i >= NR_MARKS)
		return 0;
	if (is_marked(st, i, key) && !(st->marks[i].word & IS_CHECKED))
		return HYBRID_WALK_FUNCTION_MARK(st->marks[i].word);
	identity = code_identity(st, code);
	if (!identity)
		return 0;
	is_same = st->marks[i].function == key &&
		  !((st->marks[i].word ^ identity) & ~HYBRID_PYTHON_FLAGS);
	st->marks[i].function = key;
	st->marks[i].when = st->moment;
	if (!is_same || (!(st->marks[i].word & IS_SETTLED) && is_old(st, i)))
		meet_code(st, i, code, identity);
	return HYBRID_WALK_FUNCTION_MARK(identity);
}

/* The string at @addr; the first one is @st's already. Returns how many bytes of it. */
static __always_inline __u64 put_string(struct state *st, struct hybrid_walk_text *text,
					__u32 used, __u64 addr, __u32 *state)
{
	const struct hybrid_walk_python_code *py = &st->interpreter.python.code;
	__u64 size = st->string.length;

	*state = st->string.state;
	if (size > HYBRID_WALK_STRING)
		size = HYBRID_WALK_STRING;
	size *= hybrid_python_width(py, *state);
	if (size > HYBRID_WALK_STRING)
		size = HYBRID_WALK_STRING;
	return put_bytes(text, used, addr + hybrid_python_text_at(py, *state), size) ? size : 0;
}

/*
 * File name, name and line table of the code object that was read. Code that the program has made
 * of text may have an empty file name. Returns their bytes, or 0.
 */
static __always_inline __u32 put_texts(struct state *st, struct hybrid_walk_text *text)
{
	const struct hybrid_walk_python_code *py = &st->interpreter.python.code;
	__u64 name = name_word(st, py->name), table = name_word(st, py->table), size;
	__u32 used;

	used = put_string(st, text, 0, name_word(st, 0), &text->states[0]);
	text->sizes[0] = used;
	st->string_at = 0;
	if ((!used && st->string.length) ||
	    bpf_probe_read_user(&st->string, sizeof(st->string), (void *)(name + py->length)))
		return 0;
	size = put_string(st, text, used, name, &text->states[1]);
	text->sizes[1] = size;
	if (!size)
		return 0;
	used += size;
	size = user_word(table + py->size);
	if (size > HYBRID_WALK_TABLE)
		size = HYBRID_WALK_TABLE;
	if (!put_bytes(text, used, table + py->bytes, size))
		size = 0;
	text->sizes[2] = size;
	return used + size;
}

/* Reads it to the record. Returns the record's bytes; 0: it is another one now, or is not there. */
static __always_inline __u64 put_code(struct state *st, struct hybrid_walk_text *text, __u64 code)
{
	const struct hybrid_walk_python_code *py = &st->interpreter.python.code;
	__u64 size;

	if (code_identity(st, code) != st->telling.identity ||
	    bpf_probe_read_user(st->code_bytes, sizeof(st->code_bytes), (void *)code))
		return 0;
	st->telling.since = st->moment;
	st->telling.is_function = code_word(st, py->flags) & HYBRID_PYTHON_OPTIMIZED;
	begin_text(st, text, code | HYBRID_WALK_FUNCTION_MARK(st->telling.identity),
		   HYBRID_LANGUAGE_PYTHON);
	text->type = code_word(st, py->type);
	text->size = py->code ? user_word(code_word(st, py->code) + py->size) :
		     code_word(st, py->size);
	text->line = code_word(st, py->line);
	size = put_texts(st, text);
	return size ? size + offsetof(struct hybrid_walk_text, bytes) : 0;
}

/* It could not be told: the next walk that meets it tries again. */
static __always_inline void forget_code(struct state *st, __u64 code)
{
	__u32 i = mark_index(code ^ st->code_key.space);

	if (i < NR_MARKS)
		st->marks[i].function = 0;
}

/* Tells perf of one code object. @i: less than NR_UNTOLD. */
static __always_inline void tell_python(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;
	struct hybrid_walk_text *text = (void *)&st->record.ips[TEXT_AT];
	__u64 size;

	if (!is_interpreter(st, HYBRID_LANGUAGE_PYTHON))
		return;
	st->telling.identity = st->untold[i].identity;
	size = put_code(st, text, st->untold[i].code);
	if (size && !tell_text(loop, text, size, st->untold[i].code))
		forget_code(st, st->untold[i].code);
}

#endif /* __HYBRID_PYTHON_TEXT_BPF_H */
