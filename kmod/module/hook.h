/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perf_hybrid: the hook on perf_callchain_user() of kernels that do not have
 * the frame analysis.
 */
#ifndef _PERF_HYBRID_HOOK_H
#define _PERF_HYBRID_HOOK_H

#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <asm/unwind_user_code.h>
#include "x86_frame.h"

struct pt_regs;

/**
 * struct hook_walk - a walk of the user stack
 * @state:	the frame that is not in the chain yet
 * @kind:	what found the last rule; X86_FRAME_UNKNOWN: nothing did, or the
 *		step left a signal handler
 * @entry:	the chain
 */
struct hook_walk {
	struct unwind_user_state		 state;
	enum x86_frame_kind			 kind;
	struct perf_callchain_entry_ctx		*entry;
};

/**
 * enum hook_count - what is counted
 * @HOOK_SAMPLES:	user chains seen
 * @HOOK_STANDS:	of them, those whose innermost frame stands, or whose rule
 *			led to no call
 * @HOOK_UNKNOWN:	those where the code says nothing
 * @HOOK_UNREADABLE:	those whose code can't be read without a fault
 * @HOOK_SIGNAL:	frames restored from a signal frame
 * @HOOK_KINDS:		frames restored by a rule; + an enum x86_frame_kind
 * @HOOK_NR:		number of counts
 */
enum hook_count {
	HOOK_SAMPLES,
	HOOK_STANDS,
	HOOK_UNKNOWN,
	HOOK_UNREADABLE,
	HOOK_SIGNAL,
	HOOK_KINDS,
	HOOK_NR = HOOK_KINDS + X86_FRAME_NR,
};

DECLARE_PER_CPU(unsigned long [HOOK_NR], hook_counts);

/* One instruction, so that no NMI comes between. */
static inline void hook_count(unsigned int what)
{
	this_cpu_inc(hook_counts[what]);
}

long hook_read_user(void *dst, const void __user *src, unsigned int len);
void hook_begin_sample(void);
bool hook_walk(struct hook_walk *walk, struct perf_callchain_entry_ctx *entry,
	       struct pt_regs *regs);
int hook_init(void);
void hook_exit(void);

#endif /* _PERF_HYBRID_HOOK_H */
