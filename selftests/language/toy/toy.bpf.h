/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_TOY_BPF_H
#define __HYBRID_TOY_BPF_H

#include "../../bpf_skel/interpreter.bpf.h"

static long toy_frame(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 frame = st->toy_frame, function, word;

	if (!frame)
		st->is_whole = true;
	if (!frame || st->nr_interpreted >= HYBRID_WALK_FUNCTIONS)
		return 1;
	function = user_word(frame + st->interpreter.toy.function);
	word = function | mark_of(st, function, st->interpreter.toy.name);
	put_function(st, word | HYBRID_WALK_RUN_ENDS, 0);
	meet_function(st, function, word);
	st->toy_frame = user_word(frame);
	return 0;
}

__noinline int add_toy(struct state *st)
{
	struct loop loop = { .st = st };

	if (!st || !begin_language(st, HYBRID_LANGUAGE_TOY))
		return 0;
	st->thread = st->runtime;
	st->toy_frame = user_word(st->runtime);
	bpf_loop(HYBRID_WALK_FUNCTIONS, toy_frame, &loop, 0);
	return end_language(st, HYBRID_LANGUAGE_TOY);
}

static __always_inline void tell_toy(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;

	if (!begin_strings(st, i, HYBRID_LANGUAGE_TOY))
		return;
	st->c_string = user_word(st->untold[i].code + st->interpreter.toy.name);
	tell_strings(loop);
}

#endif /* __HYBRID_TOY_BPF_H */
