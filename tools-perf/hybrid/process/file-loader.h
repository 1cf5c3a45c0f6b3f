/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_LOADER_H
#define __PERF_HYBRID_FILE_LOADER_H

#include <stdbool.h>
#include "../rules/object.h"
#include "file-helper.h"

/* How long samples wait for a file, in ns, from when it was first asked for. */
#define HYBRID_LOAD_WAIT_NS	2000000000ULL

struct hybrid_load;
struct hybrid_loader;

enum hybrid_load_state {
	HYBRID_LOAD_DONE,	/* ask for the object's row again */
	HYBRID_LOAD_WAIT,	/* samples wait for it */
	HYBRID_LOAD_LATE,	/* samples wait for it no more; of a file, the object says why */
};

/**
 * struct hybrid_loader_ops - how files are opened
 * @find: find the file of a mapping without opening it and without waiting (O_PATH); errno is
 *	EAGAIN if a file system would have to be asked whether it is there
 * @open_found: open a file that was found on a local file system: as hybrid_open_fn, with what
 *	@find returned, which is closed
 * @open: opens one that is not on a file system: a vDSO
 * @start: starts the process that opens all others
 */
struct hybrid_loader_ops {
	hybrid_open_fn		find;
	int (*open_found)(const struct hybrid_mapping *mapping, int found);
	hybrid_open_fn		open;
	hybrid_helper_start_fn	start;
};

/**
 * hybrid_loader_new - open files where that may take long
 * @ops: how
 *
 * A file system may answer late, or never: FUSE, a network's, layers of a container that are still
 * fetched. Who reads the rings must not wait for it: the kernel would have no room for samples and
 * mappings of all other processes. So only files on local file systems are opened at once. Helper
 * processes (file-helper.h) open all others, and copy them to memory, so that no later read waits
 * either.
 *
 * Return: NULL where memory is short.
 */
struct hybrid_loader *hybrid_loader_new(const struct hybrid_loader_ops *ops);

/* Waits for nobody: helpers end when they come back. */
void hybrid_loader_delete(struct hybrid_loader *loader);

/**
 * hybrid_loader_open - open the file that a process has mapped
 * @mapping: with an object; the loader is the open_arg of its struct hybrid_objects
 *
 * Return: a file descriptor; -1 where there is none, with errno; HYBRID_OPEN_LATER, and then it is
 * to be called again.
 */
int hybrid_loader_open(const struct hybrid_mapping *mapping);

/**
 * hybrid_loader_digest - have the digest of a file that is not local computed
 * @loader: loader
 * @mapping: with an object, and the file
 * @found: out: the file (O_PATH), if it is local: its caller reads it itself; else -1
 *
 * Return: what was asked for; NULL: @found, or there is no file. To be given to
 * hybrid_load_forget() before @loader is deleted.
 */
struct hybrid_load *hybrid_loader_digest(struct hybrid_loader *loader,
					 const struct hybrid_mapping *mapping, int *found);

/* Asks debuginfod: the @fetch of struct hybrid_objects. */
int hybrid_loader_fetch(struct hybrid_object *object, const u8 *build_id, size_t size);

/* Opens a file that is on a local file system: the @open_path of struct hybrid_objects. */
int hybrid_loader_open_path(struct hybrid_objects *objects, const char *path);

/* The object is asked for no more: for struct hybrid_objects. */
void hybrid_loader_cancel(struct hybrid_object *object);

/**
 * hybrid_loader_state - what became of a file that was to come later
 * @object: that it is for
 * @wait: there is nothing else to do: wait for it here, for a second from the first such call on,
 *	for all files together
 */
enum hybrid_load_state hybrid_loader_state(struct hybrid_object *object, bool wait);

/* Samples wait for it no more, however long they did. */
void hybrid_loader_give_up(struct hybrid_object *object);

#endif /* __PERF_HYBRID_FILE_LOADER_H */
