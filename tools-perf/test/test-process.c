// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and threads, by their records.
 */
#include <stdlib.h>
#include <string.h>
#include "open-nothing.h"
#include "process.h"
#include "tap.h"

#define BASE	0x400000ULL

static struct hybrid_processes ps;

static int map(pid_t pid, u64 start, u64 size, const char *path, bool exec)
{
	struct hybrid_mapping mapping = {
		.start = start, .end = start + size, .pid = pid,
	};
	struct hybrid_ident ident = { .path = path };

	return hybrid_process_map(&ps, &mapping, path ? &ident : NULL, exec);
}

static struct hybrid_space *space_of(pid_t pid)
{
	struct hybrid_thread *thread = hybrid_thread_get(&ps, pid, pid);

	return thread ? thread->process->space : NULL;
}

/* What @pid maps at @ip; "" for nothing, "anon" for memory without a file. */
static const char *path_at(pid_t pid, u64 ip)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space_of(pid), ip);

	if (!mapping)
		return "";
	return mapping->object ? mapping->object->ident.path : "anon";
}

static void end(void)
{
	hybrid_processes_exit(&ps);
	same(ps.nr_processes, 0);
	same(ps.nr_threads, 0);
	same(ps.objects.nr, 0);
}

static void fork_shares(void)
{
	u64 gen;

	hybrid_processes_init(&ps, open_nothing);
	same(map(10, BASE, 4096, "/a", true), 0);
	same(hybrid_process_fork(&ps, 11, 11, 10), 0);
	check(space_of(10) == space_of(11));
	same(space_of(10)->refs, 2);
	gen = space_of(11)->gen;

	/* Whoever changes it does so for himself. */
	same(map(10, BASE, 4096, "/b", true), 0);
	check(space_of(10) != space_of(11));
	same_text(path_at(10, BASE), "/b");
	same_text(path_at(11, BASE), "/a");
	same(space_of(11)->gen, gen);
	check(space_of(10)->gen != gen);

	same(hybrid_process_fork(&ps, 12, 12, 11), 0);
	same(map(12, BASE + 4096, 4096, NULL, true), 0);
	same_text(path_at(12, BASE), "/a");
	same_text(path_at(12, BASE + 4096), "anon");
	same_text(path_at(11, BASE + 4096), "");
	same(ps.nr_processes, 3);
	end();
}

static void exec_clears(void)
{
	struct hybrid_frame frames[2] = { { 1, 1, 100 }, { 2, 2, 0 } };
	struct hybrid_thread *thread;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	hybrid_process_fork(&ps, 11, 11, 10);
	thread = hybrid_thread_get(&ps, 11, 11);
	hybrid_tail_learn(&thread->tail, frames, 2, true);
	same(thread->tail.nr, 1);
	check(thread->process->forked);
	/* A child's exec is none of its parent, though they share a space. */
	same(hybrid_process_exec(&ps, 11), 0);
	check(!thread->process->forked);
	check(!hybrid_thread_get(&ps, 10, 10)->process->forked);
	same_text(path_at(11, BASE), "");
	same_text(path_at(10, BASE), "/a");
	same(thread->tail.nr, 0);
	map(11, BASE, 4096, "/b", true);
	same_text(path_at(11, BASE), "/b");
	same(space_of(10)->refs, 1);
	end();
}

static void threads(void)
{
	struct hybrid_thread *one, *two;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	one = hybrid_thread_get(&ps, 10, 10);
	same(hybrid_process_fork(&ps, 10, 15, 10), 0);
	two = hybrid_thread_get(&ps, 10, 15);
	check(one && two && one != two && one->process == two->process);
	same(one->process->nr_threads, 2);
	check(hybrid_thread_get(&ps, 10, 15) == two);

	/* The leader may go first. */
	hybrid_thread_exit(&ps, 10);
	same(ps.nr_processes, 1);
	same_text(hybrid_space_find(two->process->space, BASE)->object->ident.path, "/a");
	hybrid_thread_exit(&ps, 15);
	same(ps.nr_processes, 0);
	same(ps.nr_threads, 0);
	same(ps.objects.nr_idle, 1);
	/* What is not known can't go. */
	hybrid_thread_exit(&ps, 15);
	hybrid_thread_exit(&ps, 0);
	end();
}

static void numbers_again(void)
{
	struct hybrid_thread *thread;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	map(20, BASE, 4096, "/b", true);
	check(space_of(10) != space_of(20));
	/* A thread's number is another process's by now; its exit was lost. */
	hybrid_thread_get(&ps, 10, 30);
	thread = hybrid_thread_get(&ps, 20, 30);
	check(thread && thread->process->pid == 20);
	same(ps.nr_threads, 3);

	/* A process's number is that of a new one. */
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	same_text(path_at(20, BASE), "/a");
	hybrid_thread_exit(&ps, 20);
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	same(map(20, BASE, 4096, "/c", true), 0);
	same_text(path_at(20, BASE), "/c");
	same_text(path_at(10, BASE), "/a");
	end();
}

/* Thread 21 of process 20, which is mallory's, and what is known of it. */
static void see_mallory(void)
{
	struct hybrid_frame frames[2] = { { 1, 1, 100 }, { 2, 2, 0 } };
	struct hybrid_thread *thread;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	map(20, BASE, 4096, "/b", true);
	hybrid_process_fork(&ps, 20, 21, 20);
	thread = hybrid_thread_get(&ps, 20, 21);
	hybrid_tail_learn(&thread->tail, frames, 2, true);
	thread->asleep = calloc(1, 64);
	same(thread->tail.nr, 1);
}

/* Nothing of that is known of the thread of alice's that has its number now. */
static void expect_alice(pid_t pid)
{
	struct hybrid_thread *thread = hybrid_thread_get(&ps, pid, 21);

	check(thread->process->pid == pid);
	same(thread->tail.nr, 0);
	check(!thread->asleep);
	end();
}

static void seen_before(void)
{
	see_mallory();
	hybrid_thread_exit(&ps, 21);
	hybrid_process_fork(&ps, 10, 21, 10);
	expect_alice(10);
	/* Records that the kernel dropped. */
	see_mallory();
	hybrid_process_fork(&ps, 10, 21, 10);
	expect_alice(10);
	see_mallory();
	hybrid_process_fork(&ps, 21, 21, 10);
	expect_alice(21);
	see_mallory();
	expect_alice(10);
}

/* The last that is known of a process is a thread whose exit was lost: its child by now. */
static void number_of_the_child(void)
{
	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	hybrid_thread_get(&ps, 10, 20);
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	same_text(path_at(20, BASE), "/a");
	same_text(path_at(10, BASE), "/a");
	same(ps.nr_processes, 2);
	same(ps.nr_threads, 2);

	/* The same of a process that was never sampled, by a record that can't be. */
	map(30, BASE, 4096, "/b", true);
	same(hybrid_process_fork(&ps, 31, 30, 30), 0);
	same(space_of(31)->refs, 2);
	same_text(path_at(31, BASE), "/b");
	end();
}

/* A new mapping where an old one was: found at the same address. */
static void address_again(void)
{
	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 0x4000, "/a", true);
	map(10, BASE + 0x1000, 0x1000, "/b", true);
	same_text(path_at(10, BASE), "/a");
	same_text(path_at(10, BASE + 0x1fff), "/b");
	same_text(path_at(10, BASE + 0x2000), "/a");
	/* Data over code: nothing is there any more. */
	map(10, BASE, 0x4000, "/data", false);
	same_text(path_at(10, BASE + 0x1fff), "");
	same_text(path_at(10, BASE), "");
	end();
}

/* Records before the parent's, or without: nothing is lost, nothing breaks. */
static void unknown_parent(void)
{
	hybrid_processes_init(&ps, open_nothing);
	same(hybrid_process_fork(&ps, 11, 11, 10), 0);
	same_text(path_at(11, BASE), "");
	same(map(10, BASE, 4096, "/a", true), 0);
	same_text(path_at(11, BASE), "");
	same(hybrid_process_exec(&ps, 77), 0);
	hybrid_thread_exit(&ps, 77);
	same(ps.nr_processes, 2);
	/* pid -1 and 0: kernel threads, samples without a pid. */
	check(hybrid_thread_get(&ps, -1, -1));
	check(hybrid_thread_get(&ps, 0, 0));
	end();
}

#define PIDS	8
#define SLOTS	8

/* What slot of each process maps which letter. */
static char model[PIDS][SLOTS];
static bool alive[PIDS];

static void random_step(void)
{
	static const char * const paths[] = { "/a", "/b", "/c" };
	unsigned int pid = tap_random() % PIDS, other = tap_random() % PIDS;
	unsigned int slot = tap_random() % SLOTS, file = tap_random() % 3;
	bool exec = tap_random() % 4;

	switch (tap_random() % 8) {
	case 0:
		if (!alive[pid] || pid == other)
			return;
		hybrid_process_fork(&ps, other + 1, other + 1, pid + 1);
		memcpy(model[other], model[pid], SLOTS);
		alive[other] = true;
		return;
	case 1:
		hybrid_process_exec(&ps, pid + 1);
		memset(model[pid], 0, SLOTS);
		alive[pid] = true;
		return;
	case 2:
		hybrid_thread_exit(&ps, pid + 1);
		memset(model[pid], 0, SLOTS);
		alive[pid] = false;
		return;
	default:
		map(pid + 1, BASE + slot * 4096, 4096, paths[file], exec);
		model[pid][slot] = exec ? paths[file][1] : 0;
		alive[pid] = true;
		return;
	}
}

static void random_records(void)
{
	unsigned int i, pid, slot;

	memset(model, 0, sizeof(model));
	memset(alive, 0, sizeof(alive));
	hybrid_processes_init(&ps, open_nothing);
	for (i = 0; i < 20000; i++) {
		random_step();
		pid = tap_random() % PIDS;
		for (slot = 0; slot < SLOTS; slot++) {
			const char *path = path_at(pid + 1, BASE + slot * 4096);

			same(path[0] ? path[1] : 0, model[pid][slot]);
		}
	}
	check(ps.objects.nr <= 3);
	end();
}

/* As perf record -a gives them: a task is sampled still when its exit was told. */
static void sampled_behind_exit(void)
{
	pid_t pid;

	hybrid_processes_init(&ps, open_nothing);
	for (pid = 1000; pid < 3000; pid += 2) {
		same(hybrid_process_fork(&ps, pid, pid, 10), 0);
		same(hybrid_process_fork(&ps, pid, pid + 1, pid), 0);
		check(hybrid_thread_find(&ps, pid, pid + 1));
		hybrid_thread_exit(&ps, pid + 1);
		check(!hybrid_thread_find(&ps, pid, pid + 1));
		hybrid_thread_exit(&ps, pid);
		check(!hybrid_thread_find(&ps, pid, pid));
	}
	same(ps.nr_threads, 0);
	same(ps.nr_processes, 1);
	/* The number belongs to another thread by now. */
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	same(hybrid_process_fork(&ps, 20, 2999, 20), 0);
	check(hybrid_thread_find(&ps, 20, 2999));
	end();
}

/* A thread whose beginning was lost does not keep its process. */
static void sampled_untold(void)
{
	hybrid_processes_init(&ps, open_nothing);
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	check(hybrid_thread_find(&ps, 20, 21));
	check(hybrid_thread_find(&ps, 20, 21) == hybrid_thread_find(&ps, 20, 21));
	same(ps.nr_threads, 2);
	hybrid_thread_exit(&ps, 20);
	same(ps.nr_threads, 0);
	same(ps.nr_processes, 1);
	end();
}

/* The thread that did it has the leader's number then, and no exit of its own. */
static void exec_by_another(void)
{
	pid_t pid;

	hybrid_processes_init(&ps, open_nothing);
	for (pid = 1000; pid < 3000; pid += 4) {
		same(hybrid_process_fork(&ps, pid, pid, 10), 0);
		same(hybrid_process_fork(&ps, pid, pid + 1, pid), 0);
		same(hybrid_process_fork(&ps, pid, pid + 2, pid), 0);
		hybrid_thread_exit(&ps, pid + 2);
		hybrid_thread_exit(&ps, pid);
		same(hybrid_process_exec(&ps, pid), 0);
		check(hybrid_thread_find(&ps, pid, pid));
		same(ps.nr_threads, 1);
		hybrid_thread_exit(&ps, pid);
		same(ps.nr_threads, 0);
		same(ps.nr_processes, 1);
	}
	end();
}

/* Files of processes that ended are opened by the roots of those that made them. */
static void ancestors(void)
{
	const struct hybrid_mapping *mapping;
	pid_t pid, i;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	for (pid = 11; pid < 20; pid++) {
		same(hybrid_process_fork(&ps, pid, pid, pid - 1), 0);
		same(map(pid, BASE + 4096, 4096, "/b", true), 0);
		mapping = hybrid_space_find(space_of(pid), BASE + 4096);
		for (i = 0; i < HYBRID_NR_ANCESTORS; i++)
			same(mapping->ancestors[i], pid - 1 - i >= 10 ? pid - 1 - i : 0);
		/* What its parent has mapped is the parent's still. */
		mapping = hybrid_space_find(space_of(pid), BASE);
		same(mapping->pid, 10);
		same(mapping->ancestors[0], 0);
	}
	/* An exec makes no other parent; nor does a thread. */
	same(hybrid_process_exec(&ps, 19), 0);
	same(hybrid_process_fork(&ps, 19, 30, 19), 0);
	same(map(19, BASE, 4096, "/b", true), 0);
	same(hybrid_space_find(space_of(19), BASE)->ancestors[0], 18);
	end();
}

/* What a caller says of a mapping that only this can know is not believed. */
static void mapping_alone(void)
{
	struct hybrid_mapping mapping = {
		.start = BASE, .end = BASE + 4096, .pid = 10, .is_moved = true,
		.object = (void *)1, .record = (void *)1, .ancestors = { 7 },
	};
	const struct hybrid_mapping *found;
	struct hybrid_ident ident = { .path = "/a" };

	hybrid_processes_init(&ps, open_nothing);
	same(hybrid_process_map(&ps, &mapping, NULL, true), 0);
	found = hybrid_space_find(space_of(10), BASE);
	check(found && !found->object && !found->record && !found->is_moved);
	same(found->ancestors[0], 0);
	/* A file that is not mapped as code is none that anybody reads. */
	same(hybrid_process_map(&ps, &mapping, &ident, false), 0);
	same(ps.objects.nr, 0);
	same(hybrid_process_map(&ps, &mapping, &ident, true), 0);
	same(ps.objects.nr, 1);
	same(hybrid_space_find(space_of(10), BASE)->object->refs, 1);
	end();
}

/* Threads that ended last are known: as many as there is room for. */
static void gone_for_long(void)
{
	unsigned int i;

	hybrid_processes_init(&ps, open_nothing);
	check(!hybrid_thread_find(&ps, 20, 20));
	same(hybrid_process_fork(&ps, 20, 20, 10), 0);
	same(hybrid_process_fork(&ps, 20, 21, 20), 0);
	hybrid_thread_exit(&ps, 21);
	for (i = 1; i < HYBRID_NR_GONE; i++) {
		check(!hybrid_thread_find(&ps, 20, 21));
		hybrid_thread_exit(&ps, 1000 + i);
	}
	check(!hybrid_thread_find(&ps, 20, 21));
	hybrid_thread_exit(&ps, 5000);
	check(hybrid_thread_find(&ps, 20, 21));
	end();
}

/* A program begins: nothing of the one before is left, and perf may have found the process. */
static void exec_forgets(void)
{
	struct hybrid_process *process;

	hybrid_processes_init(&ps, open_nothing);
	map(10, BASE, 4096, "/a", true);
	process = hybrid_process_find(&ps, 10);
	process->marks_in = 3;
	process->names_in[0] = 3;
	process->names_in[HYBRID_NR_LANGUAGES - 1] = 3;
	same(hybrid_process_exec(&ps, 10), 0);
	same(process->marks_in, 0);
	same(process->names_in[0], 0);
	same(process->names_in[HYBRID_NR_LANGUAGES - 1], 0);
	check(!process->found);
	same(hybrid_process_found(&ps, 11), 0);
	map(11, BASE, 4096, "/b", true);
	check(hybrid_process_find(&ps, 11)->found);
	/* The kernel's record of its beginning: once. */
	same(hybrid_process_fork(&ps, 11, 11, 10), 0);
	same_text(path_at(11, BASE), "/b");
	check(!hybrid_process_find(&ps, 11)->found);
	same(hybrid_process_find(&ps, 11)->ancestors[0], 0);
	same(hybrid_process_fork(&ps, 11, 11, 10), 0);
	same_text(path_at(11, BASE), "");
	check(hybrid_process_find(&ps, 11)->forked);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "process: fork shares, until someone changes it", fork_shares },
		{ "process: exec", exec_clears },
		{ "process: threads and their exit", threads },
		{ "process: pids used again", numbers_again },
		{ "process: what was seen of a pid that is used again", seen_before },
		{ "process: a child with a number of its parent's", number_of_the_child },
		{ "process: addresses used again", address_again },
		{ "process: records without a parent", unknown_parent },
		{ "process: a thread that is sampled behind its exit", sampled_behind_exit },
		{ "process: a thread that no record told of", sampled_untold },
		{ "process: exec by another thread than the leader", exec_by_another },
		{ "process: the processes that it is of", ancestors },
		{ "process: what a mapping is made of", mapping_alone },
		{ "process: threads that are gone for long", gone_for_long },
		{ "process: what an exec forgets", exec_forgets },
		{ "process: random records against a model", random_records },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
