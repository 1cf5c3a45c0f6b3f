/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's walk of user stacks wants of the kernel, for a program: user memory is
 * what walk_read() says.  Included before all else, see test-walk.c.
 */
#ifndef _WALK_KERNEL_H
#define _WALK_KERNEL_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "../../kmod/walk/unwind_user_state.h"

/* Copies user memory; 0, or anything else where a byte can't be read. */
int walk_read(void *dst, unsigned long addr, unsigned int len);

#define __user
#define mask_user_address(addr)			perf_hybrid_mask(addr, TASK_SIZE_MAX)
static inline void *perf_hybrid_mask(const void *addr, unsigned long limit)
{
	return (unsigned long)addr > limit ? (void *)limit : (void *)addr;
}

static inline long copy_from_user_nofault(void *dst, const void *src, unsigned int len)
{
	return walk_read(dst, (unsigned long)src, len);
}

#define unsafe_get_user(x, ptr, label) do {					\
	u64 word_ = 0;								\
	if (walk_read(&word_, (unsigned long)(ptr), sizeof(*(ptr))))		\
		goto label;							\
	(x) = word_;								\
} while (0)
#define __uaccess_begin_nospec()		do { } while (0)
#define __uaccess_begin()			do { } while (0)
#define __uaccess_end()				do { } while (0)
#define TASK_SIZE_MAX				0x7ffffffff000UL

/* One CPU, one task. */
#define DECLARE_PER_CPU(type, name)		extern typeof(type) name
#define DEFINE_PER_CPU(type, name)		typeof(type) name
#define per_cpu(name, cpu)			(name)
#define per_cpu_ptr(name, cpu)			(name)
#define this_cpu_inc(x)				((void)(x)++)
#define __this_cpu_read(x)			(x)
#define __this_cpu_write(x, value)		((x) = (value))
#define for_each_possible_cpu(cpu)		for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define cpu_to_node(cpu)			0
#define smp_store_release(p, value)		(*(p) = (value))
extern int walk_preempt_count;
#define preempt_disable()			((void)walk_preempt_count++)
#define preempt_enable()			((void)walk_preempt_count--)

/* Of uprobes, as much as a walk in a probe's handler looks at. */
struct arch_uprobe {
	u8	insn[16];
};

struct return_instance {
	unsigned long	stack;
};

struct uprobe_task {
	struct arch_uprobe	*auprobe;
	struct return_instance	*return_instances;
};

struct task_struct {
	struct mm_struct {
		void	*pgd;
		struct {
			u64	ctx_id;
		} context;
	} *mm;
	struct uprobe_task *utask;
};

extern struct task_struct walk_task;
#define current					(&walk_task)
#define read_cr3_pa()				0UL
#define __pa(x)					((unsigned long)(x))

/* The time that reading a byte takes, in ns; what has passed while searches were measured. */
extern u64 walk_read_ns, walk_clock;
extern bool walk_is_measured, walk_in_nmi;
#define in_nmi()				walk_in_nmi
static inline u64 ktime_get_mono_fast_ns(void)
{
	walk_is_measured = !walk_is_measured;
	return walk_clock;
}

/* What was allocated last for good, how much that was, and by which flags. */
extern void *walk_kept;
extern size_t walk_kept_size;
extern int walk_kept_gfp;
#define GFP_KERNEL				1
#define GFP_KERNEL_ACCOUNT			3
static inline void *kvzalloc_node(size_t size, int gfp, int node)
{
	walk_kept_size = size;
	walk_kept_gfp = gfp;
	walk_kept = calloc(1, size);
	return walk_kept;
}

#define kvfree(p)				free(p)
#define kvfree_rcu_mightsleep(p)		free(p)
#define nmi_uaccess_okay()			true
#ifndef U64_MAX
#define U64_MAX					(~0ULL)
#endif
u64 perf_sample_time_left(void);

static inline void get_random_bytes(void *buf, size_t len)
{
	u8 *byte = buf;

	while (len--)
		*byte++ = rand() >> 8;
}

/* Pieces of memory that kzalloc_obj() gave and kfree() did not get back. */
extern int walk_allocated;
static inline void *walk_kzalloc(size_t size)
{
	/* It may sleep. */
	if (walk_preempt_count)
		abort();
	walk_allocated++;
	return calloc(1, size);
}

static inline void walk_kfree(void *p)
{
	walk_allocated--;
	free(p);
}

#define kzalloc_obj(obj, gfp)			walk_kzalloc(sizeof(obj))
#define kfree(p)				walk_kfree(p)

#define DECLARE_STATIC_KEY_TRUE(name)		extern bool name
#define DEFINE_STATIC_KEY_TRUE(name)		bool name = true
#define static_branch_likely(key)		(*(key))

struct pt_regs {
	unsigned long	ip, sp, bp, cs, ax, bx, cx, dx, r8, r9, r10, r11, r12, r13, r14, r15;
};

extern struct pt_regs walk_regs;
#define current_pt_regs()			(&walk_regs)
#define task_pt_regs(task)			(&walk_regs)
#define instruction_pointer(regs)		((regs)->ip)
#define user_64bit_mode(regs)			true
#define copy_from_kernel_nofault(dst, src, len)	(memcpy(dst, src, len), 0)

#define INT3_INSN_OPCODE			0xcc
#define CALL_INSN_OPCODE			0xe8
#define CALL_INSN_SIZE				5

#define __USER_CS				0x33

/* As far as a walk looks into it; libc has a struct of that name. */
#define sigcontext	walk_sigcontext
struct rt_sigframe {
	u64 pretcode;
	struct {
		u64 flags, link, stack[3];
		struct sigcontext {
			u64 r[8], di, si, bp, bx, dx, ax, cx, sp, ip, flags;
			u16 cs, gs, fs, ss;
		} uc_mcontext;
	} uc;
};

struct perf_callchain_entry {
	u64	nr;
	u64	ip[];
};

struct perf_callchain_entry_ctx {
	struct perf_callchain_entry	*entry;
	u32				max_stack;
	u32				nr;
	short				contexts;
	bool				contexts_maxed;
};

static inline int perf_callchain_store(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->nr >= ctx->max_stack)
		return -1;
	ctx->entry->ip[ctx->entry->nr++] = ip;
	ctx->nr++;
	return 0;
}

#define TRACE_EVENT(...)

static inline void trace_innermost(unsigned long ip, int kind, unsigned long ra, u32 before,
				   u32 after)
{
}

#endif /* _WALK_KERNEL_H */
