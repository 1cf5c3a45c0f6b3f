/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the module is built for, and what a
 * module does not get from any. Included before all other headers of the
 * module's files; Kbuild defines HAVE_ by what it finds in the kernel's.
 */
#ifndef _PERF_HYBRID_COMPAT_H
#define _PERF_HYBRID_COMPAT_H

#define pr_fmt(fmt)	KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/unwind_user_types.h>

/* The kernel's own has not all that the analysis needs, if there is one. */
#define unwind_user_state		perf_hybrid_state
#include "unwind_user_state.h"

/* Those are not for modules. */
bool perf_hybrid_uaccess_okay(void);
unsigned long perf_hybrid_uretprobe_trampoline(void);

/**
 * perf_hybrid_mask - bound an address that user space chose
 * @addr:	any value
 * @limit:	TASK_SIZE_MAX, where nothing is ever mapped
 *
 * It has no branch, so that no load from another address runs speculatively. Linux 6.1
 * lacks mask_user_address(); that of later kernels loads its limit anew each time.
 *
 * Return: the smaller of the two
 */
static __always_inline void __user *perf_hybrid_mask(const void __user *addr,
						     unsigned long limit)
{
	void __user *ret;

	asm("cmp %1,%0\n\tcmova %1,%0" : "=r" (ret) : "r" (limit), "0" (addr) : "cc");
	return ret;
}

#define mask_user_address(addr)		perf_hybrid_mask(addr, TASK_SIZE_MAX)

/* Linux 7.0 has it, and so have later stable kernels. */
#ifndef kzalloc_obj
#define kzalloc_obj(P, GFP)		kzalloc(sizeof(P), GFP)
#endif

/* Linux 6.13, and stable kernels before it, put the registers out of sight. */
static inline struct pt_regs *perf_hybrid_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef arch_ftrace_regs
	return &arch_ftrace_regs(fregs)->regs;
#else
	return &fregs->regs;
#endif
}

#endif /* _PERF_HYBRID_COMPAT_H */
