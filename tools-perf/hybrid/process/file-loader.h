/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_LOADER_H
#define __PERF_HYBRID_FILE_LOADER_H

#include <stdbool.h>
#include "../rules/object.h"

/* How long samples wait for a file, in ns, from when it was first asked for. */
#define HYBRID_LOAD_WAIT_NS	2000000000ULL

struct hybrid_loader;

enum hybrid_load_state {
	HYBRID_LOAD_DONE,	/* ask for the object's row again */
	HYBRID_LOAD_WAIT,	/* samples wait for it */
	HYBRID_LOAD_LATE,	/* samples wait for it no more; of a file, the object says why */
};

/**
 * hybrid_loader_new - open files where that may take long
 * @open: how to open a file, by any thread
 * @find: how to find it without opening it and without waiting (O_PATH)
 *
 * A file system may answer late, or never: FUSE, a network's, layers of a container
 * that are still fetched. Who reads the rings must not wait for it: the kernel would
 * have no room for samples and mappings of all other processes. So files are opened by
 * threads; and what is on a file system that need not be local is copied to memory
 * there, so that no later read waits either. Where a file was local, the next ones of its
 * file system are opened at once, by who asks.
 *
 * Return: NULL where memory is short.
 */
struct hybrid_loader *hybrid_loader_new(hybrid_open_fn open, hybrid_open_fn find);

/*
 * Doesn't wait for files that don't answer: their threads end with the process. That
 * one the kernel lets go when they answer, as it does with all who wait for FUSE.
 */
void hybrid_loader_delete(struct hybrid_loader *loader);

/**
 * hybrid_loader_open - open the file that a process has mapped
 * @mapping: with an object; the loader is the open_arg of its struct hybrid_objects
 *
 * Return: a file descriptor; -1 where there is none, with errno; HYBRID_OPEN_LATER, and then it is
 * to be called again.
 */
int hybrid_loader_open(const struct hybrid_mapping *mapping);

/* The object is asked for no more: for struct hybrid_objects. */
void hybrid_loader_cancel(struct hybrid_object *object);

/**
 * hybrid_loader_state - what became of a file that was to come later
 * @object: that it is for
 * @wait: there is nothing else to do: wait for it here, for HYBRID_LOAD_WAIT_NS from
 *	the first such call on, for all files together
 */
enum hybrid_load_state hybrid_loader_state(struct hybrid_object *object, bool wait);

/* Samples wait for it no more, however long they did. */
void hybrid_loader_give_up(struct hybrid_object *object);

#endif /* __PERF_HYBRID_FILE_LOADER_H */
