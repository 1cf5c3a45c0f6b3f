// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU whose samples are like those of PEBS and IBS, for machines that have neither:
 * the callchain is the interrupt's, the address and the other registers are of another
 * moment. See amd/ibs.c: perf_ibs_handle_irq(), and intel/ds.c.
 *
 * config is the address of the counted instruction, sample_period is in nanoseconds.
 */
#include "drivers.h"

#include <linux/module.h>
#include <asm/irq_regs.h>
#include <asm/segment.h>

/* What the registers differ by. precise.c knows it, too. */
#define SKID	128

static void sample(struct perf_event *event, struct pt_regs *iregs)
{
	struct pt_regs regs = *iregs;

	/* As set_linear_ip() does it. */
	regs.ip = event->attr.config;
	regs.cs = __USER_CS;
	regs.sp += SKID;
	regs.bp = ~regs.bp;
	overflow(event, iregs, &regs);
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct pt_regs *iregs = get_irq_regs();

	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;
	if (iregs)
		sample(event, iregs);
	/* Whoever throttles it can't wait for this. */
	if (event->hw.state)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(event->attr.sample_period));
	return HRTIMER_RESTART;
}

static void precise_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(event->attr.sample_period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void precise_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	hrtimer_try_to_cancel(&event->hw.hrtimer);
}

static int precise_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		precise_start(event, flags);
	return 0;
}

static void precise_del(struct perf_event *event, int flags)
{
	precise_stop(event, flags);
}

static void precise_read(struct perf_event *event)
{
}

static void precise_destroy(struct perf_event *event)
{
	hrtimer_cancel(&event->hw.hrtimer);
}

static int precise_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.freq || event->attr.sample_period < NSEC_PER_USEC * 100)
		return -EINVAL;
	event->hw.last_period = event->attr.sample_period;
	hrtimer_setup(&event->hw.hrtimer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	event->destroy = precise_destroy;
	return 0;
}

static struct pmu precise_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= precise_event_init,
	.add		= precise_add,
	.del		= precise_del,
	.start		= precise_start,
	.stop		= precise_stop,
	.read		= precise_read,
};

static int __init precise_init(void)
{
	int err = find_all();

	if (err)
		return err;
	return perf_pmu_register(&precise_pmu, "precise_test", -1);
}

static void __exit precise_exit(void)
{
	perf_pmu_unregister(&precise_pmu);
}

module_init(precise_init);
module_exit(precise_exit);
MODULE_DESCRIPTION("Samples whose parts are of different moments");
MODULE_LICENSE("GPL");
