/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_STATE_BPF_H
#define __HYBRID_INTERPRETER_STATE_BPF_H

/* What struct state of state.bpf.h has of interpreted languages. */
#include "kernel.bpf.h"
#include "../runtime/walk-interpreter.h"

#define NR_MARK_BITS	10
#define NR_MARKS	1024
#define NR_UNTOLD	64

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
 * struct told_code - a function whose texts perf has
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
 * struct interpreter_space - which languages an address space runs, and by which interpreters
 * @met: interpreters that the walk came through, by language
 * @met_languages: which of @met, a bit for each
 * @languages: that the address space @languages_of runs, a bit for each
 * @languages_of: that was looked up last, and runs any
 * @language: whose functions are read
 * @begin: index of the first of these, in @interpreted
 * @nr_parts: number of struct hybrid_walk_part in @interpreted
 * @interpreter: where it has its frames
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
 * @thread: address of a thread's; 0: it has none
 * @frame: address of a frame
 * @frames_start: where the stack begins that has them, if they are an array
 * @frames_end: and behind the last one
 * @is_whole: the last function that was read is the thread's outermost
 * @moment: of the walk, in the unit of @marks
 */
struct interpreter_frames {
	__u64 fs;
	__u64 thread_of;
	__u64 thread_space;
	__u64 thread;
	__u64 frame;
	__u64 frames_start;
	__u64 frames_end;
	__u32 is_whole;
	__u32 moment;
};

/**
 * struct interpreter_texts - which functions perf knows, and the texts of one that it does not
 * @marks: of functions, by a hash of their address
 * @untold: functions of this walk whose texts perf does not have
 * @nr_untold: number of @untold
 * @pieces: strings of a function that is told
 * @c_string: address of the last of these, if it ends with 0; else 0
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
		__u64 code;
		__u64 identity;
		__u64 language;
	} untold[NR_UNTOLD];
	__u32 nr_untold;
	struct {
		__u64 at;
		__u64 size;
	} pieces[3];
	__u64 c_string;
	struct told_code telling;
	__u64 text_room;
};

#endif /* __HYBRID_INTERPRETER_STATE_BPF_H */
