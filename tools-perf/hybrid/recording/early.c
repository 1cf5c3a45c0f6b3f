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
#include "../runtime/runtime.h"
#include "recording.h"

/* How often, 1 ms apart, a file is tried that is told of before a process maps it. */
#define MAX_TRIES	32

/* Tells BPF of the file if it is an interpreter that BPF does not know. */
static bool tell(struct hybrid_record *hr, const struct hybrid_mapping *mapping)
{
	struct hybrid_walk_interpreter interpreter;
	u64 vaddr;

	if (!hybrid_runtime_file(hr->core->unwinder.runtimes, mapping, &interpreter, &vaddr))
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

static void ready(void *arg, const struct hybrid_mapping *mapping)
{
	struct hybrid_record *hr = arg;

	if (!tell(hr, mapping))
		return;
	if (!is_library(mapping->object->ident.path))
		hybrid_compiler_whole(hr->walker.compiler, mapping->object);
	hybrid_compiler_hand_over(hr->walker.compiler);
}

void hybrid_early_found(struct hybrid_record *hr, const struct perf_event_header *header)
{
	const struct perf_record_mmap2 *event = (const void *)header;

	if (header->type != PERF_RECORD_MMAP2 || hr->names.is_off || !hr->walker.bpf ||
	    !hr->walker.compiler ||
	    (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    !(event->prot & PROT_EXEC))
		return;
	hybrid_early_files_found(&hr->early, &hr->core->ps, event, ready, hr);
}

void hybrid_early_pass(struct hybrid_record *hr)
{
	hybrid_early_files_pass(&hr->early, ready, hr);
}

bool hybrid_early_tell(struct hybrid_record *hr, const struct perf_record_mmap2 *event, bool load)
{
	const struct hybrid_mapping *mapping = NULL;
	struct hybrid_early_file file;
	bool told = false;
	unsigned int i;

	if (!hybrid_early_file_begin(&file, &hr->core->ps, event))
		return false;
	for (i = 0; !mapping && i < MAX_TRIES; i++) {
		if (i)
			usleep(USEC_PER_MSEC);
		mapping = hybrid_early_file_find(&file);
	}
	if (mapping) {
		told = tell(hr, mapping);
		if (load)
			hybrid_compiler_whole(hr->walker.compiler, mapping->object);
	}
	hybrid_early_file_end(&file);
	return told;
}
