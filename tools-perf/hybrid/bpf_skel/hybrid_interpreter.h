/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_H
#define __HYBRID_INTERPRETER_H

/*
 * Interpreters of languages: where the BPF program finds the functions that they run, and how its
 * records have these. perf fills in the first when it has found an interpreter in a process.
 */
#include "hybrid_language.h"
#include "hybrid_walk.h"

/* Where what is, in bytes; but for @code and @code_end of V8 these are offsets in structures. */

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

/**
 * struct hybrid_walk_ruby - CRuby: frames that are an array. Its data is two words: the module and
 *	the offset of the thread's variable that has its context's address, as for __tls_get_addr();
 *	or, with @variable, the table of names
 * @variable: from what a thread is known by to the same variable; 0: the data says where it is
 * @symbols: from the data to the table of names; 0: not known
 * @frame_size: from a frame to its caller's
 * @function: in a frame: the code that it runs
 * @position: the instruction
 * @environment: the address of its environment
 * @attached: in a singleton class: the object that it is of; 0: it is a variable of the class
 * @classpath: in a class: its name; 0: the same
 * @string_inside: in a string: its characters, if they are in itself. If that is not RUBY_INSIDE,
 *	it has its length always
 */
struct hybrid_walk_ruby {
	__s32	variable;
	__s32	symbols;
	__u16	frame_size;
	__u16	function;
	__u16	position;
	__u16	environment;
	__u16	attached;
	__u16	classpath;
	__u16	string_inside;
};

/**
 * struct hybrid_walk_v8_objects - V8: offsets in objects, but for types and flags
 * @map_type: in a map: the type of its objects, 16 bits
 * @name: in what functions share: the name, or a ScopeInfo
 * @script_name: in a script: the file's name
 * @script_source: its text, a string
 * @string_length: in a string: number of its characters, 32 bits
 * @string_chars: the first one, if they are in it
 * @external_chars: the address of the first one, if they are in no object
 * @cons_first: in one of two strings: the first of them
 * @cons_second: the other
 * @sliced_parent: in a part of a string: that
 * @sliced_offset: and where it begins there, an integer
 * @thin_actual: in one that stands for another one: that
 * @first_nonstring: types from this one on are no strings
 * @type_shared: of what functions share
 * @type_scope_info: of a ScopeInfo
 * @type_script: of a script
 * @one_byte: of a type of strings: a bit, their characters are bytes
 * @scope_nr_locals: in a ScopeInfo, from its second word on: number of its locals, an integer
 * @scope_vars: the same: the locals
 * @positions_first: it has the positions of its function before the locals
 */
struct hybrid_walk_v8_objects {
	__u16	map_type;
	__u16	name;
	__u16	script_name;
	__u16	script_source;
	__u16	string_length;
	__u16	string_chars;
	__u16	external_chars;
	__u16	cons_first;
	__u16	cons_second;
	__u16	sliced_parent;
	__u16	sliced_offset;
	__u16	thin_actual;
	__u16	first_nonstring;
	__u16	type_shared;
	__u16	type_scope_info;
	__u16	type_script;
	__u16	one_byte;
	__u16	scope_nr_locals;
	__u16	scope_vars;
	__u16	positions_first;
};

/**
 * struct hybrid_walk_v8 - V8: each function has a native frame, with bp
 * @code: where code of the file with such frames begins, in the file
 * @code_end: where it ends
 * @shared: in a function: what all functions of the same source share, which is what runs
 * @owner: in that: a pointer
 * @mark: in that: 32 bits that stay
 * @below_function: from bp down to the word with the function, a pointer whose lowest bits are 1,
 *	as all of V8's to objects
 * @below_context: to a word that is such a pointer, too, in frames of functions only
 * @below_position: to the place in the bytecode, in the upper half of a word
 * @objects: the names of functions
 */
struct hybrid_walk_v8 {
	__u64	code;
	__u64	code_end;
	__u16	shared;
	__u16	owner;
	__u16	mark;
	__u8	below_function;
	__u8	below_context;
	__u8	below_position;
	struct hybrid_walk_v8_objects objects;
};

/**
 * struct hybrid_walk_perl - Perl with threads: stacks of frames that are arrays. Its data is 32
 *	bits: the number of the pthread key of the thread's interpreter
 * @statement: in an interpreter: the statement that runs; 16 bytes behind it the innermost stack of
 *	frames
 * @frame_size: of a frame
 * @function: in a frame: the sub that it runs
 * @position: the caller's statement
 * @goes_on: where that goes on
 * @jump: of an eval: what die() jumps by, on the stack of what has begun the evaluator
 * @file: the name of a file that is loaded
 * @root: in the body of a sub: the root of its code, which closures share
 * @flags: its flags
 */
struct hybrid_walk_perl {
	__u16	statement;
	__u16	frame_size;
	__u16	function;
	__u16	position;
	__u16	goes_on;
	__u16	jump;
	__u16	file;
	__u16	root;
	__u16	flags;
};

/**
 * struct hybrid_walk_php - PHP without thread safety: frames that are a list, which the main thread
 *	runs. Its data is what has the address of the innermost frame
 * @frame_size: bytes of a frame that are needed
 * @function: in a frame: what it runs
 * @position: the instruction
 * @caller: the caller's frame
 * @flags: two bytes behind the type of the object that it has
 * @code: in a function that is no internal one: the address of its instructions
 * @file: the name of its file
 * @generator_frame: in a generator: its frame
 * @delegate: the generator that it has delegated to
 * @own_frame: its frame of no function, which stands for those that have delegated
 */
struct hybrid_walk_php {
	__u16	frame_size;
	__u16	function;
	__u16	position;
	__u16	caller;
	__u16	flags;
	__u16	code;
	__u16	file;
	__u16	generator_frame;
	__u16	delegate;
	__u16	own_frame;
};

/**
 * struct hybrid_walk_interpreter - an interpreter of a language
 * @runtime: what its data begins at, in the file, if all of that was mapped as its code is
 * @language: enum hybrid_language
 * @unused: 0
 * @python: where CPython has what; and so on
 */
struct hybrid_walk_interpreter {
	__u64	runtime;
	__u32	language;
	__u32	unused;
	union {
		struct hybrid_walk_python	python;
		struct hybrid_walk_ruby		ruby;
		struct hybrid_walk_v8		v8;
		struct hybrid_walk_perl		perl;
		struct hybrid_walk_php		php;
	};
};

/*
 * Of @function of struct hybrid_walk_function: the address; that its run ends with it; and a
 * part of what is at the mark, where an address of user space has no bits.
 */
#define HYBRID_WALK_FUNCTION_ADDR	0x0000fffffffffff8ULL
#define HYBRID_WALK_RUN_ENDS		1ULL
#define HYBRID_WALK_FUNCTION_MARK(word)	((__u64)(word) >> 4 << 48)

/*
 * Of frames of Perl, in @function. Without an address: a block that a native frame of its own runs,
 * a part of what the next frame is in. HYBRID_WALK_PERL_ANONYMOUS: a sub without a name: the
 * address is of the root of its code. HYBRID_WALK_PERL_CODE: no sub, but what the address says, or
 * a sub that is gone when it has run, as BEGIN; the upper bits of @position are the line. Behind a
 * file that is loaded stand HYBRID_WALK_PERL_TEXT pairs of words, with its name.
 * HYBRID_WALK_PERL_TRIED, of a block, and of what is evaluated or loaded: an eval for which
 * docatch() has begun the evaluator anew. A pair whose @function is 0 is nothing.
 */
#define HYBRID_WALK_PERL_CODE		2ULL
#define HYBRID_WALK_PERL_ANONYMOUS	4ULL
#define HYBRID_WALK_PERL_PROGRAM	8ULL
#define HYBRID_WALK_PERL_EVAL		16ULL
#define HYBRID_WALK_PERL_FILE		24ULL
#define HYBRID_WALK_PERL_TRIED		32ULL
#define HYBRID_WALK_PERL_TEXT		4U
#define HYBRID_WALK_PERL_LINE(position)	((__u32)((position) >> 48))
#define HYBRID_WALK_PERL_AT(statement, line) \
	(((statement) & HYBRID_WALK_FUNCTION_ADDR) | (__u64)(line) << 48)

/*
 * Of PHP: it is a file's outermost code. The address is that of the file's name, and the position
 * is the line.
 */
#define HYBRID_WALK_PHP_FILE		2ULL

/*
 * Of functions of V8: the mark, and the words of struct hybrid_walk_function. These have the
 * address and the mark, of 24 bits; the number of the frame, the innermost one's is 0; a part of
 * its CFA, for samples that perf unwinds; and the place in the bytecode.
 */
#define HYBRID_WALK_NATIVE_MARK(mark, owner) \
	(((__u32)(mark) ^ (__u32)((__u64)(owner) >> 3)) & 0xffffff)
#define HYBRID_WALK_NATIVE_FUNCTION(shared, mark) \
	(((shared) & HYBRID_WALK_FUNCTION_ADDR) | (__u64)(mark) << 48)
#define HYBRID_WALK_NATIVE_POSITION(frame, cfa, mark, place) \
	((__u64)(frame) << 48 | (__u64)HYBRID_WALK_NATIVE_CFA(cfa) << 32 | \
	 (__u64)((mark) >> 16) << 24 | ((place) & 0xffffff))
#define HYBRID_WALK_NATIVE_CFA(cfa)		((__u32)((cfa) >> 3) & 0xffff)
#define HYBRID_WALK_NATIVE_FRAME(position)	((__u32)((position) >> 48))
#define HYBRID_WALK_NATIVE_CFA_OF(position)	((__u32)((position) >> 32) & 0xffff)
#define HYBRID_WALK_NATIVE_PLACE(position)	((__u32)(position) & 0xffffff)
#define HYBRID_WALK_NATIVE_MARK_OF(function, position) \
	((__u32)((function) >> 48) | ((__u32)(position) >> 24) << 16)

/*
 * A pair that is no function, but a frame to which the walk went on by bp when it had ended early:
 * @function has bp and these bits, and @position the return address. No other pair has both bits.
 */
#define HYBRID_WALK_NATIVE_LINK			6ULL
#define HYBRID_WALK_IS_NATIVE_LINK(function) \
	(((function) & HYBRID_WALK_NATIVE_LINK) == HYBRID_WALK_NATIVE_LINK)

/* There is no such frame in the walk, and no place in the bytecode. */
#define HYBRID_WALK_NO_FRAME			0xffff
#define HYBRID_WALK_NO_PLACE			0xffffff

/**
 * struct hybrid_walk_function - what an interpreter runs
 * @function: address of it; 0: nothing does, the native frame is about to begin
 * @position: address of the instruction
 */
struct hybrid_walk_function {
	__u64	function;
	__u64	position;
};

/**
 * struct hybrid_walk_interpreted - raw data of HYBRID_WALK_RECORD_FUNCTIONS
 * @head: see there; its @info is 0
 * @frames: for each language struct hybrid_walk_part, and its functions from the innermost on
 */
struct hybrid_walk_interpreted {
	struct hybrid_walk_head		head;
	struct hybrid_walk_function	frames[HYBRID_WALK_FUNCTIONS];
};

#endif /* __HYBRID_INTERPRETER_H */
