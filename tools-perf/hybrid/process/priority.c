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

bool hybrid_priority_raise(void)
{
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) || errno || sched_getscheduler(0) != SCHED_OTHER)
		return false;
	return !setpriority(PRIO_PROCESS, 0, NICE);
}

void hybrid_priority_restore(bool *raised)
{
	if (*raised)
		setpriority(PRIO_PROCESS, 0, 0);
	*raised = false;
}
