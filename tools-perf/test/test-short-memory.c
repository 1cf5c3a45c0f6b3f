// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation fails in turn: the error is returned, nothing is lost that was there before, and
 * the same works when there is memory again.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "call-history.h"
#include "early-file.h"
#include "jit.h"
#include "met.h"
#include "open-nothing.h"
#include "process.h"
#include "short-memory.h"
#include "tap.h"
#include <perf/event.h>

#define BASE	0x400000ULL

/* More allocations than any of these functions makes. */
#define MAX_NR	64

static struct hybrid_processes ps;

static int map(pid_t pid, u64 start, const char *path)
{
	struct hybrid_mapping mapping = { .start = start, .end = start + 4096, .pid = pid };
	struct hybrid_ident ident = { .path = path };

	return hybrid_process_map(&ps, &mapping, path ? &ident : NULL, true);
}

static const char *path_at(pid_t pid, u64 ip)
{
	struct hybrid_process *process = hybrid_process_find(&ps, pid);
	const struct hybrid_mapping *mapping = process ? hybrid_space_find(process->space, ip) :
							 NULL;

	return mapping && mapping->object ? mapping->object->ident.path : "";
}

/* What the records of a task may do to what is known. */
static int map_first(void)
{
	return map(20, BASE, "/b");
}

static int map_shared(void)
{
	return map(11, BASE + 4096, "/b");
}

static int fork_child(void)
{
	return hybrid_process_fork(&ps, 20, 20, 10);
}

static int fork_of_unknown(void)
{
	return hybrid_process_fork(&ps, 21, 21, 20);
}

static int fork_thread(void)
{
	return hybrid_process_fork(&ps, 10, 30, 10);
}

static int exec(void)
{
	return hybrid_process_exec(&ps, 11);
}

static int exec_of_unknown(void)
{
	return hybrid_process_exec(&ps, 20);
}

static int find(void)
{
	return hybrid_process_found(&ps, 11);
}

static int find_thread(void)
{
	return hybrid_thread_find(&ps, 10, 30) ? 0 : -1;
}

static void tasks(void)
{
	static const struct {
		int		(*run)(void);
		const char	*at_11;
	} steps[] = {
		{ map_first, "/a" }, { map_shared, "/a" }, { fork_child, "/a" },
		{ fork_of_unknown, "/a" }, { fork_thread, "/a" }, { exec, "" },
		{ exec_of_unknown, "/a" }, { find, "" }, { find_thread, "/a" },
	};
	unsigned int i, nr;
	bool failed;
	int err;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		failed = true;
		for (nr = 0; failed && nr < MAX_NR; nr++) {
			hybrid_processes_init(&ps, open_nothing);
			same(map(10, BASE, "/a"), 0);
			same(hybrid_process_fork(&ps, 11, 11, 10), 0);
			short_memory_begin(nr);
			err = steps[i].run();
			failed = short_memory_end();
			same(err != 0, failed);
			same_text(path_at(10, BASE), "/a");
			if (!failed)
				same_text(path_at(11, BASE), steps[i].at_11);
			same(steps[i].run(), 0);
			same_text(path_at(11, BASE), steps[i].at_11);
			hybrid_processes_exit(&ps);
			same(ps.nr_processes, 0);
			same(ps.nr_threads, 0);
			same(ps.objects.nr, 0);
		}
		check(nr > 1 && nr < MAX_NR);
	}
}

/* What a thread was seen in: a sample that there was no memory for is not remembered. */
static void tails(void)
{
	struct hybrid_frame frames[5] = {
		{ 1, 1, 100 }, { 2, 2, 200 }, { 3, 3, 300 }, { 4, 4, 400 }, { 5, 5, 0 },
	};
	struct hybrid_tail tail;
	unsigned int nr, first;
	bool failed = true;

	for (nr = 0; failed && nr < MAX_NR; nr++) {
		for (first = 0; first < 2; first++) {
			memset(&tail, 0, sizeof(tail));
			if (!first)
				hybrid_tail_learn(&tail, &frames[3], 2, true);
			short_memory_begin(nr);
			hybrid_tail_learn(&tail, frames, 5, true);
			failed = short_memory_end();
			same(tail.nr, failed ? !first : 4);
			hybrid_tail_learn(&tail, frames, 5, true);
			same(tail.nr, 4);
			same(tail.entries[0].cfa, 100);
			same(tail.entries[3].cfa, 400);
			check(tail.rooted);
			hybrid_tail_exit(&tail);
		}
	}
	check(nr > 2 && nr < MAX_NR);
}

/* The calls that are known stay, and the one that there was no memory for is not known. */
static void calls(void)
{
	struct hybrid_call_history history = {};
	struct hybrid_call call = {}, outer = { 1, 1 };
	unsigned int i, j, known = 0;
	bool failed;

	for (i = 1; i <= 200; i++) {
		call = (struct hybrid_call) { .cfa = i * 16, .ret = i };
		short_memory_begin(0);
		hybrid_call_history_learn(&history, &call, &outer, true);
		failed = short_memory_end();
		known += !failed;
		same(history.calls.nr, known);
		if (failed) {
			check(!hybrid_call_history_holds(&history, &call, &outer, 0, 0));
			hybrid_call_history_learn(&history, &call, &outer, true);
			same(history.calls.nr, ++known);
		}
	}
	/* Each as often as it takes. */
	for (i = 1; i <= 200; i++) {
		call = (struct hybrid_call) { .cfa = i * 16, .ret = i };
		for (j = 0; j < 15; j++) {
			check(!hybrid_call_history_holds(&history, &call, &outer, 0, 0));
			hybrid_call_history_learn(&history, &call, &outer, true);
		}
		check(hybrid_call_history_holds(&history, &call, &outer, 0, 0));
	}
	hybrid_call_history_exit(&history);
}

/* What was met is written only if nothing of it is missing. */
static void met(void)
{
	struct hybrid_ident ident = { .path = "/a" };
	struct hybrid_met met;
	unsigned int nr, i;
	bool failed = true;

	for (nr = 0; failed; nr++) {
		memset(&met, 0, sizeof(met));
		short_memory_begin(nr);
		for (i = 0; i < 100; i++) {
			ident.ino = i;
			hybrid_met_file(&met, &ident, NULL, 1);
			hybrid_met_kernel(&met, 0xffffffff81000000ULL + i * 4096);
		}
		failed = short_memory_end();
		same(met.failed, failed);
		if (!failed) {
			same(met.nr_files, 100);
			same(met.pages.nr, 100);
		}
		hybrid_met_exit(&met);
	}
	check(nr > 100);
}

static void early_files(void)
{
	struct perf_record_mmap2 event = {
		.pid = 10, .start = BASE, .len = 4096, .filename = "/usr/bin/python3",
	};
	struct hybrid_early_file file;
	bool failed = true, begun;
	unsigned int nr;

	for (nr = 0; failed && nr < MAX_NR; nr++) {
		hybrid_processes_init(&ps, open_nothing);
		short_memory_begin(nr);
		begun = hybrid_early_file_begin(&file, &ps, &event);
		failed = short_memory_end();
		same(begun, !failed);
		check(!begun == !file.space);
		if (begun)
			hybrid_early_file_end(&file);
		hybrid_processes_exit(&ps);
		same(ps.objects.nr, 0);
	}
	check(nr > 1 && nr < MAX_NR);
}

static void readers(void)
{
	short_memory_begin(0);
	check(!hybrid_memory_new());
	check(short_memory_end());
	short_memory_begin(0);
	check(!hybrid_jit_new(NULL, NULL));
	check(short_memory_end());
	/* Who has none does without. */
	hybrid_memory_delete(NULL);
	hybrid_memory_forget(NULL);
	hybrid_jit_delete(NULL);
	hybrid_jit_forget(NULL);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "short of memory: records of tasks", tasks },
		{ "short of memory: what a thread was seen in", tails },
		{ "short of memory: the calls of a thread", calls },
		{ "short of memory: what was met", met },
		{ "short of memory: files that are read early", early_files },
		{ "short of memory: what is read of processes", readers },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
