/* SPDX-License-Identifier: GPL-2.0 */
/* The state of the kernel that walk-kernel.h declares: one CPU and one task. */
#ifndef _WALK_STATE_H
#define _WALK_STATE_H

static struct mm_struct mm;
struct task_struct walk_task = { .mm = &mm };
struct pt_regs walk_regs;
int walk_preempt_count, walk_allocated, walk_kept_gfp;
void *walk_kept;
size_t walk_kept_size;
u64 walk_read_ns, walk_clock;
bool walk_is_measured, walk_in_nmi = true, walk_no_memory, walk_uaccess_okay = true, walk_guest;
int walk_no_faults;
const struct ctl_table *walk_sysctl;
unsigned int walk_nr_sysctl;

#endif /* _WALK_STATE_H */
