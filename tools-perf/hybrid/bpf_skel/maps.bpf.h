/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_MAPS_BPF_H
#define __HYBRID_MAPS_BPF_H

/* The maps: the table of rules and what else perf fills, and the state of each CPU. */
#include "state.bpf.h"

/* perf makes as many as it needs. */
struct chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, HYBRID_WALK_CHUNK_WORDS * 8);
	__uint(max_entries, 1);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, HYBRID_WALK_CHUNKS);
	__array(values, struct chunk);
} chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct hybrid_walk_object);
	__uint(max_entries, HYBRID_WALK_OBJECTS);
} objects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct hybrid_walk_key);
	__type(value, __u64);
	__uint(max_entries, HYBRID_WALK_OBJECTS);
} files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct hybrid_walk_code);
	__uint(max_entries, HYBRID_WALK_CODES);
} codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct hybrid_walk_block);
	__uint(max_entries, HYBRID_WALK_CODES);
} code_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct hybrid_walk_copy);
	__uint(max_entries, HYBRID_WALK_COPIES);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct hybrid_walk_range);
	__uint(max_entries, HYBRID_WALK_RANGES);
} ranges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);
	__type(value, struct hybrid_walk_compiled);
	__uint(max_entries, HYBRID_WALK_COMPILED);
} compiled SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct hybrid_walk_interpreter));
	__uint(max_entries, HYBRID_WALK_OBJECTS);
} interpreters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct interpreter_thread);
	__uint(max_entries, 8192);
} interpreter_threads SEC(".maps");

/* perf's: some file is an interpreter. */
__u32 any_interpreters;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct state));
	__uint(max_entries, 1);
} states SEC(".maps");

/* perf's: goes on by one now and then. */
__u64 epoch;

/*
 * perf's: how often the table was changed. What the program keeps of it from walk to walk is that
 * of one number. The table is changed first.
 */
__u32 table_changes;

/* perf's: some address space has fibers. */
__u32 any_fibers;

/* perf's: how often @compiled was changed. */
__u32 compiled_changes;

/* The chunk that a word of the table is in; NULL where there is none. */
static __always_inline __u64 *table_chunk(__u64 position)
{
	__u32 number = position >> HYBRID_WALK_CHUNK_BITS, zero = 0;
	void *chunk = bpf_map_lookup_elem(&chunks, &number);

	return chunk ? bpf_map_lookup_elem(chunk, &zero) : NULL;
}

/* A word of a chunk, by its number in the table. */
static __always_inline __u64 word_of(__u64 *chunk, __u64 position)
{
	return READ_WORD(&chunk[position & (HYBRID_WALK_CHUNK_WORDS - 1)]);
}

#endif /* __HYBRID_MAPS_BPF_H */
