/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_CODE_H
#define __PERF_HYBRID_V8_CODE_H

#include "v8-heap.h"
#include "v8-points.h"
#include "v8-translation.h"

#define V8_CODES	256

/* Pages that have no such code are remembered: WebAssembly's, and that of other compilers. */
#define V8_MISSED_BITS	10

/**
 * struct v8_code - what is known of a piece of compiled code
 * @stream: address of the object that has the instructions; 0: none
 * @words: of that object: its map and its Code
 * @deopt: the Code's word for the data to leave it
 * @start: address of the first instruction
 * @size: bytes of instructions
 * @kind: src/objects/code-kind.h
 * @shared: address of the function's SharedFunctionInfo, if the code is optimised; else 0
 * @serial: number of it, which no other one has
 * @checked: when @words were compared with the process, in ns
 * @instructions: a copy, if it is optimised; owned
 * @points: where its functions are known; none if it is not optimised
 * @exits: the same
 * @translation: which functions there are; its bytes are owned
 * @starts: for each of @exits the index of its description in @translation; owned
 * @literals: words to which @translation refers; owned
 * @nr_literals: number of @literals
 */
struct v8_code {
	u64			 stream;
	u64			 words[2];
	u64			 deopt;
	u64			 start;
	u32			 size;
	u32			 kind;
	u64			 shared;
	u64			 serial;
	u64			 checked;
	u8			*instructions;
	struct v8_points	 points;
	struct v8_exits		 exits;
	struct v8_translation	 translation;
	u32			*starts;
	u64			*literals;
	u32			 nr_literals;
};

/**
 * struct v8_missed - a page in which code was looked for in vain
 * @page: address
 * @nr: how often
 * @time: when that was first, in ns
 */
struct v8_missed {
	u64	page;
	u32	nr;
	u64	time;
};

/**
 * struct v8_codes - compiled code of a process
 * @known: pieces that were found last
 * @next: of @known, to be replaced
 * @map: what all objects with instructions begin with; 0: unknown
 * @serial: of the last one that was found
 * @missed: pages without, by address
 */
struct v8_codes {
	struct v8_code	known[V8_CODES];
	unsigned int	next;
	u64		map;
	u64		serial;
	struct v8_missed missed[1 << V8_MISSED_BITS];
};

/**
 * v8_codes__find - the compiled code at an address
 * @codes: of the process
 * @heap: of the process
 * @from: nothing is read below this address
 * @ip: the address
 *
 * Return: valid until the next call; NULL if there is none, or it can't be read.
 */
struct v8_code *v8_codes__find(struct v8_codes *codes, const struct v8_heap *heap, u64 from,
			       u64 ip);

/**
 * v8_code__shared - the function that the baseline compiler has made code for
 * @code: that was found
 * @heap: of the process
 * @function: a pointer to its JSFunction, or any word
 *
 * Return: address of its SharedFunctionInfo; 0 if @function is no function with this code.
 */
u64 v8_code__shared(const struct v8_code *code, const struct v8_heap *heap, u64 function);

/* Is code that was found still there, or known to have been a moment ago? */
bool v8_code__is_current(struct v8_code *code, const struct v8_heap *heap);

void v8_codes__exit(struct v8_codes *codes);

#endif /* __PERF_HYBRID_V8_CODE_H */
