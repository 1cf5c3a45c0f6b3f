// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of a process that has a runtime; the process is the test's own.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "elf-file.h"
#include "own-memory.h"
#include "rows.h"
#include "short-memory.h"
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

static struct hybrid_file_budget budget;

static int open_copy(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;

	object->is_copy = true;
	object->user = hybrid_file_user_get(&budget, 0);
	object->copied = 100;
	check(hybrid_file_take(object->user, HYBRID_FILE_COPIES, object->copied));
	return dup(file);
}

/* A copy has not all of a file that is none of code. It takes no room. */
static void no_copy(void)
{
	const char *at = map_file();
	char out[4];

	own_begin();
	own.ps.objects.open = open_copy;
	hybrid_file_budget_init(&budget);
	check(hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	same(hybrid_file_user_get(&budget, 0)->used[HYBRID_FILE_COPIES], 0);
	own_end();
	munmap((void *)at, PAGE);
	close(file);
}

/* Where code of a file is mapped that perf has a copy of, the copy is read. */
static void copied_file(void)
{
	const char *at = map_file();
	const struct hybrid_mapping *code;
	char out[4];

	own_begin();
	elf_file_map(&own.ps, getpid(), "jvm.so", (u64)at);
	code = hybrid_space_find(own.pm.space, (u64)at);
	check(code && hybrid_object_use(code));
	own.ps.objects.open = open_late;
	fails = ~0U;
	/* It has to be waited for, or its user is over his share. */
	code->object->state = HYBRID_OBJECT_FAILED;
	code->object->is_left_out = true;
	check(hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	same(fails, ~0U);
	code->object->state = HYBRID_OBJECT_READY;
	code->object->is_left_out = false;
	code->object->is_copy = true;
	tap_pass(100000000);
	check(!hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	check(!memcmp(out, "\177ELF", sizeof(out)));
	same(fails, ~0U);
	/* Its owner may have closed it since. */
	hybrid_object_close(code->object);
	check(hybrid_process_memory_read(&own.pm, (u64)at, out, sizeof(out)));
	/* A file that is local is opened once more. */
	hybrid_process_memory_exit(&own.pm);
	own.pm.memory = own.memory;
	own.pm.objects = &own.ps.objects;
	own.pm.pid = getpid();
	own.pm.space = hybrid_thread_find(&own.ps, getpid(), getpid())->process->space;
	check(!hybrid_process_memory_map(&own.pm));
	code->object->is_copy = false;
	fails = 0;
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
	check(own.pm.nr_ranges > NR && own.pm.nr_ranges <= 512);
	/* For 64, 128, 256 and 512. */
	short_memory_begin(4);
	check(!hybrid_process_memory_map(&own.pm));
	check(!short_memory_end());
	short_memory_begin(3);
	check(hybrid_process_memory_map(&own.pm));
	check(short_memory_end());
	check(!hybrid_process_memory_map(&own.pm));
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

/* Two pages of the process's own, which other memory is not behind. */
static char *map_own(unsigned int nr)
{
	char *at = mmap(NULL, (nr + 1) * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	check(at != MAP_FAILED && !munmap(at + nr * PAGE, PAGE));
	for (i = 0; i < nr * PAGE; i++)
		at[i] = tap_random();
	return at;
}

static int read_own(const char *at, void *out, size_t size)
{
	return hybrid_process_memory_read(&own.pm, (u64)at, out, size);
}

/* What is read ends at the end of memory, and begins anywhere; pages that are kept are the same. */
static void pages(void)
{
	char *at = map_own(2), out[2 * PAGE + 8];
	unsigned int kept;

	own_begin();
	for (kept = 0; kept < 2; kept++) {
		hybrid_process_memory_keep(&own.pm, kept);
		check(!read_own(at, out, 2 * PAGE) && !memcmp(out, at, 2 * PAGE));
		check(!read_own(at + PAGE - 4, out, 8) && !memcmp(out, at + PAGE - 4, 8));
		check(!read_own(at + 2 * PAGE - 8, out, 8) &&
		      !memcmp(out, at + 2 * PAGE - 8, 8));
		check(read_own(at, out, 2 * PAGE + 1));
		check(read_own(at + 2 * PAGE - 7, out, 8));
		check(read_own(at + 2 * PAGE, out, 1));
		check(!read_own(at + 2 * PAGE, out, 0));
		/* Beyond the last address there is. */
		check(read_own((char *)-8, out, 16));
		check(read_own((char *)-8, out, 8));
		check(read_own((char *)8, out, 8));
		same(hybrid_process_word(&own.pm, (u64)at + 8), *(u64 *)(at + 8));
		same(hybrid_process_word(&own.pm, (u64)at + 2 * PAGE - 4), 0);
	}
	own_end();
	munmap(at, 2 * PAGE);
}

/* A page is read once while pages are kept, and again after that. */
static void kept_pages(void)
{
	char *at = map_own(1), out[8];

	own_begin();
	at[0] = 1;
	hybrid_process_memory_keep(&own.pm, true);
	check(!read_own(at, out, 1) && out[0] == 1);
	at[0] = 2;
	check(!read_own(at, out, 1) && out[0] == 1);
	hybrid_process_memory_keep(&own.pm, true);
	check(!read_own(at, out, 1) && out[0] == 2);
	at[0] = 3;
	hybrid_process_memory_keep(&own.pm, false);
	check(!read_own(at, out, 1) && out[0] == 3);
	own_end();
	munmap(at, PAGE);
}

/* Strings of each length, before the end of memory and across pages. */
static void strings(void)
{
	char *at = map_own(2), out[HYBRID_PROCESS_STRING];
	unsigned int len;
	char *from;

	memset(at, 'a', 2 * PAGE);
	own_begin();
	for (len = 0; len < HYBRID_PROCESS_STRING + 3; len++) {
		from = at + PAGE - len / 2;
		from[len] = 0;
		memset(out, 'b', sizeof(out));
		same((u64)hybrid_process_memory_string(&own.pm, (u64)from, out),
		     len < HYBRID_PROCESS_STRING ? 0 : -1ULL);
		if (len < HYBRID_PROCESS_STRING)
			same_text(out, from);
		from[len] = 'a';
	}
	/* The end of memory comes before that of the string, or with it. */
	check(hybrid_process_memory_string(&own.pm, (u64)at + 2 * PAGE - 20, out));
	at[2 * PAGE - 1] = 0;
	check(!hybrid_process_memory_string(&own.pm, (u64)at + 2 * PAGE - 20, out));
	same(strlen(out), 19);
	check(hybrid_process_memory_string(&own.pm, (u64)at + 2 * PAGE, out));
	own_end();
	munmap(at, 2 * PAGE);
}

/* A mapping of a file that ends before the file, and one that begins at its second page. */
static void parts_of_file(void)
{
	static char text[3 * PAGE];
	char out[PAGE];
	unsigned int i;
	char *at;

	for (i = 0; i < sizeof(text); i++)
		text[i] = tap_random();
	file = memfd_create("spam", MFD_CLOEXEC);
	same(write(file, text, sizeof(text)), sizeof(text));
	at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, file, PAGE);
	check(at != MAP_FAILED && !munmap(at + PAGE, PAGE));
	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	check(!read_own(at, out, 16) && !memcmp(out, text + PAGE, 16));
	check(!read_own(at + PAGE - 16, out, 16) && !memcmp(out, text + 2 * PAGE - 16, 16));
	check(read_own(at + PAGE - 15, out, 16));
	check(read_own(at + PAGE, out, 1));
	check(read_own(at - 1, out, 1) || memcmp(out, text + PAGE - 1, 1));
	/* The file has become shorter. */
	check(!ftruncate(file, PAGE + 8));
	check(!read_own(at, out, 8) && !memcmp(out, text + PAGE, 8));
	check(read_own(at, out, 9));
	own_end();
	munmap(at, PAGE);
	close(file);
}

/* What is mapped later is found when the mappings are read again: 20 ms after that, then 40. */
static void mapped_late(void)
{
	const char *at[3];
	char out[4];
	unsigned int i;
	int files[3];

	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		at[i] = map_file();
		files[i] = file;
		tap_pass((20000000ULL << i) - 1);
		check(hybrid_process_memory_read(&own.pm, (u64)at[i], out, sizeof(out)));
		tap_pass(1);
		check(!hybrid_process_memory_read(&own.pm, (u64)at[i], out, sizeof(out)));
		check(!memcmp(out, "spam", sizeof(out)));
	}
	own_end();
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		munmap((void *)at[i], PAGE);
		close(files[i]);
	}
}

/* More files than are opened: at most eight. */
static void many_files(void)
{
	enum { NR = 9 };
	const char *at[NR];
	unsigned int i, nr = 0;
	int files[NR];
	char out[4];

	for (i = 0; i < NR; i++) {
		at[i] = map_file();
		files[i] = file;
	}
	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	for (i = 0; i < NR; i++)
		nr += !hybrid_process_memory_read(&own.pm, (u64)at[i], out, sizeof(out));
	same(nr, NR - 1);
	own_end();
	for (i = 0; i < NR; i++) {
		munmap((void *)at[i], PAGE);
		close(files[i]);
	}
}

/* Memory without a file has no file to be read; and so many mappings are looked at. */
static void bounds(void)
{
	enum { NR = 4200 };
	char *untouched = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *of_file = map_file();
	static void *at[NR];
	char out[4];
	int i;

	own_begin();
	own.ps.objects.open = open_late;
	fails = 0;
	check(read_own(untouched, out, sizeof(out)));
	tap_pass(1000000000);
	check(read_own(untouched, out, sizeof(out)));
	same(own.pm.nr_files, 0);
	for (i = 0; i < NR; i++)
		at[i] = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	check(!hybrid_process_memory_map(&own.pm));
	same(own.pm.nr_ranges, 4096);
	own_end();
	for (i = 0; i < NR; i++)
		munmap(at[i], PAGE);
	munmap((void *)of_file, PAGE);
	munmap(untouched, PAGE);
	close(file);
}

static void gone(void)
{
	own_begin();
	own.pm.pid = 0x7ffffff0;
	same((u64)hybrid_process_memory_map(&own.pm), -1ULL);
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "process-memory: a file that is shared",		shared_file },
		{ "process-memory: one that can't be opened at first",	opened_late },
		{ "process-memory: a file that perf has a copy of",	copied_file },
		{ "process-memory: one that is copied for that",	no_copy },
		{ "process-memory: memory that is shared",		shared_memory },
		{ "process-memory: many mappings, and few",		many_mappings },
		{ "process-memory: pages, and parts of them",		pages },
		{ "process-memory: pages that are kept",		kept_pages },
		{ "process-memory: strings",				strings },
		{ "process-memory: parts of a file",			parts_of_file },
		{ "process-memory: what is mapped later",		mapped_late },
		{ "process-memory: more files than are opened",		many_files },
		{ "process-memory: no files, and too many mappings",	bounds },
		{ "process-memory: a process that is gone",		gone },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
