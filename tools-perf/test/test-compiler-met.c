// SPDX-License-Identifier: GPL-2.0
/*
 * What the compiler's reading side does with frames that no file has, with what it knows already,
 * and where memory is short.
 */
#include <string.h>
#include <time.h>
#include <linux/time64.h>
#include "fake-store.h"
#include "rows.h"
#include "short-memory.h"
#include "tap.h"

static struct hybrid_mapping *mapping_at(u64 ip)
{
	return (struct hybrid_mapping *)hybrid_space_find(sample.u.space, ip);
}

static void take(unsigned int guessed, u64 info)
{
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, guessed, info);
}

/* Memory is short at each place where an object is noted: a later sample notes it. */
static void short_object(void)
{
	struct hybrid_object *object;
	unsigned int nr;

	for (nr = 0; nr < 3; nr++) {
		store_begin();
		store_scene(scene_at("pushed_at"));
		object = mapping_at(scene_at("pushed_at"))->object;
		short_memory_begin(nr);
		take(0, ASK(0));
		check(short_memory_end());
		check(!object->stored);
		same(compiler->noted.nr, 0);
		take(0, ASK(0));
		check(object->stored);
		store_work();
		check(store_knows("pushed_at"));
		store_end();
	}
}

/* An object without a descriptor is noted when that is there again. */
static void closed_object(void)
{
	struct hybrid_object *object;

	store_begin();
	scene_start(&sample, scene_at("pushed_at"));
	scene_unwind(&sample);
	object = mapping_at(scene_at("pushed_at"))->object;
	check(object->is_settled);
	object->state = HYBRID_OBJECT_CLOSED;
	hybrid_compiler_whole(compiler, object);
	check(!object->stored);
	same(compiler->noted.nr, 0);
	object->state = HYBRID_OBJECT_READY;
	hybrid_compiler_whole(compiler, object);
	check(object->stored);
	store_end();
}

/* However many new rows of an object a sample meets, it counts once. */
static void counts_once(void)
{
	struct hybrid_object *object;

	store_begin();
	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	scene_push_pushed(&sample, 0, scene_at("outer_ret"));
	scene_unwind(&sample);
	check(sample.u.nr >= 3);
	take(0, ASK(0));
	object = mapping_at(scene_at("leaf_at"))->object;
	/* The object, and its rows. */
	check(compiler->noted.nr >= 4);
	same(object->stored->met, 1);
	store_sample("bpframe_at", ASK(0));
	same(object->stored->met, 2);
	store_end();
}

/* A rule that the code gives holds for one return address: a row is not loaded for another one. */
static void told_of_another(void)
{
	const u64 ip = SCENE_NOCFI + elf_file_symbol("nocfi.so", "large_at");
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	store_ops.takes_codes = true;
	store_begin();
	scene_start(&sample, ip);
	scene_fill(&sample, 4, 0);
	scene_unwind(&sample);
	row = hybrid_unwind_row(&scene_unwinder, sample.u.space, ip, &mapped, &object);
	check(row && row->code_led && row->code_at);
	row->code_at++;
	take(0, PERF_UNWIND_END_OUTERMOST);
	same(compiler->noted.nr, 0);
	row->code_at--;
	take(0, PERF_UNWIND_END_OUTERMOST);
	same(compiler->noted.nr, 2);
	store_end();
	store_ops.takes_codes = false;
}

/* All that the process has mapped is loaded, from the first mapping to the last. */
static void whole_space(void)
{
	const struct hybrid_space *space;
	struct hybrid_stored *stored;
	unsigned int nr;
	size_t i;

	store_begin();
	nr = store_short_dump();
	take(0, ASK(nr));
	space = sample.u.space;
	for (i = 0; i < space->nr; i++) {
		stored = space->mappings[i].object ? space->mappings[i].object->stored : NULL;
		check(!space->mappings[i].object || (stored && stored->whole));
	}
	store_end();
}

/* A deep stack with frames in memory that no file has, in none, and in a file that waits. */
static void deep_elsewhere(void)
{
	const u64 elsewhere[] = { SCENE_JIT + 16, 4096, scene_at_32("leaf_at") };
	struct hybrid_object *other, *object;
	unsigned int i, nr;

	for (i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		store_begin();
		for (nr = 1; nr <= 4; nr++) {
			scene_start(&sample, scene_at("pushed_at"));
			scene_unwind(&sample);
			sample.u.nr = 2;
			sample.u.frames[0].ip = elsewhere[i];
			sample.u.frames[0].ret = elsewhere[i];
			sample.u.frames[1] = sample.u.frames[0];
			sample.u.frames[1].ip = scene_at("pushed_at");
			sample.u.stop = HYBRID_STOP_DUMP_END;
			if (mapping_at(elsewhere[i]) && mapping_at(elsewhere[i])->object) {
				check(hybrid_object_use(mapping_at(elsewhere[i])));
				other = mapping_at(elsewhere[i])->object;
				other->is_settled = false;
			}
			take(0, ASK(0));
			object = mapping_at(scene_at("pushed_at"))->object;
			/* The second one has all loaded, and no other counts. */
			same(object->stored->deep, min(nr, 2U));
			same(object->stored->whole, nr >= 2);
		}
		store_end();
	}
}

static unsigned int nr_copies, nr_interpreters;

static int put_copy(void *arg __maybe_unused,
		    const struct hybrid_pinned_file *file __maybe_unused,
		    const struct hybrid_walk_code_key *key __maybe_unused,
		    struct hybrid_walk_copy *copy __maybe_unused)
{
	nr_copies++;
	return 0;
}

static int put_interpreter(void *arg __maybe_unused,
			   const struct hybrid_pinned_file *file __maybe_unused,
			   const struct hybrid_walk_interpreter *interpreter __maybe_unused)
{
	nr_interpreters++;
	return 0;
}

/* A copy of an interpreter's file is noted, and nothing but that. */
static void copy_alone(void)
{
	struct hybrid_request note = { .kind = HYBRID_REQUEST_COPY };

	nr_copies = 0;
	nr_interpreters = 0;
	store_ops.put_copy = put_copy;
	store_ops.put_interpreter = put_interpreter;
	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	note.stored = list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
	check(note.stored->begun);
	note.stored->is_interpreter = true;
	note.nr = note.stored->asked_nr;
	same(hybrid_requests_add(&compiler->handed, &note), 0);
	hybrid_compiler_work(compiler);
	same(nr_copies, 1);
	same(nr_interpreters, 0);
	store_end();
	store_ops.put_copy = NULL;
	store_ops.put_interpreter = NULL;
}

static u64 ns_of(const struct timespec *time)
{
	return time->tv_sec * (u64)NSEC_PER_SEC + time->tv_nsec;
}

/* Who waits for a thread that does not follow waits as long as he says, and no less. */
static void waits(void)
{
	struct timespec from, to;

	store_begin();
	compiler->threaded = true;
	compiler->nr_handed++;
	clock_gettime(CLOCK_MONOTONIC, &from);
	hybrid_compiler_wait(compiler, 1020);
	clock_gettime(CLOCK_MONOTONIC, &to);
	check(ns_of(&to) - ns_of(&from) >= 1020 * NSEC_PER_MSEC);
	compiler->nr_handed--;
	compiler->threaded = false;
	store_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "compiler: memory is short as an object is noted", short_object },
		{ "compiler: an object whose file is closed", closed_object },
		{ "compiler: a sample counts once", counts_once },
		{ "compiler: what was told of another address", told_of_another },
		{ "compiler: all that a process has mapped", whole_space },
		{ "compiler: deep stacks with frames of no file", deep_elsewhere },
		{ "compiler: a copy is all that is noted", copy_alone },
		{ "compiler: how long it is waited for", waits },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
