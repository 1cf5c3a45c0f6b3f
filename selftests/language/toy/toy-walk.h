/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_TOY_WALK_H
#define __HYBRID_TOY_WALK_H

#include "../../bpf_skel/hybrid_walk.h"

/**
 * struct hybrid_walk_toy - a list of frames, each one evaluator's
 * @function: in a frame, which begins with the address of the caller's: the function that it runs
 * @name: in a function: the address of its name
 */
struct hybrid_walk_toy {
	__u16	function;
	__u16	name;
};

/**
 * struct toy_state - what the BPF program keeps of it in struct state
 * @toy_frame: the next one
 */
struct toy_state {
	__u64 toy_frame;
};

#endif /* __HYBRID_TOY_WALK_H */
