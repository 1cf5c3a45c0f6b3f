/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef UTIL_BPF_SKEL_OFF_CPU_DATA_H
#define UTIL_BPF_SKEL_OFF_CPU_DATA_H

#define MAX_STACKS   32

// We have a 'struct stack' in vmlinux.h when building with GEN_VMLINUX_H=1
struct __stack {
	u64 array[MAX_STACKS];
};

/**
 * struct tstamp_data - a task that sleeps
 * @stack_id: of its callchain; where chains_are_left, 0: it is a sample of its own
 * @state: of the task
 * @timestamp: when it went to sleep; 0: it does not
 * @stack: its callchain, for a sample of its own, up to an address that is 0
 */
struct tstamp_data {
	__u32 stack_id;
	__u32 state;
	__u64 timestamp;
	struct __stack stack;
};

#endif
