/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_V8_TEXT_BPF_H
#define __HYBRID_V8_TEXT_BPF_H

/*
 * Functions of V8: their names and those of their scripts, which perf is told once. Objects may be
 * anything: the type of each is looked at before it is read.
 */
#include "../../bpf_skel/text.bpf.h"

/* Parts of a string that are read, at most. */
#define V8_PARTS	24

/* Of what can't be read. */
#define V8_NO_TYPE	0xffff

/* Bytes of names before the last part of one, at most. */
#define V8_MOST		(sizeof(struct hybrid_walk_v8_source) + 2 * HYBRID_V8_PIECE)

static __always_inline bool is_object(__u64 word)
{
	return (word & V8_TAG_MASK) == V8_TAG;
}

static __always_inline bool is_smi(__u64 word)
{
	return !(__u32)word;
}

/* src/objects/heap-object.h: each object begins with its map, which has the type. */
__noinline __u32 v8_type(struct state *st, __u64 word)
{
	__u64 map;

	if (!st || !is_object(word))
		return V8_NO_TYPE;
	map = user_word(word - V8_TAG);
	if (!is_object(map))
		return V8_NO_TYPE;
	return (__u16)user_word(map - V8_TAG + st->native.v8.objects.map_type);
}

/* The map of a map has itself as its map. No other object's map has. */
static __always_inline bool is_map(__u64 word)
{
	__u64 map = is_object(word) ? user_word(word - V8_TAG) : 0;

	return is_object(map) && user_word(map - V8_TAG) == map;
}

static __always_inline __u32 v8_length(const struct state *st, __u64 string)
{
	return user_word(string - V8_TAG + st->native.v8.objects.string_length);
}

/* A string is part of the one that is read. The last one that was pushed is the next. */
static __always_inline void push_string(struct state *st, __u64 word)
{
	__u32 at = st->v8.nr_strings;

	barrier_var(at);
	if (at >= V8_STRINGS)
		return;
	st->v8.strings[at] = word;
	st->v8.after[at + 1] = 0;
	st->v8.nr_strings = at + 1;
}

/* The part that a string has of its parent, but for what is left out. Another string may follow. */
static __always_inline void push_slice(struct state *st, __u64 string, __u32 length)
{
	const struct hybrid_walk_v8_objects *in = &st->native.v8.objects;
	__u64 nr = length - st->v8.skip;
	__u32 at = st->v8.nr_strings;

	barrier_var(at);
	if (at >= V8_STRINGS)
		return;
	if (st->v8.left > nr) {
		st->v8.after[at] += st->v8.left - nr;
		st->v8.left = nr;
	}
	st->v8.skip += user_word(string + in->sliced_offset) >> 32;
	push_string(st, user_word(string + in->sliced_parent));
}

/* Characters, to the record. */
static __always_inline void put_chars(struct state *st, __u64 from, __u64 nr, __u32 width)
{
	struct hybrid_walk_text *text = (void *)&st->record.ips[TEXT_AT];
	__u64 skip = st->v8.skip < nr ? st->v8.skip : nr, size;
	__u32 used = st->v8.used, room = st->v8.end - used;

	st->v8.skip -= skip;
	nr -= skip;
	if (nr > st->v8.left)
		nr = st->v8.left;
	st->v8.left -= nr;
	size = nr * width;
	if (size > room - sizeof(__u16))
		size = (room - sizeof(__u16)) & -width;
	barrier_var(used);
	barrier_var(size);
	if (room <= sizeof(__u16) || used > V8_MOST || !size || size > HYBRID_V8_PIECE ||
	    bpf_probe_read_user(&text->bytes[used + sizeof(__u16)], size,
				(void *)(from + skip * width)))
		return;
	*(__u16 *)&text->bytes[used] = HYBRID_V8_PART(size, width);
	st->v8.used = used + sizeof(__u16) + size;
}

/* The next string of those that are to be read. Returns 1 if there is none. */
__noinline int put_string_part(struct state *st)
{
	const struct hybrid_walk_v8_objects *in;
	__u64 word, string;
	__u32 at, after, type, length;

	if (!st)
		return 1;
	in = &st->native.v8.objects;
	at = st->v8.nr_strings - 1;
	barrier_var(at);
	if (at >= V8_STRINGS)
		return 1;
	st->v8.nr_strings = at;
	word = st->v8.strings[at];
	after = st->v8.after[at + 1];
	if (after) {
		st->v8.left += after;
		st->v8.skip = 0;
	}
	if (!st->v8.left)
		return 0;
	type = v8_type(st, word);
	if (type >= in->first_nonstring)
		return 1;
	string = word - V8_TAG;
	length = v8_length(st, word);
	if (st->v8.skip >= length) {
		st->v8.skip -= length;
		return 0;
	}
	switch (type & V8_STRING_KIND) {
	case V8_STRING_CONS:
		push_string(st, user_word(string + in->cons_second));
		push_string(st, user_word(string + in->cons_first));
		return 0;
	case V8_STRING_SLICED:
		push_slice(st, string, length);
		return 0;
	case V8_STRING_THIN:
		push_string(st, user_word(string + in->thin_actual));
		return 0;
	case V8_STRING_EXTERNAL:
		string = user_word(string + in->external_chars);
		break;
	case V8_STRING_SEQ:
		string += in->string_chars;
		break;
	default:
		return 1;
	}
	put_chars(st, string, length, type & in->one_byte ? 1 : 2);
	return 0;
}

static long string_part(__u32 i, void *arg)
{
	struct loop *loop = arg;

	return put_string_part(loop->st) != 0;
}

/* A string, after the @used bytes that the record has. Returns its bytes. */
__noinline __u32 put_v8_string(struct state *st, __u64 word, __u32 used)
{
	struct loop loop = { .st = st };

	if (!st || used > V8_MOST)
		return 0;
	st->v8.nr_strings = 0;
	push_string(st, word);
	st->v8.skip = 0;
	st->v8.left = HYBRID_V8_TEXT;
	st->v8.used = used;
	st->v8.end = used + HYBRID_V8_PIECE;
	bpf_loop(V8_PARTS, string_part, &loop, 0);
	return st->v8.used - used;
}

/*
 * The next word of a ScopeInfo. The name, or the one that V8 has inferred, is the first string
 * behind the locals that is not empty; the first two integers that may be a range are the
 * positions, if these are not before the locals. A map begins the next object. Returns 1 if no more
 * are needed.
 */
__noinline int look_at_scope(struct state *st)
{
	const struct hybrid_walk_v8_objects *in;
	__u64 word, last;

	if (!st)
		return 1;
	in = &st->native.v8.objects;
	word = user_word(st->v8.scope_at);
	last = st->v8.scope_last;
	st->v8.scope_at += sizeof(word);
	st->v8.scope_last = word;
	if (is_map(word))
		return 1;
	if (!st->v8.name && v8_type(st, word) < in->first_nonstring && v8_length(st, word)) {
		st->v8.name = word;
		return 0;
	}
	if (in->positions_first || !is_smi(word) || !is_smi(last) || (__s64)last < 0 ||
	    (__s64)last >= (__s64)word)
		return 0;
	st->v8.first = last >> 32;
	st->v8.last = word >> 32;
	return 1;
}

static long scope_word(__u32 i, void *arg)
{
	struct loop *loop = arg;

	return look_at_scope(loop->st) != 0;
}

static __always_inline void read_scope(struct state *st, __u64 scope)
{
	const struct hybrid_walk_v8_objects *in = &st->native.v8.objects;
	__u64 at = scope - V8_TAG + sizeof(__u64), nr = user_word(at + in->scope_nr_locals);
	struct loop loop = { .st = st };

	if (!is_smi(nr) || nr >> 32 > V8_MAX_LOCALS)
		return;
	nr >>= 32;
	if (in->positions_first) {
		st->v8.first = user_word(at + V8_POSITIONS_INDEX * sizeof(__u64)) >> 32;
		st->v8.last = user_word(at + (V8_POSITIONS_INDEX + 1) * sizeof(__u64)) >> 32;
	}
	st->v8.scope_at = at + in->scope_vars +
			  sizeof(__u64) * ((nr < V8_MAX_NAMED_LOCALS ? nr : 1) + nr);
	/* No integer. */
	st->v8.scope_last = V8_TAG;
	bpf_loop(V8_SCOPE_WORDS, scope_word, &loop, 0);
}

/* The name of a function, and where it is in its script. */
__noinline int find_v8_name(struct state *st, __u64 word)
{
	const struct hybrid_walk_v8_objects *in;
	__u32 type;

	if (!st)
		return 0;
	in = &st->native.v8.objects;
	st->v8.name = 0;
	st->v8.first = -1;
	st->v8.last = -1;
	type = v8_type(st, word);
	if (type == in->type_scope_info)
		read_scope(st, word);
	else if (type < in->first_nonstring)
		st->v8.name = word;
	return 0;
}

/* The file's name and the source of a script; of what is none there are none. */
__noinline __u64 find_v8_script(struct state *st, __u64 script)
{
	const struct hybrid_walk_v8_objects *in;
	struct hybrid_walk_v8_source *source;
	struct hybrid_walk_text *text;
	__u64 word;
	__u32 type;

	if (!st)
		return 0;
	in = &st->native.v8.objects;
	text = (void *)&st->record.ips[TEXT_AT];
	source = (void *)text->bytes;
	source->chars = 0;
	source->length = 0;
	source->width = 0;
	if (v8_type(st, script) != in->type_script)
		return 0;
	word = user_word(script - V8_TAG + in->script_source);
	type = v8_type(st, word);
	if (type < in->first_nonstring) {
		source->length = v8_length(st, word);
		source->width = type & in->one_byte ? 1 : 2;
		if ((type & V8_STRING_KIND) == V8_STRING_EXTERNAL)
			source->chars = user_word(word - V8_TAG + in->external_chars);
	}
	return user_word(script - V8_TAG + in->script_name);
}

/* Reads a function to the record. Returns the record's bytes; 0: it is none. */
__noinline __u64 put_v8_function(struct state *st, __u64 shared, __u32 mark)
{
	struct hybrid_walk_text *text;
	__u32 used = sizeof(struct hybrid_walk_v8_source), size;
	__u64 file;

	if (!st || v8_type(st, shared + V8_TAG) != st->native.v8.objects.type_shared)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	begin_text(st, text, shared, HYBRID_LANGUAGE_V8);
	text->type = user_word(shared + st->native.v8.owner);
	text->size = user_word(shared + st->native.v8.objects.name);
	find_v8_name(st, text->size);
	text->line = st->v8.first;
	text->states[0] = st->v8.last;
	text->states[1] = mark;
	file = find_v8_script(st, text->type);
	text->sizes[0] = used;
	size = put_v8_string(st, st->v8.name, used);
	text->sizes[1] = size;
	used += size;
	size = put_v8_string(st, file, used);
	text->sizes[2] = size;
	return offsetof(struct hybrid_walk_text, bytes) + used + size;
}

/* A function whose mark is new is to be told, if perf does not have it. */
static __always_inline void meet_native(struct state *st, __u64 shared, __u32 mark)
{
	const struct told_code *known = find_told(st, shared);
	__u32 at = st->nr_untold;

	if (at >= NR_UNTOLD || (known && known->identity == mark))
		return;
	st->untold[at].code = shared;
	st->untold[at].identity = mark;
	st->untold[at].language = HYBRID_LANGUAGE_V8;
	st->nr_untold = at + 1;
}

/* Tells perf of one function. @i: less than NR_UNTOLD. */
static __always_inline void tell_v8(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;
	struct hybrid_walk_text *text = (void *)&st->record.ips[TEXT_AT];
	__u64 shared = st->untold[i].code, size;
	__u32 at = mark_index(shared);

	st->telling.identity = st->untold[i].identity;
	size = put_v8_function(st, shared, st->telling.identity);
	/* If it could not be told, the next walk that meets it tries again. */
	if (size && !tell_text(loop, text, size, shared) && at < NR_MARKS)
		st->marks[at].function = 0;
}

#endif /* __HYBRID_V8_TEXT_BPF_H */
