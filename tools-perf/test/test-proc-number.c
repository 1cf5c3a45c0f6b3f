// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers in files of /proc: the first KiB is read.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/compiler.h>
#include "proc-number.h"
#include "tap.h"

/* What is read of a file, at most. */
#define MOST	1023

#define UNSET	(-77)

static long number;

/* Reads a number from a file that has this text. */
static bool read_text(const char *text, size_t size, const char *before)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	char path[40];
	bool found;

	check(write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	number = UNSET;
	found = hybrid_proc_number(path, before, &number);
	close(fd);
	return found;
}

static void found(void)
{
	static const char text[] = "Pid:\t12\nUid:\t-34\t56\n";

	check(read_text(text, strlen(text), "Pid:"));
	same(number, 12);
	check(read_text(text, strlen(text), "\nUid:\t"));
	same(number, -34);
	check(!read_text(text, strlen(text), "\nPid:"));
	same(number, UNSET);
	check(!read_text(text, 0, "Pid:"));
	same(number, UNSET);
}

/* The last digits are those that are read. */
static void long_text(void)
{
	static const long read_as[] = { 0, 7, 76, 765 };
	char text[MOST + 4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(read_as); i++) {
		memset(text, ' ', sizeof(text));
		memcpy(text + MOST - 2 - i, "n:7654", 4 + i);
		same(read_text(text, sizeof(text), "n:"), true);
		same(number, read_as[i]);
	}
}

/* What the next function finds on its stack are digits. */
static noinline void use_stack(void)
{
	char bytes[4096];

	memset(bytes, '7', sizeof(bytes));
	check(!memchr(bytes, 0, sizeof(bytes)));
}

/* No file, and one that can't be read, have no text. */
static void no_text(void)
{
	number = UNSET;
	use_stack();
	check(!hybrid_proc_number("/proc/self/nothing", "", &number));
	same(number, UNSET);
	use_stack();
	check(!hybrid_proc_number("/proc/self", "7", &number));
	same(number, UNSET);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "number: what stands before it", found },
		{ "number: a long text", long_text },
		{ "number: no text", no_text },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
