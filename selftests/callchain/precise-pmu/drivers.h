/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What drivers of PMUs sample by. No module uses it but those here: so it is not exported,
 * and is found by its name. Before any other header.
 */
#ifndef _DRIVERS_H
#define _DRIVERS_H

#define perf_callchain		(*find_callchain)
#define perf_event_overflow	(*find_overflow)
#define perf_sample_save_unwind_regs	(*find_save_unwind_regs)

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>

struct perf_callchain_entry *(*find_callchain)(struct perf_event *event, struct pt_regs *regs);
int (*find_overflow)(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs);
/* Of a kernel with the series. */
void (*find_save_unwind_regs)(struct perf_sample_data *data, struct perf_event *event,
			      struct pt_regs *regs);

#ifndef HAVE_HRTIMER_SETUP
static void hrtimer_setup(struct hrtimer *timer,
			  enum hrtimer_restart (*function)(struct hrtimer *), clockid_t clock,
			  enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef HAVE_SAVE_CALLCHAIN
static void perf_sample_save_callchain(struct perf_sample_data *data, struct perf_event *event,
				       struct pt_regs *regs)
{
	data->callchain = perf_callchain(event, regs);
	data->sample_flags |= PERF_SAMPLE_CALLCHAIN;
}
#endif

/* A sample whose chain is of @iregs, and all else of @regs: as drivers of precise events do. */
static void overflow(struct perf_event *event, struct pt_regs *iregs, struct pt_regs *regs)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, event->hw.last_period);
	/* lockdep asks for it here; in an NMI, where drivers do the same, it does not look. */
	rcu_read_lock();
	perf_sample_save_callchain(&data, event, iregs);
	perf_event_overflow(event, &data, regs);
	rcu_read_unlock();
}

static void *find(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	void *found;

	if (register_kprobe(&probe))
		return NULL;
	found = probe.addr;
	unregister_kprobe(&probe);
	return found;
}

static int find_all(void)
{
	find_callchain = find("perf_callchain");
	find_overflow = find("perf_event_overflow");
	find_save_unwind_regs = find("perf_sample_save_unwind_regs");
	if (find_callchain && find_overflow)
		return 0;
	pr_err("%s: this kernel has not the functions that drivers sample by\n", KBUILD_MODNAME);
	return -ENOENT;
}

#endif /* _DRIVERS_H */
