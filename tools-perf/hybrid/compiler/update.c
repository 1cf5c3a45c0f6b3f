// SPDX-License-Identifier: GPL-2.0
/*
 * What the worker's thread does with an object: it compiles the rows of a function, of code
 * without CFI or of the next part of all, and hands them to the store.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../process/file-copy.h"
#include "../rules/clock.h"
#include "code-rows.h"
#include "update.h"

/* Files that are kept open, but for those being loaded whole. */
#define MAX_OPENED	32

/* Objects that could not be loaded, of which hybrid_compiler_print() tells. */
#define MAX_REFUSALS	100

/* How often a file may change while it is being loaded. */
#define MAX_CHANGES	8

void hybrid_update_close(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (!stored->object)
		return;
	hybrid_stored_close(stored);
	compiler->nr_opened--;
}

static int open_stored(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	struct hybrid_stored *unused;
	int err;

	stored->used_at = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	if (stored->object) {
		list_move_tail(&stored->opened, &compiler->opened);
		return 0;
	}
	if (compiler->nr_opened == MAX_OPENED) {
		unused = list_first_entry(&compiler->opened, struct hybrid_stored, opened);
		hybrid_update_close(compiler, unused);
	}
	err = hybrid_stored_open(stored, &compiler->objects);
	if (err)
		return err;
	list_add_tail(&stored->opened, &compiler->opened);
	compiler->nr_opened++;
	return 0;
}

void hybrid_update_age(struct hybrid_compiler *compiler, u64 now)
{
	struct hybrid_stored *stored, *next;
	bool is_any_closed = false;

	list_for_each_entry_safe(stored, next, &compiler->opened, opened) {
		if (now < stored->used_at + HYBRID_UPDATE_AGE)
			break;
		hybrid_update_close(compiler, stored);
		is_any_closed = true;
	}
#ifdef __GLIBC__
	/* It keeps large blocks for the next ones of their size. */
	if (is_any_closed)
		malloc_trim(0);
#endif
}

static void finish(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		   enum hybrid_stored_state state)
{
	list_del_init(&stored->working);
	hybrid_update_close(compiler, stored);
	__atomic_store_n(&stored->state, state, __ATOMIC_RELEASE);
}

static void refused(struct hybrid_compiler *compiler, struct hybrid_stored *stored, int err)
{
	struct hybrid_refusal *more;

	finish(compiler, stored, err == -ESTALE ? HYBRID_STORED_STALE : HYBRID_STORED_FAILED);
	if (compiler->nr_refusals == MAX_REFUSALS)
		return;
	more = realloc(compiler->refusals, (compiler->nr_refusals + 1) * sizeof(*more));
	if (!more)
		return;
	compiler->refusals = more;
	more[compiler->nr_refusals].path = strdup(stored->path);
	more[compiler->nr_refusals].err = err;
	if (more[compiler->nr_refusals].path)
		compiler->nr_refusals++;
}

static void forget_stored(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	hybrid_update_close(compiler, stored);
	hybrid_stored_forget(stored);
	list_del_init(&stored->working);
	if (__atomic_load_n(&stored->state, __ATOMIC_RELAXED) == HYBRID_STORED_KNOWS)
		__atomic_store_n(&stored->state, HYBRID_STORED_LEARNS, __ATOMIC_RELEASE);
}

/* Does another file hold what the rows were made of? */
static bool is_same(const struct hybrid_stored *stored, const struct hybrid_twin *twin)
{
	if (twin->fd < 0)
		return true;
	return hybrid_copy_is_same(stored->fd, twin->fd, stored->user, NULL, NULL) &&
	       (stored->hold.copied || !hybrid_pinned_file_changed(&stored->hold, stored->fd)) &&
	       (twin->hold.copied || !hybrid_pinned_file_changed(&twin->hold, twin->fd));
}

bool hybrid_update_twin(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			struct hybrid_twin *twin)
{
	const struct hybrid_store_ops *ops = compiler->ops;

	if (!ops->has(compiler->store, &stored->hold) || ops->has(compiler->store, &twin->hold) ||
	    !is_same(stored, twin) || ops->add(compiler->store, &stored->hold, &twin->hold))
		return false;
	hybrid_twin_close(twin);
	list_add_tail(&twin->list, &stored->twins);
	__atomic_store_n(&stored->nr_twins, stored->nr_twins + 1, __ATOMIC_RELEASE);
	return true;
}

void hybrid_update_again(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			 struct hybrid_twin *twin)
{
	if (!twin || !compiler->ops->has(compiler->store, &stored->hold))
		forget_stored(compiler, stored);
	else if (hybrid_update_twin(compiler, stored, twin))
		return;
	hybrid_twin_free(twin);
}

/*
 * A store holds 65535 rules that differ, of all objects together. Where they are
 * used up all is loaded anew, once, by what is met from then on.
 */
static void store_is_full(struct hybrid_compiler *compiler)
{
	static const struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	struct hybrid_stored *stored;

	if (compiler->generation || compiler->ops->forget(compiler->store, &all)) {
		__atomic_store_n(&compiler->full, true, __ATOMIC_RELAXED);
		return;
	}
	list_for_each_entry(stored, &compiler->stored_objects, list)
		forget_stored(compiler, stored);
	__atomic_store_n(&compiler->generation, compiler->generation + 1, __ATOMIC_RELEASE);
}

/*
 * The file is not what it was when it was opened, if only in its links (perf makes one as
 * it keeps a copy of each file that was sampled). It is opened anew: all of it goes on
 * being loaded, and functions that were asked for are, as those that were lost. The same
 * where the store has made room, and all that it knows of the object is the last batch.
 */
static void changed(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	bool is_working = !list_empty(&stored->working);

	forget_stored(compiler, stored);
	if (is_working)
		list_add_tail(&stored->working, &compiler->working);
}

void hybrid_update_interpreter(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (stored->is_interpreter)
		compiler->ops->put_interpreter(compiler->store, &stored->hold,
					       &stored->interpreter);
}

/* Returns true where the store has taken the batch. */
static bool load(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	const struct hybrid_batch *batch = &compiler->batch;
	struct perf_unwind_load arg = {
		.size		= sizeof(arg),
		.fd		= stored->flags ? -1 : stored->fd,
		.flags		= stored->flags,
		.start		= batch->start,
		.end		= batch->end,
		.rows		= (uintptr_t)batch->rows,
		.rules		= (uintptr_t)batch->rules,
		.nr_rows	= batch->nr_rows,
		.nr_rules	= batch->nr_rules,
		.row_size	= sizeof(*batch->rows),
		.rule_size	= sizeof(*batch->rules),
	};
	int err;

	do {
		err = compiler->ops->load(compiler->store, &arg, &stored->hold);
	} while (err == -EINTR);
	if (err == -ENOSPC)
		store_is_full(compiler);
	else if (err == -ESTALE && stored->changes++ < MAX_CHANGES)
		changed(compiler, stored);
	else if (err < 0)
		refused(compiler, stored, err);
	else if (err && stored->begun)
		changed(compiler, stored);
	else
		stored->begun = true;
	/* New in the store, or forgotten by it meanwhile. */
	if (err > 0)
		hybrid_update_interpreter(compiler, stored);
	return err >= 0;
}

void hybrid_update_whole(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (list_empty(&stored->working))
		list_add_tail(&stored->working, &compiler->working);
}

/* Opens the object, and has all of it loaded if @is_wanted says so. */
static void load_if(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		    bool (*is_wanted)(const struct hybrid_stored *stored))
{
	int err;

	if (stored->state != HYBRID_STORED_LEARNS)
		return;
	err = open_stored(compiler, stored);
	if (err)
		refused(compiler, stored, err);
	else if (is_wanted(stored))
		hybrid_update_whole(compiler, stored);
}

static bool is_small(const struct hybrid_stored *stored)
{
	return !hybrid_stored_is_large(stored);
}

void hybrid_update_early(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	load_if(compiler, stored, is_small);
}

void hybrid_update_hot(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	load_if(compiler, stored, hybrid_stored_is_worth);
}

void hybrid_update_function(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			    u64 vaddr)
{
	bool part = !list_empty(&stored->working) && !compiler->ops->takes_small;
	int err = open_stored(compiler, stored);

	/* All of it will be loaded: begin with what is needed most. */
	if (!err)
		err = hybrid_stored_function(stored, vaddr, part, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	else if (compiler->batch.nr_rows && load(compiler, stored))
		compiler->functions += !part;
}

/* Returns true where the store has taken what the code at an address tells. */
static bool load_at(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		    const struct hybrid_request *note)
{
	int err = open_stored(compiler, stored);

	if (!err)
		err = hybrid_code_row_at(stored, note->vaddr, note->at, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	return !err && compiler->batch.nr_rows && load(compiler, stored);
}

bool hybrid_update_code(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			const struct hybrid_request *note)
{
	if (!load_at(compiler, stored, note))
		return false;
	compiler->codes++;
	/* If the store made room, or the file has changed, the address is all that is loaded. */
	return stored->object && hybrid_code_rows_are_due(stored, note->vaddr);
}

void hybrid_update_around(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			  const struct hybrid_request *note)
{
	int err = open_stored(compiler, stored);

	if (!err)
		err = hybrid_code_rows_around(stored, note->vaddr, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	else if (!compiler->batch.nr_rows || load(compiler, stored))
		/* What was asked for is to stand in any case. */
		load_at(compiler, stored, note);
}

/* Behind so many others: their files stay open. */
#define TURNS	(MAX_OPENED / 2)

/* A small object is not to wait until a large one is loaded. */
static void give_way(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	struct hybrid_stored *behind = stored;
	int i;

	for (i = 0; i < TURNS && !list_is_last(&behind->working, &compiler->working); i++)
		behind = list_next_entry(behind, working);
	if (behind != stored)
		list_move(&stored->working, &behind->working);
}

struct hybrid_stored *hybrid_update_part(struct hybrid_compiler *compiler)
{
	struct hybrid_stored *stored;
	int err;

	if (list_empty(&compiler->working))
		return NULL;
	stored = list_first_entry(&compiler->working, struct hybrid_stored, working);
	err = open_stored(compiler, stored);
	if (!err)
		err = hybrid_stored_part(stored, &compiler->batch);
	if (err) {
		refused(compiler, stored, err);
	} else if (!compiler->batch.nr_rows) {
		compiler->wholes++;
		finish(compiler, stored, HYBRID_STORED_KNOWS);
	} else if (load(compiler, stored)) {
		give_way(compiler, stored);
	}
	return stored;
}
