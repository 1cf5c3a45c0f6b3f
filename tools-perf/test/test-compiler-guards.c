// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of the compiler's reading side: what it notes, how often, and what it hands over.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "fake-store.h"
#include "rows.h"
#include "short-memory.h"
#include "tap.h"

/* As in compiler.c. */
#define AGAIN_PASSES	16
#define DEEP		8192
#define MAX_GUESS_WAIT	6U

static struct hybrid_stored *first_stored(void)
{
	return list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
}

static struct hybrid_mapping *mapping_at(const char *label)
{
	return (struct hybrid_mapping *)hybrid_space_find(sample.u.space, scene_at(label));
}

/* A pass over the rings that found nothing new hands nothing over. */
static void nothing_noted(void)
{
	store_begin();
	hybrid_compiler_pass(compiler);
	same(compiler->pass, 1);
	same(compiler->nr_handed, 0);
	store_sample("pushed_at", ASK(0));
	hybrid_compiler_pass(compiler);
	same(compiler->nr_handed, 1);
	hybrid_compiler_pass(compiler);
	same(compiler->nr_handed, 1);
	store_end();
}

/* A thread that is raised already is not raised again. */
static void raised_once(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	store_begin();
	store_sample("pushed_at", ASK(0));
	compiler->tid = gettid();
	compiler->raised = true;
	compiler->is_urgent = true;
	hybrid_compiler_pass(compiler);
	check(compiler->raised && !compiler->is_urgent);
	same(getpriority(PRIO_PROCESS, 0), before);
	/* A thread that has not begun can't be raised, and what is not urgent can wait. */
	compiler->raised = false;
	compiler->tid = 0;
	compiler->is_urgent = true;
	store_sample("bpframe_at", ASK(0));
	hybrid_compiler_pass(compiler);
	compiler->tid = gettid();
	store_sample("leaf_at", ASK(0));
	hybrid_compiler_pass(compiler);
	check(!compiler->raised);
	same(getpriority(PRIO_PROCESS, 0), before);
	store_end();
}

/* Without a compiler there is nothing to do. */
static void no_compiler(void)
{
	hybrid_compiler_pass(NULL);
	hybrid_compiler_wait(NULL, 1);
	hybrid_compiler_stop(NULL);
	hybrid_compiler_delete(NULL);
}

static unsigned int nr_copies;

static int put_copy(void *arg __maybe_unused,
		    const struct hybrid_pinned_file *file __maybe_unused,
		    const struct hybrid_walk_code_key *key __maybe_unused,
		    struct hybrid_walk_copy *copy __maybe_unused)
{
	nr_copies++;
	return 0;
}

static void sample_in_copy(void)
{
	struct hybrid_mapping *mapping;

	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	scene_unwind(&sample);
	sample.u.walker_space = 4711;
	mapping = mapping_at("leaf_at");
	mapping->is_copy = true;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	mapping->is_copy = false;
	store_work();
}

/* A copy is noted again 16 passes later, and not in the pass before. */
static void copy_again(void)
{
	nr_copies = 0;
	store_ops.put_copy = put_copy;
	store_begin();
	sample_in_copy();
	same(nr_copies, 1);
	same(compiler->pass, 1);
	same(compiler->copy_at, AGAIN_PASSES);
	compiler->pass = AGAIN_PASSES - 1;
	sample_in_copy();
	same(nr_copies, 1);
	same(compiler->pass, AGAIN_PASSES);
	sample_in_copy();
	same(nr_copies, 2);
	store_ops.put_copy = NULL;
	store_end();
}

static void deep_sample(u64 depth)
{
	scene_start(&sample, scene_at("pushed_at"));
	scene_unwind(&sample);
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_NO_CFI;
	sample.u.frames[0].cfa = sample.u.dump_start + depth;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
}

/* A stack of 8 KiB is not deep, and one byte more is. */
static void deep(void)
{
	struct hybrid_stored *stored;

	store_begin();
	deep_sample(DEEP);
	deep_sample(DEEP);
	store_work();
	stored = first_stored();
	same(stored->deep, 0);
	check(!stored->whole && !store_knows("realign_at"));
	deep_sample(DEEP + 1);
	same(stored->deep, 1);
	check(!stored->whole);
	deep_sample(DEEP + 1);
	check(stored->whole);
	store_work();
	check(store_knows("realign_at"));
	store_end();
}

/* A file like the one that was loaded ends the waits, once. */
static void twin_seen(void)
{
	struct hybrid_stored *stored;
	unsigned int pass;

	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	stored = first_stored();
	stored->again = 3;
	stored->again_at = 1000;
	stored->nr_twins = 1;
	for (pass = 0; pass < 2; pass++) {
		store_sample("pushed_at", ASK(0));
		same(stored->again, 0);
		store_work();
	}
	store_sample("pushed_at", ASK(0));
	same(stored->again, 1);
	same(stored->again_at, compiler->pass + AGAIN_PASSES);
	store_work();
	same(store.nr, 2);
	store_sample("pushed_at", ASK(0));
	same(stored->again, 1);
	store_end();
}

/* What the code without CFI tells can be lost, too. The second sample notes all of the file. */
static void lost_code(void)
{
	unsigned int pass, nr = 0;

	store_ops.takes_codes = true;
	store_begin();
	for (pass = 0; pass < 5; pass++) {
		scene_start(&sample, SCENE_NOCFI + elf_file_symbol("nocfi.so", "large_at"));
		scene_fill(&sample, 4, 0);
		scene_unwind(&sample);
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
		store_work();
		nr = pass ? nr : store.nr;
		check(nr && (store.nr > nr) == (pass == 4));
	}
	store_end();
	store_ops.takes_codes = false;
}

/* Nothing is noted of an object that is loaded whole, and all that was noted is done. */
static void known(void)
{
	struct hybrid_stored *stored;
	unsigned int i;

	store_begin();
	for (i = 0; i < ARRAY_SIZE(store_labels); i++)
		store_sample(store_labels[i], ASK(0));
	store_work();
	stored = first_stored();
	same(stored->state, HYBRID_STORED_KNOWS);
	same(stored->done_nr, stored->asked_nr);
	store_sample("outer_ret", ASK(0));
	same(compiler->noted.nr, 0);
	store_end();
}

/* Memory is short while all that a process maps is noted: a later sample notes it again. */
static void short_space(void)
{
	struct hybrid_stored *stored;
	unsigned int nr;

	store_begin();
	nr = store_short_dump();
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr));
	store_work();
	same(compiler->space_gen, sample.u.space->gen);
	compiler->space_gen = 0;
	list_for_each_entry(stored, &compiler->stored_objects, list)
		stored->whole = false;
	free(compiler->noted.notes);
	memset(&compiler->noted, 0, sizeof(compiler->noted));
	short_memory_begin(0);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr));
	check(short_memory_end());
	same(compiler->space_gen, 0);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr));
	same(compiler->space_gen, sample.u.space->gen);
	store_end();
}

/* Each guess that shows nothing new doubles the wait for the next, to 64 samples. */
static void guesses(void)
{
	unsigned int i;

	store_begin();
	for (i = 0; i < 2 * MAX_GUESS_WAIT; i++) {
		scene_start(&sample, scene_at("leaf_at"));
		scene_push(&sample, scene_at("pushed_ret"));
		scene_push_pushed(&sample, 0, scene_at("outer_ret"));
		scene_unwind(&sample);
		sample.u.nr = 1;
		sample.u.stop = HYBRID_STOP_NO_CFI;
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 1, ASK(1));
		same(compiler->guess_wait, min(i, MAX_GUESS_WAIT));
	}
	compiler->guess_at = 0;
	check(hybrid_compiler_may_guess(compiler));
	same(compiler->guess_at, compiler->nr_samples + 64);
	store_end();
}

/* An interpreter is urgent, until it is handed over. */
static void urgent(void)
{
	const struct hybrid_walk_interpreter interpreter = {};

	store_ops.put_interpreter = store_put_nothing;
	store_begin();
	store_sample("pushed_at", ASK(0));
	check(!compiler->is_urgent);
	hybrid_compiler_interpreter(compiler, mapping_at("pushed_at")->object, &interpreter, 0);
	check(compiler->is_urgent);
	store_work();
	check(!compiler->is_urgent);
	store_end();
	store_ops.put_interpreter = NULL;
}

/* A program is about to begin: its file is noted, but not if all of it was or it can't be. */
static void whole(void)
{
	struct hybrid_object *object;

	store_begin();
	check(hybrid_object_use(mapping_at("leaf_at")));
	object = mapping_at("leaf_at")->object;
	object->is_settled = false;
	hybrid_compiler_whole(compiler, object);
	same(compiler->noted.nr, 0);
	object->is_settled = true;
	hybrid_compiler_whole(compiler, object);
	same(compiler->noted.nr, 2);
	store_work();
	object->stored->whole = true;
	hybrid_compiler_whole(compiler, object);
	same(compiler->noted.nr, 0);
	store_end();
}

static bool has_begun;

static void begin_late(void *arg __maybe_unused)
{
	usleep(50000);
	__atomic_store_n(&has_begun, true, __ATOMIC_RELEASE);
}

/* A thread that is stopped has ended. */
static void joined(void)
{
	has_begun = false;
	store_ops.begin = begin_late;
	store_begin();
	same(hybrid_compiler_start(compiler), 0);
	hybrid_compiler_stop(compiler);
	check(__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE));
	check(!compiler->threaded);
	store_end();
	store_ops.begin = NULL;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "compiler: a pass that found nothing new", nothing_noted },
		{ "compiler: the thread's priority is raised once", raised_once },
		{ "compiler: there is none", no_compiler },
		{ "compiler: when a copy is noted again", copy_again },
		{ "compiler: how deep a deep stack is", deep },
		{ "compiler: a file like the one that was loaded", twin_seen },
		{ "compiler: the rule of code without CFI is lost", lost_code },
		{ "compiler: an object that is known", known },
		{ "compiler: memory is short while a process is loaded", short_space },
		{ "compiler: how often it may be guessed", guesses },
		{ "compiler: an interpreter is urgent", urgent },
		{ "compiler: a program is about to begin", whole },
		{ "compiler: a thread that is stopped", joined },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
