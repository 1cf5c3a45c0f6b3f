/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_OUTPUT_BPF_H
#define __HYBRID_OUTPUT_BPF_H

/*
 * Where the programs' records go: to an event of each CPU, whose ring is that of the
 * samples there. Or to one of each thread, where perf has rings of threads.
 */
#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} output SEC(".maps");

/* The same, but a record wakes perf, which else reads when there are many. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} waking SEC(".maps");

/*
 * How often perf is woken on a CPU, in ns: once in WAKE_EACH, but 8 times sooner if it was not for
 * long, as when a program begins; and always after WAKE_PAUSE.
 */
#define WAKE_EACH	20000000
#define WAKE_AHEAD	(8 * WAKE_EACH)
#define WAKE_PAUSE	2000000

/* Is perf to see the sample at once? Its walk has met a file that perf has not told of. */
static __always_inline bool is_urgent(struct state *st)
{
	__u64 now, next;

	if (!st->is_new_file)
		return false;
	now = bpf_ktime_get_ns();
	next = st->wake_next > now ? st->wake_next : now;
	if (next - now > WAKE_AHEAD || now - st->woken < WAKE_PAUSE)
		return false;
	st->wake_next = next + WAKE_EACH;
	st->woken = now;
	return true;
}

/* perf's: the events that samples are of have the number of their thread's ring with them. */
const volatile bool by_thread;

#endif /* __HYBRID_OUTPUT_BPF_H */
