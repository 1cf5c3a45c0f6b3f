/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CORE_H
#define __PERF_HYBRID_CORE_H

#include "../process/process.h"
#include "../unwind/unwind.h"
#include "../rules/regs.h"
#include "hybrid-unwind.h"

/* Events of one recording have few different masks of registers. */
#define HYBRID_CORE_MASKS	4

/**
 * struct hybrid_core_regs - where registers are in samples with a mask
 * @mask: as perf_event_attr::sample_regs_user
 * @of_64: in a sample of a 64-bit task
 * @of_32: of a 32-bit task
 */
struct hybrid_core_regs {
	u64			mask;
	struct hybrid_regs_map	of_64;
	struct hybrid_regs_map	of_32;
};

/**
 * struct hybrid_core - an unwinder, with what it knows of processes and files
 * @ops: of the owner
 * @arg: for @ops
 * @ps: processes and files
 * @unwinder: caches
 * @regs: by mask
 * @next_regs: index of @regs that the next mask takes
 * @reads_functions: see hybrid_core_set_functions()
 * @pid: of the process that is unwound
 * @unwind: the last sample
 * @is_unwound: its chain is made of @unwind's frames
 * @nr_unwound: frames of @unwind that its registers and its stack, or a walk, have shown
 * @frames: of @unwind
 */
struct hybrid_core {
	struct hybrid_core_ops	ops;
	void			*arg;
	struct hybrid_processes	ps;
	struct hybrid_unwinder	unwinder;
	struct hybrid_core_regs	regs[HYBRID_CORE_MASKS];
	unsigned int		next_regs;
	bool			reads_functions;
	pid_t			pid;
	struct hybrid_unwind	unwind;
	bool			is_unwound;
	unsigned int		nr_unwound;
	struct hybrid_frame	frames[HYBRID_MAX_FRAMES];
};

#endif /* __PERF_HYBRID_CORE_H */
