// SPDX-License-Identifier: GPL-2.0
/*
 * Walks that end in a file like the one whose rules are loaded: how often the compiler looks at
 * that file, and what it makes of it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "abi.h"
#include "fake-store.h"
#include "file-compare.h"
#include "short-memory.h"
#include "tap.h"

/* Each time half as often, but no less than this. */
#define MAX_TRIES	20U

/* Which file a mapping shows, and another one. */
#define FILE_ID		((struct hybrid_file_id) { .dev = 5, .ino = 6 })
#define OTHER_ID	((struct hybrid_file_id) { .dev = 5, .ino = 7 })

/* What the store has and takes, what opening the file returns, and how often that was. */
static struct {
	bool		has_first, has_other;
	int		open_err;
	unsigned int	opened, added, dropped;
} files;

static struct hybrid_stored *stored;
static struct hybrid_mapping *mapping;

static bool has_file(void *to __maybe_unused, const struct hybrid_pinned_file *file)
{
	return file == &stored->hold ? files.has_first : files.has_other;
}

static int add_file(void *to __maybe_unused, const struct hybrid_pinned_file *file,
		    const struct hybrid_pinned_file *same)
{
	check(file == &stored->hold && same != file);
	files.added++;
	return 0;
}

static void drop_file(void *to __maybe_unused, const struct hybrid_pinned_file *file __maybe_unused)
{
	files.dropped++;
}

static int open_file(const struct hybrid_mapping *of)
{
	files.opened++;
	return files.open_err ?: elf_file_open(of);
}

/* With rules that are loaded, of a mapping that shows another file. */
static void begin(void)
{
	memset(&files, 0, sizeof(files));
	store_ops.has = has_file;
	store_ops.add = add_file;
	store_ops.drop = drop_file;
	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 1);
	stored = list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
	/* Nothing is taken for lost. */
	stored->again_at = ~0ULL;
	mapping = hybrid_space_at(sample.u.space, scene_at("pushed_at"));
	mapping->file = FILE_ID;
	scene_ps.objects.open = open_file;
	compiler->is_urgent = false;
}

static void end(void)
{
	scene_ps.objects.open = elf_file_open;
	store_end();
	store_ops.has = NULL;
	store_ops.add = NULL;
	store_ops.drop = NULL;
}

/* How often a walk that ends there has the file opened. */
static unsigned int opened(void)
{
	unsigned int before = files.opened;

	store_sample("pushed_at", ASK(0));
	return files.opened - before;
}

/* While the rules are not loaded yet it is tried again, and again half as often. */
static void tried(void)
{
	unsigned int i;
	u64 wait;

	begin();
	for (i = 0; i < 6; i++) {
		wait = 1ULL << i;
		/* Once in a pass. */
		same(opened(), 1);
		same(opened(), 0);
		same(stored->twin_at, compiler->pass + wait);
		while (wait-- > 1) {
			store_work();
			if (opened())
				break;
		}
		same(wait, 0);
		store_work();
	}
	for (stored->twin_tries = i = MAX_TRIES - 2; i < MAX_TRIES + 2; i++) {
		compiler->pass = stored->twin_at - 1;
		same(opened(), 0);
		compiler->pass++;
		same(opened(), 1);
		same(stored->twin_at, compiler->pass + (1ULL << min(i + 1, MAX_TRIES)));
	}
	same(files.added, 0);
	end();
}

/* The next file is tried at once, in the next pass. */
static void next_file(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 3; i++) {
		while (compiler->pass < stored->twin_at)
			store_work();
		same(opened(), 1);
	}
	check(stored->twin_at > compiler->pass + 2);
	mapping->file = OTHER_ID;
	same(opened(), 0);
	store_work();
	same(opened(), 1);
	same(stored->twin_at, compiler->pass + 1);
	same(stored->twin_tries, 0);
	end();
}

/* The store takes the file, which has what the rules were made of. */
static void taken(void)
{
	begin();
	files.has_first = true;
	same(opened(), 1);
	check(compiler->is_urgent);
	store_work();
	same(files.added, 1);
	same(stored->nr_twins, 1);
	/* The other file can be read now. */
	files.has_other = true;
	same(opened(), 1);
	store_work();
	same(files.added, 1);
	same(stored->nr_twins, 1);
	end();
	same(files.dropped, 2);
}

/* What can't be opened is tried later, and what is still being opened is with the next walk. */
static void not_opened(void)
{
	begin();
	files.has_first = true;
	files.open_err = HYBRID_OPEN_LATER;
	same(opened(), 1);
	same(opened(), 1);
	same(stored->twin_at, 0);
	check(stored->awaited);
	files.open_err = -1;
	same(opened(), 1);
	same(opened(), 0);
	check(!stored->awaited && !compiler->is_urgent);
	same(stored->twin_at, compiler->pass + 1);
	store_work();
	same(files.added, 0);
	end();
}

/* What no other file can help. */
static void guards(void)
{
	unsigned int way;

	for (way = 0; way < 6; way++) {
		begin();
		if (way == 1)
			store_ops.add = NULL;
		else if (way == 2)
			stored->flags = 1;
		else if (way == 3)
			mapping->file.ino = 0;
		else if (way == 4)
			mapping->object->file = FILE_ID;
		else if (way == 5)
			mapping->is_copy = true;
		same(opened(), !way);
		mapping->object->file = (struct hybrid_file_id) {};
		mapping->is_copy = false;
		stored->flags = 0;
		end();
	}
}

/* The file that a copy was made of has changed: others that hold the same are opened anew. */
static void stale(void)
{
	unsigned int way;

	for (way = 0; way < 4; way++) {
		begin();
		mapping->object->is_shared = way & 1;
		if (way & 2)
			stored->state = HYBRID_STORED_STALE;
		opened();
		same(mapping->object->is_old, way == 3);
		mapping->object->is_old = false;
		mapping->object->is_shared = false;
		end();
	}
}

/*
 * Files are compared if the store takes several for one; all that are open are the worker's. Its
 * thread ends with the compiler.
 */
static void compared(void)
{
	struct hybrid_store_ops ops = store_ops;
	struct hybrid_compiler *made;
	struct hybrid_objects objects;
	unsigned int way;

	for (way = 0; way < 2; way++) {
		hybrid_objects_init(&objects, elf_file_open, hybrid_x86_abi);
		objects.compare = &hybrid_file_compare;
		ops.add = way ? add_file : NULL;
		made = hybrid_compiler_new(&objects, &ops, &store);
		check(made);
		same(!!objects.compare, way);
		same(made->objects.max_opened, UINT_MAX);
		check(!hybrid_compiler_start(made));
		hybrid_compiler_delete(made);
		hybrid_objects_exit(&objects);
	}
}

/* While the mapping's file is being opened nothing is loaded again. */
static void again_later(void)
{
	unsigned int i;

	begin();
	files.open_err = HYBRID_OPEN_LATER;
	stored->again_at = 0;
	for (i = 0; i < 3; i++)
		store_work();
	store_sample("pushed_at", ASK(0));
	same(compiler->noted.nr, 0);
	files.open_err = -1;
	store_sample("pushed_at", ASK(0));
	same(compiler->noted.nr, 2);
	same(compiler->noted.notes[0].kind, HYBRID_REQUEST_AGAIN);
	same(compiler->noted.notes[1].kind, HYBRID_REQUEST_FUNCTION);
	end();
}

/* The next note needs memory. */
static void no_notes(void)
{
	same(compiler->noted.nr, 0);
	free(compiler->noted.notes);
	memset(&compiler->noted, 0, sizeof(compiler->noted));
}

/* Without memory for a note the file is tried again by the next walk, as if it was the first. */
static void short_of_memory(void)
{
	bool is_short = true;
	unsigned int nr;

	for (nr = 0; is_short && nr < 100; nr++) {
		begin();
		files.has_first = true;
		no_notes();
		short_memory_begin(nr);
		opened();
		is_short = short_memory_end();
		same(compiler->is_urgent, compiler->noted.nr != 0);
		check(is_short || compiler->noted.nr == 1);
		store_work();
		opened();
		store_work();
		check(files.added);
		end();
	}
	check(!is_short && nr > 3);
}

/* Without memory for a note nothing is loaded again: the next walk that ends there has it noted. */
static void not_again(void)
{
	unsigned int i;

	begin();
	store_ops.add = NULL;
	stored->again_at = 0;
	for (i = 0; i < 3; i++)
		store_work();
	no_notes();
	short_memory_begin(0);
	store_sample("pushed_at", ASK(0));
	check(short_memory_end());
	same(compiler->noted.nr, 0);
	same(stored->again, 0);
	same(stored->again_at, 0);
	store_sample("pushed_at", ASK(0));
	same(compiler->noted.nr, 2);
	same(compiler->noted.notes[0].kind, HYBRID_REQUEST_AGAIN);
	same(compiler->noted.notes[1].kind, HYBRID_REQUEST_FUNCTION);
	same(stored->again, 1);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "twins: tried less and less often", tried },
		{ "twins: the next file", next_file },
		{ "twins: a file that the store takes", taken },
		{ "twins: a file that can't be opened", not_opened },
		{ "twins: the copy of a file that has changed", stale },
		{ "twins: whether files are compared", compared },
		{ "twins: files that are not looked at", guards },
		{ "twins: a file that is being opened, to load again", again_later },
		{ "twins: no memory for a note", short_of_memory },
		{ "twins: no memory to load again", not_again },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
