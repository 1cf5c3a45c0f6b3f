/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_STATE_BPF_H
#define __HYBRID_INTERPRETER_STATE_BPF_H

/* What struct state of state.bpf.h has of interpreted languages. */
#include "kernel.bpf.h"
#include "hybrid_interpreter.h"
#include "python-text.h"
#include "ruby-object.h"
#include "v8-object.h"

/* Of the words that frames of CRuby refer to: bytes that are read at once, at most. */
#define ENV_WINDOW	512

#define NR_MARK_BITS	10
#define NR_MARKS	1024
#define NR_ENTRIES	256
#define NR_CHAINS	4
#define NR_UNTOLD	64
#define V8_STRINGS	8

/* All bits of a language's number: enum hybrid_language. */
#define MAX_LANGUAGE	7
_Static_assert(MAX_LANGUAGE + 1 >= HYBRID_NR_LANGUAGES, "more languages than MAX_LANGUAGE");

/**
 * struct interpreter_thread - an entry of interpreter_threads, which has three kinds of them
 * @runtime: address of the interpreter's data
 * @thread: address of the thread's; of an address space 0
 * @number: of the interpreter, from 1 on
 * @when: of a thread that runs nothing of an interpreter (@thread is 0): when that was found
 * @wait: for how long it is not looked for, in the same unit
 * @languages: of an address space: a bit for each enum hybrid_language
 *
 * The key has the address space. Its @ip is 0: the entry says which languages run there; or enum
 * hybrid_language: it has the interpreter of that language; else what a thread is known by: it has
 * the thread's data.
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
 * struct interpreter_space - which languages an address space runs, and by which interpreters
 * @met: interpreters that the walk came through, by language
 * @met_languages: which of @met, a bit for each
 * @languages: that the address space @languages_of runs, a bit for each
 * @languages_of: that was looked up last, and runs any
 * @language: whose functions are read
 * @begin: index of the first of these, in @interpreted
 * @nr_parts: number of struct hybrid_walk_part in @interpreted
 * @interpreter: where it has its frames
 * @interpreter_at: address of the one whose threads are looked through next
 * @runtime: address of its data
 * @native: the interpreter of the address space @languages_of that has native frames, if any
 * @in_native: @native is of the address space that is walked
 * @has_native: following bp has come to a frame that runs a function of @native
 * @scanned: where the stack is looked at next for such a frame
 * @bp_found: it was found there
 * @no_file: the mapping that was looked up last is of no file
 * @nr_interpreted: number of pairs of words in @interpreted
 * @is_main: the thread is the first one of its process
 */
struct interpreter_space {
	struct {
		__u64 shift;
		__u64 number;
	} met[MAX_LANGUAGE + 1];
	__u32 met_languages;
	__u32 languages;
	__u64 languages_of;
	__u32 language;
	__u32 begin;
	__u32 nr_parts;
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
};

/**
 * struct interpreter_frames - where a thread has its frames in interpreters
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
 * @outer: of CPython: the innermost frame of those that called the innermost evaluator
 * @is_beginning: of the innermost run it is not known whether it is the evaluator's: if its last
 *	frame was called by @outer it is
 * @is_in_run: of CPython: the caller of the last frame has the same native frame
 * @frames_start: where the stack begins that has them, if they are an array
 * @frames_end: and behind the last one
 * @statement: of Perl: that the frame at @frame is at
 * @specific: a number of pthread_getspecific()
 * @perl: of Perl: the stack that @frame is in
 * @perl_before: the interpreter that the thread ran functions of last; 0: none
 * @tried: of the last eval that has HYBRID_WALK_PERL_TRIED, what die() jumps by; 0: there is none
 * @tried_at: its number in @interpreted
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
 * @is_whole: the last function that was read is the thread's outermost
 * @moment: of the walk, in the unit of @marks
 */
struct interpreter_frames {
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
	__u64 outer;
	__u32 is_beginning;
	__u32 is_in_run;
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
	__u32 is_whole;
	__u32 moment;
	__u32 specific;
	struct perl_stack perl;
	__u64 perl_before;
	__u64 tried;
	__u32 tried_at;
};

/**
 * struct v8_reading - what is read of a function of V8
 * @name: its name, a pointer; 0: it has none
 * @first: position of its first character; negative: unknown
 * @last: behind its last one
 * @scope_at: address of the next word of its ScopeInfo
 * @scope_last: the word before that
 * @strings: that are still to be read of a string, the next one last
 * @after: by the number of @strings that are still to be read: how many characters @left has again
 *	then, because a slice ends
 * @nr_strings: number of @strings
 * @used: bytes of the record that have something
 * @skip: characters that are left out
 * @left: that are still to be read
 * @end: where the string has to end in the record
 */
struct v8_reading {
	__u64 name;
	__s32 first;
	__s32 last;
	__u64 scope_at;
	__u64 scope_last;
	__u64 strings[V8_STRINGS];
	__u32 after[V8_STRINGS + 1];
	__u32 nr_strings;
	__u32 used;
	__u64 skip;
	__u64 left;
	__u32 end;
};

/**
 * struct interpreter_texts - which functions perf knows, and the texts of one that it does not
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
 * @v8: of V8
 * @untold: code objects of this walk of which perf does not know the texts
 * @nr_untold: number of @untold
 * @pieces: strings of a function that is told
 * @telling: what is told just now
 * @text_room: bytes of texts that may be written
 */
struct interpreter_texts {
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
	struct v8_reading v8;
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
};

#endif /* __HYBRID_INTERPRETER_STATE_BPF_H */
