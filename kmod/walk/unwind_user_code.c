// SPDX-License-Identifier: GPL-2.0
/*
 * Walking user stacks: the frames that frame pointers do not show.
 *
 * In a prologue, in an epilogue, and in a function without frame, bp is the frame pointer of the
 * caller. A walk by frame pointers then skips the caller. Instead the code at ip shows where the
 * return address is, see x86_frame.h. After a signal handler the walk continues with the
 * registers that the signal interrupted, which are in the signal frame.
 */
#include <linux/kernel.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/unwind_user_code.h>

#include "unwind_user_code.h"
#include "x86_frame_cache.h"

DEFINE_STATIC_KEY_TRUE(unwind_user_code_enabled);
static DEFINE_STATIC_KEY_TRUE(unwind_user_search_enabled);

/* Not in percpu memory, which has small pieces only. */
static DEFINE_PER_CPU(struct x86_frame_cache *, frame_cache);
static DEFINE_PER_CPU(bool, frame_cache_busy);
/* What searches may still take on this CPU; below 0 after a search that took more. */
static DEFINE_PER_CPU(int, search_credit) = UNWIND_USER_CREDIT_MAX;

/**
 * unwind_user_code_prepare - allocate the caches and the memory of searches
 *
 * Called with the first event that has callchains. The memory is for all events, so it is not
 * charged to the task that opens the first one. Without this memory walks find the exact states
 * only.
 *
 * Context: task.  The caller holds a mutex, the same as for unwind_user_code_release().
 *
 * Return: 0, or -ENOMEM.
 */
int unwind_user_code_prepare(void)
{
	struct x86_frame_cache *cache;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(frame_cache, cpu))
			continue;
		cache = kvzalloc_node(sizeof(*cache), GFP_KERNEL, cpu_to_node(cpu));
		if (!cache)
			return -ENOMEM;
		/* Pairs with cache_get(): an NMI must not find memory that is not zero yet. */
		smp_store_release(per_cpu_ptr(&frame_cache, cpu), cache);
	}
	return 0;
}

/**
 * unwind_user_code_release - free the memory of unwind_user_code_prepare()
 *
 * Called with the last event that has callchains.
 *
 * Context: task.  A walk may use the memory meanwhile.
 */
void unwind_user_code_release(void)
{
	struct x86_frame_cache *cache;
	int cpu;

	for_each_possible_cpu(cpu) {
		cache = per_cpu(frame_cache, cpu);
		WRITE_ONCE(per_cpu(frame_cache, cpu), NULL);
		if (cache)
			kvfree_rcu_mightsleep(cache);
	}
}

/* NULL if this walk interrupted another one that has the cache, and if there is no memory. */
static struct x86_frame_cache *cache_get(void)
{
	struct x86_frame_cache *cache;

	preempt_disable();
	cache = __this_cpu_read(frame_cache);
	if (cache && !__this_cpu_read(frame_cache_busy)) {
		__this_cpu_write(frame_cache_busy, true);
		barrier();
		return cache;
	}
	preempt_enable();
	return NULL;
}

static void cache_put(void)
{
	barrier();
	__this_cpu_write(frame_cache_busy, false);
	preempt_enable();
}

#ifdef CONFIG_UPROBES
/*
 * Replaces a uprobe's breakpoint (or, if the probe is optimized, its call) in the bytes
 * at @dst by the probed instruction. Only the probe whose handler runs is known: other
 * probes may be removed at any time. That handler runs at the ip of the task's
 * registers, and a return address is never there.
 */
static void restore_probed(const struct unwind_user_state *state, unsigned long addr,
			   u8 *dst, unsigned int len)
{
	struct uprobe_task *utask = current->utask;
	struct arch_uprobe *auprobe = utask ? READ_ONCE(utask->auprobe) : NULL;
	unsigned long ip = state->ip;
	unsigned int i, nr;

	if (!auprobe || !state->topmost || addr > ip || ip - addr >= len ||
	    ip != instruction_pointer(task_pt_regs(current)))
		return;
	dst += ip - addr;
	len -= ip - addr;
	if (dst[0] == INT3_INSN_OPCODE)
		nr = 1;
	else if (dst[0] == CALL_INSN_OPCODE)
		nr = CALL_INSN_SIZE;
	else
		return;
	for (i = 0; i < nr && i < len; i++)
		dst[i] = auprobe->insn[i];
}

/* A return probe replaces the return address by its trampoline's. */
static bool is_uretprobe_trampoline(unsigned long ip)
{
	return current->utask && ip == uprobe_get_trampoline_vaddr();
}
#else
static void restore_probed(const struct unwind_user_state *state, unsigned long addr,
			   u8 *dst, unsigned int len)
{
}

static bool is_uretprobe_trampoline(unsigned long ip)
{
	return false;
}
#endif

/* @ctx: points to state->ip */
static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct unwind_user_state *state = container_of(ctx, struct unwind_user_state, ip);

	if (!unwind_user_read(state, dst, addr, len))
		return -EFAULT;
	restore_probed(state, addr, dst, len);
	return 0;
}

/**
 * unwind_user_read_word - read a word of a user stack
 * @state:	the walk
 * @addr:	its address, which has to be aligned
 * @ws:		its size, 4 or 8 bytes
 * @word:	out: zero-extended
 *
 * Context: any, NMI too.  Never faults.
 *
 * Return: false if it can't be read; then @word is unchanged.
 */
bool unwind_user_read_word(struct unwind_user_state *state, unsigned long addr,
			   unsigned int ws, unsigned long *word)
{
	u64 value = 0;

	if (addr & (ws - 1))
		return false;
	if (!unwind_user_read(state, &value, addr, ws))
		return false;
	*word = value;
	return true;
}

/* Can a function return there? */
static bool is_return_address(const struct x86_frame_mem *mem, unsigned long ip)
{
	return x86_frame_call_before(mem, ip) || is_uretprobe_trampoline(ip) ||
	       x86_frame_sigreturn(mem, ip) != X86_SIGRETURN_NONE;
}

/*
 * In task context the analysis takes the task's own time, can be preempted, and allocates its own
 * memory. So only each search is bounded.
 */
static noinline enum x86_frame_kind
find_rule_in_task(struct unwind_user_state *state, const struct x86_frame_mem *mem,
		  struct x86_frame_rule *rule)
{
	enum x86_frame_kind kind = x86_frame_look(mem, state->ip, rule);
	struct x86_frame_work *work;

	if (kind != X86_FRAME_UNKNOWN)
		return kind;
	work = kzalloc_obj(*work, GFP_KERNEL);
	if (!work)
		return X86_FRAME_UNKNOWN;
	kind = x86_frame_analyze(mem, state->ip, rule, work);
	kfree(work);
	return kind;
}

/*
 * How much of X86_FRAME_INSNS the searches of a walk may take. Not more than the kernel's
 * throttle leaves time for. 0 if the walks on this CPU have used up their credit, or if the time
 * left is less than most searches take.
 */
static unsigned int search_limit(int credit)
{
	u64 limit = perf_sample_time_left() / UNWIND_USER_SEARCH_NS;

	if (credit <= 0 || limit < X86_FRAME_INSNS / 8)
		return 0;
	return min_t(u64, limit, X86_FRAME_INSNS);
}

/* A look and, within the bounds, a search. */
static enum x86_frame_kind
search_bounded(struct unwind_user_state *state, struct x86_frame_cache *cache,
	       const struct x86_frame_mem *mem, struct x86_frame_rule *rule)
{
	int credit = __this_cpu_read(search_credit);
	enum x86_frame_kind kind;

	/* All analyses of a walk share one limit. */
	cache->spent = X86_FRAME_INSNS - search_limit(credit) + state->arch.spent;
	kind = x86_frame_search(cache, current->mm->context.ctx_id, mem, state->ip, rule);
	state->arch.spent += cache->work.took;
	__this_cpu_write(search_credit, credit - cache->work.took);
	return kind;
}

/* The first analysis of a walk adds to the credit of the CPU. */
static __always_inline void bring_credit(const struct unwind_user_state *state)
{
	int credit = __this_cpu_read(search_credit) + UNWIND_USER_CREDIT_WALK;

	if (state->arch.nr_code == 1)
		__this_cpu_write(search_credit, min(credit, UNWIND_USER_CREDIT_MAX));
}

/*
 * The cache comes first: it is about as fast as a look at the bytes. Only the search needs the
 * memory that comes with the cache. Without it, x86_frame_look() still finds the exact states.
 */
static __always_inline enum x86_frame_kind
find_rule(struct unwind_user_state *state, const struct x86_frame_mem *mem,
	  struct x86_frame_rule *rule)
{
	struct x86_frame_cache *cache;
	enum x86_frame_kind kind;

	if (!static_branch_likely(&unwind_user_search_enabled))
		return x86_frame_look(mem, state->ip, rule);
	if (state->in_task)
		return find_rule_in_task(state, mem, rule);
	cache = cache_get();
	if (!cache)
		return x86_frame_look(mem, state->ip, rule);
	bring_credit(state);
	kind = x86_frame_recall(cache, current->mm->context.ctx_id, mem, state->ip, rule);
	if (kind == X86_FRAME_NR)
		kind = search_bounded(state, cache, mem, rule);
	cache_put();
	return kind;
}

/* @reg: by the processor's numbers. 0 if its value in this frame is not known. */
static unsigned long read_register(const struct unwind_user_state *state, u8 reg)
{
	const struct pt_regs *regs = current_pt_regs();

	/* These are the registers of another frame, or of an earlier time. */
	if (regs->ip != state->ip || regs->sp != state->sp)
		return 0;
	switch (reg) {
	case 0: return regs->ax;
	case 1: return regs->cx;
	case 2: return regs->dx;
	case 3: return regs->bx;
	case 8: return regs->r8;
	case 9: return regs->r9;
	case 10: return regs->r10;
	case 11: return regs->r11;
	case 12: return regs->r12;
	case 13: return regs->r13;
	case 14: return regs->r14;
	case 15: return regs->r15;
	default: return 0;
	}
}

/* Reads where a realigned frame has the caller's sp. @kept: in: sp or bp, out: what was read. */
static bool read_kept(struct unwind_user_state *state, enum x86_frame_kind kind,
		      const struct x86_frame_rule *rule, unsigned long *kept)
{
	if (kind == X86_FRAME_SCAN_MEM)
		return unwind_user_read_word(state, *kept + rule->mem_off, state->ws, kept);
	*kept = read_register(state, rule->reg);
	return *kept;
}

/* Steps by @rule, if there is a call before the return address. */
static __always_inline bool
step_rule(struct unwind_user_state *state, const struct x86_frame_mem *mem,
	  enum x86_frame_kind kind, const struct x86_frame_rule *rule)
{
	unsigned long cfa = rule->use_fp ? state->fp : state->sp;
	unsigned int ws = state->ws;
	unsigned long ra, fp = state->fp;

	if (kind >= X86_FRAME_SCAN_MEM && !read_kept(state, kind, rule, &cfa))
		return false;
	cfa += rule->cfa_off;

	/* bp already points to this frame: the step by frame pointer does the same. */
	if (rule->fp_off && cfa + rule->fp_off == fp && cfa == fp + 2 * ws)
		return false;
	if (cfa <= state->sp || !unwind_user_read_word(state, cfa + rule->ra_off, ws, &ra) ||
	    (rule->fp_off && !unwind_user_read_word(state, cfa + rule->fp_off, ws, &fp)) ||
	    !is_return_address(mem, ra))
		return false;
	state->ip = ra;
	state->sp = cfa;
	state->fp = fp;
	return true;
}

/* Is the return address the first instruction of a signal trampoline? */
static bool step_signal(struct unwind_user_state *state, const struct x86_frame_mem *mem)
{
	return unwind_user_code_interrupted(state, x86_frame_sigreturn(mem, state->ip));
}

/*
 * Is the sample in a signal trampoline, before or in its system call? The trampoline does not
 * change sp.
 */
static bool step_sigreturn(struct unwind_user_state *state, const struct x86_frame_mem *mem)
{
	return unwind_user_code_interrupted(state, x86_frame_in_sigreturn(mem, state->ip));
}

static struct x86_frame_mem code_of(struct unwind_user_state *state)
{
	return (struct x86_frame_mem) {
		.read		= read_code,
		.ctx		= &state->ip,
		.is_64bit	= state->ws == 8,
	};
}

static bool step(struct unwind_user_state *state)
{
	struct x86_frame_mem mem = code_of(state);
	struct x86_frame_rule rule;
	enum x86_frame_kind kind;

	if (!state->topmost && step_signal(state, &mem)) {
		state->topmost = true;
		return true;
	}
	kind = find_rule(state, &mem, &rule);
	if (kind == X86_FRAME_SIGNAL)
		return state->topmost && step_sigreturn(state, &mem);
	/* After a call to a noreturn function, ip may be the first byte of the next function. */
	if (kind == X86_FRAME_UNKNOWN || (!state->topmost && kind == X86_FRAME_ENTRY))
		return false;
	if (!step_rule(state, &mem, kind, &rule))
		return false;
	state->topmost = false;
	return true;
}

bool __unwind_user_code_next(struct unwind_user_state *state)
{
	state->ask_code = false;
	if (state->arch.nr_code >= UNWIND_USER_CODE_MAX)
		return false;
	state->arch.nr_code++;
	if (!step(state))
		return false;
	/* The caller may have no frame either. After a frame by bp, all further ones are by bp. */
	state->ask_code = true;
	return true;
}

/**
 * unwind_user_at_trampoline - may a signal handler return there?
 * @state:	a deferred walk
 * @ip:		a return address by frame pointers, which may be any word of the stack
 *
 * Context: task.  Never faults, because @ip may be the address of anything.
 *
 * Return: false if it is no signal trampoline, or if it can't be read.
 */
bool unwind_user_at_trampoline(struct unwind_user_state *state, unsigned long ip)
{
	u32 code;

	return unwind_user_code_is_on() && unwind_user_read(state, &code, ip, sizeof(code)) &&
	       unwind_user_code_is_trampoline(code, state->ws);
}

/**
 * unwind_user_code_exact - step from an exact state to the caller
 * @state: the innermost frame; unchanged if there is no step
 *
 * Exact states are prologues, epilogues and the first entry of a PLT. Nothing is searched.
 *
 * Context: any, NMI too, with the mm of current loaded.  Never faults.
 *
 * Return: true if ip, sp and fp are those of the caller.
 */
bool unwind_user_code_exact(struct unwind_user_state *state)
{
	struct x86_frame_mem mem = code_of(state);
	struct x86_frame_rule rule;
	enum x86_frame_kind kind;

	if (!unwind_user_code_is_on())
		return false;
	kind = x86_frame_look(&mem, state->ip, &rule);
	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL ||
	    !step_rule(state, &mem, kind, &rule))
		return false;
	state->topmost = false;
	return true;
}

/**
 * unwind_user_code_leave_signal - step from a trampoline to what was interrupted
 * @state: in the trampoline; unchanged if there is no step
 *
 * Context: any, NMI too, with the mm of current loaded.  Never faults.
 *
 * Return: true if ip, sp and fp are those of what the signal interrupted.
 */
bool unwind_user_code_leave_signal(struct unwind_user_state *state)
{
	struct x86_frame_mem mem = code_of(state);

	if (!(state->topmost ? step_sigreturn(state, &mem) :
			       step_signal(state, &mem)))
		return false;
	state->topmost = true;
	return true;
}

/* Can a function return to @ra? */
bool unwind_user_code_is_return(struct unwind_user_state *state, unsigned long ra)
{
	struct x86_frame_mem mem = code_of(state);

	return is_return_address(&mem, ra);
}

#ifdef CONFIG_SYSCTL
static const struct ctl_table unwind_user_code_sysctl[] = {
	{
		.procname	= "unwind_user_code",
		.data		= &unwind_user_code_enabled.key,
		.mode		= 0644,
		.proc_handler	= proc_do_static_key,
	},
	{
		.procname	= "unwind_user_search",
		.data		= &unwind_user_search_enabled.key,
		.mode		= 0644,
		.proc_handler	= proc_do_static_key,
	},
};

static int __init unwind_user_code_init(void)
{
	register_sysctl_init("kernel", unwind_user_code_sysctl);
	return 0;
}
core_initcall(unwind_user_code_init);
#endif
