// SPDX-License-Identifier: GPL-2.0
/*
 * Calls a function of each of many libraries for a moment, and of the last one for long.
 * All stay mapped.
 *
 * usage: many SECONDS LIBRARY...
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#define MOMENT	0.03

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int (*entry)(int n);
	void *library;
	double end;
	int i;

	for (i = 2; i < argc; i++) {
		library = dlopen(argv[i], RTLD_NOW);
		entry = library ? dlsym(library, "library_entry") : NULL;
		if (!entry)
			return 1;
		end = now() + (i < argc - 1 ? MOMENT : atof(argv[1]));
		while (now() < end)
			entry(2000);
	}
	return 0;
}
