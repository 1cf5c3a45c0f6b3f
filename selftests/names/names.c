// SPDX-License-Identifier: GPL-2.0
/* Computes for some seconds in a thread whose name is hard on those who print it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/prctl.h>

__attribute__((noipa)) void names_leaf(unsigned long *sum)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		*sum = *sum * 31 + i;
}

int main(int argc, char **argv)
{
	struct timespec now, end;
	unsigned long sum = 0;

	if (argc != 3 || prctl(PR_SET_NAME, argv[2]))
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += atoi(argv[1]);
	do {
		names_leaf(&sum);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	printf("%lu\n", sum);
	return 0;
}
