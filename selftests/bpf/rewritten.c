// SPDX-License-Identifier: GPL-2.0
/*
 * A library that is written anew, into the same file, while it is not mapped: what
 * was loaded of it before must not be used any more.
 *
 * usage: rewritten SECONDS LIBRARY [FIRST SECOND [mapped]], LIBRARY being written from the
 * other two, if there are such; mapped: through a mapping that stays, so that its ctime
 * does, too
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "clock.h"

#define ROUNDS	6
#define MAX_SIZE	(1 << 20)

/* Into the file that is there: its inode stays. */
static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	static char buffer[MAX_SIZE];
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

/* The same through a mapping, which is made once. */
static int copy_mapped(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT, 0755);
	static char *mapped;
	ssize_t size;

	if (in < 0 || out < 0)
		return -1;
	if (!mapped) {
		if (ftruncate(out, MAX_SIZE))
			return -1;
		mapped = mmap(NULL, MAX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
		if (mapped == MAP_FAILED)
			return -1;
		memset(mapped, 0, MAX_SIZE);
	}
	size = read(in, mapped, MAX_SIZE);
	close(in);
	close(out);
	return size > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	int (*entry)(int n);
	void *library;
	double end;
	int i;

	if (argc < 3)
		return 2;
	for (i = 0; i < ROUNDS; i++) {
		if (argc > 4 && (argc > 5 ? copy_mapped : copy)(argv[3 + i % 2], argv[2]))
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
