/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CALLED_H
#define __PERF_HYBRID_CALLED_H

#include "unwind.h"

/**
 * hybrid_called_frame - can the code of a frame have called the frame inside of it?
 * @unwinder: caches
 * @u: the sample; @u->space has the mapping of the frame, if there is one
 * @i: index of the frame in @u->frames, 1 or more
 * @is_last: no frame of @u->frames is outside of it
 * @object: out: where the answer is no, the object of the return address
 *
 * A frame has called if a call instruction ends at its return address. The frame of a
 * signal handler's trampoline, and the frame that a signal interrupted, need no call. Two
 * things hold for the outermost frame only:
 *
 * - Go's scheduler makes the return address of a goroutine's first frame without a call.
 * - The return address may be the start of a function, and the instruction before it a call
 *   that does not return. Then that call has to lead to the frame inside. A library of fibers
 *   may push the address of such a function, as of abort(), for a fiber's first return.
 *
 * Return: false if the code shows that it cannot have called; true if it can, or if the code
 * cannot be read.
 */
bool hybrid_called_frame(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			 unsigned int i, bool is_last, struct hybrid_object **object);

/**
 * hybrid_called_frames - how many frames of a chain can be true
 * @unwinder: caches
 * @u: the sample, from hybrid_unwind()
 *
 * Leaves out the outermost frames that cannot have called. A chain that ends in a function
 * which the CFI marks as outermost has none.
 *
 * Return: 1 to @u->nr.
 */
unsigned int hybrid_called_frames(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u);

/**
 * hybrid_cut_refuted - end a chain before a caller that the code refutes
 * @unwinder: caches
 * @u: the sample, from hybrid_unwind() or from a walk in the kernel
 *
 * For each frame this checks whether the call before the return address can lead to the callee, and
 * ends the chain before the first caller whose call can't. Without this check the first function of
 * a coroutine has a caller from old data on its stack, and damaged CFI makes a function its own
 * caller. A caller stays if its code can't be read, or if no FDE covers it.
 */
void hybrid_cut_refuted(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

/* Has hybrid_cut_refuted() found that the call before @ret may have led to @callee? */
bool hybrid_is_called_pair(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			   u64 callee, u64 ret);

#endif /* __PERF_HYBRID_CALLED_H */
