/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_OFF_CPU_BPF_H
#define __HYBRID_OFF_CPU_BPF_H

/*
 * perf record --off-cpu: the chains of tasks that go to sleep. off_cpu.bpf.c notes when one
 * does, and makes a sample when it runs again; this leaves with the task what that sample
 * names its chain by. It is attached later, so that it runs behind that program.
 */
#include "../../bpf_skel/off_cpu_data.h"
#include "chain.bpf.h"
#include "dump.bpf.h"
#include "functions.bpf.h"

/* perf's: of off_cpu.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tstamp_data);
} tstamp SEC(".maps");

/* As states; sched_switch is traced with interrupts off, and not by an NMI. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct state));
	__uint(max_entries, 1);
} sleep_states SEC(".maps");

/* perf's: bytes of dumps that a CPU may write in DUMP_SPAN. */
__u64 dump_budget;

/* How long perf may leave a ring alone, in ns. */
#define DUMP_SPAN	250000000ULL

/* Dumps must leave room in the ring for the samples. */
static __always_inline bool may_dump(struct state *st, __u64 now)
{
	if (now - st->dumped_since >= DUMP_SPAN) {
		st->dumped_since = now;
		st->dumped = 0;
	}
	return st->dumped < dump_budget;
}

/* Which functions the task is in, and what perf is to know of these. */
static __always_inline void find_functions(void *ctx, struct state *st,
					   struct task_struct___h *task, __u64 since)
{
	read_functions(st, task);
	if (st->nr_untold && may_dump(st, since))
		st->dumped += tell_functions(ctx, st, MOST_TEXT);
}

/* What perf is to unwind. */
static __always_inline bool write_sleep(void *ctx, struct state *st, struct mm_struct___h *mm)
{
	long got;

	write_interpreted(ctx, st);
	got = bpf_get_stack(ctx, st->dump.ips, sizeof(st->dump.ips), BPF_F_USER_STACK);
	st->dump.head.nr_user = got > 0 ? got / sizeof(__u64) : 0;
	got = write_dump(ctx, st, mm, dump_pages, HYBRID_WALK_STACK);
	if (got < 0)
		return false;
	st->dumped += got;
	return true;
}

/* Walks the stack; writes the chain where perf does not know it. Returns its word; 0: none. */
static __always_inline __u64 find_chain(void *ctx, struct state *st,
					struct task_struct___h *task, struct mm_struct___h *mm,
					__u64 since)
{
	struct pt_regs___h *user = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct hybrid_walk_head *head = &st->record.head;
	__u32 number;

	begin_at(st, user);
	__builtin_memset(head, 0, sizeof(*head));
	st->end = PERF_UNWIND_END_NONE;
	if (is_walkable(task, user)) {
		st->record.ips[0] = st->ip;
		walk(st, task, mm);
		find_functions(ctx, st, task, since);
	}
	head->info = st->end | PERF_UNWIND_INNERMOST_RULE << 8 | (st->nr & 0xffff) << 16;
	if (st->end == PERF_UNWIND_END_OUTERMOST) {
		st->counts.whole++;
		st->code_hash = 0;
		append_parts(st);
		number = numbered_chain(ctx, st);
		if (number)
			return HYBRID_WALK_CHAIN | number;
		head->sleep = HYBRID_WALK_SLEEP | since;
		if (!write_chain(ctx, st))
			return 0;
		st->counts.single++;
		return head->sleep;
	}
	st->counts.dumped++;
	head->sleep = HYBRID_WALK_SLEEP | since;
	return may_dump(st, since) && write_sleep(ctx, st, mm) ? head->sleep : 0;
}

SEC("tp_btf/sched_switch")
int hybrid_sleep(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct___h *task = (void *)bpf_get_current_task_btf();
	struct mm_struct___h *mm = task->mm;
	__u32 cpu = bpf_get_smp_processor_id();
	struct state *st = bpf_map_lookup_elem(&sleep_states, &cpu);
	struct tstamp_data *sleep = bpf_task_storage_get(&tstamp, prev, NULL, 0);
	__u64 word;

	/* Of those that off_cpu.bpf.c is to count alone; they have begun just now. */
	if (!st || !sleep || !sleep->timestamp)
		return 0;
	/* One that exits may have no stack any more. */
	if (!mm)
		return 0;
	st->output = BPF_F_CURRENT_CPU;
	word = 0;
	if (has_time(st, task)) {
		word = find_chain(ctx, st, task, mm, sleep->timestamp);
		take_time(st, task);
	}
	if (word) {
		sleep->stack_id = word & HYBRID_WALK_CHAIN ? (__u32)word : 0;
		sleep->stack.array[0] = word;
		sleep->stack.array[1] = 0;
		return 0;
	}
	st->counts.full++;
	if (bpf_get_stack(ctx, &sleep->stack, sizeof(sleep->stack), BPF_F_USER_STACK) < 0)
		sleep->stack.array[0] = HYBRID_WALK_UNKNOWN;
	return 0;
}

#endif /* __HYBRID_OFF_CPU_BPF_H */
