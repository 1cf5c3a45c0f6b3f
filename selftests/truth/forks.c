// SPDX-License-Identifier: GPL-2.0
/*
 * A parent that runs short children: fork, vfork and exec of itself, each
 * child for about a millisecond.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "truth.h"

FN_A(void, child_leaf, (unsigned long n), "child_work")
{
	spin(n);
}

FN_B(void, child_work, (unsigned long n), "after_fork")
{
	spin(n);
	child_leaf(n);
}

FN_A(void, child_exit, (void), "after_fork libc")
{
	_exit(0);
}

FN_A(void, after_fork, (void), "run_fork")
{
	child_work(1000000);
	child_exit();
}

FN_B(pid_t, do_fork, (void), "run_fork libc")
{
	return fork();
}

FN_A(void, fork_wait, (pid_t pid), "run_fork libc")
{
	waitpid(pid, NULL, 0);
}

FN_A(void, run_fork, (void), "main")
{
	pid_t pid = do_fork();

	if (!pid)
		after_fork();
	fork_wait(pid);
}

/* The vfork child must not return from the function that called vfork(). */
FN_B(void, vfork_leaf, (unsigned long n), "do_vfork")
{
	spin(n);
}

FN_B(void, exec_self, (char **argv), "exec_child libc")
{
	execv("/proc/self/exe", argv);
	_exit(1);
}

FN_A(void, exec_child, (char **argv), "do_vfork")
{
	spin(1000);
	exec_self(argv);
}

FN_A(pid_t, do_vfork, (char **argv), "run_vfork libc")
{
	pid_t pid = vfork();

	if (!pid) {
		vfork_leaf(300000);
		exec_child(argv);
	}
	return pid;
}

FN_B(void, vfork_wait, (pid_t pid), "run_vfork libc")
{
	waitpid(pid, NULL, 0);
}

FN_B(void, run_vfork, (char *name), "main")
{
	char *argv[4] = { name };

	argv[1] = "0";
	argv[2] = "child";
	vfork_wait(do_vfork(argv));
}

/* What the parent does meanwhile, and the exec'ed child at all. */
FN_B(void, own_leaf, (unsigned long n), "own_work")
{
	spin(n);
}

FN_A(void, own_work, (unsigned long n), "main")
{
	spin(n);
	own_leaf(n);
}

#define SETUP() do {		\
	if (argc > 2)		\
		own_work(1000000);	\
} while (0)
#define CLEANUP() do { } while (0)

#define WORK() do {		\
	run_fork();		\
	run_vfork(argv[0]);	\
	own_work(500000);	\
} while (0)

#include "main.h"
