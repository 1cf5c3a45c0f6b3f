// SPDX-License-Identifier: GPL-2.0
/*
 * For perf record --off-cpu: one function sleeps for two callers with frames that look the
 * same, for one of them longer, and they take turns in no order. At the end it says how
 * often each of them did, and for how many ms in all. Meanwhile children sleep that are
 * killed, and others that run another program.
 * usage: sleepers SECONDS
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"

static unsigned long slept[2];

__attribute__((noipa, noinline)) static void sleepers_leaf(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
	asm volatile("");
}

__attribute__((noipa, noinline)) static void sleepers_short(void)
{
	sleepers_leaf(1);
	slept[0]++;
}

__attribute__((noipa, noinline)) static void sleepers_long(void)
{
	sleepers_leaf(20);
	slept[1]++;
}

__attribute__((noipa, noinline)) static void sleepers_killed(void)
{
	int pid = fork();

	if (!pid) {
		sleepers_leaf(100000);
		_exit(1);
	}
	usleep(30000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

__attribute__((noipa, noinline)) static void sleepers_exec(void)
{
	int pid = fork();

	if (!pid) {
		usleep(1000);
		execlp("sleep", "sleep", "0.02", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	double end = now() + atof(argv[argc - 1]);
	unsigned int turn = 1;

	while (now() < end) {
		turn = turn * 1103515245 + 12345;
		if (turn >> 16 & 1)
			sleepers_short();
		else
			sleepers_long();
		if ((turn >> 17 & 31) == 0)
			sleepers_killed();
		if ((turn >> 17 & 31) == 1)
			sleepers_exec();
	}
	printf("slept %lu short, %lu long\n", slept[0], slept[1]);
	return 0;
}
