/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_V8_WALK_H
#define __HYBRID_V8_WALK_H

/*
 * Objects of V8, as 10.2 to 13.6 have them on x86-64: what BPF and perf read of them. What differs
 * is in struct hybrid_walk_v8. And what a record has of a function.
 */
#include "../../bpf_skel/hybrid_walk.h"

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

/* The lowest bits of a pointer to an object, include/v8-internal.h: kHeapObjectTag. */
#define V8_TAG			1
#define V8_TAG_MASK		7

/* include/v8-internal.h: kStringRepresentationMask. */
#define V8_STRING_KIND		7

/* Kinds of strings, src/objects/instance-type.h: StringRepresentationTag. */
enum {
	V8_STRING_SEQ		= 0,
	V8_STRING_CONS		= 1,
	V8_STRING_EXTERNAL	= 2,
	V8_STRING_SLICED	= 3,
	V8_STRING_THIN		= 5,
};

/* src/objects/scope-info.h: kScopeInfoMaxInlinedLocalNamesSize. */
#define V8_MAX_NAMED_LOCALS	75
#define V8_MAX_LOCALS		4096

/* Words of a ScopeInfo behind its locals, that are looked through. */
#define V8_SCOPE_WORDS		10

/* src/objects/scope-info.tq: the word with the first position, if that is before the locals. */
#define V8_POSITIONS_INDEX	3

/*
 * Of struct hybrid_walk_text, a function of V8: @function is the address of its SharedFunctionInfo;
 * @type and @size are two of its words: its script, and its name or ScopeInfo; @line and @states[0]
 * are the positions of its first character and behind its last one, negative if they are not known;
 * @states[1] is its mark. @bytes are struct hybrid_walk_v8_source, the name of the function and
 * that of the script: parts of strings, each after HYBRID_V8_PART().
 */
#define HYBRID_V8_PART(size, width)	((__u16)((size) << 1 | ((width) - 1)))
#define HYBRID_V8_PART_SIZE(head)	((__u32)(head) >> 1)
#define HYBRID_V8_PART_WIDTH(head)	(((head) & 1) + 1)

/* Characters of a name that are read at most, and bytes of one in a record. */
#define HYBRID_V8_TEXT			512
#define HYBRID_V8_PIECE			544

/**
 * struct hybrid_walk_v8_source - the text of a function's script
 * @chars: address of its characters, if these are in no object; else 0
 * @length: number of characters; 0: unknown
 * @width: bytes of each
 */
struct hybrid_walk_v8_source {
	__u64	chars;
	__u32	length;
	__u32	width;
};

#define V8_STRINGS	8

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
 * struct v8_state - what the BPF program keeps of V8 in struct state
 * @v8: the function
 */
struct v8_state {
	struct v8_reading v8;
};

#endif /* __HYBRID_V8_WALK_H */
