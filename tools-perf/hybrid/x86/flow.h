/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FLOW_H
#define __PERF_HYBRID_FLOW_H

#include "../rules/arch.h"

struct hybrid_flow_ways;
struct insn;
struct x86_code;
struct x86_frame_mem;

/**
 * struct hybrid_flow - what runs from an address on without a further call
 * @mem: reads the code
 * @near: what begins nearest before it is followed first; 0: what begins at the end
 * @max_insns: instructions that may be decoded
 * @visit: is given each instruction, those of one block one after the other
 * @arg: for @visit
 * @start: out: where the block begins that is followed
 * @insns: out: instructions decoded
 * @ways: what hybrid_flow_from() keeps while it runs
 * @nr_blocks: out: pieces of straight code that were followed
 * @indirect: out: a jump through a register or memory was met
 * @slot: out: what a jump from memory at a constant address reads; 0: none was met
 * @unknown: out: something could not be read, decoded, remembered or, says @visit, followed
 *
 * Calls are stepped over, as they mostly return, and both ways of a conditional jump are
 * followed.
 */
struct hybrid_flow {
	const struct x86_frame_mem	*mem;
	u64				 near;
	unsigned int			 max_insns;
	enum hybrid_flow_step		(*visit)(struct hybrid_flow *flow,
						 const struct insn *insn, u64 addr);
	void				*arg;
	u64				 start;
	unsigned int			 insns;
	struct hybrid_flow_ways		*ways;
	unsigned int			 nr_blocks;
	bool				 indirect;
	u64				 slot;
	bool				 unknown;
};

/**
 * hybrid_flow_from - follow the code from an address on
 * @flow: what goes in is set, the rest is 0
 * @addr: of an instruction
 *
 * Return: true where @flow->visit() has found what it looks for.
 */
bool hybrid_flow_from(struct hybrid_flow *flow, u64 addr);

/**
 * hybrid_flow_fetch - read code
 * @mem: reads it
 * @addr: of the first byte
 * @bytes: out
 * @len: bytes, less than a page
 *
 * No read crosses a page: see struct x86_frame_mem.
 *
 * Return: bytes that could be read.
 */
unsigned int hybrid_flow_fetch(const struct x86_frame_mem *mem, u64 addr, u8 *bytes,
			       unsigned int len);

/**
 * hybrid_decode_insn - the instruction at an address
 * @mem: reads the code
 * @addr: of the instruction
 * @insn: out
 *
 * Return: false where it can't be read or decoded.
 */
bool hybrid_decode_insn(const struct x86_frame_mem *mem, u64 addr, struct insn *insn);

/* Is it a call, but for one to another segment? */
bool hybrid_is_call(const struct x86_code *code);

#endif /* __PERF_HYBRID_FLOW_H */
