/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_OUTPUT_BPF_H
#define __HYBRID_OUTPUT_BPF_H

/*
 * Where the programs' records go: to an event of each CPU, whose ring is that of the
 * samples there. Or to one of each thread, where perf has rings of threads.
 */
#include "state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} output SEC(".maps");

/* perf's: the events that samples are of have the number of their thread's ring with them. */
const volatile bool by_thread;

#endif /* __HYBRID_OUTPUT_BPF_H */
