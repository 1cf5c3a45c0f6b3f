/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PYTHON_TEXT_H
#define __HYBRID_PYTHON_TEXT_H

/*
 * Code objects of CPython: what BPF reads of one when it meets it, and what shows whether it is
 * still the same. perf reads samples later, and the code of a module is freed when it has run.
 */
#include "hybrid_interpreter.h"

/* Bytes of a code object, from its beginning on, and of those from co_filename on. */
#define HYBRID_PYTHON_CODE	144
#define HYBRID_PYTHON_WORDS	4

/* Bytes of a string, and of a line table, that a record has at most. */
#define HYBRID_PYTHON_STRING	512
#define HYBRID_PYTHON_TABLE	16384

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

/**
 * struct hybrid_walk_text - raw data of a record that has a code object
 * @head: see there; its @info is 0
 * @function: as struct hybrid_walk_function has it
 * @type: address of what the object says is its type
 * @size: of its instructions, as the object has it
 * @line: of its first line
 * @states: of its file name and its name, as in struct hybrid_python_string
 * @sizes: bytes of file name, name and line table in @bytes
 * @language: enum hybrid_language
 * @bytes: these, one after the other; the record ends with them
 */
struct hybrid_walk_text {
	struct hybrid_walk_head	head;
	__u64			function;
	__u64			type;
	__u64			size;
	__u32			line;
	__u32			states[2];
	__u16			sizes[3];
	__u16			language;
	__u8			bytes[2 * HYBRID_PYTHON_STRING + HYBRID_PYTHON_TABLE];
};

#endif /* __HYBRID_PYTHON_TEXT_H */
