// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of a process that has a runtime; the process is the test's own.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "own-memory.h"
#include "tap.h"

#define PAGE	4096

/* The file; and how often it can't be opened. */
static int file = -1;
static unsigned int fails;

/* Its mapping has other bounds than a moment ago, perhaps. */
static int open_late(const struct hybrid_mapping *mapping __maybe_unused)
{
	if (!fails)
		return dup(file);
	fails--;
	return -1;
}

static const char *map_file(void)
{
	static const char text[PAGE] = "spam";
	void *at;

	file = memfd_create("spam", MFD_CLOEXEC);
	same(write(file, text, sizeof(text)), sizeof(text));
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	check(at != MAP_FAILED);
	same(*(const char *)at, 's');
	return at;
}

static void shared_file(void)
{
	const char *at = map_file();
	char out[4];

	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	check(!hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	check(!memcmp(out, "spam", sizeof(out)));
	own_end();
	munmap((void *)at, PAGE);
	close(file);
}

/* It is tried again when the mappings are read again: 20 ms later, or 40. */
static void opened_late(void)
{
	const char *at = map_file();
	char out[4];

	own_begin();
	own.ps.objects.open = open_late;
	fails = 1;
	hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out));
	tap_pass(100000000);
	check(!hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	check(!memcmp(out, "spam", sizeof(out)));
	own_end();
	munmap((void *)at, PAGE);
	close(file);
}

static void shared_memory(void)
{
	void *shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *own_page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *of_file = map_file();

	own_begin();
	check(hybrid_process_memory_is_shared(&own.pm, (u64)shared));
	check(hybrid_process_memory_is_shared(&own.pm, (u64)shared + PAGE - 1));
	check(!hybrid_process_memory_is_shared(&own.pm, (u64)own_page));
	check(!hybrid_process_memory_is_shared(&own.pm, (u64)of_file));
	check(!hybrid_process_memory_is_shared(&own.pm, 8));
	own_end();
	munmap(shared, PAGE);
	munmap(own_page, PAGE);
	munmap((void *)of_file, PAGE);
	close(file);
}

/* A process with so many mappings that room for them is made several times, and one with few. */
static void many_mappings(void)
{
	enum { NR = 300 };
	const char *of_file = map_file();
	void *at[NR];
	char out[4];
	int i;

	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	check(!hybrid_process_memory_map(&own.pm));
	check(malloc_usable_size(own.pm.ranges) < 256 << 10);
	/* The kernel joins no mappings of one page of a file. */
	for (i = 0; i < NR; i++)
		at[i] = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	check(!hybrid_process_memory_map(&own.pm));
	check(own.pm.nr_ranges > NR);
	for (i = 0; i < NR; i++) {
		memset(out, 0, sizeof(out));
		check(!hybrid_process_memory_read(&own.pm, (u64)at[i], out, sizeof(out)));
		check(!memcmp(out, "spam", sizeof(out)));
		munmap(at[i], PAGE);
	}
	check(!hybrid_process_memory_map(&own.pm));
	check(own.pm.nr_ranges < NR);
	own_end();
	munmap((void *)of_file, PAGE);
	close(file);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "process-memory: a file that is shared",		shared_file },
		{ "process-memory: one that can't be opened at first",	opened_late },
		{ "process-memory: memory that is shared",		shared_memory },
		{ "process-memory: many mappings, and few",		many_mappings },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
