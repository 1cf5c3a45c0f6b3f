/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PERL_TEXT_BPF_H
#define __HYBRID_PERL_TEXT_BPF_H

/* The strings of a sub of Perl. A program's outermost code has the file alone. */
#include "../../bpf_skel/text.bpf.h"

/* Offset of a word whose upper half is the 32 bits at another offset. */
#define WORD_OF(offset)	((offset) - 4)

/* A name of Perl: its length is 32 bits, in the upper half of its first word. */
static __always_inline void find_perl_name(struct state *st, __u32 i, __u64 name)
{
	st->pieces[i].at = name + PERL_NAME_TEXT;
	st->pieces[i].size = name ? user_word(name + WORD_OF(PERL_NAME_LENGTH)) >> 32 : 0;
}

/* Several names: the first one is what the package was made as, if that is still one. */
static __always_inline void find_package(struct state *st, __u64 stash)
{
	__u64 body = user_word(stash), name = user_word(body + PERL_HV_NAME);
	__s32 nr = user_word(body + WORD_OF(PERL_HV_NR_NAMES)) >> 32;

	if (!(user_word(stash + WORD_OF(PERL_SV_FLAGS)) >> 32 & PERL_HV_HAS_NAME))
		return;
	if (nr)
		name = user_word(name + (nr < 0 ? sizeof(name) : 0));
	find_perl_name(st, 0, name);
}

/* Package, name and file, which is no name: its length is not known. */
__noinline int find_perl_strings(struct state *st, __u64 sub)
{
	__u64 body = user_word(sub), named = user_word(body + PERL_CV_NAMED);
	__u64 stash = user_word(body + PERL_CV_STASH), has_name;
	struct hybrid_walk_text *text;

	if (!st)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	text->type = named;
	text->line = user_word(user_word(body + PERL_CV_START) + WORD_OF(PERL_COP_LINE)) >> 32;
	if (user_word(body + WORD_OF(PERL_CV_FLAGS)) >> 32 & PERL_CV_IS_NAMED) {
		find_perl_name(st, 1, named);
	} else if (named) {
		has_name = user_word(named);
		find_perl_name(st, 1, user_word(has_name + PERL_GV_NAME));
		stash = user_word(has_name + PERL_GV_STASH);
	}
	find_package(st, stash);
	st->c_string = user_word(body + PERL_CV_FILE);
	return 0;
}

/* Tells perf the strings of one function. @i: less than NR_UNTOLD. */
static __always_inline void tell_perl(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;
	__u64 function;

	if (!begin_strings(st, i, HYBRID_LANGUAGE_PERL))
		return;
	function = st->untold[i].code;
	if (st->telling.identity & HYBRID_WALK_PERL_CODE)
		st->c_string = user_word(function + PERL_COP_FILE);
	else
		find_perl_strings(st, function);
	tell_strings(loop);
}

#endif /* __HYBRID_PERL_TEXT_BPF_H */
