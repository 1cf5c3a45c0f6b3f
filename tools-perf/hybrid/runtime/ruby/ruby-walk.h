/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_RUBY_WALK_H
#define __HYBRID_RUBY_WALK_H

/*
 * Objects of CRuby, as 3.1 and 3.3 have them on x86-64: what BPF and perf read of them, in bytes.
 * What differs is in struct hybrid_walk_ruby.
 */
#include "../../bpf_skel/hybrid_walk.h"

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

/*
 * include/ruby/internal/fl_type.h and internal/imemo.h: of the first word of an object what it is.
 * Code and entries of methods are of kinds of one type.
 */
#define RUBY_TYPE_MASK		0x1f
#define RUBY_KIND_MASK		0xf01f
#define RUBY_IS_CLASS		0x02
#define RUBY_IS_MODULE		0x03
#define RUBY_IS_STRING		0x05
#define RUBY_IS_ARRAY		0x07
#define RUBY_IS_ENTRY		0x601a
#define RUBY_IS_CODE		0x701a

/* Of strings: the characters are elsewhere. Of arrays: the elements are in the object. */
#define RUBY_STRING_APART	0x2000
#define RUBY_STRING_LENGTH_AT	14
#define RUBY_STRING_LENGTH	0x1f
#define RUBY_ARRAY_INSIDE	0x2000

/* include/ruby/internal/core/rstring.h and rarray.h: what is in the object, and what is not. */
#define RUBY_INSIDE		16
#define RUBY_STRING_WORDS	4
#define RUBY_ELEMENTS		32

/* internal/class.h: of a class: it has the methods of one object. */
#define RUBY_SINGLETON		0x1000

/*
 * 3.1, internal/class.h and include/ruby/st.h: in a class; in what has more of it; in the table of
 * variables; in its entries.
 */
#define RUBY_CLASS_MORE		24
#define RUBY_MORE_VARIABLES	8
#define RUBY_TABLE_START	32
#define RUBY_TABLE_BOUND	40
#define RUBY_TABLE_ENTRIES	48
#define RUBY_TABLE_ENTRY	24
#define RUBY_ENTRY_KEY		8
#define RUBY_ENTRY_VALUE	16

/* Variables of a class that are looked at. */
#define RUBY_MAX_VARIABLES	32

/* vm_core.h and method.h: in code, and in a method's entry: the address of what it is made of. */
#define RUBY_OWN		16

/* In a method's entry: its class. */
#define RUBY_OWNER		32

/*
 * In a method's definition: what it is, 0 if it is one in Ruby, of which it has the code; and the
 * number of its name.
 */
#define RUBY_METHOD_TYPE	0xf
#define RUBY_METHOD_CODE	8
#define RUBY_ID			32

/* In what code is made of: the words, the file, the name, the first line. */
#define RUBY_ENCODED		8
#define RUBY_PATH		64
#define RUBY_LABEL		80
#define RUBY_LINE		88

/*
 * symbol.c and id.h: the table of names has an array; how a number says in which array of that its
 * name is, and where. Numbers of operators are not shifted. That of a hidden variable of a class
 * has no scope.
 */
#define RUBY_SYMBOLS_ARRAY	16
#define RUBY_LAST_OPERATOR	169
#define RUBY_SCOPE_BITS		4
#define RUBY_SCOPE		0xe
#define RUBY_IN_ARRAY		512
#define RUBY_NAME_WORDS		2

/*
 * Words by which an object is told from another one that has its address later: of an entry those
 * of the object, of code its first three and two from its file on.
 */
#define RUBY_WORDS		5

/**
 * hybrid_ruby_identity - tell code, or a method, from another one that has its address later
 * @own: what it is made of
 * @first: of code: the file; of a method: the number of its name
 * @second: of code: the name of the method; of a method: the class
 *
 * Return: HYBRID_WALK_FUNCTION_MARK() of it is what records have.
 */
static inline __u64 hybrid_ruby_identity(__u64 own, __u64 first, __u64 second)
{
	__u64 hash = own * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 32 ^ first) * 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ hash >> 32 ^ second) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Of the words that frames refer to: bytes that are read at once, at most. */
#define ENV_WINDOW	512

#define NR_ENTRIES	256

/**
 * struct ruby_state - what the BPF program keeps of CRuby in struct state
 * @context_at: address of the variable that has it
 * @context_when: when that was found, in the unit of @marks
 * @env_at: address of @env
 * @env_size: bytes that are there
 * @env: words that frames refer to
 * @ruby_words: of an object
 * @entries: of methods, by a hash of the address: is there one?
 * @variable: of a class address of the next one that is looked at, how many there are,
 *	the types of objects that are looked for, and the object; 0: none was found
 */
struct ruby_state {
	__u64 context_at;
	__u32 context_when;
	__u64 env_at;
	__u64 env_size;
	__u8 env[ENV_WINDOW];
	__u64 ruby_words[RUBY_WORDS];
	struct {
		__u64 object;
		__u32 when;
		__u32 is_entry;
	} entries[NR_ENTRIES];
	struct {
		__u64 at;
		__u64 nr;
		__u64 value;
		__u32 types;
	} variable;
};

#endif /* __HYBRID_RUBY_WALK_H */
