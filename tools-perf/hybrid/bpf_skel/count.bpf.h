/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_COUNT_BPF_H
#define __HYBRID_COUNT_BPF_H

/*
 * How many samples the kernel drops because it runs another BPF program on that CPU, or
 * changes a map there: bpf_overflow_handler() returns 0 then, as if the program had said
 * so, and counts nothing. A clock event's overflow is in a timer's function: the tracepoint
 * behind that runs nevertheless, and where the program did not it was dropped. The tracepoint
 * also ends the time that a sample takes from the program that it interrupts.
 */
#include "maps.bpf.h"

/* perf's: the id of hybrid_walk(). */
__u32 walk_id;

/* That of clock events' timers, once one was met. */
static volatile __u64 clock_function;

static __always_inline __u64 *ran_slot(struct state *st, struct perf_event___h *event)
{
	return &st->ran[((__u64)event >> 6) % NR_RAN];
}

/* One in so many samples is measured: a power of two. */
#define TIMED_EVERY	64

/* hybrid_walk() runs for the event. */
static __always_inline void note_run(struct state *st, struct perf_event___h *event)
{
	*ran_slot(st, event) = (__u64)event;
	st->timed_from = st->walk % TIMED_EVERY ? 0 : bpf_ktime_get_ns();
}

/* The kernel has written the sample, with the dump if it has one, or dropped it. */
static __always_inline void note_time(struct state *st)
{
	if (!st->timed_from)
		return;
	st->counts.timed++;
	st->counts.timed_ns += bpf_ktime_get_ns() - st->timed_from;
	st->timed_from = 0;
}

/* Linux gives the clocks PMUs, and types, of their own from 6.5 on; other PMUs have timers, too. */
static __always_inline bool is_clock(struct perf_event___h *event, __u32 type)
{
	char name[12] = {};

	if (type == PERF_TYPE_SOFTWARE)
		return true;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(event, pmu, name));
	return !bpf_strncmp(name, sizeof(name), "cpu_clock") ||
	       !bpf_strncmp(name, sizeof(name), "task_clock");
}

/*
 * Does every timer mean a sample? BPF programs run in the kernel: an event of user space
 * alone loses none. What perf_event_attr begins with is the same in all kernels.
 */
static __always_inline bool is_counted(struct perf_event___h *event)
{
	struct perf_event_attr attr = {};

	if (bpf_probe_read_kernel(&attr, PERF_ATTR_SIZE_VER0, &event->attr))
		return false;
	return attr.config <= PERF_COUNT_SW_TASK_CLOCK && attr.size >= PERF_ATTR_SIZE_VER0 &&
	       !attr.exclude_kernel && !attr.exclude_user && !attr.exclude_idle &&
	       is_clock(event, attr.type);
}

/* Is hybrid_walk() its overflow handler, and is it on? */
static __always_inline bool is_walked(struct perf_event___h *event)
{
	return BPF_CORE_READ(event, prog, aux, id) == walk_id &&
	       BPF_CORE_READ(event, state) == EVENT_ACTIVE &&
	       !(BPF_CORE_READ(event, hw.state) & PERF_HES_STOPPED);
}

SEC("raw_tp/hrtimer_expire_exit")
int hybrid_fired(struct bpf_raw_tracepoint_args *ctx)
{
	struct hrtimer___h *timer = (void *)ctx->args[0];
	__u64 function = (__u64)BPF_CORE_READ(timer, function), *slot;
	__u32 cpu = bpf_get_smp_processor_id();
	struct perf_event___h *event;
	struct state *st;

	if (clock_function && function != clock_function)
		return 0;
	/* Until then it may be anything's. */
	event = (void *)timer - bpf_core_field_offset(struct perf_event___h, hw.hrtimer);
	if (!is_counted(event) || !is_walked(event))
		return 0;
	clock_function = function;
	st = bpf_map_lookup_elem(&states, &cpu);
	if (!st)
		return 0;
	slot = ran_slot(st, event);
	if (*slot == (__u64)event) {
		*slot = 0;
		note_time(st);
	} else {
		st->counts.dropped++;
	}
	return 0;
}

#endif /* __HYBRID_COUNT_BPF_H */
