/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the walk of user stacks needs of the kernel, for a program: user memory is what
 * walk_read() returns.  Included before all else, see test-walk.c; after table-kernel.h for the
 * walk by rules, see test-rules.c.  One file of each program includes walk-state.h, too.
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

unsigned long uprobe_get_trampoline_vaddr(void);
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
			u64			ctx_id;
			void			*vdso;
			const struct vdso_image	*vdso_image;
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
/* No allocation succeeds. */
extern bool walk_no_memory;
#ifndef _STORE_KERNEL_H
#define GFP_KERNEL				1
#define GFP_KERNEL_ACCOUNT			3
static inline void *kvzalloc_node(size_t size, int gfp, int node)
{
	if (walk_no_memory)
		return NULL;
	walk_kept_size = size;
	walk_kept_gfp = gfp;
	walk_kept = calloc(1, size);
	return walk_kept;
}

#define kvfree(p)				free(p)
#define kvfree_rcu_mightsleep(p)		free(p)
#else
#define kvzalloc_node(size, gfp, node)		kzalloc(size, gfp)
#define kvfree_rcu_mightsleep(p)		kvfree(p)
#endif
extern bool walk_uaccess_okay;
#define nmi_uaccess_okay()			walk_uaccess_okay
#ifndef U64_MAX
#define U64_MAX					(~0ULL)
#endif
u64 perf_sample_time_left(void);

#ifndef _STORE_KERNEL_H
/* Pieces of memory that kzalloc_obj() gave and kfree() did not get back. */
extern int walk_allocated;
static inline void *walk_kzalloc(size_t size)
{
	/* It may sleep. */
	if (walk_preempt_count)
		abort();
	if (walk_no_memory)
		return NULL;
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
#endif

struct static_key_true { bool key; };
#define DECLARE_STATIC_KEY_TRUE(name)		extern struct static_key_true name
#define DEFINE_STATIC_KEY_TRUE(name)		struct static_key_true name = { true }
#define static_branch_likely(name)		((name)->key)

/* The table that the file registers is what walk_sysctl points to, after walk_initcall(). */
#define __init
#define core_initcall(function)			int walk_initcall(void) { return function(); }
int walk_initcall(void);
struct ctl_table {
	const char	*procname;
	void		*data;
	int		mode;
	void		(*proc_handler)(void);
};

void proc_do_static_key(void);
extern const struct ctl_table *walk_sysctl;
extern unsigned int walk_nr_sysctl;
#define register_sysctl_init(directory, table)	do {				\
	walk_sysctl = (table);							\
	walk_nr_sysctl = strcmp(directory, "kernel") ? 0 : ARRAY_SIZE(table);	\
} while (0)

struct pt_regs {
	unsigned long	r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long	ip, cs, flags, sp, ss;
};

extern struct pt_regs walk_regs;
#define current_pt_regs()			(&walk_regs)
#define task_pt_regs(task)			(&walk_regs)
#define instruction_pointer(regs)		((regs)->ip)
#define user_64bit_mode(regs)			((regs)->cs == __USER_CS)
#define copy_from_kernel_nofault(dst, src, len)	(memcpy(dst, src, len), 0)

#define INT3_INSN_OPCODE			0xcc
#define CALL_INSN_OPCODE			0xe8
#define CALL_INSN_SIZE				5

#define __USER32_CS				0x23
#define __USER_DS				0x2b
#define __USER_CS				0x33

/* As far as a walk looks into it; libc has structs of these names. */
#define sigcontext	walk_sigcontext
#define siginfo		walk_siginfo
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

struct sigcontext_32 {
	u32 segments[4], di, si, bp, sp, bx, dx, cx, ax, trapno, err, ip;
	u16 cs, __csh;
	u32 flags, sp_at_signal;
	u16 ss, __ssh;
};

struct sigframe_ia32 {
	u32 pretcode;
	int sig;
	struct sigcontext_32 sc;
};

struct rt_sigframe_ia32 {
	u32 pretcode;
	int sig;
	u32 pinfo, puc;
	u8 info[128];
	struct {
		u32 flags, link, stack[3];
		struct sigcontext_32 uc_mcontext;
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

/* Of a chain, sysctl_perf_event_max_contexts_per_stack by default. */
#define MAX_CONTEXTS				8
static inline int perf_callchain_store_context(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->contexts >= MAX_CONTEXTS) {
		ctx->contexts_maxed = true;
		return -1;
	}
	ctx->entry->ip[ctx->entry->nr++] = ip;
	ctx->contexts++;
	return 0;
}

static inline int perf_callchain_store(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->nr >= ctx->max_stack || ctx->contexts_maxed)
		return -1;
	ctx->entry->ip[ctx->entry->nr++] = ip;
	ctx->nr++;
	return 0;
}

void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);

/* The walk by rules. */
#ifdef _STORE_KERNEL_H
#include <asm/perf_regs.h>
struct vdso_image { int unused; };
extern const struct vdso_image vdso64_image, vdso32_image;
struct vm_special_mapping { int unused; };
extern const struct vm_special_mapping vdso_mapping;
#endif
extern bool walk_guest;
extern int walk_no_faults;
#define perf_guest_state()			walk_guest
#define pagefault_disable()			((void)walk_no_faults++)
#define pagefault_enable()			((void)walk_no_faults--)
#define X86_VM_MASK				(1UL << 17)
#define PERF_EFLAGS_VM				(1UL << 5)

#define TRACE_EVENT(...)

static inline void trace_innermost(unsigned long ip, int kind, unsigned long ra, u32 before,
				   u32 after)
{
}

#endif /* _WALK_KERNEL_H */
