// SPDX-License-Identifier: GPL-2.0
/*
 * perf_hybrid: the kernel series' step out of a frame that does not stand, as
 * it is there, with what a module needs around it: it wants to know what
 * found a rule, and nothing walks any more when it frees its memory.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "hook.h"
#include "x86_frame_cache.h"

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
	    !copy_from_user_nofault(&word, mask_user_address((const void __user *)addr), ws))
		return word;
#endif
	return 0;
}

/**
 * hook_read_user - read what a walk looks at
 * @dst:	where to
 * @src:	of current
 * @len:	a few words at most
 *
 * As copy_from_user_nofault() in a walk, which has checked once what that does
 * each time; it takes an answer from the cache a third of its instructions.
 *
 * Context: any, NMI too, with page faults disabled and the mm of current loaded.
 *
 * Return: 0, or -EFAULT where a byte can't be read.
 */
long hook_read_user(void *dst, const void __user *src, unsigned int len)
{
	unsigned long from = (unsigned long)src;
	u8 *to = dst;

	if (from > TASK_SIZE_MAX - len)
		return -EFAULT;
	__uaccess_begin_nospec();
	for (; len >= sizeof(u64); len -= sizeof(u64)) {
		unsafe_get_user(*(u64 *)to, (const u64 __user *)from, unreadable);
		from += sizeof(u64);
		to += sizeof(u64);
	}
	for (; len; len--)
		unsafe_get_user(*to++, (const u8 __user *)from++, unreadable);
	__uaccess_end();
	return 0;

unreadable:
	__uaccess_end();
	return -EFAULT;
}

/* Notes what found a rule, of the walk whose state's ip @mem has; see code_of(). */
static enum x86_frame_kind hook_note(const struct x86_frame_mem *mem, enum x86_frame_kind kind)
{
	struct hook_walk *walk = container_of(mem->ctx, struct hook_walk, state.ip);

	/* A signal frame has a count of its own. */
	walk->kind = kind == X86_FRAME_SIGNAL ? X86_FRAME_UNKNOWN : kind;
	return kind;
}

static enum x86_frame_kind hook_look(const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule)
{
	return hook_note(mem, x86_frame_look(mem, ip, rule));
}

static enum x86_frame_kind hook_recall(struct x86_frame_cache *cache, u64 space,
				       const struct x86_frame_mem *mem, unsigned long ip,
				       struct x86_frame_rule *rule)
{
	return hook_note(mem, x86_frame_recall(cache, space, mem, ip, rule));
}

/*
 * A module can't read how long samples take. It measures its searches: the mean over the last
 * samples in NMI, computed as perf_sample_event_took() does for whole samples.
 */
#define HOOK_SAMPLES_MEAN	128
/* Half of what the kernel allows a sample, unless perf_cpu_time_max_percent is set. */
#define HOOK_SEARCH_NS		1250
/* No search takes longer, but where an interrupt or the host comes in between. */
#define HOOK_SEARCH_MAX_NS	1000000

static DEFINE_PER_CPU(u64, search_time);

/* Another sample may interrupt this one: then an update can be lost, and no more. */
void hook_begin_sample(void)
{
	u64 time = __this_cpu_read(search_time);

	__this_cpu_write(search_time, time - time / HOOK_SAMPLES_MEAN);
}

static u64 search_time_left(void)
{
	u64 time = __this_cpu_read(search_time), most = HOOK_SEARCH_NS * HOOK_SAMPLES_MEAN;

	/* The kernel throttles nothing else. */
	if (!in_nmi())
		return U64_MAX;
	return time < most ? most - time : 0;
}

static enum x86_frame_kind hook_search(struct x86_frame_cache *cache, u64 space,
				       const struct x86_frame_mem *mem, unsigned long ip,
				       struct x86_frame_rule *rule)
{
	enum x86_frame_kind kind;
	u64 time;

	if (cache->spent >= X86_FRAME_INSNS || !in_nmi())
		return hook_note(mem, x86_frame_search(cache, space, mem, ip, rule));
	time = ktime_get_mono_fast_ns();
	kind = x86_frame_search(cache, space, mem, ip, rule);
	/* In NMI the clock may be seen to step, either way. */
	time = min_t(u64, ktime_get_mono_fast_ns() - time, HOOK_SEARCH_MAX_NS);
	__this_cpu_write(search_time, __this_cpu_read(search_time) + time);
	return hook_note(mem, kind);
}

#define x86_frame_look			hook_look
#define x86_frame_recall		hook_recall
#define x86_frame_search		hook_search
#define perf_sample_time_left		search_time_left
#define copy_from_user_nofault		hook_read_user
#define uprobe_get_trampoline_vaddr	perf_hybrid_uretprobe_trampoline
/* The switch is the module's parameter. */
#undef CONFIG_SYSCTL
#undef kvfree_rcu_mightsleep
#define kvfree_rcu_mightsleep		kvfree
/* Without it nobody knows the probe whose handler runs. */
#ifndef HAVE_UTASK_AUPROBE
#undef CONFIG_UPROBES
#endif

#include "unwind_user_code.c"

