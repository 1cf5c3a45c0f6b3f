// SPDX-License-Identifier: GPL-2.0
/*
 * Interpreters that BPF is told of as soon as a process has mapped their file. A program may have
 * ended before its first sample is unwound.
 */
#include <string.h>
#include <sys/mman.h>
#include "../../event.h"
#include "../process/track.h"
#include "../rules/rows.h"
#include "../runtime/name-table.h"
#include "../runtime/runtime.h"
#include "recording.h"

/* Passes over the rings, in which the file may be opened. */
#define MAX_TRIES	32

/* A space of its own for the file, which no sample was in yet. */
static struct hybrid_space *new_space(struct hybrid_record *hr,
				      const struct perf_record_mmap2 *event)
{
	struct hybrid_ident ident = { .path = event->filename };
	struct hybrid_mapping mapping = {
		.start = event->start, .end = event->start + event->len, .pgoff = event->pgoff,
		.pid = event->pid,
	};
	struct hybrid_space *space = hybrid_space_new();
	int err;

	hybrid_track_ident(&hr->ps, event, &ident);
	mapping.object = space ? hybrid_object_get(&hr->ps.objects, &ident) : NULL;
	if (!mapping.object) {
		hybrid_space_put(space);
		return NULL;
	}
	err = hybrid_space_map(space, &mapping, true);
	hybrid_object_put(mapping.object);
	if (!err)
		return space;
	hybrid_space_put(space);
	return NULL;
}

/* Has a file of that path been looked at? Remembers it. */
static bool was_seen(struct hybrid_early *early, const char *path)
{
	u32 hash = hybrid_name_hash(0, path, strlen(path)), i;

	for (i = 0; i < early->nr_paths; i++) {
		if (early->paths[i] == hash)
			return true;
	}
	if (early->nr_paths == HYBRID_EARLY_PATHS)
		return true;
	early->paths[early->nr_paths++] = hash;
	return false;
}

void hybrid_early_found(struct hybrid_record *hr, const struct perf_event_header *header)
{
	const struct perf_record_mmap2 *event = (const void *)header;
	struct hybrid_early *early = &hr->early;

	if (header->type != PERF_RECORD_MMAP2 || hr->names.is_off || !hr->walker.bpf ||
	    (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    !(event->prot & PROT_EXEC) || early->space ||
	    !hybrid_runtime_is_likely(event->filename) || was_seen(early, event->filename))
		return;
	early->space = new_space(hr, event);
	early->start = event->start;
	early->nr_tries = 0;
}

/* The mapping of the file, open, and its object the one that all samples use; or NULL. */
static const struct hybrid_mapping *find_file(struct hybrid_early *early)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(early->space, early->start);

	if (!mapping || !mapping->object || !hybrid_object_use_unawaited(mapping))
		return NULL;
	/* It is compared with others, now that it is open. */
	mapping = hybrid_space_find(early->space, early->start);
	return mapping && mapping->object && mapping->object->is_settled ? mapping : NULL;
}

void hybrid_early_pass(struct hybrid_record *hr)
{
	struct hybrid_early *early = &hr->early;
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;
	u64 vaddr;

	if (!early->space)
		return;
	mapping = find_file(early);
	if (!mapping && early->nr_tries++ < MAX_TRIES)
		return;
	if (mapping && hybrid_runtime_file(hr->unwinder.runtimes, mapping, &interpreter, &vaddr))
		hybrid_compiler_interpreter(hr->walker.compiler, mapping->object, &interpreter,
					    vaddr);
	hybrid_early_exit(hr);
}

void hybrid_early_exit(struct hybrid_record *hr)
{
	hybrid_space_put(hr->early.space);
	hr->early.space = NULL;
}
