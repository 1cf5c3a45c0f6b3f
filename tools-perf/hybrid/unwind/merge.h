/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MERGE_H
#define __PERF_HYBRID_MERGE_H

#include "follow-bp.h"
#include "outcome.h"
#include "synthetic-frame.h"
#include "tail.h"

struct hybrid_kernel_chain;

/**
 * struct hybrid_merge - one sample's callchain, merged
 * @kernel: callchain of the sample as the kernel made it
 * @unwind: the sample, unwound by hybrid_unwind() or, where the kernel reached
 *	the outermost frame, hybrid_kernel_walk_frames(); NULL where it has no user registers
 *	or no dump; its frames have room for max_frames
 * @at_probe: the event may come from a uprobe: at a function's entry the kernel
 *	then puts the word at sp between the address and the frame pointer chain
 * @space: the mappings; NULL where the process is not known
 * @pid: the process, while that runs; 0 where there is none to be asked
 * @abi: of the task; where there is no @unwind, which word size is likely
 * @tail: of the thread, read and updated; NULL for none
 * @links: frames that BPF has found where the walk went on by bp
 * @out: the merged callchain; the caller's
 * @max: room in @out; at least 2 more than the words of @kernel
 * @nr: out: number of @out
 * @marked: out: @out holds one of enum hybrid_synthetic
 */
struct hybrid_merge {
	const struct hybrid_kernel_chain *kernel;
	bool			 at_probe;
	struct hybrid_unwind	*unwind;
	struct hybrid_space	*space;
	pid_t			 pid;
	const struct hybrid_abi	*abi;
	struct hybrid_tail	*tail;
	struct hybrid_links	 links;
	u64			*out;
	unsigned int		 max;
	unsigned int		 nr;
	bool			 marked;
};

/**
 * hybrid_merge - join the kernel's chain and the unwound one
 * @unwinder: caches
 * @m: what goes in and comes out
 *
 * The kernel's frames and context words stay as they are. After PERF_CONTEXT_USER come the unwound
 * frames; where the dump ended, @links go on, else the kernel's frame pointer chain, joined on the
 * place where it left the dump; else what the thread was seen to be in before. A mark stands before
 * frames that are not shown by the sample, and after a chain that is cut off.
 *
 * Return: what became of it.
 */
enum hybrid_outcome hybrid_merge(struct hybrid_unwinder *unwinder, struct hybrid_merge *m);

#endif /* __PERF_HYBRID_MERGE_H */
