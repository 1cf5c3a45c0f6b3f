/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BPF_PRIVATE_H
#define __PERF_HYBRID_BPF_PRIVATE_H

#include <linux/list.h>
#include <linux/perf_unwind_rules.h>
#include "../compiler/compiler.h"
#include "../compiler/rule-table.h"
#include "bpf.h"

struct bpf_map;
struct evlist;
struct evsel;
struct perf_event_attr;
struct hybrid_walk_bpf;

/**
 * struct hybrid_bpf - the program, the rules that it has, and what it writes to
 * @skel: loaded
 * @table: its rules; the compiler's thread's
 * @files: that the program knows; the same thread's
 * @users: of each object of @table, the files that it is found by
 * @next_object: number from which on there may be one that is free
 * @max_objects: of @table
 * @epoch_at: when the program's epoch was changed last, in s
 * @stats: of @table
 * @cpus: number of CPUs, those that are not there among them
 * @sample_type: of the events that the program writes to
 * @fds: of the events that the program writes to, two for each ring
 * @ids: of the same, ascending
 * @nr_ids: of both
 * @first_id: the lowest of @ids
 * @id_span: from there to the highest, with it; 0: there are none
 * @links: of the program with events, where each has a number with it
 * @nr_links: of @links
 * @by_thread: rings are of threads, and so is what the program writes to
 * @dump_size: bytes of a dump that the program writes, at most
 * @off_cpu: the chains of tasks that go to sleep are its, too
 * @walks: it is attached to events, or @off_cpu
 * @traced: functions of samples that the kernel writes are its, too
 */
struct hybrid_bpf {
	struct hybrid_walk_bpf	*skel;
	struct hybrid_table	 table;
	struct list_head	 files;
	u16			 users[HYBRID_WALK_OBJECTS];
	u32			 next_object;
	u32			 max_objects;
	time_t			 epoch_at;
	struct perf_unwind_stats stats;
	int			 cpus;
	u64			 sample_type;
	int			*fds;
	u64			*ids;
	unsigned int		 nr_ids;
	u64			 first_id;
	u64			 id_span;
	int			*links;
	unsigned int		 nr_links;
	bool			 by_thread;
	u32			 dump_size;
	bool			 off_cpu;
	bool			 walks;
	bool			 traced;
};

/**
 * hybrid_bpf__types - the types of the running kernel that a program needs
 * @image: the program's object file
 * @size: bytes of @image
 *
 * Return: a file descriptor of a BTF file with these types, for the caller to close; -1 if there
 * is none: libbpf finds them by itself.
 */
int hybrid_bpf__types(const void *image, size_t size);

/* perf record --off-cpu: hybrid_sleep() is to be loaded, or not; before that is done. */
int hybrid_bpf__prepare_off_cpu(struct hybrid_bpf *bpf);

/* The event of perf record --off-cpu, where its chains are to be hybrid; NULL: none. */
const struct evsel *hybrid_bpf__off_cpu_evsel(struct evlist *evlist);

/* Has it walk the stacks of tasks that go to sleep from now on; false where it can't. */
bool hybrid_bpf__attach_off_cpu(struct hybrid_bpf *bpf, struct evlist *evlist);

/*
 * The first event of which the program can write the functions of samples that the kernel writes;
 * NULL: there is none.
 */
const struct perf_event_attr *hybrid_bpf__first_traced(struct evlist *evlist);

/* hybrid_traced() is to be loaded, or not; before that is done. 0 or a negative errno. */
int hybrid_bpf__prepare_traced(struct hybrid_bpf *bpf, struct evlist *evlist);

/* Has it write functions from now on; false where it can't. */
bool hybrid_bpf__attach_traced(struct hybrid_bpf *bpf, struct evlist *evlist);

/* See struct hybrid_store_ops. */
int hybrid_bpf__put_range(void *store, const struct hybrid_walk_code_key *key,
			  const struct hybrid_walk_range *range);
int hybrid_bpf__put_compiled(void *store, const struct hybrid_walk_compiled *compiled);
int hybrid_bpf__put_code(void *store, const struct hybrid_walk_code_key *key,
			 const struct hybrid_walk_code *code);
int hybrid_bpf__put_block(void *store, const struct hybrid_walk_code_key *key,
			  const struct hybrid_walk_block *block);

/* Bytes of a chunk of the table. */
#define HYBRID_BPF_CHUNK_SIZE	(HYBRID_WALK_CHUNK_WORDS * sizeof(u64))

/* Maps the table's objects; chunks are mapped when they are needed. 0 or a negative errno. */
int hybrid_bpf__map_table(struct hybrid_bpf *bpf);
void hybrid_bpf__unmap_table(struct hybrid_bpf *bpf);

/* Counts of a map of struct state. */
void hybrid_bpf__counts(const struct hybrid_bpf *bpf, const struct bpf_map *states,
			struct hybrid_walk_counts *counts);

/* What hybrid_bpf__prepare() has loaded; NULL for nothing. The caller's from then on. */
struct hybrid_bpf *hybrid_bpf__take(void);

/* Can the program write the event's samples as the kernel would? */
bool hybrid_bpf__is_served(struct evsel *evsel);

/* The first of these; NULL: none. */
const struct perf_event_attr *hybrid_bpf__first_served(struct evlist *evlist);

/* Only what perf keeps of them: with the program gone. */
void hybrid_bpf__free_files(struct hybrid_bpf *bpf);

#endif /* __PERF_HYBRID_BPF_PRIVATE_H */
