// SPDX-License-Identifier: GPL-2.0
/*
 * perf_hybrid: the kernel series' step out of a frame that does not stand, as
 * it is there, with what a module needs around it: it frees what the kernel
 * keeps for good, and wants to know what found a rule.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pgtable.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "hook.h"
#include "x86-frame-cache.h"

/* Is the address space that is loaded that of current? NMIs come anywhere. */
bool perf_hybrid_uaccess_okay(void)
{
	return current->mm && read_cr3_pa() == __pa(current->mm->pgd);
}

/*
 * The address that stands in for a return address which a return probe waits
 * for, 0 where none does. It is the same for all of a process, so the latest
 * one's place tells. The list may be under change by what we interrupted.
 */
unsigned long perf_hybrid_uretprobe_trampoline(void)
{
#ifdef CONFIG_UPROBES
	unsigned int ws = user_64bit_mode(current_pt_regs()) ? 8 : 4;
	struct return_instance *ri;
	unsigned long addr;
	u64 word = 0;

	ri = current->utask ? READ_ONCE(current->utask->return_instances) : NULL;
	if (ri && !copy_from_kernel_nofault(&addr, &ri->stack, sizeof(addr)) &&
	    !copy_from_user_nofault(&word, (const void __user *)addr, ws))
		return word;
#endif
	return 0;
}

static enum x86_frame_kind hook_analyze(struct x86_frame_cache *cache, u64 space,
					const struct x86_frame_mem *mem, unsigned long ip,
					struct x86_frame_rule *rule)
{
	/* See step(): it hands on the ip of the state that it was given. */
	struct hook_walk *walk = container_of(mem->ctx, struct hook_walk, state.ip);

	walk->kind = x86_frame_analyze_cached(cache, space, mem, ip, rule);
	return walk->kind;
}

#define x86_frame_analyze_cached	hook_analyze
#define nmi_uaccess_okay		perf_hybrid_uaccess_okay
#define uprobe_get_trampoline_vaddr	perf_hybrid_uretprobe_trampoline
/* The switch is the module's parameter. */
#undef CONFIG_SYSCTL
/* Without it nobody knows the probe whose handler runs. */
#ifndef HAVE_UTASK_AUPROBE
#undef CONFIG_UPROBES
#endif

#include "unwind-user-code.c"

/**
 * hook_code_release - free what unwind_user_code_prepare() allocated
 *
 * Context: task, when no walk can be under way.
 */
void hook_code_release(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(frame_cache, cpu));
		per_cpu(frame_cache, cpu) = NULL;
	}
}
