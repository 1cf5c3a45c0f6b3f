// SPDX-License-Identifier: GPL-2.0
/*
 * perf_hybrid: a hook on perf_callchain_user(), by which every user call chain
 * of perf and BPF gets the callers that frame pointers do not show.
 *
 * It is a plain ftrace handler at the function's entry. What it finds it puts
 * into the chain; the function then goes on, with registers of a caller.
 *
 * In NMI: the function runs there, and so does the handler. It takes no lock,
 * allocates nothing, reads user memory without faults and only where the
 * function itself would, and has memory for each context that can interrupt
 * another. ftrace calls handlers in NMI like anywhere else; this one needs no
 * RCU, so none has to watch, and can't call itself, as it is in no function
 * that can be traced and perf allows one chain in each context.
 *
 * Another tracer, a kprobe, BPF's fentry on the same function: ftrace calls
 * all handlers one after the other, ours changes the second argument only. One
 * that looks at the arguments sees either registers. A livepatch changes where
 * the function goes on, in the same way: what replaces it gets our registers.
 *
 * Unloading: unregister_ftrace_function() returns when every CPU and task has
 * left the handler, and for that it waits until all have been scheduled. As
 * perf_callchain_user() is not left half done by that, no one reads registers
 * that we handed out any more.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/hardirq.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/perf_event.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#include "hook.h"

#define HOOKED		"perf_callchain_user"
#define ANALYSIS	"__unwind_user_code_next"

/* Task, softirq, interrupt, NMI: as perf has its memory for chains. */
#define HOOK_CONTEXTS	4

struct hook_slot {
	struct pt_regs	regs;
	bool		busy;
};

static DEFINE_PER_CPU(struct hook_slot [HOOK_CONTEXTS], hook_slots);
static bool hook_enabled = true;
static bool hook_ready;

/*
 * Where the function looks at frames at all; not beyond what is known here. A
 * guest's sample has no user part, and PF_VCPU is set wherever one can be. Code
 * and stack with segments that are not flat are left to the function, as is a
 * kernel that runs on Xen's.
 */
static bool can_walk(const struct pt_regs *regs)
{
	if (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM) ||
	    current->flags & (PF_VCPU | PF_KTHREAD))
		return false;
	if (regs->cs != __USER_CS &&
	    (regs->cs != __USER32_CS || regs->ss != __USER_DS))
		return false;
	return perf_hybrid_uaccess_okay();
}

/* The handler takes both arguments from registers. It is for kernels whose function has these. */
static_assert(__same_type(&perf_callchain_user,
			  (void (*)(struct perf_callchain_entry_ctx *, struct pt_regs *))0),
	      "perf_hybrid: perf_callchain_user() has other arguments in this kernel");

static void hook_handler(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *arguments = perf_hybrid_ftrace_regs(fregs);
	struct pt_regs *regs = (struct pt_regs *)arguments->si;
	struct hook_slot *slot;
	struct hook_walk walk;

	if (!can_walk(regs))
		return;

	preempt_disable_notrace();
	slot = this_cpu_ptr(hook_slots) + interrupt_context_level();
	if (slot->busy)
		goto out;
	slot->busy = true;
	barrier();
	pagefault_disable();
	if (hook_walk(&walk, (struct perf_callchain_entry_ctx *)arguments->di, regs)) {
		/* All that it looks at; copying the rest takes as long as a frame. */
		slot->regs.flags = regs->flags;
		slot->regs.cs = regs->cs;
		slot->regs.ss = regs->ss;
		slot->regs.ip = walk.state.ip;
		slot->regs.bp = walk.state.fp;
		/*
		 * Asked only for what a uprobe at a function's entry has there:
		 * nobody's page, so that it does not store a caller once more.
		 */
		slot->regs.sp = TASK_SIZE_MAX;
		arguments->si = (unsigned long)&slot->regs;
	}
	pagefault_enable();
	barrier();
	slot->busy = false;
out:
	preempt_enable_notrace();
}

static struct ftrace_ops hook_ops = {
	.func = hook_handler,
};

/* Has the kernel a function of that name, and can it be traced? */
static bool is_traceable(char *name)
{
	static struct ftrace_ops probe;
	bool found;

	found = !ftrace_set_filter(&probe, name, strlen(name), 1);
	ftrace_free_filter(&probe);
	return found;
}

/* kernel_param_lock() serializes all but the load itself. */
static int enabled_set(const char *value, const struct kernel_param *kp)
{
	bool was = hook_enabled;
	int ret = param_set_bool(value, kp);

	if (ret || !hook_ready || hook_enabled == was)
		return ret;
	ret = hook_enabled ? register_ftrace_function(&hook_ops) :
			     unregister_ftrace_function(&hook_ops);
	if (ret)
		hook_enabled = was;
	return ret;
}

static const struct kernel_param_ops enabled_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= enabled_set,
	.get	= param_get_bool,
};

module_param_cb(enabled, &enabled_ops, &hook_enabled, 0644);
MODULE_PARM_DESC(enabled, "find the callers that frame pointers do not show (default: Y)");

/**
 * hook_init - hook perf_callchain_user()
 *
 * Where it can't, one line in the log says why.
 *
 * Return: 0, or a negative error number.
 */
int hook_init(void)
{
	int ret;

	if (is_traceable(ANALYSIS)) {
		pr_err("hook refused: %s() has the analysis in this kernel already\n", HOOKED);
		return -EEXIST;
	}
	ret = unwind_user_code_prepare();
	if (ret) {
		pr_err("hook refused: no memory for the frame analysis\n");
		goto release;
	}
	ret = ftrace_set_filter(&hook_ops, HOOKED, strlen(HOOKED), 1);
	if (ret) {
		pr_err("hook refused: ftrace finds no %s() in this kernel (%d)\n", HOOKED, ret);
		goto release;
	}
	kernel_param_lock(THIS_MODULE);
	if (hook_enabled)
		ret = register_ftrace_function(&hook_ops);
	hook_ready = !ret;
	kernel_param_unlock(THIS_MODULE);
	if (!ret)
		return 0;
	pr_err("hook refused: ftrace can't register a handler for %s() (%d)\n", HOOKED, ret);
	ftrace_free_filter(&hook_ops);
release:
	unwind_user_code_release();
	return ret;
}

/**
 * hook_exit - undo hook_init()
 *
 * The parameter can be written until the module is gone; it is a value only, then:
 * without the filter, ftrace would take every function.
 */
void hook_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	hook_ready = false;
	if (hook_enabled)
		unregister_ftrace_function(&hook_ops);
	kernel_param_unlock(THIS_MODULE);
	ftrace_free_filter(&hook_ops);
	unwind_user_code_release();
}
