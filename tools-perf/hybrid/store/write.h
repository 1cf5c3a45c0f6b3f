/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_WRITE_H
#define __PERF_HYBRID_WRITE_H

#include "worker.h"

/*
 * All of it is the worker's: called by its thread, or where there is none. What can't be
 * taught is kept in the compiler's refusals, and its object's state says so.
 */

/* Closes the object's own handle of its file; it is opened again where that is needed. */
void hybrid_write_close(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/**
 * hybrid_write_again - have the store know what it should
 * @compiler: under way
 * @stored: a sample met what was taught, and the store did not know it
 * @twin: the file it was met in, which is given away; NULL: not known
 *
 * Where the store has the object, the sample was in another file: images of containers
 * each have their own, with one build-id.
 */
void hybrid_write_again(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			struct hybrid_twin *twin);

/* The function that has @vaddr, of those that CFI is for. */
void hybrid_write_function(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			   u64 vaddr);

/* What code without CFI tells of @note's address, and of those around it. */
void hybrid_write_code(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
		       const struct hybrid_note *note);

/* All of it, in parts, by hybrid_write_part(). */
void hybrid_write_whole(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/* Samples have met something new in it again: all of it, if that is worth its while. */
void hybrid_write_hot(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/**
 * hybrid_write_part - a part of the first of those that are taught whole
 * @compiler: under way
 *
 * Return: the object, or NULL where none is left.
 */
struct hybrid_stored *hybrid_write_part(struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_WRITE_H */
