// SPDX-License-Identifier: GPL-2.0
/*
 * Who decides what is taught: the side of the teacher that sees the samples.
 * It only takes notes, which go to school.c after each pass over the rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "worker.h"

/* A store that loses what it was taught is taught anew, less and less often. */
#define AGAIN_PASSES	16
#define MAX_AGAIN	20

static bool note(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil,
		 enum hybrid_note_kind kind, u64 vaddr)
{
	struct hybrid_note what = {
		.pupil	= pupil,
		.kind	= kind,
		.vaddr	= vaddr,
		.nr	= pupil->asked_nr + 1,
	};

	if (hybrid_notes_add(&teacher->noted, &what))
		return false;
	pupil->asked_nr++;
	return true;
}

/* The file stays open until the teacher is done with it. */
static void release(struct hybrid_object *object)
{
	if (note(object->objects->release_arg, object->pupil, HYBRID_NOTE_GONE, 0))
		object->fd = -1;
	object->pupil = NULL;
}

struct hybrid_teacher *hybrid_teacher_new(struct hybrid_objects *objects,
					  const struct hybrid_store_ops *ops, void *store)
{
	struct hybrid_teacher *teacher = calloc(1, sizeof(*teacher));

	if (!teacher)
		return NULL;
	teacher->ops = ops;
	teacher->store = store;
	hybrid_school_init(teacher);
	objects->release = release;
	objects->release_arg = teacher;
	return teacher;
}

/* All that it was taught is gone, or was never there: begin anew. */
static void forget(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	pupil->epoch++;
	pupil->met = 0;
	teacher->space_gen = 0;
}

static struct hybrid_pupil *pupil_of(struct hybrid_teacher *teacher,
				     struct hybrid_object *object)
{
	struct hybrid_pupil *pupil = object->pupil;
	u32 generation = __atomic_load_n(&teacher->generation, __ATOMIC_ACQUIRE);

	if (!pupil) {
		pupil = hybrid_pupil_new(object);
		if (!pupil)
			return NULL;
		pupil->generation = generation;
		if (!note(teacher, pupil, HYBRID_NOTE_NEW, 0)) {
			hybrid_pupil_free(pupil);
			return NULL;
		}
		object->pupil = pupil;
	}
	if (pupil->generation != generation) {
		pupil->generation = generation;
		forget(teacher, pupil);
	}
	return pupil;
}

static bool is_teachable(const struct hybrid_row *row)
{
	return row->rule.kind == HYBRID_RULE_OUTERMOST ||
	       (!row->rule.signal && (row->rule.kind == HYBRID_RULE_CFA ||
				      row->rule.kind == HYBRID_RULE_DEREF));
}

/*
 * The kernel did not know what it was taught: its store had no room for it, or
 * takes the file for another since (it was changed, if only its links). Samples
 * that were in the rings already say nothing: all that a pass finds there was
 * written before the next one began.
 */
static bool was_lost(const struct hybrid_teacher *teacher, const struct hybrid_pupil *pupil,
		     const struct hybrid_row *row)
{
	return is_teachable(row) &&
	       __atomic_load_n(&pupil->done_nr, __ATOMIC_ACQUIRE) == pupil->asked_nr &&
	       teacher->pass >= pupil->done_pass + 2 && teacher->pass >= pupil->again_at;
}

static bool teach_again(struct hybrid_teacher *teacher, struct hybrid_pupil *pupil)
{
	if (!note(teacher, pupil, HYBRID_NOTE_AGAIN, 0))
		return false;
	pupil->again_at = teacher->pass + (AGAIN_PASSES << pupil->again);
	if (pupil->again < MAX_AGAIN)
		pupil->again++;
	forget(teacher, pupil);
	return true;
}

static void meet(struct hybrid_teacher *teacher, struct hybrid_object *object,
		 struct hybrid_row *row, bool stopped)
{
	struct hybrid_pupil *pupil = pupil_of(teacher, object);
	u32 state;

	if (!pupil)
		return;
	state = __atomic_load_n(&pupil->state, __ATOMIC_ACQUIRE);
	if (state == HYBRID_PUPIL_FAILED)
		return;
	if (row->asked == pupil->epoch) {
		if (!stopped || !was_lost(teacher, pupil, row) ||
		    !teach_again(teacher, pupil))
			return;
	} else if (state == HYBRID_PUPIL_KNOWS) {
		row->asked = pupil->epoch;
		return;
	}
	if (object->cfi.debug && !note(teacher, pupil, HYBRID_NOTE_DEBUG, 0))
		return;
	if (!note(teacher, pupil, HYBRID_NOTE_FUNCTION, row->start))
		return;
	row->asked = pupil->epoch;
	if (pupil->last_sample == teacher->nr_samples)
		return;
	pupil->last_sample = teacher->nr_samples;
	if (++pupil->met == HYBRID_HOT_SAMPLES)
		note(teacher, pupil, HYBRID_NOTE_WHOLE, 0);
}

/*
 * The kernel came further by rules than the dump reaches: no sample shows which
 * one it lacked. So all that the process has mapped is taught.
 */
static void teach_space(struct hybrid_teacher *teacher, struct hybrid_unwinder *unwinder,
			struct hybrid_space *space)
{
	struct hybrid_object *object;
	struct hybrid_pupil *pupil;
	bool mapped;
	size_t i;

	if (teacher->space_gen == space->gen)
		return;
	for (i = 0; i < space->nr; i++) {
		/* Opens the file, if no sample was in it yet. */
		hybrid_unwind_row(unwinder, space, space->mappings[i].start, &mapped, &object);
		pupil = object && object->state == HYBRID_OBJECT_READY ?
			pupil_of(teacher, object) : NULL;
		if (!pupil || pupil->met >= HYBRID_HOT_SAMPLES)
			continue;
		if (!note(teacher, pupil, HYBRID_NOTE_WHOLE, 0))
			return;
		pupil->met = HYBRID_HOT_SAMPLES;
	}
	teacher->space_gen = space->gen;
}

void hybrid_teacher_sample(struct hybrid_teacher *teacher, struct hybrid_unwinder *unwinder,
			   const struct hybrid_unwind *u, u64 info)
{
	unsigned int i, stop = PERF_HYBRID_INFO_FRAMES(info);
	bool ask = PERF_HYBRID_INFO_END(info) == PERF_HYBRID_END_ASK;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	if (__atomic_load_n(&teacher->full, __ATOMIC_RELAXED))
		return;
	if (PERF_HYBRID_INFO_INNERMOST(info) == PERF_HYBRID_INNERMOST_CODE)
		stop++;
	teacher->nr_samples++;
	if (ask && u->stop == HYBRID_STOP_DUMP_END && stop >= u->nr)
		teach_space(teacher, unwinder, u->space);
	for (i = 0; i < u->nr; i++) {
		row = hybrid_unwind_row(unwinder, u->space, u->frames[i].ip, &mapped, &object);
		if (row && row->rule.kind != HYBRID_RULE_NONE)
			meet(teacher, object, row, ask && i == stop);
	}
}

void hybrid_teacher_pass(struct hybrid_teacher *teacher)
{
	if (!teacher)
		return;
	__atomic_store_n(&teacher->pass, teacher->pass + 1, __ATOMIC_RELEASE);
	hybrid_school_hand_over(teacher);
}
