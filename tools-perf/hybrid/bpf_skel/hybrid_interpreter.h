/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_INTERPRETER_H
#define __HYBRID_INTERPRETER_H

/* How records of the BPF program have the functions that interpreters run. */
#include "hybrid_walk.h"

/*
 * Of @function of struct hybrid_walk_function: the address; that its run ends with it; and a
 * part of what is at the mark, where an address of user space has no bits.
 */
#define HYBRID_WALK_FUNCTION_ADDR	0x0000fffffffffff8ULL
#define HYBRID_WALK_RUN_ENDS		1ULL
#define HYBRID_WALK_FUNCTION_MARK(word)	((__u64)(word) >> 4 << 48)

/*
 * Of functions that have native frames: the mark, and the words of struct hybrid_walk_function.
 * These have the address and the mark, of 24 bits; the number of the frame, the innermost one's is
 * 0; a part of its CFA, for samples that perf unwinds; and the place in the bytecode.
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

/* Bytes of a string, and of a line table, that a record has at most. */
#define HYBRID_WALK_STRING	512
#define HYBRID_WALK_TABLE	16384

/**
 * struct hybrid_walk_text - raw data of a record that has the texts of a function
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
	__u8			bytes[2 * HYBRID_WALK_STRING + HYBRID_WALK_TABLE];
};

#endif /* __HYBRID_INTERPRETER_H */
