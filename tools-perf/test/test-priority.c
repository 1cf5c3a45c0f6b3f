// SPDX-License-Identifier: GPL-2.0
/*
 * The priority of perf's own thread: raised if nobody has set it, and never twice.
 */
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "priority.h"
#include "tap.h"

/* What perf gives itself. */
#define RAISED	(-10)

static int nice_of(pid_t tid)
{
	return getpriority(PRIO_PROCESS, tid);
}

/*
 * Has a process of its own the result that is to be? It begins with the usual priority, if that is
 * allowed: tests may run at a lower one.
 */
static bool in_child(bool (*run)(void))
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		setpriority(PRIO_PROCESS, 0, 0);
		_exit(!run());
	}
	waitpid(pid, &status, 0);
	return !status;
}

static bool may_raise(void)
{
	return !setpriority(PRIO_PROCESS, 0, RAISED);
}

static bool starts_at_0(void)
{
	return !nice_of(0) && sched_getscheduler(0) == SCHED_OTHER;
}

/* Raised if that is allowed; then it is no more what nobody has set. */
static bool is_raised(void)
{
	return hybrid_priority_raise() && nice_of(0) == RAISED && !hybrid_priority_raise() &&
	       nice_of(0) == RAISED;
}

static bool is_restored(void)
{
	bool raised = hybrid_priority_raise();

	if (!raised)
		return false;
	hybrid_priority_restore(&raised);
	if (raised || nice_of(0))
		return false;
	/* Once: what another has set since stays. */
	setpriority(PRIO_PROCESS, 0, 3);
	hybrid_priority_restore(&raised);
	return nice_of(0) == 3;
}

static bool is_set(void)
{
	setpriority(PRIO_PROCESS, 0, 5);
	return !hybrid_priority_raise() && nice_of(0) == 5;
}

static bool is_batch(void)
{
	const struct sched_param param = {};

	return !sched_setscheduler(0, SCHED_BATCH, &param) && !hybrid_priority_raise() &&
	       !nice_of(0);
}

/* Another thread, by its number; this one stays. */
static bool is_another(void)
{
	pid_t parent = getpid(), pid = fork();
	bool raised;

	if (!pid)
		_exit(pause());
	raised = hybrid_priority_raise_thread(pid) && nice_of(pid) == RAISED && !nice_of(parent);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* And one that is gone. */
	return raised && !hybrid_priority_raise_thread(pid);
}

static void raised(void)
{
	bool may = in_child(may_raise) && in_child(starts_at_0);

	same(in_child(is_raised), may);
	same(in_child(is_restored), may);
	same(in_child(is_another), may);
}

static void not_raised(void)
{
	check(in_child(is_set));
	if (in_child(starts_at_0))
		check(in_child(is_batch));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "priority: raised and restored", raised },
		{ "priority: set by somebody", not_raised },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
