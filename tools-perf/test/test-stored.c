// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions of an object a store has: the parts in which they are loaded, and what is left
 * after the object is closed or forgotten.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bitops.h>
#include "fake-store.h"
#include "short-memory.h"
#include "tap.h"
#include "update.h"

/* Where many.so is mapped, and functions in one part: see stored.c. */
#define MANY		0x7f7000000000ULL
#define PART_FDES	256

static struct hybrid_stored *stored;
static struct hybrid_batch batch;

/* A sample was in the first function of many.so, which is open. */
static void begin(void)
{
	store_begin();
	memset(&batch, 0, sizeof(batch));
	elf_file_map(&scene_ps, SCENE_PID, "many.so", MANY);
	store_scene(MANY + elf_file_symbol("many.so", "many") + 1);
	hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
	store_work();
	same(store.nr, 1);
	stored = list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
	check(stored->object && stored->fdes.nr > PART_FDES + 2);
}

static void end(void)
{
	hybrid_batch_exit(&batch);
	store_end();
}

static bool has(size_t fde)
{
	return test_bit(fde, stored->loaded);
}

/* A part has 256 functions, and the last one ends with the object. */
static void parts(void)
{
	size_t last;

	begin();
	last = stored->fdes.nr - 1;
	check(has(0) && !has(1));
	same(hybrid_stored_function(stored, stored->fdes.fdes[1].start, true, &batch), 0);
	check(has(PART_FDES - 1) && !has(PART_FDES) && !has(last));
	same(hybrid_stored_function(stored, stored->fdes.fdes[last].start, true, &batch), 0);
	check(has(PART_FDES) && has(last) && !has(last + 1));
	end();
}

/* One without its part; one that is loaded, and one that is not there, have nothing to load. */
static void one(void)
{
	begin();
	same(hybrid_stored_function(stored, stored->fdes.fdes[2].start, false, &batch), 0);
	check(batch.nr_rows);
	check(!has(1) && has(2) && !has(3));
	same(hybrid_stored_function(stored, stored->fdes.fdes[2].start, false, &batch), 0);
	same(batch.nr_rows, 0);
	same(hybrid_stored_function(stored, 0, false, &batch), 0);
	same(batch.nr_rows, 0);
	end();
}

/*
 * All of an object is loaded if it has few functions, if it is an interpreter's and not large, or
 * if samples were in one of 16 functions.
 */
static void worth(void)
{
	static const struct {
		size_t	nr, functions;
		bool	is_interpreter, is_large, is_worth;
	} all[] = {
		{ 128, 0, false, false, true }, { 129, 0, false, false, false },
		{ 144, 8, false, false, false }, { 144, 9, false, false, true },
		{ 145, 9, false, false, false }, { 129, 0, true, false, true },
		{ 16384, 0, true, false, true }, { 16385, 0, true, true, false },
		{ 16385, 1025, false, true, true }, { 16385, 1024, false, true, false },
	};
	unsigned int i;
	size_t nr;

	begin();
	nr = stored->fdes.nr;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		stored->fdes.nr = all[i].nr;
		stored->nr_functions = all[i].functions;
		stored->is_interpreter = all[i].is_interpreter;
		same(hybrid_stored_is_large(stored), all[i].is_large);
		same(hybrid_stored_is_worth(stored), all[i].is_worth);
	}
	stored->fdes.nr = nr;
	end();
}

/* A function that lies before what the batch has is left to the next one. */
static void next_batch(void)
{
	struct hybrid_fde *fdes, other;

	begin();
	fdes = (struct hybrid_fde *)stored->fdes.fdes;
	other = fdes[2];
	fdes[2] = fdes[3];
	fdes[3] = other;
	same(hybrid_stored_part(stored, &batch), 0);
	check(batch.nr_rows && has(2) && !has(3));
	same(hybrid_stored_part(stored, &batch), 0);
	check(batch.nr_rows && has(3) && has(PART_FDES - 1) && !has(PART_FDES));
	same(hybrid_stored_part(stored, &batch), 0);
	check(batch.nr_rows && has(stored->fdes.nr - 1));
	same(hybrid_stored_part(stored, &batch), 0);
	same(batch.nr_rows, 0);
	same(stored->next, stored->fdes.nr);
	end();
}

/* The store has forgotten the object: it begins with the first function again. */
static void forgotten(void)
{
	begin();
	check(stored->begun && stored->loaded);
	stored->next = 5;
	stored->blocks = calloc(1, sizeof(*stored->blocks));
	stored->nr_blocks = 1;
	hybrid_update_close(compiler, stored);
	check(stored->loaded);
	hybrid_stored_forget(stored);
	check(!stored->begun && !stored->loaded && !stored->blocks);
	same(stored->next, 0);
	same(stored->nr_blocks, 0);
	end();
}

static void request(enum hybrid_request_kind kind)
{
	struct hybrid_request note = { .stored = stored, .kind = kind, .nr = stored->asked_nr };

	same(hybrid_requests_add(&compiler->handed, &note), 0);
	hybrid_compiler_work(compiler);
}

/* The file's .debug_frame is looked for once: what is loaded then stays. */
static void debug_frame(void)
{
	begin();
	check(!stored->want_debug);
	request(HYBRID_REQUEST_DEBUG);
	check(stored->want_debug && !stored->object && !stored->loaded);
	same(compiler->nr_opened, 0);
	hybrid_update_function(compiler, stored, elf_file_symbol("many.so", "many"));
	same(store.nr, 2);
	check(stored->object && has(0));
	request(HYBRID_REQUEST_DEBUG);
	check(stored->object && has(0));
	same(compiler->nr_opened, 1);
	/* Once more it is what is there already. */
	hybrid_stored_want_debug(stored);
	check(stored->object && has(0));
	end();
}

/* A file that is no ELF file any more is refused, and does not count as open. */
static void not_opened(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	begin();
	hybrid_update_close(compiler, stored);
	same(compiler->nr_opened, 0);
	check(fd >= 0 && dup2(fd, stored->fd) >= 0);
	close(fd);
	check(hybrid_stored_open(stored, &compiler->objects) < 0);
	check(!stored->object);
	hybrid_update_function(compiler, stored, elf_file_symbol("many.so", "many"));
	same(stored->state, HYBRID_STORED_FAILED);
	same(compiler->nr_refusals, 1);
	same(compiler->nr_opened, 0);
	check(list_empty(&compiler->opened));
	end();
}

/* One that is open stays open as it is. */
static void opened_twice(void)
{
	const struct hybrid_object *object;
	unsigned int refs;

	begin();
	object = stored->object;
	refs = object->refs;
	same(hybrid_stored_open(stored, &compiler->objects), 0);
	check(stored->object == object && object->refs == refs);
	end();
}

/* Memory is short at one place after the other: it is opened as a whole, or not at all. */
static void short_open(void)
{
	unsigned int nr, failed = 0;
	bool is_short = true;
	int err;

	begin();
	for (nr = 0; is_short && nr < 1000; nr++) {
		hybrid_update_close(compiler, stored);
		hybrid_stored_forget(stored);
		short_memory_begin(nr);
		err = hybrid_stored_open(stored, &compiler->objects);
		is_short = short_memory_end();
		failed += err != 0;
		check(is_short || !err);
		check(!err == !!stored->object);
		check(err ? !stored->fdes.fdes : !!stored->loaded);
		compiler->nr_opened += !err;
	}
	check(!is_short && failed > 3);
	same(hybrid_stored_function(stored, stored->fdes.fdes[2].start, false, &batch), 0);
	check(has(2));
	end();
}

/* Opens a copy, as perf does with files that are not local: it takes 100 bytes of root's share. */
static struct hybrid_file_budget budget;
static unsigned int nr_opened;
static bool is_held;

static int open_copy(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *file = mapping->object;
	int fd = elf_file_open(mapping);

	nr_opened++;
	file->is_copy = true;
	file->user = hybrid_file_user_get(&budget, 0);
	file->copied = 100;
	check(hybrid_file_take(file->user, HYBRID_FILE_COPIES, file->copied));
	if (is_held) {
		check(!hybrid_pin_file(&file->hold, fd));
		file->hold.copied = true;
	}
	return fd;
}

/* The user's share is given back after the comparison, or if perf does not need the copy. */
static void twin_of_copy(const struct hybrid_mapping *mapping)
{
	const u64 *copies = &hybrid_file_user_get(&budget, 0)->used[HYBRID_FILE_COPIES];
	struct hybrid_twin *twin;

	is_held = true;
	check(hybrid_stored_twin(stored, mapping, &twin) && twin);
	same(nr_opened, 1);
	same(*copies, 100);
	check(twin->fd >= 0 && twin->hold.page);
	hybrid_twin_close(twin);
	same(twin->fd, -1);
	same(*copies, 0);
	hybrid_twin_free(twin);
	check(hybrid_stored_twin(stored, mapping, &twin) && twin);
	hybrid_twin_free(twin);
	same(*copies, 0);
	/* The file system may wait: perf does not hold its file. */
	is_held = false;
	check(hybrid_stored_twin(stored, mapping, &twin) && !twin);
	same(nr_opened, 3);
	same(*copies, 0);
	/* Memory is short. */
	short_memory_begin(0);
	check(hybrid_stored_twin(stored, mapping, &twin) && !twin);
	check(short_memory_end() && !stored->awaited);
	same(nr_opened, 3);
}

static bool is_known(const struct hybrid_mapping *mapping)
{
	unsigned int before = nr_opened;
	struct hybrid_twin *twin;
	bool known;

	is_held = true;
	check(hybrid_stored_twin(stored, mapping, &twin) && twin);
	known = nr_opened == before;
	check(twin->hold.page && twin->hold.copied && known == (twin->fd < 0));
	hybrid_twin_free(twin);
	return known;
}

/* perf copies no file again that it has found to have the content of the object's file. */
static void known_twin(const struct hybrid_mapping *mapping)
{
	struct hybrid_mapping other = *mapping;
	struct hybrid_object *object;

	other.file = (struct hybrid_file_id) { .dev = 5, .ino = 6 };
	check(!is_known(&other));
	object = hybrid_object_of_file(&scene_ps.objects, hybrid_mapping_ident(mapping),
				       &other.file);
	check(!is_known(&other));
	object->hold.copied = true;
	check(!hybrid_pin_again(&object->hold, &stored->hold));
	object->hold.copied = true;
	check(!is_known(&other));
	object->same = mapping->object;
	mapping->object->refs++;
	check(is_known(&other));
	/* It is held for the next one. */
	check(is_known(&other) && object->hold.page);
	object->hold.copied = false;
	check(!is_known(&other));
	object->hold.copied = true;
	object->is_old = true;
	check(!is_known(&other));
	object->is_old = false;
	hybrid_object_part(object);
	check(!is_known(&other));
	hybrid_object_put(object);
	/* The mapping shows the object's own file. */
	mapping->object->file = other.file;
	check(!is_known(&other));
	stored->hold.copied = true;
	check(is_known(&other));
	stored->hold.copied = false;
	memset(&mapping->object->file, 0, sizeof(mapping->object->file));
}

static void twins(void)
{
	const struct hybrid_mapping *mapping;

	begin();
	mapping = hybrid_space_find(sample.u.space, MANY + elf_file_symbol("many.so", "many") + 1);
	check(mapping && mapping->object && stored->hold.page);
	hybrid_file_budget_init(&budget);
	scene_ps.objects.open = open_copy;
	nr_opened = 0;
	twin_of_copy(mapping);
	known_twin(mapping);
	same(hybrid_file_user_get(&budget, 0)->used[HYBRID_FILE_COPIES], 0);
	scene_ps.objects.open = elf_file_open;
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "stored: parts of an object", parts },
		{ "stored: one function", one },
		{ "stored: whether all of an object is worth it", worth },
		{ "stored: a function for the next batch", next_batch },
		{ "stored: all is forgotten", forgotten },
		{ "stored: its .debug_frame", debug_frame },
		{ "stored: a file that can't be opened", not_opened },
		{ "stored: a file that is open", opened_twice },
		{ "stored: memory is short as a file is opened", short_open },
		{ "stored: copies of files with the same content", twins },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
