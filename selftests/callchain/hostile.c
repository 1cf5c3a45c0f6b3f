// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks and user code that lie, for a kernel that walks them while this
 * runs: one thread for each lie, for a number of seconds.
 *
 * usage: hostile SECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <sys/mman.h>

#define PAGE		4096UL
#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

static bool stop;
static void *trampoline;
/* All have their memory: into the hole that unmapped() makes, more could come. */
static pthread_barrier_t ready;

/* Loops with rbp and rsp as given; nothing touches the stack meanwhile. */
static void spin(uintptr_t bp, uintptr_t sp)
{
	asm volatile("mov %%rsp, %%r12\n\t"
		     "mov %%rbp, %%r13\n\t"
		     "mov %0, %%rax\n\t"
		     "mov %1, %%rcx\n\t"
		     "mov $100000, %%edx\n\t"
		     "mov %%rax, %%rbp\n\t"
		     "test %%rcx, %%rcx\n\t"
		     "cmovnz %%rcx, %%rsp\n\t"
		     "1: dec %%edx\n\t"
		     "jnz 1b\n\t"
		     "mov %%r13, %%rbp\n\t"
		     "mov %%r12, %%rsp"
		     : : "r" (bp), "r" (sp)
		     : "rax", "rcx", "rdx", "r12", "r13", "memory", "cc");
}

static void *page_new(int prot)
{
	void *page = mmap(NULL, 2 * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return page;
}

/* Frames that point to themselves, to each other, backwards, into the void. */
static void *bad_frames(void *unused)
{
	uintptr_t *page = page_new(PROT_READ | PROT_WRITE);
	const uintptr_t nowhere[] = {
		0, 1, 7, 0xffffffff81000000UL, 0xffff888000000000UL, 0xffffffffff600000UL,
		0x8000000000000000UL, 0x0000800000000000UL, 0x00007ffffffffff8UL, ~0UL, ~7UL,
		PAGE, (uintptr_t)page + 2 * PAGE - 8, (uintptr_t)page + 3,
	};
	size_t i;

	mprotect((char *)page + PAGE, PAGE, PROT_NONE);
	page[0] = (uintptr_t)page;
	page[1] = (uintptr_t)spin;
	page[2] = (uintptr_t)&page[4];
	page[3] = (uintptr_t)trampoline;
	page[4] = (uintptr_t)&page[2];
	page[5] = 0xffffffff81000000UL;
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		spin((uintptr_t)page, 0);
		spin((uintptr_t)&page[2], 0);
		for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
			page[6] = nowhere[i];
			page[7] = nowhere[i];
			spin(nowhere[i], 0);
			spin((uintptr_t)&page[6], 0);
			spin(0, nowhere[i]);
			spin((uintptr_t)page, (uintptr_t)page + (i & 15));
		}
	}
	return unused;
}

/* Signal frames in a circle: each says that it interrupted its trampoline. */
static void *signal_frames(void *unused)
{
	uintptr_t *frame = page_new(PROT_READ | PROT_WRITE);
	ucontext_t *uc = (ucontext_t *)&frame[2];

	frame[0] = (uintptr_t)frame;
	frame[1] = (uintptr_t)trampoline;
	uc->uc_mcontext.gregs[REG_CSGSFS] = 0x33;
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uc->uc_mcontext.gregs[REG_RIP] = (uintptr_t)trampoline;
		uc->uc_mcontext.gregs[REG_RSP] = (uintptr_t)uc;
		uc->uc_mcontext.gregs[REG_RBP] = (uintptr_t)frame;
		spin((uintptr_t)frame, (uintptr_t)&frame[1]);
		uc->uc_mcontext.gregs[REG_RIP] = 0xffffffff81000000UL;
		uc->uc_mcontext.gregs[REG_RSP] = 0xffffffff82000000UL;
		spin((uintptr_t)frame, (uintptr_t)uc);
		uc->uc_mcontext.gregs[REG_RIP] = (uintptr_t)spin;
		uc->uc_mcontext.gregs[REG_RSP] = ~0UL - 15;
		spin((uintptr_t)frame, 0);
	}
	return unused;
}

/* The frames are unmapped and mapped again while another thread stands on them. */
static uintptr_t *shared;

static void *unmapped(void *unused)
{
	__atomic_store_n(&shared, page_new(PROT_READ | PROT_WRITE), __ATOMIC_RELEASE);
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		munmap(shared, PAGE);
		mmap(shared, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		shared[0] = (uintptr_t)shared;
		shared[1] = (uintptr_t)spin + 64;
	}
	return unused;
}

static void *on_unmapped(void *unused)
{
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		spin((uintptr_t)shared, (uintptr_t)shared + 8);
	return unused;
}

/*
 * A loop at the end of a page, with random code behind it that is rewritten,
 * ahead of which an analysis would look; sometimes only executable.
 */
static void *rewritten(void *unused)
{
	static const unsigned char loop[] = {
		0xba, 0x00, 0x00, 0x01, 0x00,	/* mov $65536, %edx */
		0xff, 0xca,			/* 1: dec %edx */
		0x75, 0xfc,			/* jne 1b */
		0xc3,				/* ret */
	};
	unsigned char *code = page_new(PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned int seed = 1, at, i;

	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		mprotect(code, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		for (i = 0; i < 2 * PAGE; i++)
			code[i] = rand_r(&seed) >> 7;
		at = PAGE - 1 - rand_r(&seed) % 64;
		memcpy(code + at, loop, sizeof(loop));
		if (rand_r(&seed) & 1)
			mprotect(code, 2 * PAGE, PROT_EXEC);
		((void (*)(void))(code + at))();
	}
	return unused;
}

/*
 * A loop with branches behind it, more than an analysis looks at, into a page that can't be
 * read: each is a read that fails. None is ever taken. The loop's count changes, so that no
 * answer is kept.
 */
static void *beside_unreadable(void *unused)
{
	enum { BRANCHES = 1400, PAGES = 3 };
	static const unsigned char loop[] = {
		0xba, 0x00, 0x10, 0x00, 0x00,	/* mov $4096, %edx */
		0xff, 0xca,			/* 1: dec %edx */
		0x75, 0xfc,			/* jne 1b */
	};
	unsigned char *code = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at = code, count = 0;
	int i, to;

	if (code == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	mprotect(code + PAGES * PAGE, PAGE, PROT_NONE);
	memcpy(at, loop, sizeof(loop));
	at += sizeof(loop);
	for (i = 0; i < BRANCHES; i++, at += 6) {
		to = code + PAGES * PAGE + i - (at + 6);
		memcpy(at, "\x0f\x85", 2);
		memcpy(at + 2, &to, sizeof(to));
	}
	*at = 0xc3;
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		code[1] = count++;
		((void (*)(void))code)();
	}
	return unused;
}

static void find_trampoline(int sig)
{
	(void)sig;
	trampoline = __builtin_return_address(0);
}

int main(int argc, char **argv)
{
	static void *(*const lies[])(void *) = {
		bad_frames, signal_frames, unmapped, on_unmapped, rewritten, beside_unreadable,
	};
	pthread_t threads[ARRAY_SIZE(lies)];
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	size_t i;

	if (seconds < 1) {
		fprintf(stderr, "usage: hostile SECONDS\n");
		return 2;
	}
	signal(SIGUSR1, find_trampoline);
	raise(SIGUSR1);
	pthread_barrier_init(&ready, NULL, ARRAY_SIZE(lies));
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		if (pthread_create(&threads[i], NULL, lies[i], NULL)) {
			fprintf(stderr, "hostile: no more threads\n");
			return 2;
		}
	}
	sleep(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(lies); i++)
		pthread_join(threads[i], NULL);
	return 0;
}
