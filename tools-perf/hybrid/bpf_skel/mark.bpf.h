/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_MARK_BPF_H
#define __HYBRID_MARK_BPF_H

/*
 * Functions of interpreters: what the record has of them, and the marks by which perf finds out
 * later whether an address still has the same one.
 */
#include "maps.bpf.h"

/*
 * How long a mark is believed to be the same, in bits of ns: 17 ms. One that is old is not that of
 * what perf finds there later: the function has no name then.
 */
#define MARK_TIME	24

/* Where a record with texts is made: the end of that of the walk, which is written later. */
#define TEXT_WORDS	(sizeof(struct hybrid_walk_text) / 8)
#define TEXT_AT		(HYBRID_WALK_IPS - TEXT_WORDS)

/*
 * Returns 0 where nothing can be read: the kernel clears the word then. There is no branch, as the
 * verifier looks at both ways of each.
 */
static __always_inline __u64 user_word(__u64 addr)
{
	__u64 word;

	bpf_probe_read_user(&word, sizeof(word), (void *)addr);
	return word;
}

/* Without a branch, as user_word(). */
static __always_inline __u64 is_zero(__u64 value)
{
	return (~value & (value - 1)) >> 63;
}

/* Which of the marks may be that of a function; NR_MARKS: none. */
static __always_inline __u32 mark_index(__u64 function)
{
	return (function * 0x9e3779b97f4a7c15ULL) >> (64 - NR_MARK_BITS);
}

/* Is mark @i that of the function, and of a moment ago? @i: less than NR_MARKS. */
static __always_inline bool is_marked(const struct state *st, __u32 i, __u64 function)
{
	return st->marks[i].function == function && st->marks[i].when == st->moment && st->moment;
}

static __always_inline void put_mark(struct state *st, __u32 i, __u64 function, __u64 word)
{
	st->marks[i].word = word;
	st->marks[i].function = function;
	st->marks[i].when = st->moment;
}

/* Leaves room for struct hybrid_walk_part, which end_language() writes, before the functions. */
static __always_inline void begin_part(struct state *st)
{
	st->nr_interpreted++;
	st->begin = st->nr_interpreted;
}

static __always_inline void put_function(struct state *st, __u64 function, __u64 position)
{
	__u32 at = st->nr_interpreted;

	if (at >= HYBRID_WALK_FUNCTIONS)
		return;
	st->interpreted.frames[at].function = function;
	st->interpreted.frames[at].position = position;
	st->nr_interpreted = at + 1;
}

#endif /* __HYBRID_MARK_BPF_H */
