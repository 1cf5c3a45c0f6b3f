// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <perf/event.h>
#include "../rules/keyed-hash.h"
#include "../rules/rows.h"
#include "../runtime/runtime.h"
#include "early-file.h"
#include "process.h"
#include "track.h"

/* Passes over the rings, in which the file may be opened. */
#define MAX_TRIES	32

bool hybrid_early_file_begin(struct hybrid_early_file *file, struct hybrid_processes *ps,
			     const struct perf_record_mmap2 *event)
{
	struct hybrid_ident ident = { .path = event->filename };
	struct hybrid_mapping mapping = {
		.start = event->start, .end = event->start + event->len, .pgoff = event->pgoff,
		.pid = event->pid,
	};
	int err = -1;

	*file = (struct hybrid_early_file) { .space = hybrid_space_new(), .start = event->start };
	hybrid_track_ident(ps, event, &ident);
	mapping.object = file->space ? hybrid_object_get(&ps->objects, &ident) : NULL;
	if (mapping.object) {
		err = hybrid_space_map(file->space, &mapping, true);
		hybrid_object_put(mapping.object);
	}
	if (err)
		hybrid_early_file_end(file);
	return !err;
}

const struct hybrid_mapping *hybrid_early_file_find(const struct hybrid_early_file *file)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(file->space, file->start);

	if (!mapping || !mapping->object || !hybrid_object_use_unawaited(mapping))
		return NULL;
	/* It is compared with others, now that it is open. */
	mapping = hybrid_space_find(file->space, file->start);
	return mapping && mapping->object && mapping->object->is_settled ? mapping : NULL;
}

void hybrid_early_file_end(struct hybrid_early_file *file)
{
	hybrid_space_put(file->space);
	file->space = NULL;
}

/* Has a file of that path been taken? Remembers it. */
static bool was_seen(struct hybrid_early_files *files, const char *path)
{
	u32 hash = hybrid_hash_string(path), i;

	for (i = 0; i < files->nr_paths; i++) {
		if (files->paths[i] == hash)
			return true;
	}
	if (files->nr_paths == HYBRID_EARLY_PATHS)
		return true;
	files->paths[files->nr_paths++] = hash;
	return false;
}

/* Returns false if the file at @at waits no longer: the last one has its place then. */
static bool try_file(struct hybrid_early_files *files, unsigned int at, hybrid_early_fn ready,
		     void *arg)
{
	struct hybrid_early_file *file = &files->file[at];
	const struct hybrid_mapping *mapping = hybrid_early_file_find(file);

	if (!mapping && file->nr_tries++ < MAX_TRIES)
		return true;
	if (mapping)
		ready(arg, mapping);
	hybrid_early_file_end(file);
	*file = files->file[--files->nr];
	return false;
}

void hybrid_early_files_found(struct hybrid_early_files *files, struct hybrid_processes *ps,
			      const struct perf_record_mmap2 *event, hybrid_early_fn ready,
			      void *arg)
{
	if (files->nr == HYBRID_EARLY_FILES || !hybrid_runtime_is_likely(event->filename) ||
	    was_seen(files, event->filename) ||
	    !hybrid_early_file_begin(&files->file[files->nr], ps, event))
		return;
	/* To read the rings may take long. */
	try_file(files, files->nr++, ready, arg);
}

void hybrid_early_files_pass(struct hybrid_early_files *files, hybrid_early_fn ready, void *arg)
{
	unsigned int at = 0;

	while (at < files->nr)
		at += try_file(files, at, ready, arg);
}

void hybrid_early_files_exit(struct hybrid_early_files *files)
{
	while (files->nr)
		hybrid_early_file_end(&files->file[--files->nr]);
}
