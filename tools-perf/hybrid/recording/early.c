// SPDX-License-Identifier: GPL-2.0
/*
 * Interpreters that BPF is told of as soon as a process has mapped their file. A program may have
 * ended before its first sample is unwound.
 */
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/string.h>
#include <linux/time64.h>
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
	    !hr->walker.compiler ||
	    (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    !(event->prot & PROT_EXEC) || early->space ||
	    !hybrid_runtime_is_likely(event->filename) || was_seen(early, event->filename))
		return;
	early->space = new_space(hr, event);
	early->start = event->start;
	early->nr_tries = 0;
	/* To read the rings may take long. */
	hybrid_early_pass(hr);
}

/* The mapping of the file, open, and its object the one that all samples use; or NULL. */
static const struct hybrid_mapping *find_file(struct hybrid_space *space, u64 start)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space, start);

	if (!mapping || !mapping->object || !hybrid_object_use_unawaited(mapping))
		return NULL;
	/* It is compared with others, now that it is open. */
	mapping = hybrid_space_find(space, start);
	return mapping && mapping->object && mapping->object->is_settled ? mapping : NULL;
}

/* Tells BPF of the file if it is an interpreter that BPF does not know. */
static bool tell(struct hybrid_record *hr, const struct hybrid_mapping *mapping)
{
	struct hybrid_walk_interpreter interpreter;
	u64 vaddr;

	if (!hybrid_runtime_file(hr->unwinder.runtimes, mapping, &interpreter, &vaddr))
		return false;
	hybrid_compiler_interpreter(hr->walker.compiler, mapping->object, &interpreter, vaddr);
	return true;
}

/* A program that maps it need not run it. */
static bool is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return strstarts(name ? name + 1 : path, "lib");
}

void hybrid_early_pass(struct hybrid_record *hr)
{
	struct hybrid_early *early = &hr->early;
	const struct hybrid_mapping *mapping;

	if (!early->space)
		return;
	mapping = find_file(early->space, early->start);
	if (!mapping && early->nr_tries++ < MAX_TRIES)
		return;
	if (mapping && tell(hr, mapping)) {
		if (!is_library(mapping->object->ident.path))
			hybrid_compiler_whole(hr->walker.compiler, mapping->object);
		hybrid_compiler_hand_over(hr->walker.compiler);
	}
	hybrid_early_exit(hr);
}

bool hybrid_early_tell(struct hybrid_record *hr, const struct perf_record_mmap2 *event, bool load)
{
	struct hybrid_space *space = new_space(hr, event);
	const struct hybrid_mapping *mapping = NULL;
	bool told = false;
	unsigned int i;

	for (i = 0; space && !mapping && i < MAX_TRIES; i++) {
		if (i)
			usleep(USEC_PER_MSEC);
		mapping = find_file(space, event->start);
	}
	if (mapping) {
		told = tell(hr, mapping);
		if (load)
			hybrid_compiler_whole(hr->walker.compiler, mapping->object);
	}
	hybrid_space_put(space);
	return told;
}

void hybrid_early_exit(struct hybrid_record *hr)
{
	hybrid_space_put(hr->early.space);
	hr->early.space = NULL;
}
