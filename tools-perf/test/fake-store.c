// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "fake-store.h"
#include "tap.h"

struct store store;
struct scene sample;
struct hybrid_compiler *compiler;

const char * const store_labels[HYBRID_HOT_SAMPLES] = {
	"leaf_at", "pushed_at", "bpframe_at", "redzone_at", "remember_one",
	"undefbp_at", "raoff_at", "next",
};

static int fake_load(void *arg, const struct perf_unwind_load *load,
		     const struct hybrid_pinned_file *file __maybe_unused)
{
	const struct perf_unwind_rule *rules = (const void *)(uintptr_t)load->rules;
	const struct perf_unwind_row *rows = (const void *)(uintptr_t)load->rows;
	struct store *to = arg;
	u32 i;

	check(load->row_size == sizeof(*rows) && load->rule_size == sizeof(*rules));
	check(load->nr_rows >= 1 && load->nr_rules >= 1 && load->nr_rules <= 65535);
	check(load->start < load->end && rows[0].offset == load->start);
	for (i = 0; i < load->nr_rows; i++)
		check(rows[i].rule < load->nr_rules && rows[i].offset < load->end);
	for (i = 0; i < load->nr_rows && rows[i].offset <= to->watched; i++) {
		if (to->watched < load->end)
			to->rule = rules[rows[i].rule];
	}
	if (to->errs) {
		to->errs--;
		return to->err;
	}
	if (!check(to->nr < MAX_LOADED))
		return 0;
	to->loaded[to->nr] = *load;
	__atomic_store_n(&to->nr, to->nr + 1, __ATOMIC_RELEASE);
	return 0;
}

static int fake_forget(void *arg, const struct perf_unwind_unload *forget)
{
	struct store *to = arg;

	same(forget->fd, -1);
	same(forget->flags, 0);
	to->forgotten++;
	to->nr = 0;
	return 0;
}

struct hybrid_store_ops store_ops = {
	.load	= fake_load,
	.forget	= fake_forget,
};

void store_begin(void)
{
	memset(&store, 0, sizeof(store));
	/* The scene is made by its first sample. */
	scene_start(&sample, 0);
	compiler = hybrid_compiler_new(&scene_ps.objects, &store_ops, &store);
	if (!compiler)
		exit(2);
}

void store_end(void)
{
	hybrid_compiler_stop(compiler);
	scene_exit();
	hybrid_compiler_delete(compiler);
}

void store_scene(u64 ip)
{
	scene_start(&sample, ip);
	scene_unwind(&sample);
	sample.u.nr = 1;
	sample.u.stop = HYBRID_STOP_NO_CFI;
}

void store_sample(const char *name, u64 info)
{
	store_scene(scene_at(name));
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, info);
}

unsigned int store_short_dump(void)
{
	scene_start(&sample, scene_at("leaf_at"));
	scene_push(&sample, scene_at("pushed_ret"));
	scene_push_pushed(&sample, 0, scene_at("outer_ret"));
	sample.u.dump_size = 16;
	scene_unwind(&sample);
	same(sample.u.stop, HYBRID_STOP_DUMP_END);
	return sample.u.nr;
}

int store_put_nothing(void *arg __maybe_unused,
		      const struct hybrid_pinned_file *file __maybe_unused,
		      const struct hybrid_walk_interpreter *interpreter __maybe_unused)
{
	return 0;
}

void store_work(void)
{
	hybrid_compiler_pass(compiler);
	while (hybrid_compiler_work(compiler))
		;
}

u32 store_offset(const char *label)
{
	const struct hybrid_mapping *mapping;
	u64 ip = scene_at(label);

	mapping = hybrid_space_find(sample.u.space, ip);
	return ip - mapping->start + mapping->pgoff;
}

bool store_has(const struct perf_unwind_load *update, const char *label)
{
	u32 offset = store_offset(label);

	return offset >= update->start && offset < update->end;
}

bool store_knows(const char *label)
{
	unsigned int i;

	for (i = 0; i < store.nr; i++) {
		if (store_has(&store.loaded[i], label))
			return true;
	}
	return false;
}
