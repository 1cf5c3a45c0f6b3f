/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_LANGUAGE_BPF_H
#define __HYBRID_LANGUAGE_BPF_H

/*
 * Which languages an address space runs, and where the data of their interpreters is: editors,
 * web servers and databases have several. What walks have come through is kept by address space.
 */
#include "mark.bpf.h"

static __always_inline bool has_language(__u32 languages, __u32 language)
{
	return languages >> language & 1;
}

/* What is known of an address space. @place: 0, a language, or what a thread is known by. */
static __always_inline struct interpreter_thread *known_language(const struct state *st,
								 __u64 place)
{
	/* Not @st's: the verifier of 6.1 wants it on the stack. */
	struct hybrid_walk_code_key key = { .space = st->code_key.space, .ip = place };

	return bpf_map_lookup_elem(&interpreter_threads, &key);
}

static __always_inline void keep_language(const struct state *st, __u64 place,
					  const struct interpreter_thread *found)
{
	struct hybrid_walk_code_key key = { .space = st->code_key.space, .ip = place };

	bpf_map_update_elem(&interpreter_threads, &key, found, BPF_ANY);
}

/* @number: from 1 on. */
static __always_inline struct hybrid_walk_interpreter *numbered(__u32 number)
{
	__u32 index = number - 1;

	return bpf_map_lookup_elem(&interpreters, &index);
}

/* The one whose functions have native frames. */
enum {
#define HYBRID_NATIVE(name, folder)	NATIVE_LANGUAGE = HYBRID_LANGUAGE_##name,
#include "../runtime/languages.h"
};

/* Its interpreter. */
static __always_inline bool find_native(struct state *st)
{
	struct interpreter_thread *known = known_language(st, NATIVE_LANGUAGE);
	struct hybrid_walk_interpreter *interpreter = known ? numbered(known->number) : NULL;

	if (!interpreter || interpreter->language != NATIVE_LANGUAGE)
		return false;
	st->native = *interpreter;
	return true;
}

/* Which languages does the address space run? Walks have come through their interpreters. */
__noinline int enter_languages(struct state *st)
{
	struct interpreter_thread *known;

	if (!st)
		return 0;
	st->met_languages = 0;
	st->in_native = false;
	if (!any_interpreters)
		return 0;
	if (st->languages_of != st->code_key.space) {
		known = known_language(st, 0);
		st->languages = known ? known->languages : 0;
		st->languages_of = known ? st->code_key.space : 0;
		if (has_language(st->languages, NATIVE_LANGUAGE) && !find_native(st))
			st->languages &= ~(1U << NATIVE_LANGUAGE);
	}
	st->in_native = has_language(st->languages, NATIVE_LANGUAGE);
	begin_part(st);
	return 0;
}

/*
 * Finds the interpreter of the language: what the walk came through, or what the address space is
 * known to have.
 */
__noinline int find_interpreter(struct state *st, __u32 language)
{
	struct interpreter_thread *known, found = {};
	struct hybrid_walk_interpreter *interpreter;
	__u64 runtime = 0;
	__u32 number = 0;

	if (!st || language > MAX_LANGUAGE)
		return false;
	st->thread = 0;
	known = known_language(st, language);
	if (known) {
		number = known->number;
		runtime = known->runtime;
	}
	found.number = has_language(st->met_languages, language) ? st->met[language].number :
								   number;
	interpreter = numbered(found.number);
	if (!interpreter || interpreter->language != language)
		return false;
	st->interpreter = *interpreter;
	found.runtime = has_language(st->met_languages, language) ?
		interpreter->runtime - st->met[language].shift : runtime;
	if (number != found.number || runtime != found.runtime)
		keep_language(st, language, &found);
	st->runtime = found.runtime;
	return true;
}

/* The walk came through interpreters of which it was not known that the address space runs them. */
__noinline int learn_languages(struct state *st)
{
	struct interpreter_thread found = {};
	__u32 language;

	if (!st)
		return 0;
	found.languages = st->languages | st->met_languages;
	keep_language(st, 0, &found);
	for (language = 1; language < HYBRID_NR_LANGUAGES; language++) {
		if (has_language(st->met_languages & ~st->languages, language))
			find_interpreter(st, language);
	}
	st->languages |= st->met_languages;
	/* The next walk is to find all that goes with them. */
	st->languages_of = 0;
	return 0;
}

#endif /* __HYBRID_LANGUAGE_BPF_H */
