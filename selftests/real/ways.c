// SPDX-License-Identifier: GPL-2.0
/*
 * A system call, again and again, from one place, by functions without a frame pointer: ways.sh.
 */
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int inner(int nr)
{
	usleep(2000);
	return getppid() + nr;
}

__attribute__((noinline)) static int middle(int nr)
{
	return inner(nr + 1) + 1;
}

__attribute__((noinline)) static int outer(int nr)
{
	return middle(nr + 1) + 1;
}

int main(void)
{
	const time_t stop = time(NULL) + 240;
	int sum = 0;

	while (time(NULL) < stop)
		sum += outer(1);
	return sum == 1;
}
