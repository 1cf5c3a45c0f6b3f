/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PRIORITY_H
#define __PERF_HYBRID_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * hybrid_priority_raise - have this thread, and those it starts, run before the workload
 *
 * Rings are of a fixed size: while the thread that empties them waits for a processor behind
 * those that are sampled, which may have raised their own priority, there is no room for
 * stacks. Only where the kernel allows it (CAP_SYS_NICE, RLIMIT_NICE), and nobody has chosen
 * a nice value or another policy for perf.
 *
 * Return: true where it is done, for hybrid_priority_restore().
 */
bool hybrid_priority_raise(void);

/* The same for another thread of perf; that one calls hybrid_priority_restore(). */
bool hybrid_priority_raise_thread(pid_t tid);

/**
 * hybrid_priority_restore - this thread is as it was
 * @raised: what hybrid_priority_raise() has returned; false from now on
 */
void hybrid_priority_restore(bool *raised);

#endif /* __PERF_HYBRID_PRIORITY_H */
