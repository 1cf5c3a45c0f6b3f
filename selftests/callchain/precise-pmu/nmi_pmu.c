// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU that samples in NMI, as those of processors do, for machines that have none. A timer
 * sends the NMI: to its own CPU, within the interrupt of the timer, or to the next CPU,
 * whatever that does.
 *
 * sample_period is in nanoseconds. The parameter samples counts them. With a parameter
 * faster, the kernel is told how long each sample took, so that it can throttle them: the time
 * by this machine's clock, divided by faster.
 */
#include "drivers.h"

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

static atomic_t samples = ATOMIC_INIT(0);
module_param_named(samples, samples.counter, int, 0444);

static unsigned int faster;
module_param(faster, uint, 0444);

static void (*find_took)(u64 sample_len_ns);

/* The event that this CPU counts: the last one that was started there. */
static DEFINE_PER_CPU(struct perf_event *, active);
static DEFINE_PER_CPU(unsigned int, ticks);

/* All NMIs are taken to be ours: two may become one. */
static int in_nmi_of_timer(unsigned int cmd, struct pt_regs *regs)
{
	struct perf_event *event = this_cpu_read(active);
	u64 start = sched_clock();

	if (event && event->state == PERF_EVENT_STATE_ACTIVE) {
		atomic_inc(&samples);
		overflow(event, regs, regs);
		if (faster)
			find_took((sched_clock() - start) / faster);
	}
	return NMI_HANDLED;
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	int cpu = smp_processor_id();

	if (event->state != PERF_EVENT_STATE_ACTIVE || event->hw.state)
		return HRTIMER_NORESTART;
	if (this_cpu_inc_return(ticks) % 2) {
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	hrtimer_forward_now(timer, ns_to_ktime(event->hw.sample_period));
	return HRTIMER_RESTART;
}

static void nmi_pmu_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	this_cpu_write(active, event);
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(event->hw.sample_period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void nmi_pmu_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	hrtimer_try_to_cancel(&event->hw.hrtimer);
	if (this_cpu_read(active) == event)
		this_cpu_write(active, NULL);
}

static int nmi_pmu_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		nmi_pmu_start(event, flags);
	return 0;
}

static void nmi_pmu_del(struct perf_event *event, int flags)
{
	nmi_pmu_stop(event, flags);
}

static void nmi_pmu_read(struct perf_event *event)
{
}

static void nmi_pmu_destroy(struct perf_event *event)
{
	hrtimer_cancel(&event->hw.hrtimer);
}

static int nmi_pmu_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.freq || event->attr.sample_period < NSEC_PER_USEC * 20)
		return -EINVAL;
	event->hw.sample_period = event->attr.sample_period;
	event->hw.last_period = event->attr.sample_period;
	hrtimer_setup(&event->hw.hrtimer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	event->destroy = nmi_pmu_destroy;
	return 0;
}

static struct pmu nmi_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= nmi_pmu_event_init,
	.add		= nmi_pmu_add,
	.del		= nmi_pmu_del,
	.start		= nmi_pmu_start,
	.stop		= nmi_pmu_stop,
	.read		= nmi_pmu_read,
};

static int __init nmi_pmu_init(void)
{
	int err = find_all();

	if (err)
		return err;
	find_took = find("perf_sample_event_took");
	if (!find_took)
		return -ENOENT;
	err = register_nmi_handler(NMI_LOCAL, in_nmi_of_timer, 0, "nmi_test");
	if (err)
		return err;
	err = perf_pmu_register(&nmi_pmu, "nmi_test", -1);
	if (err)
		unregister_nmi_handler(NMI_LOCAL, "nmi_test");
	return err;
}

static void __exit nmi_pmu_exit(void)
{
	perf_pmu_unregister(&nmi_pmu);
	unregister_nmi_handler(NMI_LOCAL, "nmi_test");
}

module_init(nmi_pmu_init);
module_exit(nmi_pmu_exit);
MODULE_DESCRIPTION("A PMU that samples in NMI");
MODULE_LICENSE("GPL");
