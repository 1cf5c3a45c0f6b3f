/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PHP_WALK_H
#define __HYBRID_PHP_WALK_H

/*
 * Functions, classes and strings of PHP: what BPF and perf read of them, in bytes. They are the
 * same in all versions that are known; struct hybrid_walk_php has what is not.
 */
#include "../../bpf_skel/hybrid_walk.h"

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

/* Zend/zend_compile.h: of a function's first byte; in a function: its name and its class. */
#define PHP_INTERNAL		1
#define PHP_FUNCTION_NAME	8
#define PHP_FUNCTION_SCOPE	16

/* Zend/zend.h: in a class: its name. */
#define PHP_CLASS_NAME		8

/* Zend/zend_types.h: in a string: a hash of it, its length, and its first byte. */
#define PHP_STRING_HASH		8
#define PHP_STRING_LENGTH	16
#define PHP_STRING_BYTES	24

/* Bytes of an instruction, and where it has the line. */
#define PHP_OP			32
#define PHP_OP_LINE		24

/*
 * Of PHP: it is a file's outermost code. The address is that of the file's name, and the position
 * is the line.
 */
#define HYBRID_WALK_PHP_FILE		2ULL

/**
 * struct php_state - what the BPF program keeps of PHP in struct state
 * @generator: of those that delegate, one
 * @nr_delegates: number of these
 */
struct php_state {
	__u64 generator;
	__u32 nr_delegates;
};

#endif /* __HYBRID_PHP_WALK_H */
