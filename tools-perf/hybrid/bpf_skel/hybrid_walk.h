/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_WALK_H
#define __HYBRID_WALK_H

/* The BPF program has the types from vmlinux.h. */
#ifndef __bpf__
#include <linux/types.h>
#endif
#include "made-code.h"

/*
 * What hybrid_walk.bpf.c and perf share: the table of rules, and the records that
 * the program writes.
 *
 * The table consists of words of 8 bytes in chunks, numbered through all chunks.
 * Nothing in it is changed but by storing one word, and no room is used twice while a walk
 * may still read it, so that a walk that reads while perf writes sees what was before or
 * what is after. Where the table is full, what is of use is copied to other chunks, and the
 * old ones are taken out, which ends when all walks that had found them have ended.
 *
 * An object's head says where its blocks are: position, and their number << 32; one chunk
 * may end among them, and the next one begin.
 * A block is 256 bytes of the file: position of its rows, and their number << 32; 0
 * where nothing is known. Its rows are in one chunk, by offset, the first at offset 0.
 */
#define HYBRID_WALK_CHUNK_BITS	19
#define HYBRID_WALK_CHUNK_WORDS	(1U << HYBRID_WALK_CHUNK_BITS)
#define HYBRID_WALK_CHUNKS	64
#define HYBRID_WALK_OBJECT_BITS	12
#define HYBRID_WALK_OBJECTS	(1U << HYBRID_WALK_OBJECT_BITS)
#define HYBRID_WALK_BLOCK_BITS	8
#define HYBRID_WALK_BLOCK	(1U << HYBRID_WALK_BLOCK_BITS)

/*
 * A row: offset in its block, and the rule, struct perf_unwind_rule. The return address
 * is 8 bytes below the CFA.
 */
#define HYBRID_WALK_OFFSET(row)		((__u32)(row) & 0xff)
#define HYBRID_WALK_KIND(row)		((__u32)((row) >> 8) & 7)
#define HYBRID_WALK_BASE(row)		((__u32)((row) >> 11) & 1)
#define HYBRID_WALK_BP(row)		((__u32)((row) >> 12) & 3)
#define HYBRID_WALK_DEREF_OFF(row)	((__u32)((row) >> 16) & 0xff)
#define HYBRID_WALK_BP_OFF(row)		((__s64)((row) << 24) >> 48)
#define HYBRID_WALK_CFA_OFF(row)	((__s64)(row) >> 40)

/*
 * Kinds that only this table has. One: the CFA is another register + cfa_off; deref_off says
 * which, as a word of struct pt_regs. Of the innermost frame only: further out no register
 * but sp and bp is known. It is how -fstack-clash-protection makes large frames (r11), and
 * how functions begin that align their stack (r10).
 */
#define HYBRID_WALK_REGISTER	(PERF_UNWIND_OUTERMOST + 1)

/*
 * Another one: the CFA is the word at bp + cfa_off, bp is saved at bp, and the return address is
 * behind it. Frames of HotSpot's interpreter are so.
 */
#define HYBRID_WALK_SAVED_SP	(PERF_UNWIND_OUTERMOST + 2)

/*
 * Bytes from bp to the CFA of a frame that holds its caller's sp, at most: a method of Java may
 * have 64 Ki words of arguments and locals. perf's own walk has the same bound.
 */
#define HYBRID_WALK_LOCALS	0x100000U

/**
 * struct hybrid_walk_key - a file, as the kernel's mappings of it show it
 * @inode: the address of its inode in the kernel: that of no other file for as long as
 *	perf has it open; of the vDSO PERF_UNWIND_VDSO_64
 * @ctime_sec: when it was changed last: what was loaded of it before is old
 * @ctime_nsec: the same
 *
 * Not its numbers: on overlayfs and btrfs stat() has others than the kernel, and two
 * files of two subvolumes of btrfs have the same.
 */
struct hybrid_walk_key {
	__u64	inode;
	__s64	ctime_sec;
	__u64	ctime_nsec;
};

/*
 * What the program finds by a key is a word: the number of the object, and the inode beside
 * it. The kernel may use the place for another key while the program looks at it.
 */
#define HYBRID_WALK_FOUND(inode, object)	((inode) << HYBRID_WALK_OBJECT_BITS | (object))

/**
 * struct hybrid_walk_object - what the program finds by an object's number
 * @head: see above
 * @used: the program's, of perf's epoch: when it was walked through last
 * @interpreter: if the file is an interpreter of a language: HYBRID_WALK_INTERPRETER(); else 0
 */
struct hybrid_walk_object {
	__u64	head;
	__u64	used;
	__u64	interpreter;
};

/* The object's number + 1, and enum hybrid_language. */
#define HYBRID_WALK_INTERPRETER(object, language)	(((object) + 1) | (__u64)(language) << 16)
#define HYBRID_WALK_INTERPRETER_NUMBER(word)		((__u32)(word) & 0xffff)
#define HYBRID_WALK_INTERPRETER_LANGUAGE(word)		((__u32)((word) >> 16))

/*
 * Code that no file has, which the process compiled or copied: the rule of one address of one
 * address space, and the code that it was made from. Where that has changed since, there is none.
 */
#define HYBRID_WALK_CODES	16384

/**
 * struct hybrid_walk_code_key - an address of code
 * @space: what the program knows the address space by, as struct hybrid_walk_dump has it
 * @ip: of the next instruction, where that is a return address, too
 */
struct hybrid_walk_code_key {
	__u64	space;
	__u64	ip;
};

/**
 * struct hybrid_walk_proof - the code that a row was made from
 * @hash: hybrid_code_hash() of its words
 * @before: where it begins: so many bytes before the key's address
 * @words: of 8 bytes, at most HYBRID_CODE_WORDS
 */
struct hybrid_walk_proof {
	__u64	hash;
	__s32	before;
	__u32	words;
};

/**
 * struct hybrid_walk_code - what holds there
 * @proof: of @row
 * @row: as in the table, its offset 0. Behind @proof: the place may be given to another key while
 *	the program reads it, and is written from its beginning on
 */
struct hybrid_walk_code {
	struct hybrid_walk_proof	proof;
	__u64				row;
};

/* Instructions in 64 bytes of such code that have one rule. */
#define HYBRID_WALK_CODE_BLOCK	64

/**
 * struct hybrid_walk_block - what holds in them; the key has the address of the first byte
 * @proof: of all of them
 * @begins: a bit for each byte at which an instruction with the rule begins
 * @row: as in struct hybrid_walk_code
 */
struct hybrid_walk_block {
	struct hybrid_walk_proof	proof;
	__u64				begins;
	__u64				row;
};

/*
 * The map of single addresses has the ends of fibers, as perf has found them. A fiber's first
 * function has a return address that no call made. Under that address, and under 0 if an address
 * space has any end of a fiber, the map has a row of PERF_UNWIND_OUTERMOST, and HYBRID_WALK_FIBER
 * as the hash. Under the function's CFA it has such a row, and the return address as the hash.
 */
#define HYBRID_WALK_FIBER	0x0123456789abcdefULL

/*
 * This as the code: the row holds whatever the bytes are. It is the start of makecontext()'s
 * fibers, of which perf has read the file. The process has the page only when a fiber ends.
 */
#define HYBRID_WALK_ROOT	0xfedcba9876543210ULL

/**
 * struct hybrid_walk_copy - anonymous memory to which a process has moved code of a file; the key
 *	has the address where it begins
 * @end: address
 * @shift: what to add to an address for the offset in the file
 * @key: of the file
 */
struct hybrid_walk_copy {
	__u64			end;
	__u64			shift;
	struct hybrid_walk_key	key;
};

#define HYBRID_WALK_COPIES	1024

/*
 * Code of a runtime whose frames are all of one kind and which stays as long as the process, as
 * the interpreter of a JVM. An entry for each stretch of 1 << HYBRID_WALK_RANGE_BITS bytes that it
 * is in, by struct hybrid_walk_code_key, where @ip is the number of that stretch.
 */
#define HYBRID_WALK_RANGES	32768
#define HYBRID_WALK_RANGE_BITS	7

/**
 * struct hybrid_walk_range - addresses with one rule
 * @start: first address
 * @end: behind the last
 * @row: as in the table, its offset 0; behind the others, as in struct hybrid_walk_code. It does
 *	not hold at an innermost address behind an instruction that may have left the frame
 */
struct hybrid_walk_range {
	__u64	start;
	__u64	end;
	__u64	row;
};

/**
 * struct hybrid_walk_file - what perf asks the program hybrid_file() for
 * @addr: in: of a mapping of perf's own
 * @key: out: of the file that is mapped there
 */
struct hybrid_walk_file {
	__u64			addr;
	struct hybrid_walk_key	key;
};

/*
 * Of a frame by HYBRID_WALK_SAVED_SP a record has two words: the function and the position, as
 * struct hybrid_frame has them. The upper bits of the first one are the number of frames since the
 * last such frame, or since the innermost frame; the lower ones are the address without its
 * last three bits, which are 0.
 */
#define HYBRID_WALK_FUNCTION_BITS	54
#define HYBRID_WALK_FUNCTION_STEP	1023
#define HYBRID_WALK_FUNCTIONS		1024

/* The words that a row of that kind tells of: from bp, in bytes. */
#define HYBRID_WALK_FUNCTION_AT(row)	(-(__s64)HYBRID_WALK_DEREF_OFF(row))
#define HYBRID_WALK_POSITION_AT(row)	HYBRID_WALK_BP_OFF(row)

/* Entries of a callchain, the kernel's part and context words among them. */
#define HYBRID_WALK_IPS		7830
#define HYBRID_WALK_KERNEL_IPS	256

/* What a record of the program is. */
enum hybrid_walk_kind {
	/* A sample: its callchain, and the functions that its frames run. */
	HYBRID_WALK_RECORD_SAMPLE,
	/* A sample whose stack was not walked to its end: struct hybrid_walk_dump. */
	HYBRID_WALK_RECORD_DUMP,
	/* Functions of a sample that follows, maybe with a HYBRID_WALK_RECORD_NOTE before it. */
	HYBRID_WALK_RECORD_FUNCTIONS,
	/* How the walk of a sample ended that follows, which the kernel writes. */
	HYBRID_WALK_RECORD_NOTE,
	/* The texts of a function that later samples may have: struct hybrid_walk_text. */
	HYBRID_WALK_RECORD_TEXT,
};

/**
 * struct hybrid_walk_head - what begins each of the program's records
 * @time: of the sample, and so on: as its event would have written it
 * @ip: of the sample
 * @id: of its event; 0: it is of a sleep
 * @period: of the sample
 * @addr: of the sample
 * @sleep: the word by which the samples of a sleep name its chain, see HYBRID_WALK_CHAIN; else 0
 * @info: as the word behind PERF_CONTEXT_USER_RULES
 * @misc: of the sample's header
 * @kind: enum hybrid_walk_kind
 * @nr_kernel: entries of the callchain that the kernel has made, with its context words. If the
 *	walk came to the outermost frame they are of the kernel's part alone
 * @nr_user: number of addresses in user space that follow, without a context word
 * @nr_parts: number of struct hybrid_walk_part that follow
 * @unused: 0
 */
struct hybrid_walk_head {
	__u64	time;
	__u64	ip;
	__u64	id;
	__u64	period;
	__u64	addr;
	__u64	sleep;
	__u32	info;
	__u16	misc;
	__u16	kind;
	__u16	nr_kernel;
	__u16	nr_user;
	__u16	nr_parts;
	__u16	unused;
};

/**
 * struct hybrid_walk_record - raw data of the program's records
 * @head: see there
 * @ips: @nr_kernel entries of the callchain, @nr_user more, and the parts. Up to 7 bytes of no
 *	meaning end the record
 */
struct hybrid_walk_record {
	struct hybrid_walk_head	head;
	__u64			ips[HYBRID_WALK_IPS];
};

/* What a part of a record has. */
enum hybrid_walk_part_kind {
	/* Of frames by HYBRID_WALK_SAVED_SP: see HYBRID_WALK_FUNCTION_BITS. */
	HYBRID_WALK_PART_FRAMES,
	/* What the interpreter of a language runs: struct hybrid_walk_function. */
	HYBRID_WALK_PART_LANGUAGE,
};

/**
 * struct hybrid_walk_part - head of the functions that follow it in a record
 * @kind: enum hybrid_walk_part_kind. One that perf does not know is left out
 * @nr: number of functions, each two words
 * @language: enum hybrid_language
 * @is_whole: the last one is the thread's outermost
 * @code_hash: of HYBRID_WALK_PART_FRAMES: which blobs of a JVM's code the walk came through, see
 *	hybrid_java_code_hash(): where it is the same in two samples, so were the blobs. 0: none
 */
struct hybrid_walk_part {
	__u16	kind;
	__u16	nr;
	__u16	language;
	__u16	is_whole;
	__u64	code_hash;
};

/*
 * perf record --off-cpu: a task that goes to sleep is walked by a program of its own. Its
 * records have the word by which the samples of that sleep name the chain: in place of the
 * chain's addresses, which are lower. A chain that was whole is written once for each process
 * and is known by its number from then on, and of its sleeps perf may make one sample. All
 * others are known by when the sleep began, and each sleep is a sample: with its thread there
 * is no other such chain.
 */
#define HYBRID_WALK_CHAIN	(1ULL << 62)
#define HYBRID_WALK_SLEEP	(1ULL << 61)

/* Nothing could be written of it. */
#define HYBRID_WALK_UNKNOWN	(HYBRID_WALK_SLEEP | 1)

/* Chains that have numbers, from 1 on; and words of all of them. */
#define HYBRID_WALK_CHAINS	65536
#define HYBRID_WALK_CHAIN_WORDS	(1U << 21)

/* Of memory: x86's. */
#define HYBRID_WALK_PAGE	4096

/* Of a dump: callchain, struct pt_regs, bytes of stack. */
#define HYBRID_WALK_DUMP_IPS	127
#define HYBRID_WALK_REGS	21
#define HYBRID_WALK_STACK	((HYBRID_WALK_IPS - HYBRID_WALK_DUMP_IPS - \
				  HYBRID_WALK_REGS - 6) * 8 - HYBRID_SEEN_CODE)

/**
 * struct hybrid_walk_dump - raw data where a stack was not walked to its end
 * @head: see there
 * @ips: the callchain, as the head counts it; of a task that goes to sleep its addresses in
 *	user space alone
 * @regs: struct pt_regs, as user space was left with
 * @room: bytes of stack that were to be copied
 * @size: of @stack; less, where what follows is not in memory
 * @holes: pages of @stack that are not, bit 0 for that with sp
 * @room_ends: 1 if the mapping of the stack ends right after @room bytes, else 0
 * @space: a number of the address space, that of no other one; 0: unknown
 * @code_ip: address of the frame that the walk had no rule for; 0: it ended for another reason
 * @code_start: address of @code
 * @code_size: bytes of @code; 0: none, or they can't be read
 * @code: around @code_ip
 * @stack: from sp on; the record ends with it
 */
struct hybrid_walk_dump {
	struct hybrid_walk_head	head;
	__u64			ips[HYBRID_WALK_DUMP_IPS];
	__u64			regs[HYBRID_WALK_REGS];
	__u32			room;
	__u32			size;
	__u32			holes;
	__u32			room_ends;
	__u64			space;
	__u64			code_ip;
	__u64			code_start;
	__u64			code_size;
	__u8			code[HYBRID_SEEN_CODE];
	__u8			stack[HYBRID_WALK_STACK];
};

/**
 * struct hybrid_walk_counts - what became of the samples, or of the sleeps, of one CPU
 * @whole: walked to the outermost frame
 * @dumped: left to perf, with their dump
 * @shed: written by the program without the dump that they need: the ring was filling up
 * @full: lost, as the ring had no room for the program's record; of sleeps, such of
 *	@dumped for whose record it had none, or too many dumps, and those that were not walked
 *	because walks had taken too much of the task's time
 * @dropped: of clock events, by the kernel, as it was running another BPF program
 * @single: of sleeps that are @whole, such for whose chain there was no number, or no room
 * @over_time: samples that were not walked, because walks had taken too much of the task's time:
 *	they count as @dumped or @shed, too
 * @timed: of clock events, samples whose time was measured
 * @timed_ns: that they took, from the program's start to where the event's timer had run
 */
struct hybrid_walk_counts {
	__u64	whole;
	__u64	dumped;
	__u64	shed;
	__u64	full;
	__u64	dropped;
	__u64	single;
	__u64	over_time;
	__u64	timed;
	__u64	timed_ns;
};

#endif /* __HYBRID_WALK_H */
