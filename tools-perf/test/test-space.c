// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of an address space, held to a model that knows each page.
 */
#include <errno.h>
#include <string.h>
#include "abi.h"
#include "open-nothing.h"
#include "short-memory.h"
#include "space.h"
#include "tap.h"

#define PAGES	64
#define PAGE	4096ULL
#define BASE	0x10000ULL

/* What a page shows: 0 is nothing; else the page's number in the file, plus 1. */
struct model {
	u64	page[PAGES];
	u64	file[PAGES];
};

static struct hybrid_objects objects;

static struct hybrid_object *object_of(unsigned int file)
{
	char path[] = "/file0";
	struct hybrid_ident ident = { .path = path };

	path[5] += file;
	return hybrid_object_get(&objects, &ident);
}

/* File 0 is memory without a file. */
static int map(struct hybrid_space *space, struct model *model, unsigned int first,
	       unsigned int nr, unsigned int file, bool exec)
{
	struct hybrid_mapping mapping = {
		.start	= BASE + first * PAGE,
		.end	= BASE + (first + nr) * PAGE,
		.pgoff	= file * 1000 * PAGE,
		.pid	= 1,
		.object	= file ? object_of(file) : NULL,
	};
	unsigned int i;
	int err;

	err = hybrid_space_map(space, &mapping, exec);
	if (mapping.object)
		hybrid_object_put(mapping.object);
	for (i = 0; i < nr; i++) {
		model->page[first + i] = exec ? file * 1000 + i + 1 : 0;
		model->file[first + i] = file;
	}
	return err;
}

static void compare_page(struct hybrid_space *space, const struct model *model,
			 unsigned int page)
{
	static const u64 offsets[] = { 0, 1, PAGE - 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		u64 ip = BASE + page * PAGE + offsets[i];
		const struct hybrid_mapping *mapping = hybrid_space_find(space, ip);

		if (!model->page[page]) {
			check(!mapping);
			continue;
		}
		if (!check(mapping && mapping->start <= ip && ip < mapping->end))
			continue;
		same(ip - mapping->start + mapping->pgoff,
		     (model->page[page] - 1) * PAGE + offsets[i]);
		check(!mapping->object == !model->file[page]);
		if (mapping->object)
			same(mapping->object->ident.path[5] - '0', model->file[page]);
	}
}

static void compare(struct hybrid_space *space, const struct model *model)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		compare_page(space, model, i);
	for (i = 0; i < space->nr; i++) {
		check(space->mappings[i].start < space->mappings[i].end);
		if (i)
			check(space->mappings[i - 1].end <= space->mappings[i].start);
	}
	check(!hybrid_space_find(space, 0));
	check(!hybrid_space_find(space, BASE - 1));
	check(!hybrid_space_find(space, BASE + PAGES * PAGE));
	check(!hybrid_space_find(space, ~0ULL));
}

static struct hybrid_space *start(struct model *model)
{
	struct hybrid_space *space;

	memset(model, 0, sizeof(*model));
	hybrid_objects_init(&objects, open_nothing, hybrid_x86_abi);
	space = hybrid_space_new();
	check(space && !hybrid_space_find(space, BASE));
	return space;
}

static void end(struct hybrid_space *space)
{
	hybrid_space_put(space);
	same(objects.nr, objects.nr_idle);
	hybrid_objects_exit(&objects);
	same(objects.nr, 0);
}

/* One mapping of pages 10 to 19, and then one that meets it in every way. */
static void overlaps(void)
{
	struct hybrid_space *space;
	unsigned int first, nr, exec;
	struct model model;

	for (first = 8; first < 22; first++) {
		for (nr = 1; nr < 14; nr++) {
			for (exec = 0; exec < 2; exec++) {
				space = start(&model);
				same(map(space, &model, 10, 10, 1, true), 0);
				same(map(space, &model, first, nr, 2, exec), 0);
				compare(space, &model);
				end(space);
			}
		}
	}
}

/* A hole in the middle keeps the object for both halves. */
static void split(void)
{
	struct hybrid_object *object;
	struct hybrid_space *space;
	struct model model;

	space = start(&model);
	map(space, &model, 10, 10, 1, true);
	object = space->mappings[0].object;
	same(object->refs, 1);
	map(space, &model, 14, 2, 0, false);
	same(space->nr, 2);
	same(object->refs, 2);
	map(space, &model, 10, 4, 0, false);
	same(object->refs, 1);
	map(space, &model, 0, PAGES, 0, true);
	same(space->nr, 1);
	same(object->refs, 0);
	compare(space, &model);
	end(space);
}

static void generations(void)
{
	struct hybrid_space *space, *other, *copy;
	struct model model;
	u64 gen;

	space = start(&model);
	other = hybrid_space_new();
	if (!check(other))
		return;
	check(other->gen != space->gen && other->gen && space->gen);
	gen = space->gen;
	map(space, &model, 1, 1, 1, true);
	check(space->gen != gen && space->gen != other->gen);
	gen = space->gen;
	/* A mapping that is not executable may cut one that is. */
	map(space, &model, 1, 1, 0, false);
	check(space->gen != gen && space->gen != other->gen);
	map(space, &model, 3, 2, 1, true);
	copy = hybrid_space_copy(space);
	if (check(copy)) {
		check(copy->gen != space->gen);
		same(copy->refs, 1);
		compare(copy, &model);
		same(space->mappings[0].object->refs, 2);
		hybrid_space_put(copy);
	}
	gen = space->gen;
	hybrid_space_clear(space);
	check(space->gen != gen);
	same(space->nr, 0);
	hybrid_space_put(other);
	hybrid_space_put(NULL);
	end(space);
}

static void empty_range(void)
{
	struct hybrid_mapping mapping = { .start = BASE, .end = BASE, .pid = 1 };
	struct hybrid_space *space, *copy;
	struct model model;

	space = start(&model);
	same(hybrid_space_map(space, &mapping, true), 0);
	mapping.start = BASE + PAGE;
	same(hybrid_space_map(space, &mapping, true), 0);
	same(space->nr, 0);
	copy = hybrid_space_copy(space);
	check(copy && copy->nr == 0);
	hybrid_space_put(copy);
	/* To the end of the address space. */
	mapping.start = ~0ULL - PAGE;
	mapping.end = ~0ULL;
	same(hybrid_space_map(space, &mapping, true), 0);
	check(hybrid_space_find(space, ~0ULL - 1));
	check(!hybrid_space_find(space, ~0ULL));
	end(space);
}

static void random_maps(void)
{
	struct hybrid_space *space, *copy;
	struct model model;
	unsigned int round, i;

	for (round = 0; round < 20; round++) {
		space = start(&model);
		for (i = 0; i < 300; i++) {
			unsigned int first = tap_random() % PAGES;
			unsigned int nr = 1 + tap_random() % (tap_random() % 4 ? 5 : PAGES);

			if (nr > PAGES - first)
				nr = PAGES - first;
			same(map(space, &model, first, nr, tap_random() % 4,
				 tap_random() % 3), 0);
			if (i % 16)
				continue;
			compare(space, &model);
			copy = hybrid_space_copy(space);
			hybrid_space_put(space);
			space = copy;
			compare(space, &model);
		}
		compare(space, &model);
		end(space);
	}
}

/* All ranges of a small file, against what they have of it. */
static void replaces(void)
{
	static struct hybrid_object a, b;
	struct hybrid_mapping old = { .object = &a, .since = 5 }, new = {};
	unsigned int i;
	bool has_all;

	for (i = 0; i < 4 * 4 * 4 * 4 * 3 * 2; i++) {
		old.start = 0x1000;
		old.end = 0x1000 + i % 4;
		old.pgoff = i / 4 % 4;
		new.start = 0x2000;
		new.end = 0x2000 + i / 16 % 4;
		new.pgoff = i / 64 % 4;
		new.since = 4 + i / 256 % 3;
		new.object = i / 768 ? &b : &a;
		has_all = new.pgoff <= old.pgoff &&
			  new.pgoff + (new.end - new.start) >= old.pgoff + (old.end - old.start);
		same(hybrid_mapping_replaces(&new, &old),
		     has_all && new.since > 5 && new.object == &a);
	}
}

/* Functions of a runtime that frames return to, and the code that has frames. */
static void entries(void)
{
	static struct hybrid_object object = { .id = 7 }, other = { .id = 8 };
	struct hybrid_mapping mapping = { .start = 0x10000, .end = 0x20000, .pgoff = 0x1000 };
	struct hybrid_space *space = hybrid_space_new();
	struct hybrid_object *const objects_of[] = { NULL, &object, &other };
	u64 ip, offset;
	unsigned int i;
	bool is_there;

	space->entries = 0x1100;
	space->entries_end = 0x1200;
	for (i = 0; i < 6; i++) {
		mapping.object = objects_of[i % 3];
		space->entries_id = i / 3 ? 7 : 0;
		for (ip = 0x10000; ip < 0x10300; ip++) {
			offset = ip - 0x10000 + 0x1000;
			is_there = mapping.object == &object && space->entries_id &&
				   offset >= 0x1100 && offset < 0x1200;
			same(hybrid_space_is_entry(space, &mapping, ip),
			     is_there && !(offset % HYBRID_ENTRY_ALIGN));
			same(hybrid_space_is_framed(space, &mapping, ip),
			     is_there || (!mapping.object && space->entries_id));
		}
	}
	hybrid_space_put(space);
}

/* The segment that a mapping shows a part of. */
static void biases(void)
{
	struct hybrid_segment segments[] = {
		{ .offset = 0x100, .vaddr = 0x5100, .size = 0x10 },
		{ .offset = 0x120, .vaddr = 0x9120, .size = 0x10 },
	};
	struct hybrid_object object = { .segments = segments, .nr_segments = 2 };
	struct hybrid_mapping mapping = { .object = &object };
	unsigned int from, size;
	u64 bias, want;

	for (from = 0xf0; from < 0x140; from++) {
		for (size = 1; size < 0x40; size++) {
			mapping.start = 0x70000 + from;
			mapping.end = mapping.start + size;
			mapping.pgoff = from;
			want = from < 0x110 && from + size > 0x100 ? 0x70000 - 0x5000 :
			       from < 0x130 && from + size > 0x120 ? 0x70000 - 0x9000 : 0;
			bias = 0;
			same(hybrid_mapping_bias(&mapping, &bias), want != 0);
			same(bias, want);
		}
	}
}

/* What is next to memory without a file: a file's mapping, without a gap. */
static void beside(void)
{
	const struct hybrid_mapping *before, *behind, *memory;
	struct hybrid_space *space;
	struct model model;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		space = start(&model);
		map(space, &model, 10, 2, 0, true);
		/* Nothing, a file, memory; next to it, or a page away. */
		if (i % 3)
			map(space, &model, 7, 3, i % 3 - 1 ? 0 : 1, true);
		if (i / 3)
			map(space, &model, 12 + (i == 8), 3, i / 3 - 1 ? 0 : 2, true);
		memory = hybrid_space_at(space, BASE + 10 * PAGE);
		before = hybrid_space_beside(space, memory, false);
		memory = hybrid_space_at(space, BASE + 10 * PAGE);
		behind = hybrid_space_beside(space, memory, true);
		same(!!before, i % 3 == 1);
		same(!!behind, i / 3 == 1);
		check(!before || before->end == memory->start);
		check(!behind || behind->start == memory->end);
		end(space);
	}
	space = start(&model);
	map(space, &model, 10, 2, 0, true);
	map(space, &model, 13, 2, 1, true);
	map(space, &model, 7, 2, 1, true);
	memory = hybrid_space_at(space, BASE + 10 * PAGE);
	check(!hybrid_space_beside(space, memory, false));
	check(!hybrid_space_beside(space, memory, true));
	end(space);
}

/* Memory that is a copy of a part of a file, and that was looked at. */
static void copies(void)
{
	struct hybrid_mapping *mapping;
	struct hybrid_object *object;
	struct hybrid_space *space;
	struct model model;
	u64 gen;

	space = start(&model);
	object = object_of(3);
	map(space, &model, 1, 1, 0, true);
	map(space, &model, 2, 1, 0, true);
	mapping = hybrid_space_at(space, BASE + 2 * PAGE);
	mapping->is_met = true;
	gen = space->gen;
	hybrid_space_set_copy(space, BASE + 2 * PAGE, object, object, 0x5000);
	check(space->gen != gen);
	same(object->refs, 2);
	check(mapping->object == object && mapping->record == object && mapping->is_copy);
	same(mapping->pgoff, 0x5000);
	check(!mapping->is_met);
	check(!hybrid_space_at(space, BASE + PAGE)->is_copy);
	hybrid_space_set_asked(space, BASE + 2 * PAGE + 5);
	check(mapping->is_asked && !hybrid_space_at(space, BASE + PAGE)->is_asked);
	hybrid_object_put(object);
	end(space);
}

/* A mapping that is split takes room for two, however many there are before it. */
static void room(void)
{
	struct hybrid_space *space;
	struct model model;
	unsigned int i, nr;

	for (nr = 1; nr < 30; nr++) {
		space = start(&model);
		map(space, &model, 0, 3, 1, true);
		for (i = 1; i < nr; i++)
			map(space, &model, 2 + 2 * i, 1, 2, true);
		same(space->nr, nr);
		same(map(space, &model, 1, 1, 3, true), 0);
		same(space->nr, nr + 2);
		check(space->nr <= space->alloc);
		compare(space, &model);
		end(space);
	}
}

/* If memory is short, the space stays as it was. */
static void short_memory(void)
{
	struct hybrid_mapping mapping = { .start = BASE + PAGE, .end = BASE + 2 * PAGE };
	struct hybrid_space *space, *copy;
	struct model model;
	unsigned int i;
	u64 gen;

	short_memory_begin(0);
	check(!hybrid_space_new());
	check(short_memory_end());
	space = start(&model);
	map(space, &model, 0, 3, 1, true);
	for (i = 0; i < 2; i++) {
		short_memory_begin(i);
		check(!hybrid_space_copy(space));
		check(short_memory_end());
	}
	for (i = 2; space->nr + 2 <= space->alloc; i++)
		map(space, &model, 2 * i, 1, 2, true);
	gen = space->gen;
	short_memory_begin(0);
	same((u64)hybrid_space_map(space, &mapping, true), (u64)-ENOMEM);
	check(short_memory_end());
	same(space->gen, gen);
	compare(space, &model);
	copy = hybrid_space_copy(space);
	check(copy && copy->nr == space->nr);
	compare(copy, &model);
	hybrid_space_put(copy);
	same(map(space, &model, 1, 1, 3, true), 0);
	compare(space, &model);
	end(space);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "space: one mapping over another, in every way", overlaps },
		{ "space: a mapping is split", split },
		{ "space: room for mappings that are split", room },
		{ "space: memory is short", short_memory },
		{ "space: each state has a number of its own", generations },
		{ "space: empty and last ranges", empty_range },
		{ "space: mappings that replace others", replaces },
		{ "space: where frames return to", entries },
		{ "space: what is added to addresses", biases },
		{ "space: mappings beside others", beside },
		{ "space: copies of files", copies },
		{ "space: random mappings against a model", random_maps },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
