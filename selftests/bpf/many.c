// SPDX-License-Identifier: GPL-2.0
/*
 * Calls a function of each of many libraries for a moment, and of the last one for long.
 * All stay mapped.
 *
 * usage: many SECONDS[:MOMENT] LIBRARY...
 */
#include <dlfcn.h>
#include <stdio.h>
#include "clock.h"

int main(int argc, char **argv)
{
	int (*entry)(int n);
	void *library;
	double end, seconds, moment = 0.03;
	int i;

	if (argc < 3 || sscanf(argv[1], "%lf:%lf", &seconds, &moment) < 1)
		return 1;
	for (i = 2; i < argc; i++) {
		library = dlopen(argv[i], RTLD_NOW);
		entry = library ? dlsym(library, "library_entry") : NULL;
		if (!entry)
			return 1;
		end = now() + (i < argc - 1 ? moment : seconds);
		while (now() < end)
			entry(2000);
	}
	return 0;
}
