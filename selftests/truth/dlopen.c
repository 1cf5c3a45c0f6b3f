// SPDX-License-Identifier: GPL-2.0
/*
 * Opens and closes two objects in turn. Both have the same size, so the second
 * comes to lie where the first one was.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "truth.h"

typedef void (*plug_fn)(unsigned long n);

FN_A(void *, plug_open, (const char *path), "use_plug libc loader")
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle)
		abort();
	return handle;
}

FN_B(plug_fn, plug_find, (void *handle, const char *name), "use_plug libc")
{
	return (plug_fn)dlsym(handle, name);
}

FN_B(void, plug_close, (void *handle), "use_plug libc")
{
	dlclose(handle);
}

FN_A(void, call_red, (plug_fn fn), "use_plug")
{
	spin(2000);
	fn(2000);
	spin(2000);
}

FN_B(void, call_blue, (plug_fn fn), "use_plug")
{
	spin(2000);
	fn(2000);
	spin(2000);
}

FN_B(void, use_plug, (const char *path, int blue), "one_round")
{
	void *handle = plug_open(path);

	if (blue)
		call_blue(plug_find(handle, "blue_top"));
	else
		call_red(plug_find(handle, "red_top"));
	plug_close(handle);
}

/* The objects are this program's path with .red.so and .blue.so added. */
FN_A(void, plug_path, (char *path, unsigned long size, const char *color),
     "one_round libc")
{
	static char self[4096];
	long len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		abort();
	self[len] = 0;
	snprintf(path, size, "%s.%s.so", self, color);
}

FN_A(void, one_round, (void), "main")
{
	static char red[5000], blue[5000];
	int i;

	plug_path(red, sizeof(red), "red");
	plug_path(blue, sizeof(blue), "blue");
	for (i = 0; i < 20; i++) {
		use_plug(red, 0);
		use_plug(blue, 1);
	}
}

#define WORK() one_round()

#include "main.h"
