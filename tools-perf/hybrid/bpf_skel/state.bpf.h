/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_STATE_BPF_H
#define __HYBRID_STATE_BPF_H

/*
 * What the BPF program keeps: the state of each CPU, and the table of rules, which
 * perf fills.
 */
#include <linux/perf_unwind_rules.h>
#include "kernel.bpf.h"
#include "hybrid_interpreter.h"
#include "java-code.h"
#include "python-text.h"
#include "ruby-object.h"

/* What perf may be storing just now: once, and whole. */
#define READ_WORD(word)	(*(const volatile __u64 *)(word))

/* Of the stack: what is read at once, at most. */
#define WINDOW		1024
#define ENV_WINDOW	512

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

#define NR_MAPPINGS	8
#define NR_RAN		8
#define NR_MARK_BITS	10
#define NR_MARKS	1024
#define NR_ENTRIES	256
#define NR_CHAINS	4
#define NR_UNTOLD	64

/* All bits of a language's number: enum hybrid_walk_language. */
#define MAX_LANGUAGE	7

/**
 * struct interpreter_thread - a thread of Python that was found. Or, as thread 0, which languages
 *	an address space runs; and as 1 and a language its interpreter there
 * @runtime: address of the interpreter's data
 * @thread: address of the thread's; of an address space 0
 * @number: of the interpreter, from 1 on
 * @when: of a thread that runs nothing of an interpreter (@thread is 0): when that was found
 * @wait: for how long it is not looked for, in the same unit
 * @languages: of an address space: a bit for each enum hybrid_walk_language
 */
struct interpreter_thread {
	__u64 runtime;
	__u64 thread;
	__u32 number;
	__u32 when;
	__u32 wait;
	__u32 languages;
};

/**
 * struct told_code - a code object of CPython whose texts perf has
 * @identity: which one it is
 * @since: when perf was told, as marks have their time
 * @is_function: else it may be freed when it has run
 */
struct told_code {
	__u64 identity;
	__u32 since;
	__u32 is_function;
};

/**
 * struct perl_stack - struct stackinfo, cop.h of Perl
 * @any: not used
 * @frames: address of its frames
 * @prev: address of the stack around it
 * @next: not used
 * @top: number of the innermost frame; -1: there is none
 * @most: not used
 * @top_sub: number of the innermost frame of a sub
 * @kind: what it was made for
 */
struct perl_stack {
	__u64 any;
	__u64 frames;
	__u64 prev;
	__u64 next;
	__s32 top;
	__s32 most;
	__s32 top_sub;
	__s32 kind;
};

/**
 * struct state - of a CPU, and of one program: where that is run by an interrupt, what it
 *	interrupts may be another
 * @counts: what became of samples
 * @timed_from: when a sample began that is measured, in ns; 0: none is
 * @ran: events that the program has run for, by their address
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
 * @jvm: of the address space @jvm_space; no heaps: it is none
 * @jvm_space: the address space that was looked up last
 * @jvm_seen: number of changes then
 * @back: of a segment
 * @block: of the code cache
 * @java_code: before an address
 * @java_row: of the frame
 * @java_left: bytes from the frame's address to the end of its prologue
 * @java_frame: bytes from sp to the CFA of the frame; 0: not known
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
 * @met: interpreters that the walk came through, by language
 * @met_languages: which of @met, a bit for each
 * @languages: that the address space @languages_of runs, a bit for each
 * @languages_of: that was looked up last, and runs any
 * @has_parts: the space runs several languages: @parts is to stand before the functions
 * @language: whose functions are read
 * @begin: index of the first of these, in @interpreted
 * @parts: how many functions of which languages there are, HYBRID_WALK_PART() of each
 * @nr_parts: number of @parts
 * @interpreter: where it has its frames
 * @interpreter_at: address of the one whose threads are looked through next
 * @runtime: address of its data
 * @native: the interpreter of the address space @languages_of that has native frames, if any
 * @in_native: @native is of the address space that is walked
 * @has_native: following bp has come to a frame that runs a function of @native
 * @scanned: where the stack is looked at next for such a frame
 * @bp_found: it was found there
 * @no_file: the mapping that was looked up last is of no file
 * @is_new_file: the walk came to a file of which the table has nothing
 * @woken: when perf was woken last, in ns; see is_urgent()
 * @wake_next: when it would be woken next if that was always after WAKE_EACH, in ns
 * @fs: what the thread is known by
 * @thread_of: of which thread @thread is, as @fs; and
 * @thread_space: its address space
 * @search_after: when the threads of a process may be looked through again, in ns
 * @idle: of the threads that were looked through, one that is of the task and runs no functions; 0:
 *	none is
 * @has_threads: the process has threads of an interpreter
 * @thread: address of a thread's; 0: it has none
 * @context_at: of CRuby: address of the variable that has it
 * @context_when: when that was found, in the unit of @marks
 * @frame: address of a frame
 * @frames_start: where the stack begins that has them, if they are an array
 * @frames_end: and behind the last one
 * @statement: of Perl: that the frame at @frame is at
 * @specific: a number of pthread_getspecific()
 * @perl: of Perl: the stack that @frame is in
 * @perl_before: the interpreter that the thread ran functions of last; 0: none
 * @env_at: address of @env
 * @env_size: bytes that are there
 * @env: words that frames refer to
 * @other: address of a thread's that is looked at
 * @chains: innermost frames in interpreters that the thread runs functions of, from the innermost
 *	interpreter on
 * @nr_chains: number of @chains
 * @chain_at: which of them comes next
 * @several_of: as @fs: of which thread @has_several is
 * @several_when: when it was found, in its unit
 * @has_several: the process has several interpreters
 * @nr_interpreted: number of frames in @interpreted
 * @is_main: the thread is the first one of its process
 * @interpreted_whole: HYBRID_WALK_INTERPRETED_WHOLE, or 0
 * @moment: of the walk, in the unit of @marks
 * @marks: of functions, by a hash of their address
 * @entries: of methods of CRuby, by a hash of the address: is there one?
 * @code_words: of a code object of CPython
 * @code_bytes: the same, from its beginning on
 * @string_at: address of @string
 * @string_walk: in which walk it was read
 * @string: a file name
 * @tail: the end of that
 * @ruby_words: of an object of CRuby
 * @variable: of a class of CRuby: address of the next one that is looked at, how many there are,
 *	the types of objects that are looked for, and the object; 0: none was found
 * @untold: code objects of this walk of which perf does not know the texts
 * @nr_untold: number of @untold
 * @pieces: strings of a function that is told
 * @telling: what is told just now
 * @text_room: bytes of texts that may be written
 * @interpreted: the record of these
 * @record: what is written
 * @dump: the same, where that is not a chain
 */
struct state {
	struct hybrid_walk_counts counts;
	__u64 timed_from;
	__u64 ran[NR_RAN];
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
	__u64 code[2];
	struct hybrid_walk_jvm jvm;
	__u64 jvm_space;
	__u32 jvm_seen;
	volatile __u8 back;
	__u8 block[HYBRID_WALK_BLOB + 8];
	__u8 java_code[HYBRID_JAVA_ROOM];
	__u64 java_row;
	__u64 java_left;
	__u32 java_frame;
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
	struct {
		__u64 function;
		__u64 position;
	} functions[HYBRID_WALK_FUNCTIONS];
	struct {
		__u64 shift;
		__u64 number;
	} met[MAX_LANGUAGE + 1];
	__u32 met_languages;
	__u32 languages;
	__u64 languages_of;
	__u32 has_parts;
	__u32 language;
	__u32 begin;
	__u32 nr_parts;
	__u64 parts;
	__u32 nr_interpreted;
	__u32 is_main;
	struct hybrid_walk_interpreter interpreter;
	__u64 interpreter_at;
	__u64 runtime;
	struct hybrid_walk_interpreter native;
	__u32 in_native;
	__u32 has_native;
	__u64 scanned;
	__u32 bp_found;
	__u32 no_file;
	__u32 is_new_file;
	__u64 woken;
	__u64 wake_next;
	__u64 fs;
	__u64 thread_of;
	__u64 thread_space;
	__u64 search_after;
	__u64 idle;
	__u32 has_threads;
	__u64 thread;
	__u64 context_at;
	__u32 context_when;
	__u64 frame;
	__u64 frames_start;
	__u64 frames_end;
	__u64 statement;
	__u64 env_at;
	__u64 env_size;
	__u8 env[ENV_WINDOW];
	__u64 other;
	__u64 chains[NR_CHAINS];
	__u32 nr_chains;
	__u32 chain_at;
	__u64 several_of;
	__u64 several_when;
	__u32 has_several;
	__u32 interpreted_whole;
	__u32 moment;
	__u32 specific;
	struct perl_stack perl;
	__u64 perl_before;
	struct {
		__u64 function;
		__u64 word;
		__u32 when;
		__u32 since;
	} marks[NR_MARKS];
	struct {
		__u64 object;
		__u32 when;
		__u32 is_entry;
	} entries[NR_ENTRIES];
	__u64 code_words[HYBRID_PYTHON_WORDS];
	__u8 code_bytes[HYBRID_PYTHON_CODE];
	__u64 string_at;
	__u64 string_walk;
	struct hybrid_python_string string;
	__u64 tail[HYBRID_PYTHON_TAIL / 8];
	__u64 ruby_words[RUBY_WORDS];
	struct {
		__u64 at;
		__u64 nr;
		__u64 value;
		__u32 types;
	} variable;
	struct {
		__u64 code;
		__u64 identity;
		__u64 language;
	} untold[NR_UNTOLD];
	__u32 nr_untold;
	struct {
		__u64 at;
		__u64 size;
	} pieces[3];
	struct told_code telling;
	__u64 text_room;
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
	__type(value, struct hybrid_walk_jvm);
	__uint(max_entries, HYBRID_WALK_JVMS);
} jvms SEC(".maps");

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

/* perf's: how often @jvms was changed. */
__u32 jvm_changes;

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

#endif /* __HYBRID_STATE_BPF_H */
