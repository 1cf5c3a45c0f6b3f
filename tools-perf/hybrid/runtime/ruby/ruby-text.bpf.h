/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_RUBY_TEXT_BPF_H
#define __HYBRID_RUBY_TEXT_BPF_H

/*
 * Code and methods of CRuby: which one is at an address, and its strings, which perf is told once.
 */
#include "../../bpf_skel/text.bpf.h"

/* Types of objects, as a mask. */
#define RUBY_STRINGS	(1U << RUBY_IS_STRING)
#define RUBY_CLASSES	(1U << RUBY_IS_CLASS | 1U << RUBY_IS_MODULE)

/* Which object is at the address? 0: nothing can be read. */
static __always_inline __u64 ruby_identity(struct state *st, __u64 object)
{
	__u64 *words = st->ruby_words;

	if (bpf_probe_read_user(words, sizeof(st->ruby_words), (void *)object))
		return 0;
	if ((words[0] & RUBY_KIND_MASK) == RUBY_IS_CODE &&
	    bpf_probe_read_user(&words[3], 2 * sizeof(*words), (void *)(words[2] + RUBY_PATH)))
		return 0;
	return hybrid_ruby_identity(words[2], words[3], words[4]);
}

static __always_inline bool is_object_of(__u64 object, __u32 types)
{
	return object && 1U << (user_word(object) & RUBY_TYPE_MASK) & types;
}

/* The characters of a string, and how many there are; of what is no string there are none. */
static __always_inline void find_ruby_string(struct state *st, __u32 i, __u64 string)
{
	__u32 inside = st->interpreter.ruby.string_inside;
	__u64 *words = st->ruby_words;
	bool is_apart;

	/* The kernel clears what can't be read. */
	bpf_probe_read_user(words, RUBY_STRING_WORDS * sizeof(*words), (void *)string);
	if ((words[0] & RUBY_TYPE_MASK) != RUBY_IS_STRING)
		return;
	is_apart = words[0] & RUBY_STRING_APART;
	st->pieces[i].at = is_apart ? words[3] : string + inside;
	st->pieces[i].size = is_apart || inside > RUBY_INSIDE ? words[2] :
			     words[0] >> RUBY_STRING_LENGTH_AT & RUBY_STRING_LENGTH;
}

static __always_inline __u64 ruby_element(__u64 array, __u64 i)
{
	bool is_inside = user_word(array) & RUBY_ARRAY_INSIDE;

	return user_word((is_inside ? array + RUBY_INSIDE : user_word(array + RUBY_ELEMENTS)) +
			 i * sizeof(__u64));
}

/* The name of a method in C, by its number. */
static __always_inline void find_ruby_symbol(struct state *st, __u64 id)
{
	__u64 number = id > RUBY_LAST_OPERATOR ? id >> RUBY_SCOPE_BITS : id;
	__s32 symbols = st->interpreter.ruby.symbols;
	__u64 names;

	if (!symbols)
		return;
	names = ruby_element(user_word(st->runtime + symbols + RUBY_SYMBOLS_ARRAY),
			     number / RUBY_IN_ARRAY);
	find_ruby_string(st, 1, ruby_element(names, number % RUBY_IN_ARRAY * RUBY_NAME_WORDS));
}

/* One variable of a class on, to the first hidden one that has an object of the types. */
static long find_variable(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 at = st->variable.at, value;

	if (i >= st->variable.nr)
		return 1;
	st->variable.at = at + RUBY_TABLE_ENTRY;
	value = user_word(at + RUBY_ENTRY_VALUE);
	if (user_word(at + RUBY_ENTRY_KEY) & RUBY_SCOPE || !is_object_of(value, st->variable.types))
		return 0;
	st->variable.value = value;
	return 1;
}

/*
 * In 3.1 a class has its name in a hidden variable, and a singleton class the class that it is of.
 * Other hidden variables have other types, but for the names of classes without a name.
 */
static __always_inline __u64 ruby_variable(struct state *st, __u64 class, __u32 types)
{
	__u64 table = user_word(user_word(class + RUBY_CLASS_MORE) + RUBY_MORE_VARIABLES);
	__u64 start = user_word(table + RUBY_TABLE_START);
	struct loop loop = { .st = st };

	if (!table)
		return 0;
	st->variable.at = user_word(table + RUBY_TABLE_ENTRIES) + start * RUBY_TABLE_ENTRY;
	st->variable.nr = user_word(table + RUBY_TABLE_BOUND) - start;
	st->variable.value = 0;
	st->variable.types = types;
	bpf_loop(RUBY_MAX_VARIABLES, find_variable, &loop, 0);
	return st->variable.value;
}

/* The name of a method's class, and whether it is a method of that class itself. */
static __always_inline void find_ruby_class(struct state *st, struct hybrid_walk_text *text,
					    __u64 class)
{
	__u16 attached = st->interpreter.ruby.attached, classpath = st->interpreter.ruby.classpath;

	if (is_object_of(class, 1U << RUBY_IS_CLASS) && user_word(class) & RUBY_SINGLETON) {
		text->states[1] = 1;
		class = attached ? user_word(class + attached) :
			ruby_variable(st, class, RUBY_CLASSES);
	}
	if (is_object_of(class, RUBY_CLASSES))
		find_ruby_string(st, 0, classpath ? user_word(class + classpath) :
				 ruby_variable(st, class, RUBY_STRINGS));
}

/* A string, or the path and the real path, which eval has none of. */
static __always_inline void find_ruby_path(struct state *st, __u64 path)
{
	__u64 real;

	if ((user_word(path) & RUBY_TYPE_MASK) == RUBY_IS_ARRAY) {
		real = ruby_element(path, 1);
		path = is_object_of(real, RUBY_STRINGS) ? real : ruby_element(path, 0);
	}
	find_ruby_string(st, 2, path);
}

/*
 * Finds class, name and file of code, or of a method. Of a method in Ruby, and of other code, the
 * record also has the words and their number, the first word, and the line.
 */
__noinline int find_ruby_strings(struct state *st, __u64 object)
{
	struct hybrid_walk_text *text;
	__u64 code = object, definition, body, encoded;

	if (!st)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	if ((user_word(object) & RUBY_KIND_MASK) == RUBY_IS_ENTRY) {
		find_ruby_class(st, text, user_word(object + RUBY_OWNER));
		definition = user_word(object + RUBY_OWN);
		code = user_word(definition + RUBY_METHOD_CODE);
		if (user_word(definition) & RUBY_METHOD_TYPE) {
			find_ruby_symbol(st, user_word(definition + RUBY_ID));
			return 0;
		}
	}
	if ((user_word(code) & RUBY_KIND_MASK) != RUBY_IS_CODE)
		return 0;
	body = user_word(code + RUBY_OWN);
	encoded = user_word(body + RUBY_ENCODED);
	text->type = encoded;
	text->size = user_word(encoded);
	text->line = user_word(body + RUBY_LINE);
	text->states[0] = user_word(body) >> 32;
	find_ruby_string(st, 1, user_word(body + RUBY_LABEL));
	find_ruby_path(st, user_word(body + RUBY_PATH));
	return 0;
}

/* Tells perf the strings of one function. @i: less than NR_UNTOLD. */
static __always_inline void tell_ruby(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;

	if (!begin_strings(st, i, HYBRID_LANGUAGE_RUBY))
		return;
	find_ruby_strings(st, st->untold[i].code);
	tell_strings(loop);
}

#endif /* __HYBRID_RUBY_TEXT_BPF_H */
