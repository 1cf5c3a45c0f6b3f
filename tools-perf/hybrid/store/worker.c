// SPDX-License-Identifier: GPL-2.0
/*
 * Who teaches: compiles rows and hands them to the store, in a thread of its
 * own, so that reading the rings never waits for it. Functions that a sample met
 * come first; objects that are taught whole go on in parts between them.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../tasks/background.h"
#include "../tasks/copy.h"
#include "gap.h"
#include "worker.h"

/* Files that are kept open, but for those being taught whole. */
#define MAX_OPENED	32

/* Enough to tell. */
#define MAX_REFUSALS	100

/* How often a file may change while it is being taught. */
#define MAX_CHANGES	8

void hybrid_worker_init(struct hybrid_compiler *compiler)
{
	pthread_mutex_init(&compiler->lock, NULL);
	pthread_cond_init(&compiler->wake, NULL);
	hybrid_objects_init(&compiler->objects, NULL);
	/* Those in @opened are all. */
	compiler->objects.max_opened = UINT_MAX;
	INIT_LIST_HEAD(&compiler->stored_objects);
	INIT_LIST_HEAD(&compiler->working);
	INIT_LIST_HEAD(&compiler->opened);
}

static void close_stored(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (!stored->object)
		return;
	hybrid_stored_close(stored);
	compiler->nr_opened--;
}

static int open_stored(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	int err;

	if (stored->object) {
		list_move_tail(&stored->opened, &compiler->opened);
		return 0;
	}
	if (compiler->nr_opened == MAX_OPENED)
		close_stored(compiler, list_first_entry(&compiler->opened, struct hybrid_stored,
							opened));
	err = hybrid_stored_open(stored, &compiler->objects);
	if (err)
		return err;
	list_add_tail(&stored->opened, &compiler->opened);
	compiler->nr_opened++;
	return 0;
}

/* Nothing is left to do that was asked for. */
static void settle(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (!list_empty(&stored->working))
		return;
	stored->done_pass = __atomic_load_n(&compiler->pass, __ATOMIC_ACQUIRE);
	__atomic_store_n(&stored->done_nr, stored->seen_nr, __ATOMIC_RELEASE);
}

static void finish(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		   enum hybrid_stored_state state)
{
	list_del_init(&stored->working);
	close_stored(compiler, stored);
	__atomic_store_n(&stored->state, state, __ATOMIC_RELEASE);
}

static void refused(struct hybrid_compiler *compiler, struct hybrid_stored *stored, int err)
{
	struct hybrid_refusal *more;

	finish(compiler, stored, HYBRID_STORED_FAILED);
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
	close_stored(compiler, stored);
	hybrid_stored_forget(stored);
	list_del_init(&stored->working);
	if (__atomic_load_n(&stored->state, __ATOMIC_RELAXED) == HYBRID_STORED_KNOWS)
		__atomic_store_n(&stored->state, HYBRID_STORED_LEARNS, __ATOMIC_RELEASE);
}

/* Does another file hold what the rows were made of? */
static bool is_same(const struct hybrid_stored *stored, const struct hybrid_twin *twin)
{
	return hybrid_copy_is_same(stored->fd, stored->hold.copied, twin->fd, twin->hold.copied) &&
	       (stored->hold.copied || !hybrid_hold_changed(&stored->hold, stored->fd)) &&
	       (twin->hold.copied || !hybrid_hold_changed(&twin->hold, twin->fd));
}

/*
 * A sample met what was taught, and the store did not know it. Where it has it, that was
 * of another file: images of containers each have their own, with one build-id.
 */
static void teach_again(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			struct hybrid_twin *twin)
{
	const struct hybrid_store_ops *ops = compiler->ops;

	if (!twin || !ops->has(compiler->store, &stored->hold)) {
		forget_stored(compiler, stored);
	} else if (!ops->has(compiler->store, &twin->hold) && is_same(stored, twin) &&
		   !ops->add(compiler->store, &stored->hold, &twin->hold)) {
		close(twin->fd);
		twin->fd = -1;
		list_add_tail(&twin->list, &stored->twins);
		__atomic_store_n(&stored->nr_twins, stored->nr_twins + 1, __ATOMIC_RELEASE);
		return;
	}
	hybrid_twin_free(twin);
}

/*
 * A store holds 65535 rules that differ, of all objects together. Where they are
 * used up all is taught anew, once, by what is met from then on.
 */
static void store_is_full(struct hybrid_compiler *compiler)
{
	static const struct perf_hybrid_forget all = { .fd = -1 };
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
 * being taught, and functions that were asked for are, as those that were lost. The same
 * where the store has made room, and all that it knows of the object is the last lesson.
 */
static void changed(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	bool is_working = !list_empty(&stored->working);

	forget_stored(compiler, stored);
	if (is_working)
		list_add_tail(&stored->working, &compiler->working);
}

/* Returns true where the store has taken the batch. */
static bool teach(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	const struct hybrid_batch *batch = &compiler->batch;
	struct perf_hybrid_teach arg = {
		.fd		= stored->flags ? -1 : stored->fd,
		.flags		= stored->flags,
		.start		= batch->start,
		.end		= batch->end,
		.rows		= (uintptr_t)batch->rows,
		.rules		= (uintptr_t)batch->rules,
		.nr_rows	= batch->nr_rows,
		.nr_rules	= batch->nr_rules,
	};
	int err;

	do {
		err = compiler->ops->teach(compiler->store, &arg, &stored->hold);
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
	return err >= 0;
}

static void teach_whole(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (list_empty(&stored->working))
		list_add_tail(&stored->working, &compiler->working);
}

/* Samples have met something new in it again. */
static void teach_hot(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	int err;

	if (stored->state != HYBRID_STORED_LEARNS)
		return;
	err = open_stored(compiler, stored);
	if (err)
		refused(compiler, stored, err);
	else if (hybrid_stored_is_worth(stored))
		teach_whole(compiler, stored);
}

static void teach_function(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			   u64 vaddr)
{
	bool part = !list_empty(&stored->working) && !compiler->ops->takes_small;
	int err = open_stored(compiler, stored);

	/* All of it will be taught: begin with what is needed most. */
	if (!err)
		err = hybrid_stored_function(stored, vaddr, part, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	else if (compiler->batch.nr_rows && teach(compiler, stored))
		compiler->functions += !part;
}

/* Returns true where the store has taken what the code at an address tells. */
static bool teach_at(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		     const struct hybrid_note *note)
{
	int err = open_stored(compiler, stored);

	if (!err)
		err = hybrid_gap_at(stored, note->vaddr, note->at, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	return !err && compiler->batch.nr_rows && teach(compiler, stored);
}

/*
 * What was asked for comes first, as the rest takes longer, and last, as it is to stand in any
 * case. Where the store made room, or the file has changed, it is all that is taught.
 */
static void teach_code(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		       const struct hybrid_note *note)
{
	int err;

	if (!teach_at(compiler, stored, note))
		return;
	compiler->codes++;
	if (!stored->object)
		return;
	err = hybrid_gap_around(stored, note->vaddr, &compiler->batch);
	if (err)
		refused(compiler, stored, err);
	else if (compiler->batch.nr_rows && teach(compiler, stored))
		teach_at(compiler, stored, note);
}

/* Behind so many others: their files stay open. */
#define TURNS	(MAX_OPENED / 2)

/* A small object is not to wait until a large one is taught. */
static void give_way(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	struct hybrid_stored *behind = stored;
	int i;

	for (i = 0; i < TURNS && !list_is_last(&behind->working, &compiler->working); i++)
		behind = list_next_entry(behind, working);
	if (behind != stored)
		list_move(&stored->working, &behind->working);
}

/* A part of the first of those that are taught whole. */
static void teach_part(struct hybrid_compiler *compiler)
{
	struct hybrid_stored *stored;
	int err;

	if (list_empty(&compiler->working))
		return;
	stored = list_first_entry(&compiler->working, struct hybrid_stored, working);
	err = open_stored(compiler, stored);
	if (!err)
		err = hybrid_stored_part(stored, &compiler->batch);
	if (err) {
		refused(compiler, stored, err);
	} else if (!compiler->batch.nr_rows) {
		compiler->wholes++;
		finish(compiler, stored, HYBRID_STORED_KNOWS);
	} else if (teach(compiler, stored)) {
		give_way(compiler, stored);
	}
	settle(compiler, stored);
}

static void gone(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	struct hybrid_twin *twin;

	close_stored(compiler, stored);
	if (compiler->ops->drop) {
		compiler->ops->drop(compiler->store, &stored->hold);
		list_for_each_entry(twin, &stored->twins, list)
			compiler->ops->drop(compiler->store, &twin->hold);
	}
	close(stored->fd);
	hybrid_stored_free(stored);
}

static bool is_stopped(const struct hybrid_compiler *compiler)
{
	return __atomic_load_n(&compiler->stop, __ATOMIC_RELAXED);
}

static bool is_idle(const struct hybrid_compiler *compiler, const struct hybrid_stored *stored)
{
	return stored->state == HYBRID_STORED_FAILED || compiler->full || is_stopped(compiler);
}

static void follow_note(struct hybrid_compiler *compiler, const struct hybrid_note *note)
{
	struct hybrid_stored *stored = note->stored;
	bool idle = is_idle(compiler, stored);

	stored->seen_nr = note->nr;
	switch (note->kind) {
	case HYBRID_NOTE_NEW:
		list_add(&stored->list, &compiler->stored_objects);
		break;
	case HYBRID_NOTE_FUNCTION:
		stored->nr_functions++;
		if (!idle)
			teach_function(compiler, stored, note->vaddr);
		if (stored->hot && !is_idle(compiler, stored))
			teach_hot(compiler, stored);
		break;
	case HYBRID_NOTE_CODE:
		if (!idle)
			teach_code(compiler, stored, note);
		break;
	case HYBRID_NOTE_HOT:
		stored->hot = true;
		if (!idle)
			teach_hot(compiler, stored);
		break;
	case HYBRID_NOTE_WHOLE:
		if (!idle)
			teach_whole(compiler, stored);
		break;
	case HYBRID_NOTE_DEBUG:
		if (!stored->want_debug) {
			close_stored(compiler, stored);
			hybrid_stored_want_debug(stored);
		}
		break;
	case HYBRID_NOTE_AGAIN:
		teach_again(compiler, stored, note->twin);
		break;
	case HYBRID_NOTE_GONE:
		gone(compiler, stored);
		return;
	default:
		break;
	}
	settle(compiler, stored);
}

bool hybrid_compiler_work(struct hybrid_compiler *compiler)
{
	struct hybrid_notes taken;
	bool more;
	size_t i;

	pthread_mutex_lock(&compiler->lock);
	taken = compiler->handed;
	compiler->handed = compiler->taken;
	compiler->handed.nr = 0;
	compiler->taken = taken;
	pthread_mutex_unlock(&compiler->lock);

	for (i = 0; i < taken.nr; i++)
		follow_note(compiler, &taken.notes[i]);
	if (!compiler->full && !is_stopped(compiler))
		teach_part(compiler);

	pthread_mutex_lock(&compiler->lock);
	more = compiler->handed.nr || (!list_empty(&compiler->working) && !compiler->full);
	pthread_mutex_unlock(&compiler->lock);
	return more;
}

static void *work(void *arg)
{
	struct hybrid_compiler *compiler = arg;

	while (!is_stopped(compiler)) {
		if (hybrid_compiler_work(compiler))
			continue;
		pthread_mutex_lock(&compiler->lock);
		while (!compiler->handed.nr && !is_stopped(compiler))
			pthread_cond_wait(&compiler->wake, &compiler->lock);
		pthread_mutex_unlock(&compiler->lock);
	}
	return NULL;
}

int hybrid_compiler_start(struct hybrid_compiler *compiler)
{
	compiler->threaded = !hybrid_background_start(&compiler->thread, work, compiler);
	return compiler->threaded ? 0 : -1;
}

void hybrid_compiler_stop(struct hybrid_compiler *compiler)
{
	if (!compiler)
		return;
	pthread_mutex_lock(&compiler->lock);
	__atomic_store_n(&compiler->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&compiler->wake);
	pthread_mutex_unlock(&compiler->lock);
	if (compiler->threaded)
		pthread_join(compiler->thread, NULL);
	compiler->threaded = false;
}

void hybrid_compiler_print(const struct hybrid_compiler *compiler, FILE *out)
{
	size_t i;

	fprintf(out, "hybrid: taught %" PRIu64 " functions one by one, %" PRIu64 " objects whole\n",
		compiler->functions, compiler->wholes);
	if (compiler->codes)
		fprintf(out, "hybrid: taught %" PRIu64 " addresses without CFI\n", compiler->codes);
	if (compiler->generation)
		fprintf(out, "hybrid: too many rules that differ for one store, %s\n",
			compiler->full ? "twice: no more was taught" : "all was taught anew");
	for (i = 0; i < compiler->nr_refusals; i++)
		fprintf(out, "hybrid: %s can't be taught: %s\n", compiler->refusals[i].path,
			strerror(-compiler->refusals[i].err));
}

void hybrid_compiler_delete(struct hybrid_compiler *compiler)
{
	struct hybrid_stored *stored, *next;
	size_t i;

	if (!compiler)
		return;
	hybrid_compiler_stop(compiler);
	hybrid_worker_hand_over(compiler);
	hybrid_compiler_work(compiler);
	list_for_each_entry_safe(stored, next, &compiler->stored_objects, list) {
		close_stored(compiler, stored);
		hybrid_stored_free(stored);
	}
	hybrid_objects_exit(&compiler->objects);
	hybrid_batch_exit(&compiler->batch);
	for (i = 0; i < compiler->nr_refusals; i++)
		free(compiler->refusals[i].path);
	free(compiler->refusals);
	free(compiler->noted.notes);
	free(compiler->handed.notes);
	free(compiler->taken.notes);
	pthread_cond_destroy(&compiler->wake);
	pthread_mutex_destroy(&compiler->lock);
	free(compiler);
}
