// SPDX-License-Identifier: GPL-2.0
/*
 * Stops its parent, perf. Calls a function of a library, unloads the library, and loads another one
 * at the same address. Then perf goes on, and /proc shows it the second library only.
 *
 * usage: successor FIRST SECOND
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "../bpf/clock.h"

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	return library;
}

static unsigned long place(void *library)
{
	return ((struct link_map *)library)->l_addr;
}

static int call(void *library, double seconds)
{
	int (*entry)(int n) = dlsym(library, "library_entry");
	double end = now() + seconds;

	if (!entry)
		return 1;
	while (now() < end)
		entry(2000);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long before;
	void *library;

	if (argc != 3)
		return 1;
	kill(getppid(), SIGSTOP);
	library = load(argv[1]);
	if (!library || call(library, 0.5))
		return 1;
	before = place(library);
	dlclose(library);
	library = load(argv[2]);
	if (!library || place(library) != before) {
		fprintf(stderr, "the second one is elsewhere\n");
		kill(getppid(), SIGCONT);
		return 1;
	}
	kill(getppid(), SIGCONT);
	return call(library, 1);
}
