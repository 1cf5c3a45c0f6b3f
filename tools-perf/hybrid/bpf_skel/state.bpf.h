/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_STATE_BPF_H
#define __HYBRID_STATE_BPF_H

/*
 * The state of each CPU. interpreter-state.bpf.h has the parts of it that are of interpreted
 * languages; they are members of struct state by -fms-extensions, with which perf compiles BPF
 * programs. maps.bpf.h has the maps.
 */
#include <linux/perf_unwind_rules.h>
#include "interpreter-state.bpf.h"
#include "kernel.bpf.h"

/* What perf may be storing just now: once, and whole. */
#define READ_WORD(word)	(*(const volatile __u64 *)(word))

/* Of the stack: what is read at once, at most. */
#define WINDOW		1024

/* What an address space is known by: no other has all of it. */
struct space {
	__u64 mm;
	__u64 start_time;
	__u64 exec_id;
	__u32 tgid;
	__u32 seq;
};

/* All of it in one word, that is not 0. */
static __always_inline __u64 space_number(const struct space *space)
{
	return (READ_WORD(&space->mm) + space->start_time * 0x9e3779b97f4a7c15ULL +
		space->exec_id * 0xc2b2ae3d27d4eb4fULL) | 1;
}

/**
 * struct mapping - one that was looked up
 * @start: address; 0: none
 * @end: address
 * @shift: what to add to an address for the offset in the file
 * @vma: of which
 * @pages: struct address_space of its file; 0: it has none
 * @key: of its object
 * @number: of its object
 * @changes: of the table, when @number was found
 * @copied: memory of no file has the object's code
 * @head: of its object
 * @walk: number of the walk that looked whether it is still true
 */
struct mapping {
	__u64 start;
	__u64 end;
	__u64 shift;
	__u64 vma;
	__u64 pages;
	struct hybrid_walk_key key;
	__u64 number;
	__u64 changes;
	__u64 copied;
	__u64 head;
	__u64 walk;
};

/* Rows that were found last: by what is in this, and the table's changes above it. */
#define ROW_BITS	10
#define ROW_PLACE_BITS	34

/**
 * struct task_time - how much of a task's time walks may take
 * @pid: of the task; 0: of none
 * @began: when the last walk began, in ns
 * @ran: the scheduler's figure of the task's run time then, in ns
 * @switches: how often the task had been switched out then
 * @left: how long walks may take now, in ns; negative: they took more than their share
 */
struct task_time {
	__u64 pid;
	__u64 began;
	__u64 ran;
	__u64 switches;
	__s64 left;
};

#define NR_TASK_TIMES	64

#define NR_MAPPINGS	8
#define NR_RAN		8

/**
 * struct state - of a CPU, and of one program: where that is run by an interrupt, what it
 *	interrupts may be another
 * @counts: what became of samples
 * @timed_from: when a sample began that is measured, in ns; 0: none is
 * @ran: events that the program has run for, by their address
 * @times: of tasks that were walked last, by their pid
 * @walk: number of this walk
 * @mm: that is walked: as a number, for functions that the verifier looks at by themselves
 * @space: that @mappings are of
 * @entered: that of this walk
 * @mappings: looked up last
 * @changed: when a file was
 * @changes: of the table, at the beginning of the walk, << ROW_PLACE_BITS
 * @rows: found last, by a hash of their place
 * @code_key: of code that no file has: @space is that of this walk
 * @code: that is there
 * @code_hash: of the frames so far; 0: they were in no code of a JVM
 * @next: of @mappings, to be replaced
 * @now: the mapping of the last frame
 * @data: the sample, struct perf_sample_data
 * @event: its event, struct perf_event
 * @callchain: that the kernel has made, struct perf_callchain_entry; 0: none
 * @output: where to, as bpf_perf_event_output() has it
 * @regs: of the sample, struct pt_regs
 * @ip: of the frame
 * @sp: of the frame
 * @bp: of the frame
 * @first_cfa: of the innermost frame, if there are others
 * @bp_known: @bp could be followed to here
 * @exact: @ip is an address that was interrupted, not one behind a call
 * @fibers: the address space has fibers
 * @for_functions: nothing but the functions of an interpreter is written of the walk
 * @nr: frames, the first not counted
 * @nr_functions: number of @functions
 * @nr_words: of @record's chain, the functions among them
 * @last_function: of which frame the last of them is
 * @end: enum perf_unwind_end
 * @unknown: the address that no rule was found for; 0: there is none
 * @at: an index that is looked for: here, as the verifier tries each value that it
 *	knows of
 * @place: the same, of @mappings
 * @changing: some mapping may be
 * @locked: a mapping that was needed is
 * @window_at: address of @window
 * @window_size: bytes that are there
 * @window: of the stack
 * @node: of the maple tree
 * @entry: of @node, that @addr is behind
 * @addr: that is looked for
 * @hash: of the chain
 * @number: for the next chain that has none; 0: to be taken
 * @dumped_since: when the span began that @dumped is of, in ns
 * @dumped: bytes of dumps
 * @dump_most: bytes of the stack that the current one may have
 * @functions: of frames of interpreters, as the record is to have them
 * @is_new_file: the walk came to a file of which the table has nothing
 * @woken: when perf was woken last, in ns; see is_urgent()
 * @wake_next: when it would be woken next if that was always after WAKE_EACH, in ns
 * @interpreted: the record of these
 * @record: what is written
 * @dump: the same, where that is not a chain
 */
struct state {
	struct hybrid_walk_counts counts;
	__u64 timed_from;
	__u64 ran[NR_RAN];
	struct task_time times[NR_TASK_TIMES];
	__u64 walk;
	__u64 mm;
	struct space space;
	struct space entered;
	struct mapping mappings[NR_MAPPINGS];
	struct hybrid_walk_key changed;
	__u64 changes;
	struct {
		__u64 place;
		__u64 row;
	} rows[1 << ROW_BITS];
	struct hybrid_walk_code_key code_key;
	__u64 code[HYBRID_CODE_WORDS];
	__u64 code_hash;
	__u32 next;
	struct mapping now;
	__u64 data;
	__u64 event;
	__u64 callchain;
	__u64 output;
	__u64 regs;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 first_cfa;
	__u32 bp_known;
	__u32 exact;
	__u32 fibers;
	__u32 for_functions;
	__u32 nr;
	__u32 nr_functions;
	__u32 last_function;
	__u32 nr_words;
	__u32 end;
	__u64 unknown;
	volatile __u32 at;
	volatile __u32 place;
	__u32 changing;
	__u32 locked;
	__u64 window_at;
	__u64 window_size;
	__u8 window[WINDOW];
	__u64 node[NODE_WORDS];
	__u64 entry;
	__u64 addr;
	__u64 hash;
	__u32 number;
	__u64 dumped_since;
	__u64 dumped;
	__u64 dump_most;
	struct hybrid_walk_function functions[HYBRID_WALK_FUNCTIONS];
	struct interpreter_space;
	__u32 is_new_file;
	__u64 woken;
	__u64 wake_next;
	struct interpreter_frames;
	struct interpreter_texts;
#define HYBRID_INTERPRETER(name, folder)	struct folder##_state;
#define HYBRID_NATIVE				HYBRID_INTERPRETER
#define HYBRID_COMPILER				HYBRID_INTERPRETER
#include "../runtime/languages.h"
	struct hybrid_walk_interpreted interpreted;
	union {
		struct hybrid_walk_record record;
		struct hybrid_walk_dump dump;
	};
};

/* A word of a kernel's structure that was read to the window. */
#define PART(st, type, field) \
	(*(const __u64 *)&(st)->window[bpf_core_field_offset(type, field)])

/* What the function that bpf_loop() calls is given. */
struct loop {
	struct state *st;
};

#endif /* __HYBRID_STATE_BPF_H */
