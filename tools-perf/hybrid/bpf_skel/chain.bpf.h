/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_CHAIN_BPF_H
#define __HYBRID_CHAIN_BPF_H

/*
 * The numbers of chains that were walked to the outermost frame: chains are found by their
 * hash, and are the same where all their words are, and the process.
 */
#include "output.bpf.h"
#include "walk.bpf.h"

/**
 * struct known_chain - one that perf was told of
 * @start_time: of its process
 * @exec_id: of its process
 * @tgid: of its process
 * @number: that perf knows it by
 * @at: index of its first word in chain_words
 * @nr: words
 */
struct known_chain {
	__u64 start_time;
	__u64 exec_id;
	__u32 tgid;
	__u32 number;
	__u32 at;
	__u32 nr;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct known_chain);
	__uint(max_entries, HYBRID_WALK_CHAINS);
} known_chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, HYBRID_WALK_CHAIN_WORDS);
} chain_words SEC(".maps");

static __u32 last_number;
static __u32 used_words;

/* Chains whose hashes are the same are looked for in so many places. */
#define CHAIN_PLACES	4

/* What the functions that bpf_loop() calls are given. */
struct chain_loop {
	struct state *st;
	__u32 at;
	__u32 same;
};

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static long hash_word(__u32 i, void *arg)
{
	struct chain_loop *loop = arg;
	struct state *st = loop->st;

	if (i >= HYBRID_WALK_IPS)
		return 1;
	st->hash = mix(st->hash, st->record.ips[i]);
	return 0;
}

static long compare_word(__u32 i, void *arg)
{
	struct chain_loop *loop = arg;
	__u32 at = loop->at + i;
	__u64 *word = bpf_map_lookup_elem(&chain_words, &at);

	if (i < HYBRID_WALK_IPS && word && *word == loop->st->record.ips[i])
		return 0;
	loop->same = false;
	return 1;
}

static long keep_word(__u32 i, void *arg)
{
	struct chain_loop *loop = arg;
	__u32 at = loop->at + i;
	__u64 *word = bpf_map_lookup_elem(&chain_words, &at);

	if (i >= HYBRID_WALK_IPS || !word)
		return 1;
	*word = loop->st->record.ips[i];
	return 0;
}

static __always_inline bool is_same_chain(struct state *st, const struct known_chain *known)
{
	struct chain_loop loop = { .st = st, .at = known->at, .same = true };

	if (known->nr != st->nr_words || known->tgid != st->space.tgid ||
	    known->exec_id != st->space.exec_id || known->start_time != st->space.start_time)
		return false;
	bpf_loop(known->nr, compare_word, &loop, 0);
	return loop.same;
}

static __always_inline bool write_chain(void *ctx, struct state *st)
{
	__u64 size = sizeof(st->record.head) + (__u64)st->nr_words * sizeof(__u64);

	barrier_var(size);
	if (size > sizeof(st->record))
		return false;
	return !bpf_perf_event_output(ctx, &output, st->output, &st->record, size);
}

/* Tells perf of the chain, and keeps it. Returns its number; 0 where there is none. */
static __always_inline __u32 new_chain(void *ctx, struct state *st, __u64 key)
{
	struct known_chain new = {
		.start_time	= st->space.start_time,
		.exec_id	= st->space.exec_id,
		.tgid		= st->space.tgid,
		.nr		= st->nr_words,
	};
	struct chain_loop loop = { .st = st };

	if (used_words >= HYBRID_WALK_CHAIN_WORDS - HYBRID_WALK_IPS)
		return 0;
	if (!st->number && last_number < HYBRID_WALK_CHAINS)
		st->number = __sync_fetch_and_add(&last_number, 1) + 1;
	if (!st->number || st->number > HYBRID_WALK_CHAINS)
		return 0;
	st->record.head.sleep = HYBRID_WALK_CHAIN | st->number;
	if (!write_chain(ctx, st))
		return 0;
	new.number = st->number;
	st->number = 0;
	new.at = __sync_fetch_and_add(&used_words, new.nr);
	if (new.at >= HYBRID_WALK_CHAIN_WORDS - HYBRID_WALK_IPS)
		return new.number;
	loop.at = new.at;
	bpf_loop(new.nr, keep_word, &loop, 0);
	/* Where another CPU was faster it has two numbers. */
	bpf_map_update_elem(&known_chains, &key, &new, BPF_NOEXIST);
	return new.number;
}

/* The number of the chain that was walked last; 0 where it can't have one. */
static __always_inline __u32 numbered_chain(void *ctx, struct state *st)
{
	struct chain_loop loop = { .st = st };
	struct known_chain *known;
	__u64 key;
	__u32 i;

	st->hash = mix(st->space.start_time ^ st->space.exec_id, st->space.tgid);
	bpf_loop(st->nr_words, hash_word, &loop, 0);
	for (i = 0; i < CHAIN_PLACES; i++) {
		key = st->hash + i;
		known = bpf_map_lookup_elem(&known_chains, &key);
		if (!known)
			return new_chain(ctx, st, key);
		if (is_same_chain(st, known))
			return known->number;
	}
	return 0;
}

#endif /* __HYBRID_CHAIN_BPF_H */
