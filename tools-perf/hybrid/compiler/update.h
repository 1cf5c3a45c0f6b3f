/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_UPDATE_H
#define __PERF_HYBRID_UPDATE_H

#include "worker.h"

/*
 * For the worker's thread, or for who does its work where there is none. What can't be
 * loaded is kept in the compiler's refusals, and its object's state says so.
 */

/* Closes the Elf handle of an object; it is opened again where that is needed. */
void hybrid_update_close(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/* For so long a file stays open that is not used, in seconds and in ns. */
#define HYBRID_UPDATE_AGE_S	1
#define HYBRID_UPDATE_AGE	(HYBRID_UPDATE_AGE_S * 1000000000ULL)

/**
 * hybrid_update_age - close the files that have not been used for HYBRID_UPDATE_AGE
 * @compiler: under way
 * @now: time of CLOCK_MONOTONIC, in ns
 *
 * libelf has a copy of the CFI of each open file, and libdw nodes of it.
 */
void hybrid_update_age(struct hybrid_compiler *compiler, u64 now);

/**
 * hybrid_update_twin - have the store find an object by another file that holds the same
 * @compiler: under way
 * @stored: the object
 * @twin: the other file
 *
 * Return: true: @twin is the object's from now on. False: the store does not have the object, has
 * the file already, or the two files differ.
 */
bool hybrid_update_twin(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			struct hybrid_twin *twin);

/**
 * hybrid_update_again - load again what the store did not know
 * @compiler: under way
 * @stored: an object in which a sample met what had been loaded, unknown to the store
 * @twin: the file that the sample was in, the callee's to free; NULL: not known
 *
 * Where the store has the object, the sample was in another file: images of containers
 * each have their own, with one build-id.
 */
void hybrid_update_again(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			 struct hybrid_twin *twin);

/* The store has the object: if it is an interpreter, it is to know. */
void hybrid_update_interpreter(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/* Loads the function at @vaddr, by its CFI. */
void hybrid_update_function(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			    u64 vaddr);

/*
 * Loads what code without CFI tells of @note's address. Returns true if hybrid_update_around() is
 * to load those around it.
 */
bool hybrid_update_code(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			const struct hybrid_request *note);

/* Loads what code without CFI tells around @note's address, which takes some 40 ms. */
void hybrid_update_around(struct hybrid_compiler *compiler, struct hybrid_stored *stored,
			  const struct hybrid_request *note);

/* Has all of an object loaded, in parts, by hybrid_update_part(). */
void hybrid_update_whole(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/* The same before samples have met it, unless it is large. */
void hybrid_update_early(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/* The same for one in which samples go on to meet what is new, if that is worth its cost. */
void hybrid_update_hot(struct hybrid_compiler *compiler, struct hybrid_stored *stored);

/**
 * hybrid_update_part - load a part of the first object of those that are loaded whole
 * @compiler: under way
 *
 * Return: the object, or NULL where none is left.
 */
struct hybrid_stored *hybrid_update_part(struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_UPDATE_H */
