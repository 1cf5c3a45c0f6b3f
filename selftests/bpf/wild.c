// SPDX-License-Identifier: GPL-2.0
/*
 * A program that lies to whoever walks its stack: its stack pointer and frame pointer are
 * anything, and so is what they point to, each for some microseconds.
 * usage: wild SECONDS [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "clock.h"

#define PAGE	4096
#define PAGES	32

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static uint64_t state;
static char *area;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Counts with another stack; no signal may come meanwhile. */
static void wild_count(uint64_t sp, uint64_t bp, uint64_t nr)
{
	asm volatile("mov %%rsp, %%r12\n\t"
		     "mov %%rbp, %%r13\n\t"
		     "mov %[sp], %%rsp\n\t"
		     "mov %[bp], %%rbp\n"
		     "1:\tdec %[nr]\n\t"
		     "jnz 1b\n\t"
		     "mov %%r12, %%rsp\n\t"
		     "mov %%r13, %%rbp"
		     : [nr] "+r" (nr)
		     : [sp] "r" (sp), [bp] "r" (bp)
		     : "r12", "r13", "memory", "cc");
}

/* An address of code: in front of, or behind, anything that calls. */
static uint64_t code(void)
{
	static const void *const near[] = { wild_count, next, printf, malloc, memcpy };

	return (uintptr_t)near[next() % ARRAY_SIZE(near)] + next() % 128;
}

static uint64_t place(void)
{
	static const uint64_t odd[] = {
		0, 1, 8, 0x10000, 1ULL << 47, (1ULL << 47) - 8, (1ULL << 47) - PAGE,
		0xffff888000000000, 0xffffffff81000000, ~0ULL, ~0ULL - 7, ~0ULL - PAGE + 1,
	};
	uint64_t in_area = (uintptr_t)area + next() % (PAGES * PAGE);

	switch (next() % 5) {
	case 0:
		return odd[next() % ARRAY_SIZE(odd)];
	case 1:
		return in_area;
	case 2:
		/* Just before what is not there. */
		return ((in_area + PAGE) & -(uint64_t)PAGE) - next() % 64;
	case 3:
		return code();
	default:
		return in_area & ~15ULL;
	}
}

/* Return addresses, frame pointers that lead to each other, and any words. */
static void fill(void)
{
	uint64_t *words = (uint64_t *)area;
	size_t i;

	for (i = 0; i < PAGES * PAGE / sizeof(*words); i++) {
		if (i * sizeof(*words) / PAGE % 4 == 3)
			continue;
		switch (next() % 4) {
		case 0:
			words[i] = code();
			break;
		case 1:
			words[i] = (uintptr_t)(words + i) + next() % 256;
			break;
		case 2:
			words[i] = place();
			break;
		default:
			words[i] = next();
		}
	}
}

int main(int argc, char **argv)
{
	double end = now() + atof(argv[1]);
	int i;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return 1;
	/* One page in four can't be read, or was never there. */
	for (i = 7; i < PAGES; i += 8)
		mprotect(area + i * PAGE, PAGE, PROT_NONE);
	while (now() < end) {
		fill();
		for (i = 0; i < 64; i++)
			wild_count(place(), place(), 1 + next() % 100000);
	}
	return 0;
}
