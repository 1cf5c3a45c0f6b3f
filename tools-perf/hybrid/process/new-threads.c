// SPDX-License-Identifier: GPL-2.0
/* Which threads a recording meets for the first time. */
#include <linux/types.h>
#include "new-threads.h"

static pid_t *place_of(struct hybrid_new_threads *threads, pid_t tid)
{
	return &threads->ids[(u32)tid % HYBRID_NEW_THREADS];
}

void hybrid_new_threads_begun(struct hybrid_new_threads *threads, pid_t tid)
{
	*place_of(threads, tid) = -tid;
}

enum hybrid_new_thread hybrid_new_threads_meet(struct hybrid_new_threads *threads, pid_t pid,
					       pid_t tid)
{
	pid_t *place = place_of(threads, tid);
	bool begun = *place == -tid;

	if (tid == pid || *place == tid)
		return HYBRID_THREAD_MET;
	*place = tid;
	return begun ? HYBRID_THREAD_BEGUN : HYBRID_THREAD_OLD;
}
