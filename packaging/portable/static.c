// SPDX-License-Identifier: GPL-2.0
/*
 * What a perf that is linked statically and unpacked anywhere does otherwise.
 *
 * It does not load libraries of the system that it runs on. They want that system's C
 * library, which is another than the one that is linked in, and a process with two of
 * them fails in ways that nobody can foresee.
 *
 * elfutils asks for libdebuginfod when perf starts, libslang and perf for modules that
 * users name: they all go on without, or say what dlerror() says. The C library itself
 * asks for the modules of nsswitch.conf; "files" is the one that it has built in.
 *
 * It looks for its own files beside itself, so that it needs not be installed. The
 * linker has perf call __wrap_system_path() for system_path().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <nss.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int dlclose(void *handle)
{
	(void)handle;
	return 0;
}

char *dlerror(void)
{
	return "this perf is linked statically and loads no libraries";
}

static void __attribute__((constructor)) built_in_names_only(void)
{
	static const char * const databases[] = { "passwd", "group", "hosts", "services", NULL };
	const char * const *database;

	for (database = databases; *database; database++)
		__nss_configure_lookup(*database, "files");
}

char *__real_system_path(const char *path);
char *__wrap_system_path(const char *path);

/*
 * Of /opt/bin/perf-hybrid the tips, share/doc/perf-tip to perf, are in
 * /opt/share/perf-hybrid/perf-tip: names of its own, beside the distribution's perf.
 */
char *__wrap_system_path(const char *path)
{
	char program[PATH_MAX], *end, *beside;
	const char *slash;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int level;

	if (length < 0 || path[0] == '/')
		return __real_system_path(path);
	program[length] = '\0';
	for (level = 0; level < 2; level++) {
		end = strrchr(program, '/');
		if (!end)
			return __real_system_path(path);
		*end = '\0';
	}
	slash = strrchr(path, '/');
	if (asprintf(&beside, "%s/share/perf-hybrid/%s", program, slash ? slash + 1 : path) < 0)
		return __real_system_path(path);
	if (!access(beside, R_OK))
		return beside;
	free(beside);
	return __real_system_path(path);
}
