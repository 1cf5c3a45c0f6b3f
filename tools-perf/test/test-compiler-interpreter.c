// SPDX-License-Identifier: GPL-2.0
/*
 * When a store is told of an interpreter, and what is loaded of it.
 */
#include "fake-store.h"
#include "rows.h"
#include "tap.h"

/* Where the interpreter is mapped: many.so, or many-large.so. */
#define MANY		0x7f7000000000ULL

static struct hybrid_walk_interpreter interpreter;
static unsigned int nr_told, loaded_before;

static int put_interpreter(void *arg __maybe_unused,
			   const struct hybrid_pinned_file *file __maybe_unused,
			   const struct hybrid_walk_interpreter *told __maybe_unused)
{
	loaded_before = store.nr;
	__atomic_store_n(&nr_told, nr_told + 1, __ATOMIC_RELEASE);
	return 0;
}

static const char *file;

static u64 first_function(void)
{
	return elf_file_symbol(file, "many");
}

/* The file of the interpreter, open. */
static struct hybrid_object *begin(const char *name)
{
	const struct hybrid_mapping *mapping;

	file = name;
	store_begin();
	store_ops.put_interpreter = put_interpreter;
	nr_told = 0;
	elf_file_map(&scene_ps, SCENE_PID, file, MANY);
	scene_start(&sample, scene_at("leaf_at"));
	mapping = hybrid_space_find(sample.u.space, MANY + first_function());
	if (!check(mapping && hybrid_object_use(mapping)))
		return NULL;
	/* The store knows nothing of what is loaded first. */
	store.err = 1;
	store.errs = 1;
	return mapping->object;
}

static void end(void)
{
	store_end();
	store_ops.put_interpreter = NULL;
}

/* The file is still compared with others: the next sample is to tell again. */
static void unsettled(void)
{
	struct hybrid_object *object = begin("many.so");

	if (!object)
		return;
	object->is_settled = false;
	object->interpreter_told = true;
	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	check(!object->interpreter_told);
	store_work();
	same(nr_told, 0);
	object->is_settled = true;
	object->interpreter_told = true;
	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	check(object->interpreter_told);
	store_work();
	same(nr_told, 1);
	end();
}

/* Before all that samples have met. */
static void first(void)
{
	struct hybrid_object *object = begin("many.so");

	store_sample("pushed_at", ASK(0));
	store_sample("bpframe_at", ASK(0));
	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	store_work();
	same(nr_told, 1);
	same(loaded_before, 0);
	check(store_knows("pushed") && store_knows("bpframe_at"));
	end();
}

static void sample_in_many(unsigned int i)
{
	scene_start(&sample, scene_at("leaf_at"));
	scene_unwind(&sample);
	sample.u.frames[0].ip = MANY + first_function() + 256 * i + 1;
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_NO_CFI;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
}

/* All of it, as soon as samples have met it some times, however large it is. */
static void hot(void)
{
	struct hybrid_object *object = begin("many.so");
	unsigned int i;

	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	for (i = 1; i <= HYBRID_HOT_SAMPLES; i++) {
		same(compiler->wholes, 0);
		sample_in_many(i);
		store_work();
	}
	same(compiler->wholes, 1);
	end();
}

/* All of what a program is about to map; once. */
static void whole(void)
{
	struct hybrid_object *object = begin("many.so");
	unsigned int nr;

	store.errs = 0;
	hybrid_compiler_whole(compiler, object);
	store_work();
	same(compiler->wholes, 1);
	nr = store.nr;
	check(nr > 1);
	hybrid_compiler_whole(compiler, object);
	store_work();
	same(store.nr, nr);
	end();
}

/* Of one that is large only what samples have met. */
static void not_all(void)
{
	struct hybrid_object *object = begin("many-large.so");
	unsigned int i;

	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	hybrid_compiler_whole(compiler, object);
	for (i = 1; i <= HYBRID_HOT_SAMPLES; i++)
		sample_in_many(i);
	store_work();
	same(compiler->wholes, 0);
	same(store.nr, HYBRID_HOT_SAMPLES);
	end();
}

/* Who waits for the thread has it told. */
static void waits(void)
{
	struct hybrid_object *object = begin("many.so");

	same(hybrid_compiler_start(compiler), 0);
	hybrid_compiler_interpreter(compiler, object, &interpreter, first_function());
	hybrid_compiler_hand_over(compiler);
	hybrid_compiler_wait(compiler, 60000);
	same(__atomic_load_n(&nr_told, __ATOMIC_ACQUIRE), 1);
	/* Nothing is left to wait for. */
	hybrid_compiler_wait(compiler, 60000);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "interpreter: the store is told of it first",	first },
		{ "interpreter: whose file is being compared", unsettled },
		{ "interpreter: it is hot soon",		hot },
		{ "interpreter: all of it, before it runs",	whole },
		{ "interpreter: not all of a large one",	not_all },
		{ "interpreter: to wait for the thread",	waits },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
