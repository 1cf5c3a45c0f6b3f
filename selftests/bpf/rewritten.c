// SPDX-License-Identifier: GPL-2.0
/*
 * A library that is written anew, into the same file, while it is not mapped: what
 * was taught of it before must not be used any more.
 *
 * usage: rewritten SECONDS LIBRARY FIRST SECOND, LIBRARY being written from the other two
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	6

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Into the file that is there: its inode stays. */
static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	static char buffer[1 << 20];
	ssize_t size;

	if (in < 0 || out < 0)
		return -1;
	size = read(in, buffer, sizeof(buffer));
	if (size <= 0 || write(out, buffer, size) != size)
		return -1;
	close(in);
	close(out);
	return 0;
}

int main(int argc, char **argv)
{
	int (*entry)(int n);
	void *library;
	double end;
	int i;

	if (argc != 5)
		return 2;
	for (i = 0; i < ROUNDS; i++) {
		if (copy(argv[3 + i % 2], argv[2]))
			return 1;
		library = dlopen(argv[2], RTLD_NOW);
		entry = library ? dlsym(library, "library_entry") : NULL;
		if (!entry)
			return 1;
		for (end = now() + atof(argv[1]) / ROUNDS; now() < end;)
			entry(20000);
		dlclose(library);
	}
	return 0;
}
