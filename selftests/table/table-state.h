/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel that table-kernel.h declares: allocations, grace periods, and the state of it. */
#ifndef _TABLE_STATE_H
#define _TABLE_STATE_H

#include <stdarg.h>
#include <stdio.h>

extern unsigned int *const param_table_kbytes;

/* Allocations begin with how much the kernel's allocator would have given. */
#define HEADER		16

static size_t allocated;
/* This allocation fails, counted from 1, and how many there were. */
static unsigned int fail_alloc, nr_allocs;
static unsigned long grace_now = 1, grace_over, waits;
unsigned long jiffies = 1;

size_t kmalloc_size_roundup(size_t bytes)
{
	size_t size = 8;

	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	while (size < bytes)
		size *= 2;
	return bytes > KMALLOC_MAX_CACHE_SIZE && size < PAGE_SIZE ? PAGE_SIZE : size;
}

static void *allocate(size_t bytes, size_t given, gfp_t gfp)
{
	char *memory;

	if (++nr_allocs == fail_alloc)
		return NULL;
	memory = malloc(HEADER + bytes);
	if (!memory)
		abort();
	memset(memory, gfp & __GFP_ZERO ? 0 : 0x5a, HEADER + bytes);
	*(size_t *)memory = given;
	allocated += given;
	return memory + HEADER;
}

void *kmalloc(size_t bytes, gfp_t gfp)
{
	return allocate(bytes, kmalloc_size_roundup(bytes), gfp);
}

void *__vmalloc(size_t bytes, gfp_t gfp)
{
	return allocate(bytes, PAGE_ALIGN(bytes), gfp);
}

void kvfree(const void *memory)
{
	if (!memory)
		return;
	allocated -= *(size_t *)((char *)memory - HEADER);
	free((char *)memory - HEADER);
}

unsigned long get_state_synchronize_rcu(void)
{
	return ++grace_now;
}

bool poll_state_synchronize_rcu(unsigned long grace)
{
	return grace <= grace_over;
}

void cond_synchronize_rcu(unsigned long grace)
{
	if (grace > grace_over) {
		grace_over = grace;
		waits++;
	}
}

void synchronize_rcu(void)
{
	grace_over = grace_now;
	waits++;
}

/* RLIMIT_MEMLOCK of the task, and its user, who is in the first user namespace. */
static unsigned int user_kbytes = 256 << 10;
struct user_namespace init_user_ns;
struct ucounts table_user = { .ns = &init_user_ns };
struct ucounts *table_current = &table_user;
bool table_capable;

unsigned long rlimit(unsigned int limit)
{
	return (unsigned long)user_kbytes << 10;
}

bool table_interrupted, table_takes_locks;
int table_security;
unsigned int table_queries, table_naps;
long table_napped;
void (*table_nap)(void);
/* No file is as young. */
struct timespec64 table_now = { .tv_sec = INT_MAX };

static int nr_tests, nr_failed;

static void report(bool ok, const char *format, ...)
{
	va_list args;

	nr_tests++;
	nr_failed += !ok;
	printf("%sok %d - ", ok ? "" : "not ", nr_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

#endif /* _TABLE_STATE_H */
