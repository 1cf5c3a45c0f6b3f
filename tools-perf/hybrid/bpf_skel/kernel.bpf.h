/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_KERNEL_BPF_H
#define __HYBRID_KERNEL_BPF_H

/*
 * What the BPF program reads of the kernel: the members that it needs of each
 * structure, found by name when it is loaded, and constants that BTF does not have.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PF_EXITING	0x00000004
#define PF_FORKNOEXEC	0x00000040
#define PF_USER_WORKER	0x00004000
#define PF_KTHREAD	0x00200000
#define VM_WRITE	0x2
#define VM_EXEC		0x4
#define NR_EXECVE	59
#define NR_EXECVEAT	322
#define WRITER_LOCKED	1
#define CTIME_NSEC	0x7fffffff
#define PAGE		4096ULL
/* At most. */
#define THREAD_STACK	(32 * 1024ULL)
/* Functions that run before a task's registers are in their place. */
#define ENTRY_DEPTH	4
/* PERF_EFLAGS_EXACT: the driver's, as the processor has no such flag. */
#define EFLAGS_EXACT	(1 << 3)

#define PERF_HES_STOPPED 1

#define E2BIG		7
#define EFAULT		14
#define ENOSPC		28

/* A maple tree is no deeper than this. */
#define MAX_DEPTH	10

struct pt_regs___h {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
} __attribute__((preserve_access_index));

struct perf_callchain_entry___h {
	__u64 nr;
	__u64 ip[0];
} __attribute__((preserve_access_index));

struct perf_sample_data___h {
	__u64 sample_flags;
	__u64 period;
	__u64 time;
	__u64 id;
	__u64 ip;
	struct perf_callchain_entry___h *callchain;
	__u64 addr;
} __attribute__((preserve_access_index));

/*
 * What a program of an event is given, as the verifier has it: the registers are those that the
 * sample has, and the words of struct pt_regs.
 */
struct sampled {
	__u64 regs[21];
	__u64 period;
	__u64 addr;
};

#define REGS_IP		16
#define REGS_CS		17
#define REGS_FLAGS	18
#define REGS_SP		19

struct bpf_prog_aux___h {
	__u32 id;
} __attribute__((preserve_access_index));

struct bpf_prog___h {
	struct bpf_prog_aux___h *aux;
} __attribute__((preserve_access_index));

struct hrtimer___h {
	void *function;
} __attribute__((preserve_access_index));

struct hw_perf_event___h {
	struct hrtimer___h hrtimer;
	int state;
} __attribute__((preserve_access_index));

struct perf_event_attr___h {
	__u32 type;
} __attribute__((preserve_access_index));

enum perf_event_state___h {
	EVENT_ACTIVE = 1,
};

struct perf_buffer___h {
	struct perf_event_mmap_page *user_page;
} __attribute__((preserve_access_index));

struct pmu___h {
	const char *name;
} __attribute__((preserve_access_index));

struct perf_event___h {
	struct pmu___h *pmu;
	struct perf_event___h *parent;
	struct perf_buffer___h *rb;
	__u64 id;
	enum perf_event_state___h state;
	struct perf_event_attr___h attr;
	struct hw_perf_event___h hw;
	struct bpf_prog___h *prog;
} __attribute__((preserve_access_index));

struct bpf_perf_event_data_kern___h {
	struct pt_regs___h *regs;
	struct perf_sample_data___h *data;
	struct perf_event___h *event;
} __attribute__((preserve_access_index));

struct inode___h {
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
} __attribute__((preserve_access_index));

/* Before Linux 6.11. */
struct inode___6_10 {
	struct {
		__s64 tv_sec;
		long tv_nsec;
	} __i_ctime;
} __attribute__((preserve_access_index));

/* Before Linux 6.6. */
struct inode___6_5 {
	struct {
		__s64 tv_sec;
		long tv_nsec;
	} i_ctime;
} __attribute__((preserve_access_index));

struct address_space___h {
	struct {
		int counter;
	} i_mmap_writable;
} __attribute__((preserve_access_index));

struct file___h {
	struct inode___h *f_inode;
	struct address_space___h *f_mapping;
} __attribute__((preserve_access_index));

struct vm_area_struct___h {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct___h *vm_mm;
	unsigned long vm_flags;
	void *anon_vma;
	unsigned long vm_pgoff;
	struct file___h *vm_file;
	unsigned int vm_lock_seq;
} __attribute__((preserve_access_index));

struct maple_tree___h {
	void *ma_root;
} __attribute__((preserve_access_index));

struct mm_context___h {
	void *vdso;
} __attribute__((preserve_access_index));

struct rw_semaphore___h {
	atomic_long_t count;
} __attribute__((preserve_access_index));

struct mm_struct___h {
	struct maple_tree___h mm_mt;
	struct rw_semaphore___h mmap_lock;
	struct {
		unsigned int sequence;
	} mm_lock_seq;
	struct mm_context___h context;
	int map_count;
	unsigned long total_vm;
	unsigned long exec_vm;
} __attribute__((preserve_access_index));

/* Before Linux 6.13, or what has that from there. */
struct mm_struct___6_12 {
	int mm_lock_seq;
} __attribute__((preserve_access_index));

struct thread_struct___h {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

/* include/linux/sched.h. */
struct sched_entity___h {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct___h {
	unsigned int flags;
	struct sched_entity___h se;
	int pid;
	int tgid;
	struct mm_struct___h *mm;
	struct task_struct___h *group_leader;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_time;
	__u64 self_exec_id;
	struct thread_struct___h thread;
} __attribute__((preserve_access_index));

/* include/linux/maple_tree.h; 256 bytes, as words. */
#define NODE_WORDS	32
#define NODE_PIVOTS	1
#define NODE_LEAF	1
#define NODE_ARANGE	3
#define RANGE_SLOTS	16
#define ARANGE_SLOTS	10

#endif /* __HYBRID_KERNEL_BPF_H */
