// SPDX-License-Identifier: GPL-2.0
/*
 * The process that opens files which may not answer: a perf of its own, which has nothing of perf
 * record's memory and none of its descriptors. It is no child of perf record: that waits for its
 * children, and ends when one does.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "../process/file-helper.h"
#include "helper.h"
#include "open-file.h"

/* The helper's socket; its other descriptors are /dev/null. */
#define SOCKET	3

/* Of the child that starts it, in bytes. */
#define STACK	65536

/* With perf record's memory, which waits: only system calls. */
static void run(int socket)
{
	static char *const argv[] = { (char *)"perf", (char *)HYBRID_HELPER_COMMAND, NULL };
	int null = open("/dev/null", O_RDWR), fd;

	for (fd = 0; fd < SOCKET; fd++)
		dup2(null, fd);
	if (socket == SOCKET)
		fcntl(socket, F_SETFD, 0);
	else
		dup2(socket, SOCKET);
	syscall(__NR_close_range, SOCKET + 1, ~0U, 0);
	setpriority(PRIO_PROCESS, 0, 0);
	execve("/proc/self/exe", argv, environ);
	_exit(1);
}

static int start(void *arg)
{
	int socket = *(int *)arg;
	pid_t pid = vfork();

	if (!pid)
		run(socket);
	_exit(pid < 0);
}

/* Whose child it is then ends at once, and without SIGCHLD. */
int hybrid_helper__start(int socket)
{
	char *stack = malloc(STACK);
	int status = 1;
	pid_t pid;

	if (!stack)
		return -1;
	pid = clone(start, stack + STACK, CLONE_VM | CLONE_VFORK, &socket);
	if (pid > 0 && waitpid(pid, &status, __WCLONE) != pid)
		status = 1;
	free(stack);
	return status ? -1 : 0;
}

void hybrid_helper__run(int argc, const char **argv)
{
	if (argc != 2 || strcmp(argv[1], HYBRID_HELPER_COMMAND))
		return;
	/* It would be that of the link that was executed, "exe". */
	prctl(PR_SET_NAME, "perf-files");
	hybrid_helper_main(SOCKET, hybrid_open_live);
}
