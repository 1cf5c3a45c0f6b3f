/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_TRACED_BPF_H
#define __HYBRID_TRACED_BPF_H

/*
 * Events that take no BPF program as their overflow handler, or whose samples it does not write:
 * tracepoints, probes, breakpoints and events of the kernel's software. The kernel writes these
 * samples, with a stack dump. Right before each this writes the functions that an interpreter runs.
 */
#include "dump.bpf.h"
#include "functions.bpf.h"

/* perf's: by the numbers of these events, the number of the ring if rings are of threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 1);
} traced_events SEC(".maps");

/* As states. The kernel does not run the program again on a CPU while it runs there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct state));
	__uint(max_entries, 1);
} traced_states SEC(".maps");

/* Walks the stack as far as there are rules, which finds the interpreter. */
static __always_inline void find_traced(void *ctx, struct state *st, struct task_struct___h *task,
					struct mm_struct___h *mm, struct pt_regs___h *user)
{
	__u64 most;

	begin_at(st, user);
	st->for_functions = true;
	st->record.ips[0] = st->ip;
	walk(st, task, mm);
	follow_natives(st);
	read_functions(st, task);
	if (st->nr_untold)
		tell_functions(ctx, st, room_for_dumps(st, &most));
	write_interpreted(ctx, st);
}

/* The kernel is about to write a sample, of any event: all that is in it has been found. */
SEC("fentry/perf_output_begin_forward")
int hybrid_traced(__u64 *ctx)
{
	struct perf_sample_data___h *data = (void *)ctx[1];
	struct perf_event___h *event = (void *)ctx[2], *parent = event->parent;
	struct task_struct___h *task = (void *)bpf_get_current_task_btf();
	struct pt_regs___h *user = (void *)bpf_task_pt_regs((void *)task);
	__u32 cpu = bpf_get_smp_processor_id();
	struct mm_struct___h *mm = task->mm;
	__u64 id = parent ? parent->id : event->id;
	struct state *st;
	__u32 *ring;

	if (!any_interpreters || !mm)
		return 0;
	ring = bpf_map_lookup_elem(&traced_events, &id);
	if (!ring || !is_walkable(task, user))
		return 0;
	st = bpf_map_lookup_elem(&traced_states, &cpu);
	if (!st)
		return 0;
	st->output = by_thread ? *ring : BPF_F_CURRENT_CPU;
	st->event = (__u64)event;
	__builtin_memset(&st->record.head, 0, sizeof(st->record.head));
	st->record.head.id = id;
	st->record.head.ip = data->ip;
	st->record.head.time = data->time;
	find_traced(ctx, st, task, mm, user);
	return 0;
}

#endif /* __HYBRID_TRACED_BPF_H */
