/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PYTHON_WALK_H
#define __HYBRID_PYTHON_WALK_H

/*
 * CPython: where the BPF program finds its frames and code objects, and what shows whether a code
 * object is still the same. perf reads samples later, and the code of a module is freed when it has
 * run.
 */
#include "../../bpf_skel/hybrid_walk.h"

/**
 * struct hybrid_walk_python_code - where CPython has what shows which code an object is
 * @type: in an object: the address of its type
 * @size: of objects of a variable size: that
 * @flags: in a code object: co_flags; and so on
 * @line: co_firstlineno
 * @file: co_filename
 * @code: the address of its instructions, if they are an object of their own; else 0
 * @length: in a string: struct hybrid_python_string
 * @ascii: the first character, if it is ASCII
 * @text: else
 * @bytes: in an object of bytes: the first one
 * @name: in a code object: co_qualname, in words from @file on
 * @table: co_linetable, the same
 * @kind: as in struct python_layout
 * @is_known: these are set
 */
struct hybrid_walk_python_code {
	__u16	type;
	__u16	size;
	__u16	flags;
	__u16	line;
	__u16	file;
	__u16	code;
	__u16	length;
	__u16	ascii;
	__u16	text;
	__u16	bytes;
	__u8	name;
	__u8	table;
	__u8	kind;
	__u8	is_known;
};

/**
 * struct hybrid_walk_python - CPython: frames that are a list
 * @evaluator: where the evaluator begins, in the file; 0: not known
 * @first: in its data: the address of the first interpreter of the process
 * @next: in an interpreter: that of the next one
 * @threads: that of the first thread's data
 * @thread_next: in that: that of the next thread's
 * @thread_id: what pthread_self() returns in the thread
 * @frame: that of the innermost frame, or of what has that
 * @frame_in_frame: where in the latter it is
 * @frame_size: bytes of a frame that are needed
 * @function: in a frame: the code object that it runs
 * @position: the instruction
 * @caller: the caller's frame
 * @kind: a byte
 * @mark: in a code object: a pointer, which shows later whether it is still the same
 * @ends_from: a frame whose byte is this or more is the last one that a native frame runs
 * @ends_with: and runs something itself
 * @is_indirect: @frame is of what has the frame
 * @is_apart: each frame has memory of its own, and its caller's is not near
 * @code: which code an object is
 */
struct hybrid_walk_python {
	__u64	evaluator;
	__u16	first;
	__u16	next;
	__u16	threads;
	__u16	thread_next;
	__u16	thread_id;
	__u16	frame;
	__u16	frame_in_frame;
	__u16	frame_size;
	__u16	function;
	__u16	position;
	__u16	caller;
	__u16	kind;
	__u16	mark;
	__u8	ends_from;
	__u8	ends_with;
	__u8	is_indirect;
	__u8	is_apart;
	struct hybrid_walk_python_code code;
};

/* Bytes of a code object, from its beginning on, and of those from co_filename on. */
#define HYBRID_PYTHON_CODE	144
#define HYBRID_PYTHON_WORDS	4

/* The last bytes of a string that are compared. They may begin with the string's head. */
#define HYBRID_PYTHON_TAIL	32

/* Include/cpython/code.h: the code of a function has it, that of a module or a class does not. */
#define HYBRID_PYTHON_OPTIMIZED	1

/* Include/cpython/unicodeobject.h: the hash of a string that nobody has hashed. */
#define HYBRID_PYTHON_NO_HASH	(~0ULL)

/* Of an identity: bits that are no part of it. It has no mark, see HYBRID_WALK_FUNCTION_MARK(). */
#define HYBRID_PYTHON_FLAGS	15ULL
/* It is not 0. */
#define HYBRID_PYTHON_IS	1ULL

/**
 * struct hybrid_python_string - a string, as it begins after its type
 * @length: number of characters
 * @hash: of the characters, or HYBRID_PYTHON_NO_HASH
 * @state: how they are stored, 32 bits
 */
struct hybrid_python_string {
	__u64	length;
	__u64	hash;
	__u64	state;
};

/* Bytes of a character; 0: it is no string. */
static inline __u32 hybrid_python_width(const struct hybrid_walk_python_code *py, __u64 state)
{
	return state >> py->kind & 7;
}

/* From the string's beginning to its first character. */
static inline __u32 hybrid_python_text_at(const struct hybrid_walk_python_code *py, __u64 state)
{
	return state >> (py->kind + 4) & 1 ? py->ascii : py->text;
}

static inline __u64 hybrid_python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/**
 * hybrid_python_identity - tell a code object from another one that has its address later
 * @file: address of its co_filename
 * @name: of its co_qualname
 * @table: of its co_linetable
 * @string: what @file is
 * @tail: the last bytes of that, if it has no hash
 *
 * Modules of equal sizes that are imported one after the other have all addresses in common.
 *
 * Return: HYBRID_PYTHON_IS is the only flag.
 */
static inline __u64 hybrid_python_identity(__u64 file, __u64 name, __u64 table,
					   const struct hybrid_python_string *string,
					   const __u64 *tail)
{
	__u64 hash = hybrid_python_mix(0, file);

	hash = hybrid_python_mix(hash, name);
	hash = hybrid_python_mix(hash, table);
	hash = hybrid_python_mix(hash, string->length);
	if (string->hash != HYBRID_PYTHON_NO_HASH) {
		hash = hybrid_python_mix(hash, string->hash);
	} else {
		hash = hybrid_python_mix(hash, tail[0]);
		hash = hybrid_python_mix(hash, tail[1]);
		hash = hybrid_python_mix(hash, tail[2]);
		hash = hybrid_python_mix(hash, tail[3]);
	}
	return (hash & ~HYBRID_PYTHON_FLAGS) | HYBRID_PYTHON_IS;
}

#define NR_CHAINS	4

/**
 * struct python_state - what the BPF program keeps of CPython in struct state
 * @search_after: when the threads of a process may be looked through again, in ns
 * @idle: of the threads that were looked through, one that is of the task and runs no functions; 0:
 *	none is
 * @has_threads: the process has threads of an interpreter
 * @outer: the innermost frame of those that called the innermost evaluator
 * @is_beginning: of the innermost run it is not known whether it is the evaluator's: if its last
 *	frame was called by @outer it is
 * @is_in_run: the caller of the last frame has the same native frame
 * @chains: innermost frames in interpreters that the thread runs functions of, from the innermost
 *	interpreter on
 * @nr_chains: number of @chains
 * @chain_at: which of them comes next
 * @other: address of a thread's that is looked at
 * @several_of: as @fs: of which thread @has_several is
 * @several_when: when it was found, in its unit
 * @has_several: the process has several interpreters
 * @interpreter_at: address of the one whose threads are looked through next
 * @code_words: of a code object of CPython
 * @code_bytes: the same, from its beginning on
 * @string_at: address of @string
 * @string_walk: in which walk it was read
 * @string: a file name
 * @tail: the end of that
 */
struct python_state {
	__u64 search_after;
	__u64 idle;
	__u32 has_threads;
	__u64 outer;
	__u32 is_beginning;
	__u32 is_in_run;
	__u64 chains[NR_CHAINS];
	__u32 nr_chains;
	__u32 chain_at;
	__u64 other;
	__u64 several_of;
	__u64 several_when;
	__u32 has_several;
	__u64 interpreter_at;
	__u64 code_words[HYBRID_PYTHON_WORDS];
	__u8 code_bytes[HYBRID_PYTHON_CODE];
	__u64 string_at;
	__u64 string_walk;
	struct hybrid_python_string string;
	__u64 tail[HYBRID_PYTHON_TAIL / 8];
};

#endif /* __HYBRID_PYTHON_WALK_H */
