// SPDX-License-Identifier: GPL-2.0
/*
 * Comparing two files by a thread: without memory, and with descriptor 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "await.h"
#include "file-compare.h"
#include "short-memory.h"
#include "tap.h"

#define SIZE	10000

static u8 data[SIZE];

static struct hybrid_object make(u8 last)
{
	struct hybrid_object object = { .fd = memfd_create("test", MFD_CLOEXEC) };

	data[SIZE - 1] = last;
	check(write(object.fd, data, SIZE) == SIZE);
	check(!hybrid_file_id_read(object.fd, &object.file));
	return object;
}

/* However long it takes. */
static int result_of(const struct hybrid_comparison *comparison)
{
	int result;

	do {
		result = hybrid_file_compare.result(comparison);
	} while (result == -EINPROGRESS && !usleep(1000));
	return result;
}

static void no_memory(void)
{
	struct hybrid_object a = make(1);

	short_memory_begin(0);
	check(!hybrid_file_compare.start(&a, &a));
	check(short_memory_end());
	close(a.fd);
}

/* What is compared, is no ELF file: its first bytes. A file that was changed is not the same. */
static void changed(void)
{
	struct hybrid_object a = make(1), b = make(2);
	struct hybrid_comparison *comparison;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		a.file.ctime_nsec += i & 1;
		b.file.ctime_nsec += i >> 1;
		comparison = hybrid_file_compare.start(&a, &b);
		check(comparison);
		same(result_of(comparison), !i);
		hybrid_file_compare.end(comparison);
		a.file.ctime_nsec -= i & 1;
		b.file.ctime_nsec -= i >> 1;
		/* Copies have other times than the files. */
		a.is_copy = true;
		b.is_copy = true;
		a.file.ctime_nsec++;
		comparison = hybrid_file_compare.start(&a, &b);
		check(comparison);
		same(result_of(comparison), 1);
		hybrid_file_compare.end(comparison);
		a.is_copy = false;
		b.is_copy = false;
		a.file.ctime_nsec--;
	}
	close(a.fd);
	close(b.fd);
}

/* What is neither loaded nor compared is not waited for, nor what has ended. */
static void awaited(void)
{
	struct hybrid_object a = make(1);

	same(hybrid_await(&a, false), HYBRID_LOAD_DONE);
	a.comparison = hybrid_file_compare.start(&a, &a);
	check(a.comparison);
	same(result_of(a.comparison), 1);
	same(hybrid_await(&a, true), HYBRID_LOAD_DONE);
	hybrid_file_compare.end(a.comparison);
	close(a.fd);
}

/* The thread, or who has asked, closes what it has, whatever its number. */
static void closes_0(void)
{
	/* This is 0 if there is no standard input. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), input = dup(STDIN_FILENO);
	struct hybrid_object a = make(1), b = make(1);
	struct hybrid_comparison *comparison;
	unsigned int i;

	close(STDIN_FILENO);
	comparison = hybrid_file_compare.start(&a, &b);
	check(comparison && fcntl(0, F_GETFD) >= 0);
	same(result_of(comparison), 1);
	hybrid_file_compare.end(comparison);
	for (i = 0; i < 60000 && fcntl(0, F_GETFD) >= 0; i++)
		usleep(1000);
	check(fcntl(0, F_GETFD) < 0);
	dup2(input, STDIN_FILENO);
	close(input);
	close(null);
	close(a.fd);
	close(b.fd);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "compare: no memory",		no_memory },
		{ "compare: files that change",	changed },
		{ "compare: waiting for it",	awaited },
		{ "compare: descriptor 0",	closes_0 },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
