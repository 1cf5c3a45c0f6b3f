// SPDX-License-Identifier: GPL-2.0
/*
 * What decides what is loaded: the side of the compiler that sees the samples.
 * It only takes notes, which go to worker.c after each pass over the rings.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "worker.h"

/* A store that loses its rules gets them anew, less and less often. */
#define AGAIN_PASSES	16
#define MAX_AGAIN	20U

/*
 * Bytes of stack beyond which a dump is costly; and samples in an object that need a larger
 * one before all of it is loaded.
 */
#define DEEP		8192
#define DEEP_SAMPLES	2

/* Samples until the next guess of what their dumps do not have: 64 at most. */
#define MAX_GUESS_WAIT	6

static bool add_note(struct hybrid_compiler *compiler, struct hybrid_request *what)
{
	what->nr = what->stored->asked_nr + 1;
	if (hybrid_requests_add(&compiler->noted, what))
		return false;
	what->stored->asked_nr++;
	return true;
}

static bool note(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		 enum hybrid_request_kind kind, u64 vaddr)
{
	struct hybrid_request what = { .stored = stored, .kind = kind, .vaddr = vaddr };

	return add_note(compiler, &what);
}

/* The file stays open until the compiler is done with it. */
static void release(struct hybrid_object *object)
{
	hybrid_stored_cancel(object->stored);
	if (note(object->objects->release_arg, object->stored, HYBRID_REQUEST_GONE, 0))
		object->fd = -1;
	object->stored = NULL;
}

struct hybrid_compiler *hybrid_compiler_new(struct hybrid_objects *objects,
					    const struct hybrid_store_ops *ops, void *store)
{
	struct hybrid_compiler *compiler = calloc(1, sizeof(*compiler));

	if (!compiler)
		return NULL;
	compiler->ops = ops;
	compiler->store = store;
	hybrid_worker_init(compiler);
	compiler->batch.registers = ops->takes_registers;
	compiler->batch.codes = ops->takes_codes;
	objects->release = release;
	objects->release_arg = compiler;
	/* Each file is loaded by itself. */
	if (!ops->add)
		objects->compare = NULL;
	return compiler;
}

/* All of its rules are gone, or were never there: begin anew. */
static void forget(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	stored->epoch++;
	stored->met = 0;
	stored->deep = 0;
	stored->whole = false;
	compiler->space_gen = 0;
}

static struct hybrid_stored *stored_of(struct hybrid_compiler *compiler,
				       struct hybrid_object *object)
{
	struct hybrid_stored *stored = object->stored;
	u32 generation = __atomic_load_n(&compiler->generation, __ATOMIC_ACQUIRE);

	/* Another file's rows may serve it, or it is to be asked which file it is. */
	if (!stored && (!object->is_settled || object->is_old))
		return NULL;
	/* Its rows are known, its file is closed: it is for a sample with a new row. */
	if (!stored && object->state != HYBRID_OBJECT_READY)
		return NULL;
	/* A kernel's store would not know the copy for the file. */
	if (!stored && object->is_copy && (!compiler->ops->drop || !object->hold.page))
		return NULL;
	if (!stored) {
		stored = hybrid_stored_new(object);
		if (!stored)
			return NULL;
		stored->generation = generation;
		if (!note(compiler, stored, HYBRID_REQUEST_NEW, 0)) {
			hybrid_stored_free(stored);
			return NULL;
		}
		object->stored = stored;
	}
	if (stored->generation != generation) {
		stored->generation = generation;
		forget(compiler, stored);
	}
	return stored;
}

static bool has_rule(const struct hybrid_rule *rule)
{
	return !rule->signal &&
	       (rule->kind == HYBRID_RULE_CFA || rule->kind == HYBRID_RULE_DEREF);
}

static bool is_loadable(const struct hybrid_row *row)
{
	return row->rule.kind == HYBRID_RULE_OUTERMOST || has_rule(&row->rule) ||
	       (row->rule.kind == HYBRID_RULE_NONE && has_rule(&row->code));
}

/*
 * The kernel did not know what was loaded: its store had no room for it, or
 * takes the file for another since (it was changed, if only its links). Samples
 * that were in the rings already say nothing: all that a pass finds there was
 * written before the next one began.
 */
static bool was_lost(const struct hybrid_compiler *compiler, const struct hybrid_stored *stored,
		     const struct hybrid_row *row)
{
	return is_loadable(row) &&
	       __atomic_load_n(&stored->done_nr, __ATOMIC_ACQUIRE) == stored->asked_nr &&
	       compiler->pass >= stored->done_pass + 2 && compiler->pass >= stored->again_at;
}

/* A file like the one before was the reason: there may be many of these. */
static void look_for_twins(struct hybrid_stored *stored)
{
	u32 nr = __atomic_load_n(&stored->nr_twins, __ATOMIC_ACQUIRE);

	if (stored->twins_seen == nr)
		return;
	stored->twins_seen = nr;
	stored->again = 0;
	stored->again_at = 0;
}

/*
 * The mapping shows another file than the object's, and the two were found to hold the same: BPF
 * finds the object, and the interpreter that it is, by the file. Tried at the first walk that
 * ends there, and again less and less often: the rules may not be loaded yet.
 */
static void note_twin(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		      const struct hybrid_mapping *mapping)
{
	struct hybrid_request what = { .stored = stored, .kind = HYBRID_REQUEST_TWIN };
	bool is_next = !hybrid_file_id_equal(&stored->twin, &mapping->file);

	if (!compiler->ops->add || stored->flags || !mapping->file.ino || mapping->is_copy ||
	    hybrid_file_id_equal(&mapping->object->file, &mapping->file) ||
	    stored->twin_pass == compiler->pass ||
	    (!is_next && compiler->pass < stored->twin_at) ||
	    !hybrid_stored_twin(stored, mapping, &what.twin))
		return;
	if (what.twin && !add_note(compiler, &what)) {
		hybrid_twin_free(what.twin);
		return;
	}
	stored->twin_tries = is_next ? 0 : min(stored->twin_tries + 1, MAX_AGAIN);
	stored->twin = mapping->file;
	stored->twin_pass = compiler->pass;
	stored->twin_at = compiler->pass + (1ULL << stored->twin_tries);
	if (what.twin)
		compiler->is_urgent = true;
}

static bool load_again(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		       const struct hybrid_mapping *mapping)
{
	struct hybrid_request what = { .stored = stored, .kind = HYBRID_REQUEST_AGAIN };

	if (compiler->ops->add && !stored->flags && mapping &&
	    !hybrid_stored_twin(stored, mapping, &what.twin))
		return false;
	if (!add_note(compiler, &what)) {
		hybrid_twin_free(what.twin);
		return false;
	}
	stored->again_at = compiler->pass + (AGAIN_PASSES << stored->again);
	if (stored->again < MAX_AGAIN)
		stored->again++;
	forget(compiler, stored);
	return true;
}

/* What is to be loaded for a frame, and of what has CFI, that a sample met something new. */
static bool note_row(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		     struct hybrid_row *row, const struct hybrid_frame *frame)
{
	struct hybrid_request what = {
		.stored = stored, .kind = HYBRID_REQUEST_CODE, .vaddr = row->start,
		.at = row->start + (frame->ret - frame->ip),
	};

	if (row->rule.kind == HYBRID_RULE_NONE)
		return add_note(compiler, &what);
	if (!note(compiler, stored, HYBRID_REQUEST_FUNCTION, row->start))
		return false;
	if (stored->last_sample == compiler->nr_samples)
		return true;
	stored->last_sample = compiler->nr_samples;
	if (++stored->met == HYBRID_HOT_SAMPLES)
		note(compiler, stored, HYBRID_REQUEST_HOT, 0);
	return true;
}

/* The walk ended in memory to which the process has moved the code of a file. */
static void note_copy(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		      const struct hybrid_mapping *mapping)
{
	struct hybrid_request what = {
		.stored = stored, .kind = HYBRID_REQUEST_COPY,
		.key = { .space = compiler->walker_space, .ip = mapping->start },
		.copy = { .end = mapping->end, .shift = mapping->pgoff - mapping->start },
	};

	if (!what.key.space || !compiler->ops->put_copy ||
	    (!memcmp(&compiler->copy, &what.key, sizeof(what.key)) &&
	     compiler->pass < compiler->copy_at))
		return;
	if (!add_note(compiler, &what))
		return;
	compiler->copy = what.key;
	compiler->copy_at = compiler->pass + AGAIN_PASSES;
}

/* @stopped: the walk ended here; NULL: it did not. */
static void meet(struct hybrid_compiler *compiler, struct hybrid_object *object,
		 struct hybrid_row *row, const struct hybrid_frame *frame,
		 const struct hybrid_mapping *stopped)
{
	struct hybrid_stored *stored = stored_of(compiler, object);
	u32 state;

	if (!stored)
		return;
	state = __atomic_load_n(&stored->state, __ATOMIC_ACQUIRE);
	/* The file that a copy was made of has changed; others that held the same may not have. */
	if (state == HYBRID_STORED_STALE && object->is_shared)
		hybrid_object_set_old(object);
	if (state == HYBRID_STORED_FAILED || state == HYBRID_STORED_STALE)
		return;
	if (stopped && stopped->is_copy)
		note_copy(compiler, stored, stopped);
	else if (stopped)
		note_twin(compiler, stored, stopped);
	if (row->asked == stored->epoch) {
		if (!stopped || stopped->is_copy)
			return;
		look_for_twins(stored);
		if (!hybrid_object_is_current(object) ||
		    !was_lost(compiler, stored, row) ||
		    !load_again(compiler, stored, stopped))
			return;
	} else if (state == HYBRID_STORED_KNOWS && row->rule.kind != HYBRID_RULE_NONE) {
		row->asked = stored->epoch;
		return;
	}
	if (object->cfi.debug && !note(compiler, stored, HYBRID_REQUEST_DEBUG, 0))
		return;
	if (note_row(compiler, stored, row, frame))
		row->asked = stored->epoch;
}

/* Does the frame's code, without CFI, tell what holds of samples? */
static bool is_told(const struct hybrid_compiler *compiler, const struct hybrid_unwind *u,
		    const struct hybrid_row *row, const struct hybrid_frame *frame)
{
	const struct hybrid_mapping *mapping;

	if (!compiler->ops->takes_codes || !row->code_led || row->code_failed ||
	    !has_rule(&row->code))
		return false;
	mapping = hybrid_space_find(u->space, frame->ret);
	return mapping && row->code_at == frame->ret - mapping->start + mapping->pgoff + 1;
}

/* Returns false if memory is short. */
static bool note_whole(struct hybrid_compiler *compiler, struct hybrid_stored *stored)
{
	if (!stored->whole)
		stored->whole = note(compiler, stored, HYBRID_REQUEST_WHOLE, 0);
	return stored->whole;
}

void hybrid_compiler_whole(struct hybrid_compiler *compiler, struct hybrid_object *object)
{
	struct hybrid_stored *stored = stored_of(compiler, object);

	if (stored && !stored->whole)
		note(compiler, stored, HYBRID_REQUEST_EARLY, 0);
}

/*
 * The kernel came further by rules than the dump reaches: no sample shows which
 * one it lacked. So all that the process has mapped is loaded.
 */
static void load_space(struct hybrid_compiler *compiler, struct hybrid_unwinder *unwinder,
		       struct hybrid_space *space)
{
	struct hybrid_object *object;
	struct hybrid_stored *stored;
	bool mapped;
	size_t i;

	if (compiler->space_gen == space->gen)
		return;
	for (i = 0; i < space->nr; i++) {
		/* Opens the file, if no sample was in it yet. */
		hybrid_unwind_row(unwinder, space, space->mappings[i].start, &mapped, &object);
		stored = object && object->state == HYBRID_OBJECT_READY ?
			stored_of(compiler, object) : NULL;
		if (stored && !note_whole(compiler, stored))
			return;
	}
	compiler->space_gen = space->gen;
}

void hybrid_compiler_interpreter(struct hybrid_compiler *compiler, struct hybrid_object *object,
				 const struct hybrid_walk_interpreter *interpreter, u64 vaddr)
{
	struct hybrid_request what = { .kind = HYBRID_REQUEST_INTERPRETER };

	if (!compiler->ops->put_interpreter)
		return;
	what.stored = stored_of(compiler, object);
	what.interpreter = *interpreter;
	if (!what.stored || !add_note(compiler, &what)) {
		object->interpreter_told = false;
		return;
	}
	compiler->holds = false;
	if (vaddr)
		note(compiler, what.stored, HYBRID_REQUEST_FUNCTION, vaddr);
	compiler->is_urgent = true;
}

bool hybrid_compiler_may_guess(struct hybrid_compiler *compiler)
{
	if (compiler->holds || compiler->guess_at > compiler->nr_samples)
		return false;
	compiler->guess_at = compiler->nr_samples + (1U << compiler->guess_wait);
	return true;
}

/* As far as it is known. */
static bool is_deep(const struct hybrid_unwind *u)
{
	unsigned int i = u->nr;

	if (u->stop == HYBRID_STOP_DUMP_END)
		return true;
	while (i && !u->frames[i - 1].cfa)
		i--;
	return i && u->frames[i - 1].cfa - u->dump_start > DEEP;
}

/*
 * Where the stack is deep, each function that a sample meets first costs a large dump, or
 * the rest of the chain, where it is deeper than the dump: all that is near is loaded.
 */
static void meet_deep(struct hybrid_compiler *compiler, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u)
{
	struct hybrid_object *object;
	struct hybrid_stored *stored;
	unsigned int i;
	bool mapped;

	for (i = 0; i < u->nr; i++) {
		if (!hybrid_unwind_row(unwinder, u->space, u->frames[i].ip, &mapped, &object))
			continue;
		stored = stored_of(compiler, object);
		if (!stored || stored->whole || stored->last_deep == compiler->nr_samples)
			continue;
		stored->last_deep = compiler->nr_samples;
		if (++stored->deep >= DEEP_SAMPLES)
			note_whole(compiler, stored);
	}
}

/* @stop: the frame at which the walk ended; @u->nr or more: none that is shown. */
static void meet_frame(struct hybrid_compiler *compiler, struct hybrid_unwinder *unwinder,
		       const struct hybrid_unwind *u, unsigned int i, unsigned int stop)
{
	const struct hybrid_frame *frame = &u->frames[i];
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, u->space, frame->ip, &mapped, &object);
	if (row && (row->rule.kind != HYBRID_RULE_NONE || is_told(compiler, u, row, frame)))
		meet(compiler, object, row, frame, i < u->nr && i == stop ?
		     hybrid_space_find(u->space, frame->ip) : NULL);
}

void hybrid_compiler_sample(struct hybrid_compiler *compiler, struct hybrid_unwinder *unwinder,
			    const struct hybrid_unwind *u, unsigned int guessed, u64 info)
{
	unsigned int i, stop = PERF_UNWIND_INFO_FRAMES(info);
	bool ask = PERF_UNWIND_INFO_END(info) == PERF_UNWIND_END_NO_RULE;
	size_t notes = compiler->noted.nr;

	if (compiler->holds || __atomic_load_n(&compiler->full, __ATOMIC_RELAXED))
		return;
	if (PERF_UNWIND_INFO_INNERMOST(info) == PERF_UNWIND_INNERMOST_CODE)
		stop++;
	compiler->nr_samples++;
	compiler->walker_space = u->walker_space;
	if (ask && u->stop == HYBRID_STOP_DUMP_END && stop >= u->nr + guessed)
		load_space(compiler, unwinder, u->space);
	for (i = 0; i < u->nr + guessed; i++)
		meet_frame(compiler, unwinder, u, i, ask ? stop : UINT_MAX);
	hybrid_memory_code_sample(&compiler->memory_code, compiler->ops, compiler->store, unwinder,
				  u, ask ? stop : UINT_MAX);
	if (ask && is_deep(u))
		meet_deep(compiler, unwinder, u);
	if (compiler->noted.nr != notes)
		compiler->guess_wait = 0;
	else if (guessed && compiler->guess_wait < MAX_GUESS_WAIT)
		compiler->guess_wait++;
}

void hybrid_compiler_pass(struct hybrid_compiler *compiler)
{
	if (!compiler)
		return;
	__atomic_store_n(&compiler->pass, compiler->pass + 1, __ATOMIC_RELEASE);
	hybrid_compiler_hand_over(compiler);
}
