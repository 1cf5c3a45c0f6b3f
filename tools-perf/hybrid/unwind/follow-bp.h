/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FOLLOW_BP_H
#define __PERF_HYBRID_FOLLOW_BP_H

#include "unwind.h"

/**
 * struct hybrid_links - frames that BPF found by bp from where its walk ended early
 * @words: pairs of words of struct hybrid_walk_function, not aligned; those that are not
 *	HYBRID_WALK_IS_NATIVE_LINK() are functions. NULL for none
 * @nr: number of pairs
 */
struct hybrid_links {
	const u64	*words;
	unsigned int	 nr;
};

/**
 * hybrid_is_bp_frame - does a function with this rule use bp as its frame's base?
 * @u: the sample
 * @rule: of the function; HYBRID_RULE_NONE: nothing else is known of it
 */
bool hybrid_is_bp_frame(const struct hybrid_unwind *u, const struct hybrid_rule *rule);

/**
 * hybrid_caller_ip - the address that the frame of a return address has
 * @unwinder: caches
 * @space: of the process
 * @ret: return address
 *
 * Return: @ret - 1; @ret for a signal handler's trampoline, which nobody called.
 */
u64 hybrid_caller_ip(struct hybrid_unwinder *unwinder, struct hybrid_space *space, u64 ret);

/**
 * hybrid_add_caller - make what frame pointers lead to the last frame
 * @unwinder: caches
 * @u: the sample
 * @ret: return address
 * @by_cfi: the CFI says that the frame before has a frame pointer. Else, in a file, only a call
 *	that leads there shows that it has
 *
 * Return: false if the call before @ret can't have led to the last frame, or there is no room.
 */
bool hybrid_add_caller(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret,
		       bool by_cfi);

/**
 * hybrid_follow_links - go on where the dump ended, by the frames that BPF has found
 * @unwinder: caches
 * @u: the sample; its last frame's bp points beyond the dump
 * @links: the frames
 *
 * As long as each function has a frame pointer, by its CFI or as V8's code. Frames that are added
 * have their CFA, so that functions of V8 are found for them.
 *
 * Return: true if that led to the outermost frame.
 */
bool hybrid_follow_links(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			 const struct hybrid_links *links);

#endif /* __PERF_HYBRID_FOLLOW_BP_H */
