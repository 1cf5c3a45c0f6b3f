// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include "priority.h"

/*
 * Above what desktop programs give to threads of their own (-8), and below audio servers,
 * which miss their time else (-11).
 */
#define NICE	(-10)

/* On Linux both are of a thread; 0: of this one. */
bool hybrid_priority_raise_thread(pid_t tid)
{
	errno = 0;
	if (getpriority(PRIO_PROCESS, tid) || errno || sched_getscheduler(tid) != SCHED_OTHER)
		return false;
	return !setpriority(PRIO_PROCESS, tid, NICE);
}

bool hybrid_priority_raise(void)
{
	return hybrid_priority_raise_thread(0);
}

void hybrid_priority_restore(bool *raised)
{
	if (*raised)
		setpriority(PRIO_PROCESS, 0, 0);
	*raised = false;
}
