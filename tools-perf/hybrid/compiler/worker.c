// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that compiles rows for the store, so that reading the rings never waits for
 * it. Functions that a sample met come first; objects that are loaded whole, and code without
 * CFI, go on in parts between them.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/time64.h>
#include "../process/background.h"
#include "../process/priority.h"
#include "../records/print-name.h"
#include "../rules/clock.h"
#include "update.h"

void hybrid_worker_init(struct hybrid_compiler *compiler)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&compiler->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&compiler->wake, &attr);
	pthread_cond_init(&compiler->followed, &attr);
	pthread_condattr_destroy(&attr);
	hybrid_objects_init(&compiler->objects, NULL, hybrid_x86_abi);
	/* Those in @opened are all. */
	compiler->objects.max_opened = UINT_MAX;
	INIT_LIST_HEAD(&compiler->stored_objects);
	INIT_LIST_HEAD(&compiler->working);
	INIT_LIST_HEAD(&compiler->opened);
}

int hybrid_requests_add(struct hybrid_requests *notes, const struct hybrid_request *note)
{
	size_t alloc = notes->alloc * 2 + 64;
	struct hybrid_request *more;

	if (notes->nr == notes->alloc) {
		more = realloc(notes->notes, alloc * sizeof(*more));
		if (!more)
			return -ENOMEM;
		notes->notes = more;
		notes->alloc = alloc;
	}
	notes->notes[notes->nr++] = *note;
	return 0;
}

void hybrid_compiler_hand_over(struct hybrid_compiler *compiler)
{
	size_t i;

	if (!compiler->noted.nr)
		return;
	pthread_mutex_lock(&compiler->lock);
	for (i = 0; i < compiler->noted.nr; i++) {
		if (hybrid_requests_add(&compiler->handed, &compiler->noted.notes[i]))
			break;
	}
	compiler->nr_handed++;
	/* Samples go by without functions: it is not to wait for a processor. */
	if (compiler->is_urgent && compiler->tid && !compiler->raised)
		compiler->raised = hybrid_priority_raise_thread(compiler->tid);
	compiler->is_urgent = false;
	pthread_cond_signal(&compiler->wake);
	pthread_mutex_unlock(&compiler->lock);
	/* What memory was short for is handed over the next time. */
	compiler->noted.nr -= i;
	memmove(compiler->noted.notes, compiler->noted.notes + i,
		compiler->noted.nr * sizeof(*compiler->noted.notes));
}

/* Nothing is left to do that was asked for. */
static void settle(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (!list_empty(&stored->working))
		return;
	stored->done_pass = __atomic_load_n(&compiler->pass, __ATOMIC_ACQUIRE);
	__atomic_store_n(&stored->done_nr, stored->seen_nr, __ATOMIC_RELEASE);
}

static void forget_around(struct hybrid_compiler *compiler, const struct hybrid_stored *stored)
{
	size_t i;

	for (i = compiler->next_around; i < compiler->around.nr; i++) {
		if (compiler->around.notes[i].stored == stored)
			compiler->around.notes[i].stored = NULL;
	}
}

static void gone(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	struct hybrid_twin *twin;

	forget_around(compiler, stored);
	hybrid_update_close(compiler, stored);
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
	return stored->state == HYBRID_STORED_FAILED || stored->state == HYBRID_STORED_STALE ||
	       compiler->full || is_stopped(compiler);
}

static void follow_note(struct hybrid_compiler *compiler, struct hybrid_request *note)
{
	struct hybrid_stored *stored = note->stored;
	bool idle = is_idle(compiler, stored);

	stored->seen_nr = note->nr;
	switch (note->kind) {
	case HYBRID_REQUEST_NEW:
		list_add(&stored->list, &compiler->stored_objects);
		break;
	case HYBRID_REQUEST_FUNCTION:
		stored->nr_functions++;
		if (!idle)
			hybrid_update_function(compiler, stored, note->vaddr);
		if (stored->hot && !is_idle(compiler, stored))
			hybrid_update_hot(compiler, stored);
		break;
	case HYBRID_REQUEST_CODE:
		if (!idle && hybrid_update_code(compiler, stored, note))
			hybrid_requests_add(&compiler->around, note);
		break;
	case HYBRID_REQUEST_HOT:
		stored->hot = true;
		if (!idle)
			hybrid_update_hot(compiler, stored);
		break;
	case HYBRID_REQUEST_WHOLE:
		if (!idle)
			hybrid_update_whole(compiler, stored);
		break;
	case HYBRID_REQUEST_EARLY:
		if (!idle)
			hybrid_update_early(compiler, stored);
		break;
	case HYBRID_REQUEST_DEBUG:
		if (!stored->want_debug) {
			hybrid_update_close(compiler, stored);
			hybrid_stored_want_debug(stored);
		}
		break;
	case HYBRID_REQUEST_COPY:
		if (!idle)
			compiler->ops->put_copy(compiler->store, &stored->hold, &note->key,
						&note->copy);
		break;
	case HYBRID_REQUEST_INTERPRETER:
		if (stored->begun)
			hybrid_update_interpreter(compiler, stored);
		break;
	case HYBRID_REQUEST_AGAIN:
		hybrid_update_again(compiler, stored, note->twin);
		break;
	case HYBRID_REQUEST_TWIN:
		if (!hybrid_update_twin(compiler, stored, note->twin))
			hybrid_twin_free(note->twin);
		break;
	case HYBRID_REQUEST_GONE:
		gone(compiler, stored);
		return;
	default:
		break;
	}
	settle(compiler, stored);
}

/*
 * It is told of as soon as the first rule of its object is there: samples have no names before.
 * Returns how many there are.
 */
static size_t find_interpreters(const struct hybrid_requests *taken)
{
	const struct hybrid_request *note;
	size_t i, nr = 0;

	for (i = 0; i < taken->nr; i++) {
		note = &taken->notes[i];
		if (note->kind != HYBRID_REQUEST_INTERPRETER)
			continue;
		note->stored->interpreter = note->interpreter;
		note->stored->is_interpreter = true;
		nr++;
	}
	return nr;
}

/* Interpreters first: what other samples meet can be loaded later, but not functions be read. */
static void follow_notes(struct hybrid_compiler *compiler, struct hybrid_requests *taken)
{
	struct hybrid_request *note;
	size_t nr_interpreters = find_interpreters(taken), i;

	for (i = 0; i < taken->nr; i++) {
		note = &taken->notes[i];
		if (!note->stored->is_interpreter ||
		    (note->stored->begun && note->kind != HYBRID_REQUEST_INTERPRETER))
			continue;
		follow_note(compiler, note);
		note->stored = NULL;
	}
	if (nr_interpreters) {
		pthread_mutex_lock(&compiler->lock);
		hybrid_priority_restore(&compiler->raised);
		pthread_mutex_unlock(&compiler->lock);
	}
	for (i = 0; i < taken->nr; i++) {
		if (taken->notes[i].stored)
			follow_note(compiler, &taken->notes[i]);
	}
}

/*
 * To load the code around one address takes up to some 40 ms. One such piece is loaded in a round,
 * after all that was asked for, as samples need their dumps until they have that.
 */
static void load_around(struct hybrid_compiler *compiler)
{
	struct hybrid_request *note;

	if (compiler->next_around == compiler->around.nr) {
		compiler->next_around = 0;
		compiler->around.nr = 0;
		return;
	}
	note = &compiler->around.notes[compiler->next_around++];
	if (note->stored && !is_idle(compiler, note->stored))
		hybrid_update_around(compiler, note->stored, note);
}

bool hybrid_compiler_work(struct hybrid_compiler *compiler)
{
	struct hybrid_stored *stored = NULL;
	struct hybrid_requests taken;
	u64 nr_handed;
	bool more;

	pthread_mutex_lock(&compiler->lock);
	nr_handed = compiler->nr_handed;
	taken = compiler->handed;
	compiler->handed = compiler->taken;
	compiler->handed.nr = 0;
	compiler->taken = taken;
	pthread_mutex_unlock(&compiler->lock);

	follow_notes(compiler, &taken);
	pthread_mutex_lock(&compiler->lock);
	compiler->nr_followed = nr_handed;
	pthread_cond_broadcast(&compiler->followed);
	pthread_mutex_unlock(&compiler->lock);
	load_around(compiler);
	if (!compiler->full && !is_stopped(compiler))
		stored = hybrid_update_part(compiler);
	if (stored)
		settle(compiler, stored);

	pthread_mutex_lock(&compiler->lock);
	more = compiler->handed.nr || compiler->around.nr ||
	       (!list_empty(&compiler->working) && !compiler->full);
	pthread_mutex_unlock(&compiler->lock);
	return more;
}

/* For notes; or for files that are open to become old. */
static void wait_for_work(struct hybrid_compiler *compiler)
{
	struct timespec until;

	if (list_empty(&compiler->opened)) {
		pthread_cond_wait(&compiler->wake, &compiler->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += HYBRID_UPDATE_AGE_S;
	pthread_cond_timedwait(&compiler->wake, &compiler->lock, &until);
}

static void *work(void *arg)
{
	struct hybrid_compiler *compiler = arg;

	pthread_mutex_lock(&compiler->lock);
	compiler->tid = gettid();
	pthread_mutex_unlock(&compiler->lock);
	if (compiler->ops->begin)
		compiler->ops->begin(compiler->store);
	while (!is_stopped(compiler)) {
		if (hybrid_compiler_work(compiler))
			continue;
		hybrid_update_age(compiler, hybrid_clock_ns(CLOCK_MONOTONIC));
		pthread_mutex_lock(&compiler->lock);
		if (!compiler->handed.nr && !is_stopped(compiler))
			wait_for_work(compiler);
		pthread_mutex_unlock(&compiler->lock);
	}
	return NULL;
}

void hybrid_compiler_hold(struct hybrid_compiler *compiler)
{
	compiler->holds = true;
}

int hybrid_compiler_start(struct hybrid_compiler *compiler)
{
	compiler->threaded = !hybrid_background_start(&compiler->thread, work, compiler);
	return compiler->threaded ? 0 : -1;
}

void hybrid_compiler_wait(struct hybrid_compiler *compiler, unsigned int ms)
{
	struct timespec until;

	if (!compiler || !compiler->threaded)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * NSEC_PER_MSEC;
	until.tv_sec += until.tv_nsec / NSEC_PER_SEC;
	until.tv_nsec %= NSEC_PER_SEC;
	pthread_mutex_lock(&compiler->lock);
	while (compiler->nr_followed != compiler->nr_handed && !compiler->stop &&
	       pthread_cond_timedwait(&compiler->followed, &compiler->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&compiler->lock);
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

	fprintf(out, "hybrid: loaded %" PRIu64 " functions one by one, %" PRIu64 " objects whole\n",
		compiler->functions, compiler->wholes);
	if (compiler->codes)
		fprintf(out, "hybrid: loaded %" PRIu64 " addresses without CFI\n", compiler->codes);
	if (compiler->generation)
		fprintf(out, "hybrid: too many rules that differ for one store, %s\n",
			compiler->full ? "twice: no more was loaded" : "all was loaded anew");
	for (i = 0; i < compiler->nr_refusals; i++) {
		fprintf(out, "hybrid: ");
		hybrid_print_name(out, compiler->refusals[i].path);
		fprintf(out, " can't be loaded: %s\n", strerror(-compiler->refusals[i].err));
	}
}

void hybrid_compiler_delete(struct hybrid_compiler *compiler)
{
	struct hybrid_stored *stored, *next;
	size_t i;

	if (!compiler)
		return;
	hybrid_compiler_stop(compiler);
	hybrid_compiler_hand_over(compiler);
	hybrid_compiler_work(compiler);
	list_for_each_entry_safe(stored, next, &compiler->stored_objects, list) {
		hybrid_update_close(compiler, stored);
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
	free(compiler->around.notes);
	pthread_cond_destroy(&compiler->wake);
	pthread_cond_destroy(&compiler->followed);
	pthread_mutex_destroy(&compiler->lock);
	free(compiler);
}
