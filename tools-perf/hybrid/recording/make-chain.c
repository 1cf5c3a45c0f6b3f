// SPDX-License-Identifier: GPL-2.0
/*
 * The callchain of a sample of a recording: what is learned beside it, the names of its functions,
 * and the records that the file needs before it.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <linux/perf_unwind_rules.h>
#include "../../event.h"
#include "../glue/file-map.h"
#include "../glue/synthetic-map.h"
#include "../process/prefault.h"
#include "../runtime/runtime.h"
#include "recording.h"

/* Before the first chain of a process that has a mark. */
static int map_marks(struct hybrid_record *hr, struct hybrid_process *process,
		     const struct hybrid_event *event, const struct perf_event_header *sample)
{
	unsigned int mark;
	void *out;

	if (process->marks_in == hr->file)
		return 0;
	process->marks_in = hr->file;
	for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
		out = hybrid_output_room(&hr->out, HYBRID_SYNTHETIC_EVENT_SIZE);
		if (!out)
			return -EIO;
		hr->out.used += hybrid_synthetic__event(mark, &event->layout.attr, sample,
							process->pid, out);
	}
	return 0;
}

/* Before the first chain through code that its process has copied from a file. */
static int map_copies(struct hybrid_record *hr, struct hybrid_process *process,
		      const struct hybrid_event *event, const struct perf_event_header *sample)
{
	struct hybrid_mapping *mapping;
	void *out;
	size_t i;

	hr->core->unwinder.copied = false;
	for (i = 0; i < process->space->nr; i++) {
		mapping = &process->space->mappings[i];
		if (!mapping->is_copy || mapping->is_told)
			continue;
		out = hybrid_output_room(&hr->out, HYBRID_FILE_MAP_SIZE);
		if (!out)
			return -EIO;
		hr->out.used += hybrid_file_map__event(mapping, &event->layout.attr, sample,
						       process->pid, out);
		mapping->is_told = true;
	}
	return 0;
}

/*
 * If the dump lacks a word because its page is not in memory, have the pages read, so that later
 * dumps of the thread contain them.
 */
static void mend_stack(struct hybrid_record *hr, const struct hybrid_unwind *u)
{
	u64 end = u->dump_start + u->dump_size;

	if (!u->dump_size || u->missing < u->dump_start ||
	    u->missing - u->dump_start >= u->dump_room)
		return;
	if (hybrid_prefault_pages(hr->stacks.prefault, u->pid, min(end, u->missing), u->missing))
		hr->stacks.asked = hr->pass.now;
}

/* Without BPF each sample is unwound: one in so many is looked at for an interpreter. */
#define LOOK_EVERY	64

/* There is no BPF that reads the functions of an interpreter. */
static void note_unread(struct hybrid_record *hr)
{
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;

	if (hr->names.is_off || hr->walker.bpf || hr->names.nr_looked++ % LOOK_EVERY)
		return;
	mapping = hybrid_runtime_interpreter(hr->core->unwinder.runtimes, &hr->core->unwind,
					     &interpreter);
	if (mapping)
		hr->names.unread = hybrid_runtime_language(mapping->object);
}

/* Where the walk by rules ended: the address that it had no rule for. */
static void note_no_rule(struct hybrid_record *hr, u64 info)
{
	const struct hybrid_unwind *u = &hr->core->unwind;
	unsigned int i = PERF_UNWIND_INFO_FRAMES(info);
	const struct hybrid_mapping *mapping;
	u64 at;

	if (PERF_UNWIND_INFO_INNERMOST(info) == PERF_UNWIND_INNERMOST_CODE)
		i++;
	if (PERF_UNWIND_INFO_END(info) != PERF_UNWIND_END_NO_RULE ||
	    i >= hr->core->nr_unwound)
		return;
	at = u->frames[i].ret;
	mapping = hybrid_space_find(u->space, at);
	if (mapping && mapping->object)
		at += mapping->pgoff - mapping->start;
	hybrid_no_rules_count(&hr->stats.no_rules, mapping && mapping->object ?
			      mapping->object->ident.path : NULL, at);
}

/* What is found out besides the chain, and what the walker is to be told. */
static void learn(struct hybrid_record *hr, const struct hybrid_sample *sample)
{
	hr->stats.dump_bytes += hr->core->unwind.dump_size;
	mend_stack(hr, &hr->core->unwind);
	if (!sample->by_regs)
		return;
	note_no_rule(hr, sample->kernel.info);
	if (hr->walker.compiler)
		hybrid_core_compile(hr->core, sample, hr->walker.compiler);
	note_unread(hr);
}

/* Frame by frame. */
static int make_chain(struct hybrid_record *hr, const struct hybrid_event *event,
		      const struct hybrid_sample_parts *parts, struct hybrid_thread *thread,
		      struct hybrid_sample *sample)
{
	if (hybrid_core_callchain(hr->core, sample)) {
		hr->pass.waiting = hr->core->ps.objects.waiting;
		return -EAGAIN;
	}
	learn(hr, sample);
	if (!thread)
		return 0;
	if ((hr->core->unwinder.copied && map_copies(hr, thread->process, event, parts->event)) ||
	    hybrid_name_sample(hr, thread->process, event, parts->event, sample))
		return -EIO;
	return sample->is_marked ? map_marks(hr, thread->process, event, parts->event) : 0;
}

/* Without time for it: its registers and its dump are left out. */
static void shed_dump(struct hybrid_record *hr, struct hybrid_sample *sample)
{
	if (!sample->regs || hybrid_kernel_chain_is_whole(&sample->kernel))
		return;
	sample->regs = NULL;
	sample->stack_size = 0;
	hr->stats.shed_dumps++;
}

int hybrid_make_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
		      struct hybrid_event *event, const struct hybrid_sample_parts *parts,
		      struct hybrid_sample *sample)
{
	struct hybrid_thread *thread;
	int err = 0;

	if (hybrid_lost_sample(&hr->lost, &event->layout.attr, parts->event, parts->pid,
			       parts->tid))
		return -EIO;
	hybrid_take_notes(hr, ring, parts, sample);
	if (hr->current.shedding)
		shed_dump(hr, sample);
	thread = hybrid_thread_find(&hr->core->ps, parts->pid, parts->tid);
	if (!thread || !hybrid_known_chain(hr, event, thread, sample))
		err = make_chain(hr, event, parts, thread, sample);
	/* The next sample may have the same address, and run none. */
	hybrid_forget_functions(ring);
	return err;
}
