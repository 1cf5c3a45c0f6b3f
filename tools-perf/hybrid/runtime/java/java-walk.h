/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_JAVA_WALK_H
#define __HYBRID_JAVA_WALK_H

/* What the BPF program knows of a JVM, to find the frames of its methods. */
#include "java-code.h"

/*
 * The code cache of a JVM, HotSpot, by address space. For each address in it the program looks up,
 * in the process, which blob of code the address is in, and how large the blob's frames are:
 * code-cache.c says how. So methods need not be given one by one, and what a walk finds is of its
 * moment. All of it is memory of the process, which need not tell the truth: then the chains of
 * that process are wrong, as they are if its CFI is.
 */
#define HYBRID_WALK_COMPILED	1024
#define HYBRID_WALK_HEAPS	4

/* Bytes of a blob that the program can read, from the beginning of its block on. */
#define HYBRID_WALK_BLOB	512

/**
 * struct hybrid_walk_heap - a heap of code
 * @low: first address
 * @size: bytes; 0: no heap
 * @segmap: address of its map: a byte for each segment, 0 for the first one of a block,
 *	HYBRID_WALK_FREE if it is free, else how many segments further back to look
 * @segment_bits: binary logarithm of bytes in a segment
 * @unused: 0
 */
struct hybrid_walk_heap {
	__u64	low;
	__u64	size;
	__u64	segmap;
	__u32	segment_bits;
	__u32	unused;
};

#define HYBRID_WALK_FREE	0xff

/* Of such steps back: a method of 250 KiB in segments of 128 bytes needs 8. */
#define HYBRID_WALK_HOPS	8

/* Words that a method has pushed and that its frame does not count, at most. */
#define HYBRID_WALK_PUSHED	4

/**
 * struct hybrid_walk_field - a field of a blob
 * @offset: from the beginning of the blob's block, in bytes
 * @size: 1, 2, 4 or 8 bytes; 0: there is no such field
 * @is_signed: is it?
 */
struct hybrid_walk_field {
	__u16	offset;
	__u8	size;
	__u8	is_signed;
};

/**
 * struct hybrid_walk_compiled - what the program knows of a JVM
 * @space: as in struct hybrid_walk_code_key
 * @heaps: of its code
 * @header: bytes of a block before the blob
 * @size: bytes of a block that have all of the fields, at most HYBRID_WALK_BLOB
 * @used: is there a blob in the block?
 * @name: address of the blob's name
 * @frame_complete: bytes from the code to the end of the prologue; negative: there is none
 * @frame_size: words from sp to the CFA
 * @data_offset: bytes from the blob to the end of its code
 * @code_begin: address of the code, or
 * @code_offset: bytes from the blob to it
 * @osr_entry: where a method goes on that was compiled while it ran, if
 * @entry_bci: is not -1
 * @compile_id: number of the compilation
 * @again: @space: the place may be given to another key while the program reads it
 */
struct hybrid_walk_compiled {
	__u64				space;
	struct hybrid_walk_heap		heaps[HYBRID_WALK_HEAPS];
	__u32				header;
	__u32				size;
	struct hybrid_walk_field	used;
	struct hybrid_walk_field	name;
	struct hybrid_walk_field	frame_complete;
	struct hybrid_walk_field	frame_size;
	struct hybrid_walk_field	data_offset;
	struct hybrid_walk_field	code_begin;
	struct hybrid_walk_field	code_offset;
	struct hybrid_walk_field	osr_entry;
	struct hybrid_walk_field	entry_bci;
	struct hybrid_walk_field	compile_id;
	__u64				again;
};

/**
 * struct java_state - what the BPF program keeps of a JVM in struct state
 * @jvm: of the address space @jvm_space; no heaps: it is none
 * @jvm_space: the address space that was looked up last
 * @jvm_seen: number of changes then
 * @back: of a segment
 * @block: of the code cache
 * @java_code: before an address
 * @java_row: of the frame
 * @java_left: bytes from the frame's address to the end of its prologue
 * @java_frame: bytes from sp to the CFA of the frame; 0: not known
 */
struct java_state {
	struct hybrid_walk_compiled jvm;
	__u64 jvm_space;
	__u32 jvm_seen;
	volatile __u8 back;
	__u8 block[HYBRID_WALK_BLOB + 8];
	__u8 java_code[HYBRID_JAVA_ROOM];
	__u64 java_row;
	__u64 java_left;
	__u32 java_frame;
};

#endif /* __HYBRID_JAVA_WALK_H */
