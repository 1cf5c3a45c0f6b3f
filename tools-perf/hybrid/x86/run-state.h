/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_STATE_H
#define __PERF_HYBRID_RUN_STATE_H

#include "../rules/arch.h"

/* Words of the stack that code has written: what passes arguments on writes them all. */
#define HYBRID_RUN_WORDS	512

#define HYBRID_RUN_REGS		16

/* What a general register, or a word of memory, holds. */
struct hybrid_run_value {
	u64	value;
	bool	known;
};

/* Intel SDM, volume 1, 3.4.3: the flags that conditions are made of. */
enum hybrid_run_flag {
	HYBRID_RUN_CF = 1,
	HYBRID_RUN_PF = 2,
	HYBRID_RUN_ZF = 4,
	HYBRID_RUN_SF = 8,
	HYBRID_RUN_OF = 16,
};

#define HYBRID_RUN_FLAGS	31

/**
 * struct hybrid_run_state - registers and memory on a way through code
 * @stack: what memory holds that was not written
 * @ip: address of the next instruction, as struct x86_frame_mem numbers it
 * @regs: by the processor's numbers
 * @flags: of enum hybrid_run_flag, those that are set
 * @flags_known: those that are known
 * @written: words that the way has written, the last one counts
 * @nr_written: number of @written
 */
struct hybrid_run_state {
	const struct hybrid_run_stack	*stack;
	u64				 ip;
	struct hybrid_run_value		 regs[HYBRID_RUN_REGS];
	u8				 flags;
	u8				 flags_known;
	struct {
		u64			 addr;
		struct hybrid_run_value	 value;
	}				 written[HYBRID_RUN_WORDS];
	unsigned int			 nr_written;
};

/* The bits of a value of 1, 2, 4 or 8 bytes. */
static inline u64 hybrid_run_mask(unsigned int size)
{
	return size < sizeof(u64) ? (1ULL << size * 8) - 1 : ~0ULL;
}

/* Nothing is known of a register any more. */
static inline void hybrid_run_clobber(struct hybrid_run_state *state, unsigned int reg)
{
	state->regs[reg % HYBRID_RUN_REGS].known = false;
}

/**
 * hybrid_run_load - what memory holds
 * @state: on a way
 * @addr: of the first byte
 * @size: bytes: 1, 2, 4 or 8
 *
 * Return: the value, zero-extended; not known if it is not in one word of the stack.
 */
struct hybrid_run_value hybrid_run_load(const struct hybrid_run_state *state, u64 addr,
					unsigned int size);

/**
 * hybrid_run_store - write to memory
 * @state: on a way
 * @addr: of the first byte
 * @size: bytes, 64 at most
 * @value: for 8 bytes at a multiple of 8; else the words are not known afterwards
 *
 * What is not in the stack is not noted.
 *
 * Return: false if more words were written than can be noted.
 */
bool hybrid_run_store(struct hybrid_run_state *state, u64 addr, unsigned int size,
		      struct hybrid_run_value value);

/* Does an address that is known lie in the stack? */
bool hybrid_run_is_stack(const struct hybrid_run_state *state, u64 addr);

#endif /* __PERF_HYBRID_RUN_STATE_H */
