// SPDX-License-Identifier: GPL-2.0
/*
 * The processor's PMU, for machines that have none, with precise events: perf record
 * without -e samples by it. A timer says when; from there the task runs one instruction
 * at a time, so that a sample's parts are of the moments that they are of with IBS and
 * PEBS (amd/ibs.c: perf_ibs_handle_irq(), intel/ds.c):
 *
 *   skid    instructions from the sampled one to the interrupt
 *   record  registers are those behind the sampled instruction: adaptive PEBS, and the
 *           interrupt is skid instructions later
 *   guest   all samples are of interrupts in the kernel, said to have been a guest's
 *
 * Of a timer that comes in a system call, every other sample is one of its instruction in
 * user space. One in 16 of the others is said to be of an address in the kernel.
 */
#include "drivers.h"

#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/task_stack.h>
#include <asm/debugreg.h>
#include <asm/irq_regs.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>

/* PERF_EFLAGS_EXACT of arch/x86/events. */
#define EXACT		(1UL << 3)
/* The timer comes where it may: from there the sampled instruction is so far at most. */
#define MOST_BEFORE	64

static unsigned int skid;
static bool record, guest;
module_param(skid, uint, 0644);
module_param(record, bool, 0644);
module_param(guest, bool, 0644);

/**
 * struct stepping - what a CPU steps through
 * @event: to be sampled; NULL: none
 * @task: that runs
 * @before: instructions before the sampled one
 * @since: from there
 * @early: at the sampled instruction
 * @retired: behind it
 */
struct stepping {
	struct perf_event	*event;
	struct task_struct	*task;
	unsigned int		 before;
	unsigned int		 since;
	struct pt_regs		 early;
	struct pt_regs		 retired;
};

static DEFINE_PER_CPU(struct stepping, steppings);
static DEFINE_PER_CPU(unsigned int, samples);
static DEFINE_PER_CPU(bool, in_guest);

/* As set_linear_ip() has it, and adaptive_pebs_save_regs() where there is a record. */
static void sample(struct perf_event *event, struct pt_regs *iregs,
		   const struct pt_regs *of_record, unsigned long ip)
{
	struct pt_regs regs = of_record ? *of_record : *iregs;

	regs.ip = ip;
	regs.cs = (long)ip < 0 ? __KERNEL_CS : __USER_CS;
	regs.ss = iregs->ss;
	regs.flags = (iregs->flags & ~X86_EFLAGS_TF) | EXACT;
	overflow(event, iregs, &regs);
}

static void finish(struct stepping *s, struct pt_regs *regs)
{
	unsigned long ip = s->early.ip;

	if (this_cpu_inc_return(samples) % 16 == 0)
		ip = (unsigned long)find_overflow;
	regs->flags &= ~X86_EFLAGS_TF;
	sample(s->event, regs, record ? &s->retired : NULL, ip);
	s->event = NULL;
}

/* Before the instruction at @regs. */
static void step(struct stepping *s, struct pt_regs *regs)
{
	if (s->before) {
		s->before--;
		return;
	}
	if (!s->since++)
		s->early = *regs;
	else if (s->since == 2)
		s->retired = *regs;
	if (s->since > skid + record)
		finish(s, regs);
}

/* Interrupts are off. */
static int stepped(struct notifier_block *block, unsigned long why, void *data)
{
	struct stepping *s = this_cpu_ptr(&steppings);
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (why != DIE_DEBUG || !(*dr6 & DR_STEP) || !user_mode(args->regs))
		return NOTIFY_DONE;
	*dr6 &= ~DR_STEP;
	if (s->event && s->task == current)
		step(s, args->regs);
	else	/* It came from another CPU, or what was to be sampled is over. */
		args->regs->flags &= ~X86_EFLAGS_TF;
	return NOTIFY_STOP;
}

static struct notifier_block stepped_block = { .notifier_call = stepped };

static void in_kernel(struct perf_event *event, struct pt_regs *iregs)
{
	struct pt_regs *user = task_pt_regs(current);
	bool is_syscall = (long)user->orig_ax >= 0;

	if (guest) {
		this_cpu_write(in_guest, true);
		overflow(event, iregs, iregs);
		this_cpu_write(in_guest, false);
	} else if (is_syscall && this_cpu_inc_return(samples) % 2) {
		sample(event, iregs, record ? user : NULL, user->ip - 2);
	} else {
		sample(event, iregs, NULL, iregs->ip);
	}
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct stepping *s = this_cpu_ptr(&steppings);
	struct pt_regs *iregs = get_irq_regs();

	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;
	if (iregs && user_mode(iregs) && !guest) {
		s->event = event;
		s->task = current;
		s->before = get_random_u32() % MOST_BEFORE;
		s->since = 0;
		iregs->flags |= X86_EFLAGS_TF;
	} else if (iregs && !user_mode(iregs) && current->mm && !(current->flags & PF_KTHREAD)) {
		in_kernel(event, iregs);
	}
	/* Whoever throttles it can't wait for this. */
	if (event->hw.state)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(event->hw.sample_period));
	return HRTIMER_RESTART;
}

static void stepped_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(event->hw.sample_period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void stepped_stop(struct perf_event *event, int flags)
{
	struct stepping *s = this_cpu_ptr(&steppings);

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	hrtimer_try_to_cancel(&event->hw.hrtimer);
	if (s->event == event)
		s->event = NULL;
}

static int stepped_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		stepped_start(event, flags);
	return 0;
}

static void stepped_del(struct perf_event *event, int flags)
{
	stepped_stop(event, flags);
}

static void stepped_read(struct perf_event *event)
{
}

static void stepped_destroy(struct perf_event *event)
{
	hrtimer_cancel(&event->hw.hrtimer);
}

static bool is_cycles(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_RAW ||
	       (attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES);
}

/* As with cpu-clock a frequency is a period, in nanoseconds. */
static int stepped_event_init(struct perf_event *event)
{
	if (!is_cycles(&event->attr))
		return -ENOENT;
	if (event->attr.freq && event->attr.sample_freq)
		event->attr.sample_period = NSEC_PER_SEC / event->attr.sample_freq;
	event->attr.freq = 0;
	event->hw.sample_period = max_t(u64, event->attr.sample_period, NSEC_PER_USEC * 100);
	event->hw.last_period = event->hw.sample_period;
	hrtimer_setup(&event->hw.hrtimer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	event->destroy = stepped_destroy;
	return 0;
}

static struct pmu stepped_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_hw_context,
	.event_init	= stepped_event_init,
	.add		= stepped_add,
	.del		= stepped_del,
	.start		= stepped_start,
	.stop		= stepped_stop,
	.read		= stepped_read,
};

/* A kernel that can't run guests has none; scripts/build-kernel's can't. */
#ifdef CONFIG_GUEST_PERF_EVENTS
static unsigned int guest_state(void)
{
	return this_cpu_read(in_guest) ? PERF_GUEST_ACTIVE | PERF_GUEST_USER : 0;
}

/* One that the task has, too. */
static unsigned long guest_ip(void)
{
	return task_pt_regs(current)->ip;
}

static struct perf_guest_info_callbacks guest_callbacks = {
	.state	= guest_state,
	.get_ip	= guest_ip,
};

static void register_guest(void)
{
	perf_register_guest_info_callbacks(&guest_callbacks);
}

static void unregister_guest(void)
{
	perf_unregister_guest_info_callbacks(&guest_callbacks);
}
#else
static void register_guest(void)
{
}

static void unregister_guest(void)
{
}
#endif

static int __init stepped_init(void)
{
	int err = find_all();

	if (err)
		return err;
	err = register_die_notifier(&stepped_block);
	if (err)
		return err;
	err = perf_pmu_register(&stepped_pmu, "cpu", PERF_TYPE_RAW);
	if (err)
		unregister_die_notifier(&stepped_block);
	else
		register_guest();
	return err;
}

static void __exit stepped_exit(void)
{
	unregister_guest();
	perf_pmu_unregister(&stepped_pmu);
	unregister_die_notifier(&stepped_block);
}

module_init(stepped_init);
module_exit(stepped_exit);
MODULE_DESCRIPTION("A processor's PMU with precise events, made of single steps");
MODULE_LICENSE("GPL");
