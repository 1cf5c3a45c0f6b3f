// SPDX-License-Identifier: GPL-2.0
/*
 * Fibers whose first return address is one that nobody returns to. A chain of a sample
 * is fiber_leaf(), fiber_work(), fiber_entry(), and nothing outside of that.
 *
 * usage: fibers KIND SECONDS
 *
 * KIND says which address the fiber's first function finds as its return address:
 *
 *	abort	that of abort()
 *	helper	that of a function of the program
 *	behind	that of a function that stands right behind a call that does not return
 *	zero	0, and zeros above it
 *	boost	what Boost.Context puts there
 *	heap	that of abort(); the stacks are pieces of the heap, and have no page to themselves
 *	context	what makecontext() puts there
 *	threads	that of abort(); two threads run the fibers in turn
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include "fibers.h"

#define STACK_SIZE	(1 << 16)
#define NR_FIBERS	4
#define HEAP_SIZE	6000

/* Words on a new fiber's stack: six registers, the entry, its return address. */
#define NEW_WORDS	8

static void *main_stack, *fiber_stacks[NR_FIBERS];
static ucontext_t main_context, contexts[NR_FIBERS];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int current;
static int is_boost, is_heap, is_context, is_threads;
static double end;

__attribute__((noipa)) void fiber_yield(void)
{
	struct transfer back;

	if (is_context) {
		swapcontext(&contexts[current], &main_context);
		return;
	}
	if (!is_boost) {
		fiber_switch(&fiber_stacks[current], main_stack);
		return;
	}
	back = jump_fcontext(main_stack, NULL);
	main_stack = back.context;
}

__attribute__((noipa)) void fiber_leaf(void)
{
	unsigned long n = 2000000;

	asm volatile("1:\tsub $1, %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

__attribute__((noipa)) void fiber_work(void)
{
	fiber_leaf();
	asm volatile("");
}

__attribute__((noipa)) void fiber_entry(void)
{
	for (;;) {
		fiber_work();
		fiber_yield();
	}
}

__attribute__((noipa)) void boost_entry(struct transfer from)
{
	main_stack = from.context;
	fiber_entry();
	asm volatile("");
}

static uint64_t first_return(const char *kind)
{
	if (!strcmp(kind, "abort") || is_heap || is_threads)
		return (uintptr_t)abort;
	if (!strcmp(kind, "helper"))
		return (uintptr_t)fiber_done;
	if (!strcmp(kind, "behind"))
		return (uintptr_t)fiber_behind;
	if (!strcmp(kind, "zero"))
		return 0;
	fprintf(stderr, "fibers: no kind %s\n", kind);
	exit(2);
}

/* The words above the first return address are what libraries leave there: nothing. */
static void create(int nr, uint64_t ret)
{
	size_t size = is_heap ? HEAP_SIZE : STACK_SIZE;
	char *stack = is_heap ? malloc(size) : mmap(NULL, size, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *words = (uint64_t *)(stack + size / 16 * 16) - NEW_WORDS - 6;

	if (!stack || stack == MAP_FAILED) {
		perror("fibers: stack");
		exit(1);
	}
	if (is_context) {
		getcontext(&contexts[nr]);
		contexts[nr].uc_stack.ss_sp = stack;
		contexts[nr].uc_stack.ss_size = size;
		contexts[nr].uc_link = &main_context;
		makecontext(&contexts[nr], fiber_entry, 0);
		return;
	}
	if (is_boost) {
		fiber_stacks[nr] = make_fcontext(stack + STACK_SIZE, STACK_SIZE, boost_entry);
		return;
	}
	words[6] = (uintptr_t)fiber_entry;
	words[7] = ret;
	fiber_stacks[nr] = words;
}

static void resume(int nr)
{
	struct transfer from;

	current = nr;
	if (is_context) {
		swapcontext(&main_context, &contexts[nr]);
		return;
	}
	if (!is_boost) {
		fiber_switch(&main_stack, fiber_stacks[nr]);
		return;
	}
	from = jump_fcontext(fiber_stacks[nr], NULL);
	fiber_stacks[nr] = from.context;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *run(void *unused)
{
	static int next;

	(void)unused;
	while (now() < end) {
		pthread_mutex_lock(&turn);
		resume(next++ % NR_FIBERS);
		pthread_mutex_unlock(&turn);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: fibers KIND SECONDS\n");
		return 2;
	}
	is_boost = !strcmp(argv[1], "boost");
	is_heap = !strcmp(argv[1], "heap");
	is_context = !strcmp(argv[1], "context");
	is_threads = !strcmp(argv[1], "threads");
#ifdef NO_BOOST
	if (is_boost) {
		fprintf(stderr, "fibers: built without Boost.Context: libboost-context-dev\n");
		return 2;
	}
#endif
	for (i = 0; i < NR_FIBERS; i++)
		create(i, is_boost || is_context ? 0 : first_return(argv[1]));
	end = now() + atof(argv[2]);
	if (is_threads && pthread_create(&other, NULL, run, NULL))
		return 1;
	run(NULL);
	if (is_threads)
		pthread_join(other, NULL);
	return 0;
}
