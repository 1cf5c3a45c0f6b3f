// SPDX-License-Identifier: GPL-2.0
/*
 * Files of interpreters that are read before a sample was in them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <perf/event.h>
#include "early-file.h"
#include "elf-file.h"
#include "process.h"
#include "tap.h"

#define PID	10
#define BASE	0x400000ULL
#define LENGTH	0x1000ULL

static struct hybrid_processes ps;
static struct hybrid_early_files early;

/* Files whose paths have this wait to be opened; NULL: none does. */
static const char *slow;

/* What was ready, in order, a word each. */
static char ready_files[256];

static int open_file(const struct hybrid_mapping *mapping)
{
	if (slow && strstr(hybrid_mapping_ident(mapping)->path, slow))
		return HYBRID_OPEN_LATER;
	return open(elf_file_path("small.so"), O_RDONLY | O_CLOEXEC);
}

/* Each path is a file of its own. */
static int identify(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	const char *path = hybrid_mapping_ident(mapping)->path;

	memset(id, 0, sizeof(*id));
	id->ino = 1;
	while (*path)
		id->ino = id->ino * 31 + *path++;
	return 0;
}

static void ready(void *arg, const struct hybrid_mapping *mapping)
{
	size_t len = strlen(ready_files);

	check(arg == &ps && mapping->object->state == HYBRID_OBJECT_READY);
	snprintf(ready_files + len, sizeof(ready_files) - len, "%s ",
		 mapping->object->ident.path);
}

static void start(void)
{
	memset(&early, 0, sizeof(early));
	ready_files[0] = '\0';
	hybrid_processes_init(&ps, open_file);
	ps.objects.identify = identify;
}

static void end(void)
{
	slow = NULL;
	hybrid_early_files_exit(&early);
	same(early.nr, 0);
	hybrid_processes_exit(&ps);
}

static void map(const char *path)
{
	struct perf_record_mmap2 event = {
		.pid = PID, .tid = PID, .start = BASE, .len = LENGTH,
	};

	snprintf(event.filename, sizeof(event.filename), "%s", path);
	event.ino = 1;
	while (*path)
		event.ino = event.ino * 31 + *path++;
	hybrid_early_files_found(&early, &ps, &event, ready, &ps);
}

static void pass(void)
{
	hybrid_early_files_pass(&early, ready, &ps);
}

static void at_once(void)
{
	start();
	map("/usr/bin/python3");
	map("/usr/bin/cat");
	map("/usr/lib/libperl.so");
	same_text(ready_files, "/usr/bin/python3 /usr/lib/libperl.so ");
	map("/usr/bin/python3");
	pass();
	same_text(ready_files, "/usr/bin/python3 /usr/lib/libperl.so ");
	end();
}

/* A program and its library, the first files of their file system; and another program. */
static void several(void)
{
	start();
	slow = "python";
	map("/opt/bin/python3");
	map("/opt/lib/libpython3.11.so");
	map("/usr/bin/perl");
	pass();
	same_text(ready_files, "/usr/bin/perl ");
	slow = "libpython";
	pass();
	same_text(ready_files, "/usr/bin/perl /opt/bin/python3 ");
	slow = NULL;
	pass();
	same_text(ready_files, "/usr/bin/perl /opt/bin/python3 /opt/lib/libpython3.11.so ");
	same(early.nr, 0);
	end();
}

/* What never can be read makes room. */
static void never(void)
{
	unsigned int i;

	start();
	slow = "python";
	map("/opt/bin/python3");
	for (i = 0; i < 100; i++)
		pass();
	same(early.nr, 0);
	slow = NULL;
	pass();
	same_text(ready_files, "");
	end();
}

/* A file is tried 32 times; in the last try it may be there. */
static void tries(void)
{
	unsigned int nr, i;

	for (nr = 31; nr <= 33; nr++) {
		start();
		slow = "python";
		map("/opt/bin/python3");
		/* The first try was when it was mapped. */
		for (i = 1; i < nr; i++) {
			same(early.nr, 1);
			pass();
		}
		same(early.nr, nr <= 32);
		slow = NULL;
		pass();
		same_text(ready_files, nr <= 32 ? "/opt/bin/python3 " : "");
		same(early.nr, 0);
		end();
	}
}

/* The end of a recording comes while files wait. */
static void left(void)
{
	unsigned int i;
	char path[64];

	start();
	slow = "python";
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/opt/%u/python3", i);
		map(path);
	}
	same(early.nr, 3);
	end();
	same(ps.objects.nr, 0);
	same_text(ready_files, "");
}

/* The one that is ready makes room for the last one, which is tried in the same pass. */
static void order(void)
{
	start();
	slow = "/";
	map("/a/python3");
	map("/b/python3");
	map("/c/python3");
	slow = "/b";
	pass();
	same_text(ready_files, "/a/python3 /c/python3 ");
	same(early.nr, 1);
	same(early.file[0].nr_tries, 2);
	slow = NULL;
	pass();
	same_text(ready_files, "/a/python3 /c/python3 /b/python3 ");
	end();
}

/* No more wait than there is room for; one that was left out is taken when it is mapped again. */
static void bounds(void)
{
	char path[64];
	unsigned int i;

	start();
	slow = "python";
	for (i = 0; i <= HYBRID_EARLY_FILES; i++) {
		snprintf(path, sizeof(path), "/opt/%u/python3", i);
		map(path);
	}
	same(early.nr, HYBRID_EARLY_FILES);
	slow = NULL;
	pass();
	check(!strstr(ready_files, path));
	ready_files[0] = '\0';
	map(path);
	check(strstr(ready_files, path));
	/* Nor are more paths remembered. */
	for (i = 0; i < 2 * HYBRID_EARLY_PATHS; i++) {
		snprintf(path, sizeof(path), "/usr/%u/perl", i);
		map(path);
	}
	same(early.nr_paths, HYBRID_EARLY_PATHS);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "early: files that can be read at once",	at_once },
		{ "early: several that wait",			several },
		{ "early: one that can't be read",		never },
		{ "early: how often a file is tried",		tries },
		{ "early: files that wait at the end",		left },
		{ "early: one of them is ready",		order },
		{ "early: bounds",				bounds },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
