// SPDX-License-Identifier: GPL-2.0
/*
 * What is loaded into a store, and when.
 */
#include <fcntl.h>
#include <string.h>
#include "fake-store.h"
#include "rule-table.h"
#include "tap.h"

/* Where many.so is mapped. */
#define MANY		0x7f7000000000ULL

static void functions(void)
{
	store_begin();
	store_sample("pushed_at", ASK(0));
	same(store.nr, 0);
	store_work();
	same(store.nr, 1);
	check(store_knows("pushed") && store_knows("pushed_end") && !store_knows("bpframe_at"));
	same(store.loaded[0].flags, 0);
	check(store.loaded[0].fd >= 0);

	/* Another row of it, the same row, and code that no CFI covers. */
	store_sample("pushed_end", ASK(0));
	store_sample("pushed_at", ASK(0));
	store_sample("nocfi_at", ASK(0));
	store_work();
	same(store.nr, 1);
	store_sample("bpframe_at", ASK(0));
	store_sample("leaf_at", ASK(0));
	store_work();
	same(store.nr, 3);
	store_end();
}

/* All frames of a sample, each function once. */
static void all_frames(void)
{
	store_begin();
	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	scene_push_pushed(&sample, 0, scene_at("pushed_ret"));
	scene_push_pushed(&sample, 0, scene_at("outer_ret"));
	scene_unwind(&sample);
	same(sample.u.nr, 4);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
	same(store.nr, 3);
	check(store_knows("leaf_at") && store_knows("pushed") && store_knows("outer_ret"));
	store_end();
}

/* Seven samples that met something new load functions, the eighth all. */
static void hot(void)
{
	unsigned int i;

	store_begin();
	for (i = 0; i < ARRAY_SIZE(store_labels); i++) {
		same(store.nr, i);
		check(!store_knows("outer_ret"));
		store_sample(store_labels[i], ASK(0));
		/* Nothing new in it: it does not count. */
		store_sample(store_labels[0], ASK(0));
		store_work();
	}
	same(i, HYBRID_HOT_SAMPLES);
	check(store_knows("outer_ret") && store_knows("plt_low") && store_knows("realign_at"));
	/* From now on there is nothing to load. */
	i = store.nr;
	store_sample("outer_ret", ASK(0));
	store_sample("plt_low", ASK(0));
	store_work();
	same(store.nr, i);
	store_end();
}

/* A sample at an address of many.so, which is as far from frames.so. */
static void sample_in_many(u64 vaddr)
{
	scene_start(&sample, scene_at("leaf_at"));
	scene_unwind(&sample);
	sample.u.frames[0].ip = MANY + vaddr;
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_NO_CFI;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
}

/* Of 400 functions one in 16 has to be met before it is worth while to load all. */
static void hot_large(void)
{
	u64 many = elf_file_symbol("many.so", "many");
	unsigned int i;

	store_begin();
	elf_file_map(&scene_ps, SCENE_PID, "many.so", MANY);
	for (i = 0; i < 25; i++) {
		same(store.nr, i);
		same(compiler->wholes, 0);
		sample_in_many(many + 256 * i + 1);
		store_work();
	}
	same(compiler->wholes, 1);
	i = store.nr;
	sample_in_many(many + 16 * 399 + 1);
	store_work();
	same(store.nr, i);
	store_end();
}

/*
 * What a sample meets in an object that is going to be loaded whole: its part of that,
 * or only itself, for a store that takes such updates.
 */
static void while_hot(void)
{
	unsigned int i, small;

	for (small = 0; small <= 1; small++) {
		store_ops.takes_small = small;
		store_begin();
		for (i = 0; i < ARRAY_SIZE(store_labels); i++)
			store_sample(store_labels[i], ASK(0));
		store_sample("outer_ret", ASK(0));
		store_work();
		check(store.nr > i && store_has(&store.loaded[i], "outer_ret"));
		check(store_has(&store.loaded[i], "plt_low") == !small);
		check(store_knows("plt_low") && store_knows("realign_at"));
		store_end();
	}
	store_ops.takes_small = false;
}

/* The kernel needs a rule that no dump reaches: it gets all there is. */
static void beyond_the_dump(void)
{
	unsigned int nr;

	store_begin();
	nr = store_short_dump();
	/* Within the dump: what it shows will do. */
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr - 1));
	store_work();
	check(store_knows("leaf_at") && !store_knows("outer_ret"));
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr));
	store_work();
	check(store_knows("outer_ret") && store_knows("realign_at"));
	/* And not again. */
	nr = store.nr;
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(nr));
	store_work();
	same(store.nr, nr);
	store_end();
}

/* Two samples that are cut off: all of the objects that they show is loaded. */
static void cut_off(void)
{
	store_begin();
	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	sample.u.dump_size = 8;
	scene_unwind(&sample);
	same(sample.u.stop, HYBRID_STOP_DUMP_END);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
	check(store_knows("leaf_at") && store_knows("pushed") && !store_knows("realign_at"));
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
	check(store_knows("realign_at"));
	store_end();
}

/* What is only guessed is loaded, less and less often looked for, and shows no loss. */
static void guessed(void)
{
	unsigned int i, nr = 0;

	store_begin();
	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	scene_push_pushed(&sample, 0, scene_at("outer_ret"));
	scene_unwind(&sample);
	same(sample.u.nr, 3);
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_DUMP_END;
	check(hybrid_compiler_may_guess(compiler));
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 1, ASK(1));
	store_work();
	check(store_knows("pushed") && !store_knows("outer_ret") && !store_knows("realign_at"));
	for (i = 0; i < 1000; i++) {
		bool may = hybrid_compiler_may_guess(compiler);

		nr += may;
		sample.u.stop = HYBRID_STOP_NO_CFI;
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, may, ASK(1));
		store_work();
	}
	check(nr > 10 && nr < 40);
	same(store.nr, 2);
	store_sample("bpframe_at", ASK(0));
	check(hybrid_compiler_may_guess(compiler) || compiler->guess_at < 1100);
	store_end();
}

/* Code without CFI, for a store that takes what it tells itself: and what stands around. */
static void by_code(void)
{
	const u64 large = elf_file_symbol("nocfi.so", "large_at");
	unsigned int codes;

	for (codes = 0; codes <= 1; codes++) {
		store_ops.takes_codes = codes;
		store_begin();
		scene_start(&sample, SCENE_NOCFI + large);
		scene_fill(&sample, 4, 0);
		scene_unwind(&sample);
		same(sample.u.stop, HYBRID_STOP_DUMP_END);
		same(sample.u.nr, 1);
		store.watched = large;
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
		store_work();
		same(!!store.nr, codes);
		same(store.rule.kind, codes ? PERF_UNWIND_CFA : PERF_UNWIND_UNKNOWN);
		same(store.rule.cfa_off, codes ? 20488 : 0);
		same(store.nr, codes ? 3 : 0);
		check(!codes || store.loaded[1].start <= elf_file_symbol("nocfi.so", "bare_at"));
		store_end();
	}
	store_ops.takes_codes = false;
}

/* What is between functions was perhaps loaded by what its code tells: that stays. */
static void between_functions(void)
{
	unsigned int codes, i;

	for (codes = 0; codes <= 1; codes++) {
		store_ops.takes_codes = codes;
		store_begin();
		for (i = 0; i < HYBRID_HOT_SAMPLES; i++)
			store_sample(store_labels[i], ASK(0));
		store.watched = store_offset("inreg_at") + 1;
		store_work();
		same(store.rule.kind, codes ? HYBRID_TABLE_KEEP : PERF_UNWIND_UNKNOWN);
		store_end();
	}
	store_ops.takes_codes = false;
}

/* What stands around takes long: functions that were met later come first. */
static void code_around_last(void)
{
	const u64 large = elf_file_symbol("nocfi.so", "large_at");

	store_ops.takes_codes = true;
	store_begin();
	scene_start(&sample, SCENE_NOCFI + large);
	scene_fill(&sample, 4, 0);
	scene_unwind(&sample);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_sample("pushed_at", ASK(0));
	store_work();
	/* The address, the function, what is around, the address again. */
	same(store.nr, 4);
	check(store_has(&store.loaded[1], "pushed_at"));
	store_end();
	store_ops.takes_codes = false;
}

/* But for code that has led to what has called nothing. */
static void by_wrong_code(void)
{
	store_ops.takes_codes = true;
	store_begin();
	scene_start(&sample, SCENE_NOCFI + elf_file_symbol("nocfi.so", "large"));
	scene_push(&sample, 12345);
	scene_unwind(&sample);
	same(sample.u.nr, 1);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
	same(store.nr, 0);
	store_end();
	store_ops.takes_codes = false;
}

static void vdso_flags(void)
{
	struct hybrid_ident ident = { .path = "[vdso]" };
	struct hybrid_mapping mapping;

	store_begin();
	store_sample("leaf_at", ASK(0));
	mapping = *hybrid_space_find(sample.u.space, scene_at("leaf_at"));
	mapping.object = hybrid_object_get(&scene_ps.objects, &ident);
	mapping.record = NULL;
	hybrid_object_open(mapping.object, open(elf_file_path("frames.so"), O_RDONLY));
	hybrid_space_map(sample.u.space, &mapping, true);
	hybrid_object_put(mapping.object);
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 2);
	same(store.loaded[1].flags, PERF_UNWIND_VDSO_64);
	same(store.loaded[1].fd, -1);
	store_end();
}

static struct {
	struct hybrid_walk_code_key	key;
	struct hybrid_walk_copy		copy;
	unsigned int			nr;
} copied;

static int put_copy(void *unused, const struct hybrid_pinned_file *file,
		    const struct hybrid_walk_code_key *key, struct hybrid_walk_copy *copy)
{
	(void)unused;
	check(file);
	copied.key = *key;
	copied.copy = *copy;
	copied.nr++;
	return 0;
}

/* A walk ends in memory to which the process has moved a file's code: once in some passes. */
static void copies(void)
{
	struct hybrid_mapping *mapping;
	unsigned int i;

	memset(&copied, 0, sizeof(copied));
	store_begin();
	store_ops.put_copy = put_copy;
	for (i = 0; i < 4; i++) {
		scene_start(&sample, scene_at("leaf_at"));
		scene_push(&sample, scene_at("pushed_ret"));
		scene_unwind(&sample);
		sample.u.walker_space = i ? 4711 : 0;
		mapping = (struct hybrid_mapping *)hybrid_space_find(sample.u.space,
								     scene_at("leaf_at"));
		mapping->is_copy = true;
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0,
				       i == 1 ? ASK(9) : ASK(0));
		mapping->is_copy = false;
		store_work();
		same(copied.nr, i > 1);
	}
	same(copied.key.space, 4711);
	same(copied.key.ip, mapping->start);
	same(copied.copy.end, mapping->end);
	same(copied.copy.shift, mapping->pgoff - mapping->start);
	store_ops.put_copy = NULL;
	store_end();
}

/* Where rules are for interpreters alone. */
static void waiting(void)
{
	struct hybrid_walk_interpreter interpreter = {};
	const struct hybrid_mapping *mapping;

	store_ops.put_interpreter = store_put_nothing;
	store_begin();
	hybrid_compiler_hold(compiler);
	check(!hybrid_compiler_may_guess(compiler));
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 0);
	mapping = hybrid_space_find(sample.u.space, scene_at("leaf_at"));
	hybrid_compiler_interpreter(compiler, mapping->object, &interpreter, 0);
	store_sample("pushed_at", ASK(0));
	store_work();
	check(store_knows("pushed"));
	store_end();
	store_ops.put_interpreter = NULL;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "load: functions that samples met", functions },
		{ "load: all frames of a sample", all_frames },
		{ "load: an object that is hot", hot },
		{ "compiler: a large object that samples meet often", hot_large },
		{ "load: while an object is hot", while_hot },
		{ "load: a rule that no dump shows", beyond_the_dump },
		{ "load: samples that are cut off", cut_off },
		{ "load: frames that are guessed", guessed },
		{ "load: code without CFI", by_code },
		{ "load: what is between functions", between_functions },
		{ "load: what is around code without CFI last", code_around_last },
		{ "load: code that tells what is not so", by_wrong_code },
		{ "load: the vdso", vdso_flags },
		{ "load: copies of a file", copies },
		{ "load: nothing before an interpreter is met", waiting },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
