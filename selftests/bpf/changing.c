// SPDX-License-Identifier: GPL-2.0
/*
 * Nearly all the time in system calls that change the mappings. Another thread splits
 * the mapping of the code that the first one runs, and has it merged again: a page of
 * it that holds no code is made unexecutable and executable in turns.
 *
 * usage: changing SECONDS [split]
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "clock.h"

#define PAGE	4096
#define SIZE	(16 * PAGE)

/* A page of its own, with code on both sides. */
asm(".text\n\t.balign 4096\nchanging_page:\n\t.fill 4096, 1, 0xcc");

static void *split(void *arg)
{
	void *page;

	asm("lea changing_page(%%rip), %0" : "=r" (page));
	while (1) {
		mprotect(page, PAGE, PROT_READ);
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	}
	return arg;
}

__attribute__((noipa)) void changing_leaf(void)
{
	char *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		abort();
	mprotect(map + SIZE / 2, PAGE, PROT_READ);
	munmap(map, SIZE);
}

__attribute__((noipa)) void changing_middle(int n)
{
	while (n--)
		changing_leaf();
	asm volatile("");
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);
	pthread_t thread;

	if (argc > 2 && pthread_create(&thread, NULL, split, NULL))
		return 1;
	while (now() < end)
		changing_middle(1000);
	return 0;
}
