// SPDX-License-Identifier: GPL-2.0
/*
 * Who teaches: compiles rows and hands them to the store, in a thread of its
 * own, so that reading the rings never waits for it. Functions that a sample met
 * come first; objects that are taught whole go on in parts between them.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "worker.h"

/* Files that are kept open, but for those being taught whole. */
#define MAX_OPENED	32

/* Enough to tell. */
#define MAX_REFUSALS	100

int hybrid_notes_add(struct hybrid_notes *notes, const struct hybrid_note *note)
{
	size_t alloc = notes->alloc * 2 + 64;
	struct hybrid_note *more;

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

void hybrid_school_init(struct hybrid_teacher *teacher)
{
	pthread_mutex_init(&teacher->lock, NULL);
	pthread_cond_init(&teacher->wake, NULL);
	hybrid_objects_init(&teacher->objects, NULL);
	INIT_LIST_HEAD(&teacher->pupils);
	INIT_LIST_HEAD(&teacher->working);
	INIT_LIST_HEAD(&teacher->opened);
}

void hybrid_school_hand_over(struct hybrid_teacher *teacher)
{
	size_t i;

	if (!teacher->noted.nr)
		return;
	pthread_mutex_lock(&teacher->lock);
	for (i = 0; i < teacher->noted.nr; i++) {
		if (hybrid_notes_add(&teacher->handed, &teacher->noted.notes[i]))
			break;
	}
	pthread_cond_signal(&teacher->wake);
	pthread_mutex_unlock(&teacher->lock);
	/* What memory was short for is handed over the next time. */
	teacher->noted.nr -= i;
	memmove(teacher->noted.notes, teacher->noted.notes + i,
		teacher->noted.nr * sizeof(*teacher->noted.notes));
}

static void close_pupil(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	if (!pupil->object)
		return;
	hybrid_pupil_close(pupil);
	teacher->nr_opened--;
}

static int open_pupil(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	int err;

	if (pupil->object) {
		list_move_tail(&pupil->opened, &teacher->opened);
		return 0;
	}
	if (teacher->nr_opened == MAX_OPENED)
		close_pupil(teacher, list_first_entry(&teacher->opened, struct hybrid_pupil,
						      opened));
	err = hybrid_pupil_open(pupil, &teacher->objects);
	if (err)
		return err;
	list_add_tail(&pupil->opened, &teacher->opened);
	teacher->nr_opened++;
	return 0;
}

/* Nothing is left to do that was asked for. */
static void settle(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	if (!list_empty(&pupil->working))
		return;
	pupil->done_pass = __atomic_load_n(&teacher->pass, __ATOMIC_ACQUIRE);
	__atomic_store_n(&pupil->done_nr, pupil->seen_nr, __ATOMIC_RELEASE);
}

static void finish(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil,
		   enum hybrid_pupil_state state)
{
	list_del_init(&pupil->working);
	close_pupil(teacher, pupil);
	__atomic_store_n(&pupil->state, state, __ATOMIC_RELEASE);
}

static void refused(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil, int err)
{
	struct hybrid_refusal *more;

	finish(teacher, pupil, HYBRID_PUPIL_FAILED);
	if (teacher->nr_refusals == MAX_REFUSALS)
		return;
	more = realloc(teacher->refusals, (teacher->nr_refusals + 1) * sizeof(*more));
	if (!more)
		return;
	teacher->refusals = more;
	more[teacher->nr_refusals].path = strdup(pupil->path);
	more[teacher->nr_refusals].err = err;
	if (more[teacher->nr_refusals].path)
		teacher->nr_refusals++;
}

static void forget_pupil(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	close_pupil(teacher, pupil);
	hybrid_pupil_forget(pupil);
	list_del_init(&pupil->working);
	if (__atomic_load_n(&pupil->state, __ATOMIC_RELAXED) == HYBRID_PUPIL_KNOWS)
		__atomic_store_n(&pupil->state, HYBRID_PUPIL_LEARNS, __ATOMIC_RELEASE);
}

/*
 * A store holds 65535 rules that differ, of all objects together. Where they are
 * used up all is taught anew, once, by what is met from then on.
 */
static void store_is_full(struct hybrid_teacher *teacher)
{
	static const struct perf_hybrid_forget all = { .fd = -1 };
	struct hybrid_pupil *pupil;

	if (teacher->generation || teacher->ops->forget(teacher->store, &all)) {
		__atomic_store_n(&teacher->full, true, __ATOMIC_RELAXED);
		return;
	}
	list_for_each_entry(pupil, &teacher->pupils, list)
		forget_pupil(teacher, pupil);
	__atomic_store_n(&teacher->generation, teacher->generation + 1, __ATOMIC_RELEASE);
}

/* Returns true where the store has taken the lesson. */
static bool teach(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	const struct hybrid_lesson *lesson = &teacher->lesson;
	struct perf_hybrid_teach arg = {
		.fd		= pupil->flags ? -1 : pupil->fd,
		.flags		= pupil->flags,
		.start		= lesson->start,
		.end		= lesson->end,
		.rows		= (uintptr_t)lesson->rows,
		.rules		= (uintptr_t)lesson->rules,
		.nr_rows	= lesson->nr_rows,
		.nr_rules	= lesson->nr_rules,
	};
	int err;

	do {
		err = teacher->ops->teach(teacher->store, &arg);
	} while (err == -EINTR);
	if (err == -ENOSPC)
		store_is_full(teacher);
	else if (err)
		refused(teacher, pupil, err);
	return !err;
}

static void teach_function(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil, u64 vaddr)
{
	bool whole = !list_empty(&pupil->working);
	int err = open_pupil(teacher, pupil);

	/* All of it will be taught: begin with what is needed most. */
	if (!err)
		err = hybrid_pupil_function(pupil, vaddr, whole, &teacher->lesson);
	if (err)
		refused(teacher, pupil, err);
	else if (teacher->lesson.nr_rows && teach(teacher, pupil))
		teacher->functions += !whole;
}

/* A part of the first of those that are taught whole. */
static void teach_part(struct hybrid_teacher *teacher)
{
	struct hybrid_pupil *pupil;
	int err;

	if (list_empty(&teacher->working))
		return;
	pupil = list_first_entry(&teacher->working, struct hybrid_pupil, working);
	err = open_pupil(teacher, pupil);
	if (!err)
		err = hybrid_pupil_part(pupil, &teacher->lesson);
	if (err) {
		refused(teacher, pupil, err);
	} else if (!teacher->lesson.nr_rows) {
		teacher->wholes++;
		finish(teacher, pupil, HYBRID_PUPIL_KNOWS);
	} else {
		teach(teacher, pupil);
	}
	settle(teacher, pupil);
}

static void gone(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	close_pupil(teacher, pupil);
	close(pupil->fd);
	hybrid_pupil_free(pupil);
}

static bool is_stopped(const struct hybrid_teacher *teacher)
{
	return __atomic_load_n(&teacher->stop, __ATOMIC_RELAXED);
}

static void follow_note(struct hybrid_teacher *teacher, const struct hybrid_note *note)
{
	struct hybrid_pupil *pupil = note->pupil;
	bool idle = pupil->state == HYBRID_PUPIL_FAILED || teacher->full || is_stopped(teacher);

	pupil->seen_nr = note->nr;
	switch (note->kind) {
	case HYBRID_NOTE_NEW:
		list_add(&pupil->list, &teacher->pupils);
		break;
	case HYBRID_NOTE_FUNCTION:
		if (!idle)
			teach_function(teacher, pupil, note->vaddr);
		break;
	case HYBRID_NOTE_WHOLE:
		if (!idle && list_empty(&pupil->working))
			list_add_tail(&pupil->working, &teacher->working);
		break;
	case HYBRID_NOTE_DEBUG:
		if (!pupil->want_debug) {
			close_pupil(teacher, pupil);
			hybrid_pupil_want_debug(pupil);
		}
		break;
	case HYBRID_NOTE_AGAIN:
		forget_pupil(teacher, pupil);
		break;
	case HYBRID_NOTE_GONE:
		gone(teacher, pupil);
		return;
	default:
		break;
	}
	settle(teacher, pupil);
}

bool hybrid_teacher_work(struct hybrid_teacher *teacher)
{
	struct hybrid_notes taken;
	bool more;
	size_t i;

	pthread_mutex_lock(&teacher->lock);
	taken = teacher->handed;
	teacher->handed = teacher->taken;
	teacher->handed.nr = 0;
	teacher->taken = taken;
	pthread_mutex_unlock(&teacher->lock);

	for (i = 0; i < taken.nr; i++)
		follow_note(teacher, &taken.notes[i]);
	if (!teacher->full && !is_stopped(teacher))
		teach_part(teacher);

	pthread_mutex_lock(&teacher->lock);
	more = teacher->handed.nr || (!list_empty(&teacher->working) && !teacher->full);
	pthread_mutex_unlock(&teacher->lock);
	return more;
}

static void *work(void *arg)
{
	struct hybrid_teacher *teacher = arg;

	while (!is_stopped(teacher)) {
		if (hybrid_teacher_work(teacher))
			continue;
		pthread_mutex_lock(&teacher->lock);
		while (!teacher->handed.nr && !is_stopped(teacher))
			pthread_cond_wait(&teacher->wake, &teacher->lock);
		pthread_mutex_unlock(&teacher->lock);
	}
	return NULL;
}

int hybrid_teacher_start(struct hybrid_teacher *teacher)
{
	sigset_t all, old;

	/* Signals are for those who read the rings: they wake them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	teacher->threaded = !pthread_create(&teacher->thread, NULL, work, teacher);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return teacher->threaded ? 0 : -1;
}

void hybrid_teacher_stop(struct hybrid_teacher *teacher)
{
	if (!teacher)
		return;
	pthread_mutex_lock(&teacher->lock);
	__atomic_store_n(&teacher->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&teacher->wake);
	pthread_mutex_unlock(&teacher->lock);
	if (teacher->threaded)
		pthread_join(teacher->thread, NULL);
	teacher->threaded = false;
}

void hybrid_teacher_print(const struct hybrid_teacher *teacher, FILE *out)
{
	size_t i;

	fprintf(out, "hybrid: taught %" PRIu64 " functions one by one, %" PRIu64 " objects whole\n",
		teacher->functions, teacher->wholes);
	if (teacher->generation)
		fprintf(out, "hybrid: too many rules that differ for one store, %s\n",
			teacher->full ? "twice: no more was taught" : "all was taught anew");
	for (i = 0; i < teacher->nr_refusals; i++)
		fprintf(out, "hybrid: %s can't be taught: %s\n", teacher->refusals[i].path,
			strerror(-teacher->refusals[i].err));
}

void hybrid_teacher_delete(struct hybrid_teacher *teacher)
{
	struct hybrid_pupil *pupil, *next;
	size_t i;

	if (!teacher)
		return;
	hybrid_teacher_stop(teacher);
	hybrid_school_hand_over(teacher);
	hybrid_teacher_work(teacher);
	list_for_each_entry_safe(pupil, next, &teacher->pupils, list) {
		close_pupil(teacher, pupil);
		hybrid_pupil_free(pupil);
	}
	hybrid_objects_exit(&teacher->objects);
	hybrid_lesson_exit(&teacher->lesson);
	for (i = 0; i < teacher->nr_refusals; i++)
		free(teacher->refusals[i].path);
	free(teacher->refusals);
	free(teacher->noted.notes);
	free(teacher->handed.notes);
	free(teacher->taken.notes);
	pthread_cond_destroy(&teacher->wake);
	pthread_mutex_destroy(&teacher->lock);
	free(teacher);
}
