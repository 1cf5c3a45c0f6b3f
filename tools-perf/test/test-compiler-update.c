// SPDX-License-Identifier: GPL-2.0
/*
 * What the worker does with one object: how often its file may change, which files stay open, and
 * what is forgotten when it goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "clock.h"
#include "fake-store.h"
#include "tap.h"
#include "update.h"

/* Files that stay open, objects that one lets pass, and how often a file may change. */
#define OPENED	32
#define TURNS	16
#define CHANGES	8

/* Refusals that are kept. */
#define REFUSALS	100

/* Where the file is mapped once more, as others with the same rows. */
#define OTHERS	0x7f4000000000ULL

static void answers(int err, unsigned int times)
{
	store.err = err;
	store.errs = times;
}

static struct hybrid_stored *first_stored(void)
{
	return list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
}

static struct hybrid_stored *begin(void)
{
	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 1);
	return first_stored();
}

/* The store says of each load what it has to say; the state of the object after so many. */
static enum hybrid_stored_state state_after(int err, unsigned int times)
{
	struct hybrid_stored *stored = begin();
	enum hybrid_stored_state state;
	unsigned int i;

	check(stored->begun);
	answers(err, times);
	for (i = 0; i < times; i++)
		hybrid_update_function(compiler, stored, elf_file_symbol("frames.so", "bpframe"));
	same(store.errs, 0);
	/* A file that has changed is opened anew, and all of it is to be loaded. */
	check(!stored->object && !stored->begun);
	state = stored->state;
	store_end();
	return state;
}

static void states(void)
{
	same(state_after(-ESTALE, 1), HYBRID_STORED_LEARNS);
	same(state_after(-ESTALE, CHANGES), HYBRID_STORED_LEARNS);
	same(state_after(-ESTALE, CHANGES + 1), HYBRID_STORED_STALE);
}

static void refusals(void)
{
	struct hybrid_stored *stored = begin();

	answers(-EDQUOT, 1);
	hybrid_update_function(compiler, stored, elf_file_symbol("frames.so", "bpframe"));
	same(stored->state, HYBRID_STORED_FAILED);
	same(compiler->nr_refusals, 1);
	same(compiler->refusals[0].err, -EDQUOT);
	same(compiler->nr_opened, 0);
	store_end();
}

static void update(struct hybrid_stored *stored, unsigned int way)
{
	const struct hybrid_request note = {
		.stored = stored, .vaddr = elf_file_symbol("frames.so", "bpframe"),
		.at = elf_file_symbol("frames.so", "bpframe_at"),
	};

	if (way == 0)
		hybrid_update_function(compiler, stored, note.vaddr);
	else if (way == 1)
		hybrid_update_early(compiler, stored);
	else if (way == 2)
		hybrid_update_hot(compiler, stored);
	else if (way == 3)
		check(!hybrid_update_code(compiler, stored, &note));
	else if (way == 4)
		hybrid_update_around(compiler, stored, &note);
	else
		check(hybrid_update_part(compiler) == stored);
}

#define WAYS	6

/* An object whose file is no ELF file any more: nothing of it is loaded, whatever is asked for. */
static void not_opened(void)
{
	struct hybrid_stored *stored;
	unsigned int way;
	int fd;

	for (way = 0; way < WAYS; way++) {
		stored = begin();
		hybrid_update_close(compiler, stored);
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		check(fd >= 0 && dup2(fd, stored->fd) >= 0);
		close(fd);
		hybrid_update_whole(compiler, stored);
		check(!list_empty(&stored->working));
		update(stored, way);
		same(stored->state, HYBRID_STORED_FAILED);
		same(compiler->nr_refusals, 1);
		same(compiler->nr_opened, 0);
		check(list_empty(&stored->working));
		same(store.nr, 1);
		store_end();
	}
}

/* So many refusals are kept to be printed. */
static void most_refusals(void)
{
	struct hybrid_stored *stored = begin();
	unsigned int i;

	for (i = 1; i <= REFUSALS + 1; i++) {
		answers(-EDQUOT, 1);
		hybrid_update_function(compiler, stored, elf_file_symbol("frames.so", "bpframe"));
		hybrid_stored_forget(stored);
		same(compiler->nr_refusals, i < REFUSALS ? i : REFUSALS);
	}
	store_end();
}

/* The store has made room for the first load, and later forgets all but the last one. */
static void made_room(void)
{
	struct hybrid_stored *stored;

	store_begin();
	answers(1, 1);
	store_sample("pushed_at", ASK(0));
	store_work();
	stored = first_stored();
	check(stored->begun && stored->object);
	answers(1, 1);
	store_sample("bpframe_at", ASK(0));
	store_work();
	check(!stored->begun && !stored->object);
	store_end();
}

static int map_other(struct hybrid_mapping *mapping, const struct hybrid_ident *ident, bool exec,
		     void *arg)
{
	struct hybrid_ident other = *ident;

	other.ino += 1 + *(unsigned int *)arg;
	mapping->pid = SCENE_PID;
	return hybrid_process_map(&scene_ps, mapping, &other, exec);
}

/* A sample in the @i-th of the other files. */
static void sample_other(unsigned int i, const char *label)
{
	u64 bias = OTHERS + ((u64)i << 32);

	scene_start(&sample, bias + elf_file_symbol("frames.so", label));
	scene_unwind(&sample);
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_NO_CFI;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
}

static void map_others(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		elf_file_each_map("frames.so", OTHERS + ((u64)i << 32), map_other, &i);
}

static bool is_open(unsigned int i)
{
	u64 ip = OTHERS + ((u64)i << 32) + elf_file_symbol("frames.so", "pushed_at");
	const struct hybrid_mapping *mapping = hybrid_space_find(sample.u.space, ip);

	return mapping->object->stored && mapping->object->stored->object;
}

/* If there are too many, the one that was used longest ago is closed. */
static void many_files(void)
{
	unsigned int i;

	store_begin();
	map_others(OPENED + 2);
	for (i = 0; i < OPENED; i++) {
		sample_other(i, "pushed_at");
		same(compiler->nr_opened, i + 1);
	}
	sample_other(0, "bpframe_at");
	for (; i < OPENED + 2; i++) {
		sample_other(i, "pushed_at");
		same(compiler->nr_opened, OPENED);
	}
	for (i = 0; i < OPENED + 2; i++)
		same(is_open(i), i != 1 && i != 2);
	store_end();
}

/* Of the object in which sample_other() took the @i-th sample. */
static struct hybrid_stored *stored_at(unsigned int i)
{
	u64 ip = OTHERS + ((u64)i << 32) + elf_file_symbol("frames.so", "pushed_at");

	return hybrid_space_find(sample.u.space, ip)->object->stored;
}

/* An object of which a part was loaded lets 16 others pass, or as many as there are. */
static void turns(void)
{
	struct hybrid_stored *other;
	unsigned int nr, passed, i;

	for (nr = 1; nr <= TURNS + 2; nr++) {
		store_begin();
		map_others(nr);
		for (i = 0; i < nr; i++)
			sample_other(i, "pushed_at");
		for (i = 0; i < nr; i++)
			hybrid_update_whole(compiler, stored_at(i));
		check(hybrid_update_part(compiler) == stored_at(0));
		passed = min(nr - 1, (unsigned int)TURNS);
		i = 0;
		list_for_each_entry(other, &compiler->working, working) {
			check(other == stored_at(i < passed ? i + 1 : i == passed ? 0 : i));
			i++;
		}
		same(i, nr);
		store_end();
	}
}

static void ages(void)
{
	u64 before;

	store_begin();
	map_others(2);
	before = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	sample_other(0, "pushed_at");
	tap_pass(HYBRID_UPDATE_AGE / 2);
	sample_other(1, "pushed_at");
	hybrid_update_age(compiler, before + HYBRID_UPDATE_AGE - 1);
	check(is_open(0) && is_open(1));
	hybrid_update_age(compiler, before + HYBRID_UPDATE_AGE);
	check(!is_open(0) && is_open(1));
	same(compiler->nr_opened, 1);
	store_end();
}

/* An object goes whose code is still to be loaded around an address. */
static void gone(void)
{
	struct hybrid_request note = { .kind = HYBRID_REQUEST_CODE, .stored = begin() };

	same(hybrid_requests_add(&compiler->around, &note), 0);
	hybrid_processes_exit(&scene_ps);
	hybrid_compiler_pass(compiler);
	hybrid_compiler_work(compiler);
	check(!compiler->around.notes[0].stored);
	check(list_empty(&compiler->stored_objects));
	store_work();
	same(store.nr, 1);
	hybrid_processes_init(&scene_ps, elf_file_open);
	store_end();
}

/* All is forgotten: what a process has mapped is looked at anew. */
static void new_generation(void)
{
	begin();
	answers(-ENOSPC, 1);
	store_sample("bpframe_at", ASK(0));
	store_work();
	same(store.forgotten, 1);
	compiler->space_gen = 7;
	store_sample("pushed_at", ASK(0));
	same(compiler->space_gen, 0);
	same(first_stored()->met, 1);
	store_end();
}

/* The thread's priority is raised until the store is told of an interpreter. */
static void raised(void)
{
	struct hybrid_request note = { .kind = HYBRID_REQUEST_WHOLE, .stored = begin() };

	store_ops.put_interpreter = store_put_nothing;
	compiler->raised = true;
	same(hybrid_requests_add(&compiler->handed, &note), 0);
	hybrid_compiler_work(compiler);
	check(compiler->raised);
	note.kind = HYBRID_REQUEST_INTERPRETER;
	same(hybrid_requests_add(&compiler->handed, &note), 0);
	hybrid_compiler_work(compiler);
	check(!compiler->raised);
	store_end();
	store_ops.put_interpreter = NULL;
}

static unsigned int nr_begun;

static void begin_thread(void *arg)
{
	check(arg == &store);
	__atomic_add_fetch(&nr_begun, 1, __ATOMIC_RELAXED);
}

/* The store is told of the thread that loads it. */
static void thread_begins(void)
{
	nr_begun = 0;
	store_ops.begin = begin_thread;
	store_begin();
	same(hybrid_compiler_start(compiler), 0);
	while (!__atomic_load_n(&nr_begun, __ATOMIC_RELAXED))
		usleep(1000);
	store_end();
	same(nr_begun, 1);
	store_ops.begin = NULL;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "update: a file that changes", states },
		{ "update: a file that is refused", refusals },
		{ "update: as many refusals as are kept", most_refusals },
		{ "update: a file that can't be opened", not_opened },
		{ "update: the store has made room", made_room },
		{ "update: many files", many_files },
		{ "update: objects that are loaded by turns", turns },
		{ "update: files that are not used", ages },
		{ "update: an object that goes", gone },
		{ "update: all is forgotten", new_generation },
		{ "update: an interpreter, with a raised priority", raised },
		{ "update: the thread begins", thread_begins },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
