/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_WALK_BPF_H
#define __HYBRID_WALK_BPF_H

/*
 * The walk of a task's user stack, of the task that runs: from its registers to the
 * outermost frame, or to where it ends.
 */
#include "frame.bpf.h"

/*
 * May the stack be another's? execve() gives up the address space before it has another,
 * and so does a task that exits: where vfork() had made the process, its parent runs on
 * the stack meanwhile.
 */
static __always_inline bool may_be_overwritten(struct task_struct___h *task,
					       struct pt_regs___h *user)
{
	__u32 flags = task->flags;
	__u64 call = user->orig_ax;

	return flags & PF_FORKNOEXEC && task->pid == task->tgid &&
	       (flags & PF_EXITING || call == NR_EXECVE || call == NR_EXECVEAT);
}

/* Has it a stack of the kind that is walked? */
static __always_inline bool is_walkable(struct task_struct___h *task, struct pt_regs___h *user)
{
	return (user->cs & 0xffff) == HYBRID_USER_CS && !may_be_overwritten(task, user);
}

/* The walk is to begin at a task's user registers. */
static __always_inline void begin_at(struct state *st, struct pt_regs___h *user)
{
	st->regs = (__u64)user;
	st->ip = user->ip;
	st->sp = user->sp;
	st->bp = user->bp;
	st->bp_known = true;
	st->first_cfa = 0;
	st->exact = true;
	st->window_size = 0;
	st->code_key.space = 0;
	st->nr = 0;
	st->nr_functions = 0;
	st->nr_interpreted = 0;
	st->nr_untold = 0;
	st->nr_parts = 0;
	st->is_whole = false;
	st->last_function = 0;
	st->code_hash = 0;
	st->is_new_file = 0;
	st->unknown = 0;
	if (any_interpreters)
		st->moment = bpf_ktime_get_ns() >> MARK_TIME;
}

/* Walks of a task's stack may take this share of the task's time, in percent. */
#define TIME_SHARE	50

/*
 * How much walks may take at once, in ns. The scheduler updates a task's run time at each tick, and
 * two ticks are 10 ms apart at most.
 */
#define TIME_AT_ONCE	20000000LL

static __always_inline struct task_time *time_of(struct state *st, struct task_struct___h *task)
{
	return &st->times[(__u32)task->pid % NR_TASK_TIMES];
}

/*
 * Adds the share of the time that the task has run since its last walk, and returns whether it may
 * be walked now. If the task was not switched out since then it has run all the time. The
 * scheduler's figure may be one tick old, and is only used if the task was switched out.
 */
static __always_inline bool has_time(struct state *st, struct task_struct___h *task)
{
	__u64 now = bpf_ktime_get_ns(), switches = task->nvcsw + task->nivcsw;
	struct task_time *time = time_of(st, task);
	__u64 ran = now - time->began;

	if (time->pid != task->pid)
		time->left = TIME_AT_ONCE;
	else if (time->switches != switches && ran > task->se.sum_exec_runtime - time->ran)
		ran = task->se.sum_exec_runtime - time->ran;
	if (ran > TIME_AT_ONCE)
		ran = TIME_AT_ONCE;
	time->left += ran * TIME_SHARE / 100;
	if (time->left > TIME_AT_ONCE)
		time->left = TIME_AT_ONCE;
	time->pid = task->pid;
	time->began = now;
	time->ran = task->se.sum_exec_runtime;
	time->switches = switches;
	return time->left > 0;
}

/* Subtracts what the walk took, with the record that was written of it. */
static __always_inline void take_time(struct state *st, struct task_struct___h *task)
{
	struct task_time *time = time_of(st, task);

	time->left -= bpf_ktime_get_ns() - time->began;
}

/* What the mappings that were looked up are of. */
static __always_inline void enter_space(struct state *st, struct task_struct___h *task,
					struct mm_struct___h *mm, __u32 seq)
{
	/* There is little room on the program's stack. */
	struct space *space = &st->entered;
	__u32 i;

	/* As a number: the verifier does not let the pointer be reckoned with. */
	*(volatile __u64 *)&space->mm = (__u64)mm;
	st->mm = READ_WORD(&space->mm);
	space->start_time = task->group_leader->start_time;
	space->exec_id = task->self_exec_id;
	space->tgid = task->tgid;
	space->seq = seq;
	st->walk++;
	st->changes = (__u64)*(volatile __u32 *)&table_changes << ROW_PLACE_BITS;
	st->code_key.space = space_number(space);
	st->now.end = 0;
	st->locked = false;
	enter_compiled(st);
	enter_languages(st);
	st->fibers = any_fibers && is_fiber_key(st, 0, HYBRID_WALK_FIBER);
	if (has_sequence(mm) && !st->changing &&
	    st->space.mm == READ_WORD(&space->mm) && st->space.seq == space->seq &&
	    st->space.start_time == space->start_time && st->space.exec_id == space->exec_id &&
	    st->space.tgid == space->tgid)
		return;
	st->space = *space;
	for (i = 0; i < NR_MAPPINGS; i++)
		st->mappings[i].end = 0;
}

static __always_inline void walk(struct state *st, struct task_struct___h *task,
				 struct mm_struct___h *mm)
{
	struct loop loop = { .st = st };
	__u32 seq = space_sequence(mm);

	/* In the middle of a change, which may be of mappings that the walk does not need. */
	st->changing = space_changes(mm);
	enter_space(st, task, mm, seq);
	st->end = PERF_UNWIND_END_LIMIT;
	bpf_loop(HYBRID_WALK_IPS, step, &loop, 0);
	if (st->end == PERF_UNWIND_END_NO_RULE)
		st->unknown = st->ip;
	if (st->locked || (st->end == PERF_UNWIND_END_OUTERMOST &&
			   ((!st->changing && space_changes(mm)) || space_sequence(mm) != seq)))
		st->end = PERF_UNWIND_END_BUSY;
}

#endif /* __HYBRID_WALK_BPF_H */
