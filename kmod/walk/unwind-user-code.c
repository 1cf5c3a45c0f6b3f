// SPDX-License-Identifier: GPL-2.0
/*
 * Walking user stacks: the frames that frame pointers do not show.
 *
 * A frame pointer leads to the caller's caller while the innermost function
 * has not set it up yet, has taken it down already, or does without. There the
 * code at ip is asked, see x86-frame.h. A signal handler's caller is what the
 * signal interrupted: its registers are in the signal frame.
 */
#include <linux/kernel.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/tlbflush.h>
#include <asm/unwind_user_code.h>

#include "unwind-user-code.h"
#include "x86-frame-cache.h"

DEFINE_STATIC_KEY_TRUE(unwind_user_code_enabled);

/* Allocated apart: percpu memory comes in small pieces, and not from NMI. */
static DEFINE_PER_CPU(struct x86_frame_cache *, frame_cache);
static DEFINE_PER_CPU(bool, frame_cache_busy);
/* What searches may still take there; less than 0 after one that took more. */
static DEFINE_PER_CPU(int, search_credit) = UNWIND_USER_CREDIT_MAX;

/**
 * unwind_user_code_prepare - allocate what the analysis works with
 *
 * With the first event that wants chains. It is for all events, so that whoever opens the
 * first is not charged. Without it walks look at the bytes around an instruction, and search
 * nothing.
 *
 * Context: task; callers exclude each other, and those of
 *	unwind_user_code_release().
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
		get_random_bytes(cache->key, sizeof(cache->key));
		/* An NMI must not find it before it is all there. */
		smp_store_release(per_cpu_ptr(&frame_cache, cpu), cache);
	}
	return 0;
}

/**
 * unwind_user_code_release - free it, with the last event that wants chains
 *
 * Context: task; a walk may be under way.
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

/* NULL in a walk that came in while another was at work, and where there is no memory. */
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

/* Return probes put this in place of the return address. */
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

/* @ctx: the ip under analysis, of the state of the walk */
static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct unwind_user_state *state = container_of(ctx, struct unwind_user_state, ip);

	if (!unwind_user_read(state, dst, addr, len))
		return -EFAULT;
	restore_probed(state, addr, dst, len);
	return 0;
}

/**
 * unwind_user_read_word - a word of a user stack
 * @state:	of the walk
 * @addr:	its address; one that is not aligned is refused
 * @ws:		its size, 4 or 8 bytes
 * @word:	out: zero-extended
 *
 * Context: any, NMI too.  Never faults.
 *
 * Return: false where it can't be read; then @word is as it was.
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

/* Could a caller go on there? */
static bool is_return_address(const struct x86_frame_mem *mem, unsigned long ip)
{
	return x86_frame_call_before(mem, ip) || is_uretprobe_trampoline(ip) ||
	       x86_frame_sigreturn(mem, ip) != X86_SIGRETURN_NONE;
}

/*
 * In task context nothing is bounded but each search: it takes the task's own time, can be
 * preempted, and has memory of its own.
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
 * What the searches of a walk may take, of X86_FRAME_INSNS: no more than the kernel's throttle
 * leaves time for, and nothing where walks on this CPU have used up what they bring. Nor is
 * anything begun for less than most searches take.
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

	/* What one analysis takes the others of the walk do not have. */
	cache->spent = X86_FRAME_INSNS - search_limit(credit) + state->spent;
	kind = x86_frame_search(cache, current->mm->context.ctx_id, mem, state->ip, rule);
	state->spent += cache->work.took;
	__this_cpu_write(search_credit, credit - cache->work.took);
	return kind;
}

/* The first analysis of a walk brings what searches may take. */
static __always_inline void bring_credit(const struct unwind_user_state *state)
{
	int credit = __this_cpu_read(search_credit) + UNWIND_USER_CREDIT_WALK;

	if (state->nr_code == 1)
		__this_cpu_write(search_credit, min(credit, UNWIND_USER_CREDIT_MAX));
}

/*
 * The cache comes before the look, as an answer from it takes hardly longer. Only the search
 * needs the memory that is with the cache: without it, a look still finds the exact states.
 */
static __always_inline enum x86_frame_kind
find_rule(struct unwind_user_state *state, const struct x86_frame_mem *mem,
	  struct x86_frame_rule *rule)
{
	struct x86_frame_cache *cache;
	enum x86_frame_kind kind;

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

/* By the processor's numbers; 0 for one that is not followed from frame to frame. */
static unsigned long read_register(const struct unwind_user_state *state, u8 reg)
{
	const struct pt_regs *regs = current_pt_regs();

	/* They are those of another frame, or another time. */
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

/* Where a frame that its code realigned has its caller's sp; out: @kept. */
static bool read_kept(struct unwind_user_state *state, enum x86_frame_kind kind,
		      const struct x86_frame_rule *rule, unsigned long *kept)
{
	if (kind == X86_FRAME_SCAN_MEM)
		return unwind_user_read_word(state, *kept + rule->mem_off, state->ws, kept);
	*kept = read_register(state, rule->reg);
	return *kept;
}

/* The step that @rule says, if it leads to where a call came from. */
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

	/* The frame stands: left to the ordinary step. */
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
 * Is the sample in a signal trampoline, before its system call or in it? In the call, sp is
 * as the handler left it.
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
	if (state->topmost && kind == X86_FRAME_UNKNOWN)
		return step_sigreturn(state, &mem);
	/* A call that does not return stands in front of another function. */
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
	if (state->nr_code >= UNWIND_USER_CODE_MAX || !nmi_uaccess_okay())
		return false;
	state->nr_code++;
	if (!step(state))
		return false;
	/* Where a frame stands, all that follow are taken to stand, too. */
	state->ask_code = true;
	return true;
}

#ifdef CONFIG_HAVE_UNWIND_USER_CODE
/**
 * unwind_user_at_trampoline - may a signal handler return there?
 * @state:	of a deferred walk
 * @ip:		a return address by frame pointers, which may be any word of the stack
 *
 * Context: task.  Never faults: nothing says that there is code at @ip.
 *
 * Return: false if it is no signal trampoline, or can't be read.
 */
bool unwind_user_at_trampoline(struct unwind_user_state *state, unsigned long ip)
{
	u32 code;

	return unwind_user_code_is_on() && unwind_user_read(state, &code, ip, sizeof(code)) &&
	       unwind_user_code_is_trampoline(code, state->ws);
}
#endif

/**
 * unwind_user_code_exact - step out of an interrupted instruction by its code
 * @state: the innermost frame; changed only where it succeeds
 *
 * In a prologue, an epilogue or a PLT's first entry, where a few instructions
 * tell all there is to know: no search through the rest of the function.
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
	if (kind == X86_FRAME_UNKNOWN || !step_rule(state, &mem, kind, &rule))
		return false;
	state->topmost = false;
	return true;
}

/**
 * unwind_user_code_leave_signal - step from a trampoline to what was interrupted
 * @state: in the trampoline; changed only where it succeeds
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

/* Does a call stand before @ra, or may a caller go on there in another way? */
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
};

static int __init unwind_user_code_init(void)
{
	register_sysctl_init("kernel", unwind_user_code_sysctl);
	return 0;
}
core_initcall(unwind_user_code_init);
#endif
