/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_WALK_H
#define __PERF_HYBRID_WALK_H

#include <linux/hash.h>
#include "unwind.h"

/**
 * struct hybrid_walk - an unwind under way
 * @unwinder: caches
 * @u: the sample
 * @full: all registers of frame @full_at
 * @full_at: index of a frame
 * @below: this step took a word from below the stack, from the process
 * @by_bp: the last frame's callee was left by its frame pointer, or by its code
 * @framed: the last frame's callee has no CFI, and was left by its frame pointer
 * @guess: this step was by a frame pointer that nothing confirms
 * @guessed: one of the steps was
 * @unframed: the sampled function was to make the frame of its caller
 * @made: of the last frame's row, where the process itself has it; else NULL
 */
struct hybrid_walk {
	struct hybrid_unwinder	*unwinder;
	struct hybrid_unwind	*u;
	struct hybrid_regs	 full;
	unsigned int		 full_at;
	bool			 below;
	bool			 by_bp;
	bool			 framed;
	bool			 guess;
	bool			 guessed;
	bool			 unframed;
	struct hybrid_cfi	*made;
};

/*
 * What one step found: the caller, where @stop is HYBRID_STOP_NR. @framed: a step
 * without CFI found it by the frame pointer. @takes_no_room: the CFA is at sp, as the return
 * address is in a register.
 */
struct hybrid_caller {
	u64	cfa;
	u64	ip;
	u64	bp;
	bool	bp_known;
	bool	exact;
	bool	framed;
	bool	takes_no_room;
};

/* A word of the task's stack, from the dump; -1 where it is not there. */
static inline int hybrid_walk_word(const struct hybrid_unwind *u, u64 addr, u64 *value)
{
	/* The common case apart: the compiler makes one load of it. */
	if (u->abi->word == 8)
		return hybrid_unwind_read(u, addr, 8, value);
	return hybrid_unwind_read(u, (u32)addr, 4, value);
}

/* Where the row for an address is, if it is known in that state of a space. */
static inline struct hybrid_cache_entry *hybrid_cache_at(struct hybrid_unwinder *unwinder,
							 u64 gen, u64 ip)
{
	return &unwinder->cache[hash_64(ip + gen, HYBRID_CACHE_BITS)];
}

/* The entry of an address in that state of a space; NULL if there is none. */
static inline struct hybrid_cache_entry *hybrid_cache_find(struct hybrid_unwinder *unwinder,
							   u64 gen, u64 ip)
{
	struct hybrid_cache_entry *entry = hybrid_cache_at(unwinder, gen, ip);

	return entry->ip == ip && entry->gen == gen ? entry : NULL;
}

/**
 * hybrid_walk_fast - go on from the last frame, as far as each step is a plain one
 * @w: under way; of a task with words of 8 bytes
 *
 * That is one by CFI from the stack pointer or the frame pointer, with a row that is in
 * the cache, to a return address that is no trampoline's. All others, and how a walk ends,
 * are for hybrid_unwind().
 *
 * Return: the object of the last frame that was left; NULL where none was, or it has none.
 */
struct hybrid_object *hybrid_walk_fast(struct hybrid_walk *w);

/**
 * hybrid_walk_row - the row for an address, as hybrid_unwind_row() or as the process has it
 * @w: under way
 * @ip: as struct hybrid_frame has it
 * @mapped: out: false where no mapping holds @ip
 * @object: out: the object, NULL where there is none
 * @made: out: of code that the process has compiled, the CFI of the row; else NULL
 */
struct hybrid_row *hybrid_walk_row(const struct hybrid_walk *w, u64 ip, bool *mapped,
				   struct hybrid_object **object,
				   struct hybrid_cfi **made);

/**
 * hybrid_walk_unreadable - why a word can't be read
 * @u: the sample; notes the word
 * @addr: of the word
 *
 * What lies above the dump is only not at hand; below it, too, where a signal had
 * come on an alternate stack.
 */
enum hybrid_stop hybrid_walk_unreadable(struct hybrid_unwind *u, u64 addr);

/**
 * hybrid_walk_read - a word or less of the task's stack
 * @w: under way
 * @addr: in the task
 * @size: bytes, 1 to 8
 * @value: zero-extended
 *
 * From the dump; what is in the red zone below it is asked of the process, and may
 * have changed since the sample.
 *
 * Return: 0, or -1 where it is not at hand.
 */
int hybrid_walk_read(struct hybrid_walk *w, u64 addr, unsigned int size, u64 *value);

/**
 * hybrid_walk_full - leave the last frame with all registers
 * @w: under way
 * @rule: of the last frame
 * @caller: out
 *
 * Return: HYBRID_STOP_NR where there is a caller.
 */
enum hybrid_stop hybrid_walk_full(struct hybrid_walk *w, const struct hybrid_rule *rule,
				  struct hybrid_caller *caller);

#endif /* __PERF_HYBRID_WALK_H */
