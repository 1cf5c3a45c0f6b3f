/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PERL_WALK_H
#define __HYBRID_PERL_WALK_H

/*
 * Values, subs and statements of Perl, as 5.36 to 5.42 have them on x86-64: what BPF and perf read
 * of them, in bytes.
 */
#include "../../bpf_skel/hybrid_walk.h"

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

/* sv.h: of any value its flags, 32 bits. */
#define PERL_SV_FLAGS		12

/* cv.h: in the body of a sub; its flags are 32 bits: that it has a name of its own. */
#define PERL_CV_STASH		32
#define PERL_CV_START		40
#define PERL_CV_ROOT		48
#define PERL_CV_NAMED		56
#define PERL_CV_FILE		64
#define PERL_CV_FLAGS		92
#define PERL_CV_IS_NAMED	0x8000

/* gv.h: in the body of what has a name: that, and its package. */
#define PERL_GV_NAME		32
#define PERL_GV_STASH		40

/* hv.h: of a package: that it has a name, or several; in its body; in a name. */
#define PERL_HV_HAS_NAME	0x02000000
#define PERL_HV_NAME		32
#define PERL_HV_NR_NAMES	60
#define PERL_NAME_LENGTH	4
#define PERL_NAME_TEXT		8

/* op.h and cop.h: below an operation; in a statement: its line, and its file. */
#define PERL_OP_FIRST		40
#define PERL_COP_LINE		36
#define PERL_COP_FILE		48

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
 * struct perl_state - what the BPF program keeps of Perl in struct state
 * @statement: that the frame at @frame is at
 * @perl: the stack that @frame is in
 * @perl_before: the interpreter that the thread ran functions of last; 0: none
 * @tried: of the last eval that has HYBRID_WALK_PERL_TRIED, what die() jumps by; 0: there is none
 * @tried_at: its number in @interpreted
 * @specific: a number of pthread_getspecific()
 */
struct perl_state {
	__u64 statement;
	struct perl_stack perl;
	__u64 perl_before;
	__u64 tried;
	__u32 tried_at;
	__u32 specific;
};

#endif /* __HYBRID_PERL_WALK_H */
