// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * perf record --call-graph hybrid: walks the user stack of a sample by the rules that
 * perf compiled. A sample whose stack it walks to the outermost frame it writes by
 * itself, and the kernel drops it before the stack is copied; the kernel writes all
 * others, with their dump.
 */
#include "frame.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} output SEC(".maps");

void *bpf_cast_to_kern_ctx(void *ctx) __ksym;

static long kernel_part(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;

	if (i >= HYBRID_WALK_KERNEL_IPS || st->record.ips[i] == (__u64)PERF_CONTEXT_USER)
		return 1;
	st->record.head.nr_kernel = i + 1;
	return 0;
}

/* The kernel's part of the callchain goes in front. */
static __always_inline bool copy_kernel_part(struct loop *loop,
					     struct perf_callchain_entry___h *chain)
{
	struct state *st = loop->st;
	__u64 nr = 0;

	if (!chain || bpf_probe_read_kernel(&nr, sizeof(nr), chain) ||
	    nr > HYBRID_WALK_KERNEL_IPS)
		return false;
	if (bpf_probe_read_kernel(st->record.ips, nr * 8, (void *)chain + 8))
		return false;
	bpf_loop(nr, kernel_part, loop, 0);
	return true;
}

/* What the mappings that were looked up are of. */
static __always_inline void enter_space(struct state *st, struct task_struct___h *task,
					struct mm_struct___h *mm, __u32 seq)
{
	struct space space = {
		.mm		= (__u64)mm,
		.start_time	= BPF_CORE_READ(task, group_leader, start_time),
		.exec_id	= BPF_CORE_READ(task, self_exec_id),
		.tgid		= BPF_CORE_READ(task, tgid),
		.seq		= seq,
	};
	__u32 i;

	st->walk++;
	st->now.end = 0;
	if (st->space.mm == space.mm && st->space.start_time == space.start_time &&
	    st->space.exec_id == space.exec_id && st->space.tgid == space.tgid &&
	    st->space.seq == space.seq)
		return;
	st->space = space;
	for (i = 0; i < NR_MAPPINGS; i++)
		st->mappings[i].end = 0;
}

static __always_inline void walk(struct state *st, struct task_struct___h *task,
				 struct mm_struct___h *mm)
{
	struct loop loop = { .st = st, .mm = mm };
	__u32 seq = space_sequence(mm);

	/* In the middle of a change; later kernels count when it begins, too. */
	if (space_changes(mm)) {
		st->end = PERF_HYBRID_END_BUSY;
		return;
	}
	enter_space(st, task, mm, seq);
	st->end = PERF_HYBRID_END_LIMIT;
	bpf_loop(HYBRID_WALK_IPS, step, &loop, 0);
	if (st->end == PERF_HYBRID_END_OUTERMOST &&
	    (space_changes(mm) || space_sequence(mm) != seq))
		st->end = PERF_HYBRID_END_BUSY;
}

/*
 * May the stack be another's? execve() gives up the address space before it has another:
 * where vfork() had made the process, its parent runs on the stack meanwhile.
 */
static __always_inline bool may_be_overwritten(struct task_struct___h *task, __u32 flags)
{
	return flags & PF_FORKNOEXEC && BPF_CORE_READ(task, group_leader) == task;
}

/* The sample's registers and what else is written of it; false: nothing can be walked. */
static __always_inline bool begin(struct state *st, struct bpf_perf_event_data_kern___h *ctx,
				  struct task_struct___h *task)
{
	struct perf_sample_data___h *data = BPF_CORE_READ(ctx, data);
	struct pt_regs___h *user = BPF_CORE_READ(data, regs_user.regs);
	struct pt_regs___h *regs = BPF_CORE_READ(ctx, regs);
	__u32 flags = BPF_CORE_READ(task, flags);
	struct loop loop = { .st = st };
	bool in_user = (BPF_CORE_READ(regs, cs) & 3) == 3;

	if (BPF_CORE_READ(data, regs_user.abi) != PERF_SAMPLE_REGS_ABI_64 || !user ||
	    (BPF_CORE_READ(user, cs) & 0xffff) != USER_CS || flags & PF_KTHREAD)
		return false;
	st->record.head.ip = BPF_CORE_READ(data, ip);
	/* A guest's. */
	if (st->record.head.ip != BPF_CORE_READ(regs, ip))
		return false;
	st->record.head.nr_kernel = 0;
	if (!in_user && (may_be_overwritten(task, flags) ||
			 !copy_kernel_part(&loop, BPF_CORE_READ(data, callchain))))
		return false;
	st->record.head.misc = in_user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	st->record.head.time = BPF_CORE_READ(data, time);
	st->record.head.id = BPF_CORE_READ(data, id);
	st->record.head.period = BPF_CORE_READ(data, period);
	st->record.head.addr = BPF_CORE_READ(data, addr);
	st->ip = BPF_CORE_READ(user, ip);
	st->sp = BPF_CORE_READ(user, sp);
	st->bp = BPF_CORE_READ(user, bp);
	st->bp_known = true;
	st->exact = true;
	st->window_size = 0;
	st->nr = 0;
	return true;
}

/* Writes the record; the frames only where the chain is whole. */
static __always_inline bool write_record(void *ctx, struct state *st)
{
	__u64 size = sizeof(st->record.head);
	__u32 nr = st->record.head.nr_kernel + 1 + st->nr;

	st->record.head.info = st->end | PERF_HYBRID_INNERMOST_RULE << 8 | (st->nr & 0xffff) << 16;
	if (st->end == PERF_HYBRID_END_OUTERMOST)
		size += nr * 8;
	if (size > sizeof(st->record))
		return false;
	return !bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &st->record, size);
}

SEC("perf_event")
int hybrid_walk(void *ctx)
{
	struct task_struct___h *task = (void *)bpf_get_current_task();
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct state *st = bpf_map_lookup_elem(&states, &cpu);
	struct mm_struct___h *mm = BPF_CORE_READ(task, mm);

	if (!st)
		return 1;
	if (mm && begin(st, bpf_cast_to_kern_ctx(ctx), task)) {
		at = st->record.head.nr_kernel;
		if (at < HYBRID_WALK_IPS)
			st->record.ips[at] = st->ip;
		walk(st, task, mm);
		if (!write_record(ctx, st)) {
			st->counts.full++;
		} else if (st->end == PERF_HYBRID_END_OUTERMOST) {
			st->counts.whole++;
			return 0;
		}
	}
	st->counts.dumped++;
	return 1;
}

char _license[] SEC("license") = "Dual BSD/GPL";
