// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of the records of tasks.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <perf/event.h>
#include "open-nothing.h"
#include "process.h"
#include "tap.h"
#include "track.h"

#define BASE	0x400000ULL
#define LENGTH	0x1000ULL

static struct hybrid_processes ps;
static union perf_event event;

static int track(u32 type, u16 misc)
{
	event.header = (struct perf_event_header) {
		.type = type, .misc = misc | PERF_RECORD_MISC_USER, .size = sizeof(event),
	};
	return hybrid_track(&ps, &event);
}

static void mmap2(pid_t pid, u64 start, const char *path, u32 prot)
{
	memset(&event, 0, sizeof(event));
	event.mmap2.pid = pid;
	event.mmap2.tid = pid;
	event.mmap2.start = start;
	event.mmap2.len = LENGTH;
	event.mmap2.prot = prot;
	snprintf(event.mmap2.filename, sizeof(event.mmap2.filename), "%s", path);
	same(track(PERF_RECORD_MMAP2, 0), 0);
}

static void task(u32 type, u16 misc, pid_t pid, pid_t tid, pid_t ppid)
{
	memset(&event, 0, sizeof(event));
	event.fork.pid = pid;
	event.fork.tid = tid;
	event.fork.ppid = ppid;
	event.fork.ptid = ppid;
	same(track(type, misc), 0);
}

static void comm(pid_t pid, u16 misc)
{
	memset(&event, 0, sizeof(event));
	event.comm.pid = pid;
	event.comm.tid = pid;
	same(track(PERF_RECORD_COMM, misc), 0);
}

/* What @pid maps at @ip; "" for nothing, "anon" for memory without a file. */
static const char *path_at(pid_t pid, u64 ip)
{
	struct hybrid_thread *thread = hybrid_thread_find(&ps, pid, pid);
	const struct hybrid_mapping *mapping =
		thread ? hybrid_space_find(thread->process->space, ip) : NULL;

	if (!mapping)
		return "";
	return mapping->object ? mapping->object->ident.path : "anon";
}

static void start(void)
{
	hybrid_processes_init(&ps, open_nothing);
}

static void end(void)
{
	hybrid_processes_exit(&ps);
	same(ps.nr_threads, 0);
}

static void mappings(void)
{
	start();
	mmap2(10, BASE, "/a", PROT_READ | PROT_EXEC);
	mmap2(10, BASE + LENGTH, "/a", PROT_READ | PROT_WRITE);
	mmap2(10, BASE + 2 * LENGTH, "//anon", PROT_READ | PROT_EXEC);
	mmap2(10, BASE + 3 * LENGTH, "[vdso]", PROT_READ | PROT_EXEC);
	same_text(path_at(10, BASE), "/a");
	same_text(path_at(10, BASE + LENGTH), "");
	same_text(path_at(10, BASE + 2 * LENGTH), "anon");
	same_text(path_at(10, BASE + 3 * LENGTH), HYBRID_VDSO_32);
	/* Data where code was. */
	mmap2(10, BASE, "/b", PROT_READ);
	same_text(path_at(10, BASE), "");
	end();
}

static void tasks(void)
{
	start();
	mmap2(10, BASE, "/a", PROT_EXEC);
	task(PERF_RECORD_FORK, 0, 11, 11, 10);
	same_text(path_at(11, BASE), "/a");
	task(PERF_RECORD_FORK, 0, 11, 12, 11);
	same(ps.nr_processes, 2);
	/* A name is no exec. */
	comm(11, 0);
	same_text(path_at(11, BASE), "/a");
	comm(11, PERF_RECORD_MISC_COMM_EXEC);
	same_text(path_at(11, BASE), "");
	same_text(path_at(10, BASE), "/a");
	task(PERF_RECORD_EXIT, 0, 11, 12, 11);
	task(PERF_RECORD_EXIT, 0, 11, 11, 10);
	same(ps.nr_processes, 1);
	end();
}

/*
 * Of what runs already perf makes up that its parent made it, and then what it
 * has mapped: not what the parent has.
 */
static void made_up(void)
{
	start();
	mmap2(10, BASE, "/a", PROT_EXEC);
	task(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 11, 11, 10);
	same_text(path_at(11, BASE), "");
	mmap2(11, BASE + LENGTH, "/b", PROT_EXEC);
	/* Its threads are its own. */
	task(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 11, 12, 11);
	same_text(path_at(11, BASE + LENGTH), "/b");
	same_text(path_at(11, BASE), "");
	same_text(path_at(10, BASE), "/a");
	same(ps.nr_processes, 2);
	/* What it makes from now on has its mappings. */
	task(PERF_RECORD_FORK, 0, 13, 13, 11);
	same_text(path_at(13, BASE + LENGTH), "/b");
	end();
}

/* It may have been made while perf began: the kernel's own record of that comes later. */
static void made_up_first(void)
{
	start();
	task(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 11, 11, 1);
	mmap2(11, BASE, "/b", PROT_EXEC);
	task(PERF_RECORD_FORK, 0, 11, 11, 10);
	same_text(path_at(11, BASE), "/b");
	/* Another one of that number has what its parent has. */
	mmap2(10, BASE, "/a", PROT_EXEC);
	task(PERF_RECORD_EXIT, 0, 11, 11, 10);
	task(PERF_RECORD_FORK, 0, 11, 11, 10);
	same_text(path_at(11, BASE), "/a");
	end();
}

/* A record that says that it has a build-id: what the file is known by. */
static void build_id(bool asked, unsigned int size, u64 ino)
{
	struct hybrid_thread *thread;
	const struct hybrid_mapping *mapping;

	start();
	ps.no_build_ids = !asked;
	mmap2(10, BASE, "/a", PROT_EXEC);
	event.mmap2.maj = 20;
	event.mmap2.ino = 7;
	same(track(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID), 0);
	thread = hybrid_thread_find(&ps, 10, 10);
	mapping = thread ? hybrid_space_find(thread->process->space, BASE) : NULL;
	check(mapping && mapping->object);
	if (mapping && mapping->object) {
		same(mapping->object->ident.build_id_size, size);
		same(mapping->object->ident.ino, ino);
	}
	end();
}

/* Where none were asked for, a record that says that it has one holds the file's numbers. */
static void build_ids(void)
{
	build_id(true, 20, 0);
	build_id(false, 0, 7);
}

static bool is_change(unsigned int type, u16 misc)
{
	event.header = (struct perf_event_header){ .type = type, .misc = misc };
	return hybrid_track_is_change(&event);
}

/* What comes with every sample's task, and what a short process begins and ends with. */
static void changes(void)
{
	check(is_change(PERF_RECORD_MMAP, 0));
	check(is_change(PERF_RECORD_MMAP2, 0));
	check(is_change(PERF_RECORD_FORK, 0));
	check(is_change(PERF_RECORD_EXIT, 0));
	check(is_change(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC));
	check(!is_change(PERF_RECORD_COMM, 0));
	check(!is_change(PERF_RECORD_SAMPLE, 0));
	check(!is_change(PERF_RECORD_LOST, 0));
}

/* What names no file: code in it was made at run time. */
static void names(void)
{
	static const struct {
		const char	*name;
		const char	*want;
	} cases[] = {
		{ "//anon", "anon" }, { "//anon (deleted)", "anon" }, { "//ano", "//ano" },
		{ "[heap]", "anon" }, { "[stack]", "anon" }, { "[anon:v8]", "anon" },
		{ "/dev/zero", "anon" }, { "/dev/zero (deleted)", "anon" },
		{ "/dev/zer", "/dev/zer" },
		{ "/SYSV00000000", "anon" }, { "/SYS", "/SYS" },
		{ "/anon_hugepage (deleted)", "anon" }, { "/anon_hugepag", "/anon_hugepag" },
		{ "anon_inode:[perf_event]", "anon" }, { "anon_inode", "anon_inode" },
		{ "/a/[b]", "/a/[b]" }, { "[vdso", "anon" },
	};
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mmap2(10, BASE, cases[i].name, PROT_EXEC);
		same_text(path_at(10, BASE), cases[i].want);
	}
	/* Below 4 GiB it is that of a process of 32 bits. */
	mmap2(10, 0xfffff000, "[vdso]", PROT_EXEC);
	same_text(path_at(10, 0xfffff000), HYBRID_VDSO_32);
	mmap2(10, 1ULL << 32, "[vdso]", PROT_EXEC);
	same_text(path_at(10, 1ULL << 32), HYBRID_VDSO_64);
	end();
}

/* The record without the file's numbers: code is what is not said to be data. */
static void old_records(void)
{
	const struct hybrid_mapping *mapping;
	unsigned int i;

	start();
	for (i = 0; i < 2; i++) {
		memset(&event, 0, sizeof(event));
		event.mmap.pid = 10;
		event.mmap.tid = 10;
		event.mmap.start = BASE + i * LENGTH;
		event.mmap.len = LENGTH;
		event.mmap.pgoff = 0x3000;
		snprintf(event.mmap.filename, sizeof(event.mmap.filename), "/a");
		same(track(PERF_RECORD_MMAP, i ? PERF_RECORD_MISC_MMAP_DATA : 0), 0);
	}
	same_text(path_at(10, BASE), "/a");
	same_text(path_at(10, BASE + LENGTH - 1), "/a");
	same_text(path_at(10, BASE + LENGTH), "");
	mapping = hybrid_space_find(hybrid_process_find(&ps, 10)->space, BASE);
	same(mapping->pgoff, 0x3000);
	same(mapping->object->ident.ino, 0);
	end();
}

/* Mappings of the kernel and of guests, and records of other kinds, are none of a process. */
static void others(void)
{
	static const u16 modes[] = {
		PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_HYPERVISOR,
		PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_USER, 0,
	};
	static const u32 types[] = { PERF_RECORD_MMAP, PERF_RECORD_MMAP2 };
	unsigned int i, j;

	start();
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		for (j = 0; j < ARRAY_SIZE(types); j++) {
			memset(&event, 0, sizeof(event));
			event.header.type = types[j];
			event.header.misc = modes[i];
			event.mmap2.pid = 10;
			event.mmap2.len = LENGTH;
			event.mmap2.prot = PROT_EXEC;
			same(hybrid_track(&ps, &event), 0);
			same(ps.nr_processes, 0);
		}
	}
	memset(&event, 0, sizeof(event));
	event.fork.pid = 10;
	for (i = PERF_RECORD_SAMPLE; i < PERF_RECORD_SAMPLE + 12; i++) {
		if (i != PERF_RECORD_MMAP2)
			same(track(i, 0), 0);
		same(ps.nr_processes, 0);
	}
	end();
}

/* A build-id is no longer than there is room for, whatever its record says. */
static void long_build_id(void)
{
	struct hybrid_ident ident = {};
	unsigned int size;

	start();
	memset(&event, 0xff, sizeof(event));
	event.header.misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
	for (size = 0; size < 256; size++) {
		memset(&ident, 0, sizeof(ident));
		event.mmap2.build_id_size = size;
		hybrid_track_ident(&ps, &event.mmap2, &ident);
		same(ident.build_id_size, min_t(unsigned int, size, HYBRID_BUILD_ID_SIZE));
		same(ident.ino, 0);
	}
	end();
}

/* The kernel's own code for uprobes, by the name that it gives to it. */
static void code_for_uprobes(void)
{
	start();
	mmap2(10, BASE, "[uprobes-trampoline]", PROT_EXEC);
	check(hybrid_space_find(hybrid_process_find(&ps, 10)->space, BASE)->is_uprobes);
	mmap2(10, BASE, "[uprobes-tramp", PROT_EXEC);
	check(!hybrid_space_find(hybrid_process_find(&ps, 10)->space, BASE)->is_uprobes);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "track: names of mappings", names },
		{ "track: records without the file's numbers", old_records },
		{ "track: records that are none of a process", others },
		{ "track: a build-id that is too long", long_build_id },
		{ "track: the kernel's code for uprobes", code_for_uprobes },
		{ "track: mappings of code, of data, without a file", mappings },
		{ "track: fork, exec, exit", tasks },
		{ "track: a fork that perf made up", made_up },
		{ "track: a fork that perf made up, and the kernel's record of it", made_up_first },
		{ "track: build-ids, asked for and not", build_ids },
		{ "track: which records say that a process changes", changes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
