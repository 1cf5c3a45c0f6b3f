// SPDX-License-Identifier: GPL-2.0
/*
 * One sample's way from its ring to the file.
 */
#include <errno.h>
#include <perf/mmap.h>
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../mmap.h"
#include "../glue/file-map.h"
#include "../glue/synthetic-map.h"
#include "../process/await.h"
#include "../process/prefault.h"
#include "../unwind/kernel-walk.h"
#include "../unwind/live-stack.h"
#include "../unwind/merge.h"
#include "../unwind/uretprobe.h"
#include "../x86/abi.h"
#include "../runtime/runtime.h"
#include "recording.h"

/*
 * Halves of a ring's size, read from it in a row without the ring getting emptier
 * than three quarters, before dumps are shed, and before samples are. A ring that
 * was found full may only have waited for us to be run: half of it has been read
 * without an end only where it fills half as fast as it is read, or faster.
 */
#define SHED_DUMPS	1
#define SHED_SAMPLES	4

/*
 * Where the ring fills up although it is being emptied, dumps go first, then
 * samples; records of mmap, fork, exec and exit never do.
 */
static bool must_shed(struct hybrid_record *hr, struct hybrid_ring *ring, u16 record_size)
{
	struct mmap *map = ring->arg;
	u64 size = ring->mask + 1, used;

	hr->current.shedding = false;
	if (hr->pass.draining)
		return false;
	used = perf_mmap__read_head(&map->core) - hybrid_order_consumed(ring);
	if (used < size - size / 4)
		ring->behind = 0;
	else
		ring->behind += record_size;
	hr->current.shedding = ring->behind > size / 2 * SHED_DUMPS;
	return ring->behind > size / 2 * SHED_SAMPLES;
}

static const struct hybrid_abi *abi_of(const struct hybrid_sample *sample)
{
	return sample->regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &hybrid_abi_32 : &hybrid_abi_64;
}

static const struct hybrid_regs_map *map_of(const struct hybrid_event *event,
					    const struct hybrid_abi *abi)
{
	return abi == &hybrid_abi_64 ? &event->regs_64 : &event->regs_32;
}

/* The sample's registers and stack; false where there is nothing to unwind. */
static bool prepare(struct hybrid_record *hr, const struct hybrid_event *event,
		    const struct hybrid_sample *sample, bool loaded, struct hybrid_unwind *u)
{
	const struct hybrid_abi *abi = abi_of(sample);
	const struct hybrid_regs_map *map = map_of(event, abi);

	if (!loaded && (!sample->regs || !map->complete))
		return false;
	if (!loaded && hr->current.shedding) {
		hr->stats.shed_dumps++;
		return false;
	}
	u->abi = abi;
	if (sample->regs)
		hybrid_regs_read(map, sample->regs, &u->regs);
	u->dump = sample->stack;
	u->dump_start = u->regs.value[u->abi->sp];
	u->dump_size = sample->stack_size;
	u->dump_room = sample->stack_room;
	u->holes = hr->current.holes;
	u->room_ends = hr->current.room_ends;
	u->code = hr->current.code;
	u->max_frames = event->max_stack;
	u->frames = hr->current.frames;
	return true;
}

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

/**
 * struct walk - the walk of a sample by loaded rules, in the kernel
 * @by_rules: was there one?
 * @whole: it reached the outermost frame: there are neither registers nor a dump
 * @info: what the kernel says of it, or what the BPF program said before it left the
 *	sample to the kernel; 0 where there was none
 */
struct walk {
	bool	by_rules;
	bool	whole;
	u64	info;
};

/* Before the first chain through code that its process has copied from a file. */
static int map_copies(struct hybrid_record *hr, struct hybrid_process *process,
		      const struct hybrid_event *event, const struct perf_event_header *sample)
{
	struct hybrid_mapping *mapping;
	void *out;
	size_t i;

	hr->unwinder.copied = false;
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

static struct walk kernel_walk(const struct hybrid_record *hr, const struct hybrid_ring *ring,
			       const struct hybrid_sample *sample)
{
	struct walk walk = {};

	if (hybrid_walker__is_attached(&hr->walker))
		walk.by_rules = hybrid_chain_info(sample->chain, sample->nr_chain, &walk.info);
	walk.whole = PERF_UNWIND_INFO_END(walk.info) == PERF_UNWIND_END_OUTERMOST;
	if (!walk.by_rules && hr->walker.bpf &&
	    ring->note_id == *(const u64 *)(sample->event + 1))
		walk.info = ring->note;
	return walk;
}

/*
 * execve() gives up the address space before it has another (begin_new_exec(), mm_release()):
 * where vfork() had made the process, its parent runs on the stack meanwhile.
 */
static bool may_be_overwritten(const struct hybrid_process *process,
			       const struct hybrid_sample *sample)
{
	/* That of a precise event says where the sampled address is. */
	bool in_kernel = (sample->event->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			 PERF_RECORD_MISC_KERNEL ||
			 (sample->nr_chain && sample->chain[0] == PERF_CONTEXT_KERNEL);

	return process->forked && in_kernel;
}

/* Returns 0 where the kernel's chain tells more than the sample's registers. */
static int unwind_once(struct hybrid_record *hr, struct hybrid_event *event,
		       const struct hybrid_sample *sample, const struct walk *walk,
		       struct hybrid_unwind *u)
{
	if (!walk->by_rules)
		return hybrid_precise_unwind(&hr->unwinder, u, &event->precise);
	if (walk->whole)
		hybrid_kernel_walk_frames(&hr->unwinder, u, sample->chain, sample->nr_chain,
					  hybrid_walker__checks_calls(&hr->walker));
	else
		hybrid_unwind(&hr->unwinder, u);
	hybrid_precise_walked(&hr->unwinder, u, &event->precise, sample->ip);
	return 1;
}

/* In each one a file has come: more than the chain of a sample leads through. */
#define MAX_ROUNDS	256

/*
 * The same. If a file is not there yet, or is compared with another one, the sample waits for
 * that, up to a bound: -EAGAIN.
 */
static int unwind_sample(struct hybrid_record *hr, struct hybrid_event *event,
			 const struct hybrid_sample *sample, const struct walk *walk,
			 struct hybrid_unwind *u)
{
	struct hybrid_objects *objects = &hr->ps.objects;
	const struct hybrid_regs regs = u->regs;
	enum hybrid_load_state state;
	unsigned int rounds = 0;
	int unwound;

	do {
		/* Of a precise event's sample another moment's may stand there. */
		u->regs = regs;
		objects->waiting = NULL;
		unwound = unwind_once(hr, event, sample, walk, u);
		state = objects->waiting ?
			hybrid_await(objects->waiting, hr->pass.draining) : HYBRID_LOAD_LATE;
	} while (state == HYBRID_LOAD_DONE && ++rounds < MAX_ROUNDS);
	if (state != HYBRID_LOAD_WAIT)
		return unwound;
	hr->pass.waiting = objects->waiting;
	return -EAGAIN;
}

/*
 * A copy that ended at a page that is not there: the next ones of the thread are to go on
 * behind it, as far as the word that this one lacked. Or it lacked a page.
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

/* What its dump has shown; @size was asked for. */
static bool is_deeper(const struct hybrid_unwind *u, enum hybrid_outcome outcome, u32 size)
{
	return outcome == HYBRID_TRUNCATED && u->stop == HYBRID_STOP_DUMP_END &&
	       u->dump_size && u->dump_size == u->dump_room && size < HYBRID_ORDER_MOST_DUMP;
}

/* @as_unwound: nothing was found out that its dump does not have. */
static void load(struct hybrid_record *hr, struct hybrid_unwind *u, u64 info, bool as_unwound)
{
	struct hybrid_compiler *compiler = hr->walker.compiler;
	unsigned int guessed = 0;

	if (as_unwound && u->stop == HYBRID_STOP_DUMP_END && hybrid_compiler_may_guess(compiler))
		guessed = hybrid_live_stack_guess(&hr->unwinder, u);
	hybrid_compiler_sample(compiler, &hr->unwinder, u, guessed, info);
}

/* Without BPF each sample is unwound: one in so many is looked at for an interpreter. */
#define LOOK_EVERY	64

/* BPF is to read the functions of an interpreter, the first time that one is met. */
static void tell_interpreter(struct hybrid_record *hr, const struct hybrid_unwind *u)
{
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;

	if (hr->names.is_off || (!hr->walker.bpf && hr->names.nr_looked++ % LOOK_EVERY))
		return;
	mapping = hybrid_runtime_interpreter(hr->unwinder.runtimes, u, &interpreter);
	if (mapping && hr->walker.bpf)
		hybrid_compiler_interpreter(hr->walker.compiler, mapping->object, &interpreter,
					    0);
	else if (mapping)
		hr->names.unread = hybrid_runtime_language(mapping->object);
}

/* Where the walk by rules ended: the address that it had no rule for. */
static void note_no_rule(struct hybrid_record *hr, const struct hybrid_unwind *u, u64 info)
{
	unsigned int i = PERF_UNWIND_INFO_FRAMES(info);
	const struct hybrid_mapping *mapping;
	u64 at;

	if (PERF_UNWIND_INFO_INNERMOST(info) == PERF_UNWIND_INNERMOST_CODE)
		i++;
	if (PERF_UNWIND_INFO_END(info) != PERF_UNWIND_END_NO_RULE || i >= u->nr)
		return;
	at = u->frames[i].ret;
	mapping = hybrid_space_find(u->space, at);
	if (mapping && mapping->object)
		at += mapping->pgoff - mapping->start;
	hybrid_no_rules_count(&hr->stats.no_rules, mapping && mapping->object ?
			      mapping->object->ident.path : NULL, at);
}

/* Frames that BPF has found by bp: they stand among the functions. */
static struct hybrid_links links_of(const struct hybrid_ring *ring,
				    const struct hybrid_sample *sample)
{
	const struct hybrid_ring_functions *functions = hybrid_find_functions(ring, sample);
	struct hybrid_links links = {};

	if (functions) {
		links.words = functions->frames;
		links.nr = functions->nr;
	}
	return links;
}

static void set_made(struct hybrid_made *made, const struct walk *walk,
		     const struct hybrid_merge *merge, const struct hybrid_unwind *u,
		     u32 stack_room)
{
	made->nr = merge->nr;
	made->is_marked = merge->marked;
	made->ip = 0;
	made->failed_in = u->failed_in;
	made->walked = walk->by_rules || walk->info;
	made->info = walk->info;
	made->deeper = is_deeper(u, made->outcome, stack_room);
	made->is_known = false;
	made->is_whole = walk->whole;
}

/* Frame by frame. */
static int make_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
		      struct hybrid_event *event, const struct hybrid_sample *sample,
		      struct hybrid_thread *thread, const struct walk *walk,
		      struct hybrid_made *made)
{
	struct hybrid_merge merge = {
		.kernel		= sample->chain,
		.nr_kernel	= sample->nr_chain,
		.out		= hr->current.chain,
		.at_probe	= event->at_probe,
		.max		= hybrid_layout_room(&event->layout, sample),
		.pid		= sample->pid,
		.abi		= abi_of(sample),
	};
	struct hybrid_unwind unwind = {};
	unsigned int nr;
	int unwound;

	/* Not that of the sample before, where this one is not unwound. */
	event->precise.first = 0;
	if (thread)
		merge.space = thread->process->space;
	if (thread && prepare(hr, event, sample, walk->whole, &unwind)) {
		unwind.space = thread->process->space;
		unwind.pid = sample->pid;
		unwind.walker_space = hr->current.space;
		unwind.functions = hr->current.functions;
		unwind.nr_functions = hr->current.nr_functions;
		unwind.overwritten = may_be_overwritten(thread->process, sample);
		if (!walk->whole)
			hybrid_uretprobe_chain(&unwind, sample->chain, sample->nr_chain);
		unwound = unwind_sample(hr, event, sample, walk, &unwind);
		if (unwound < 0)
			return unwound;
		hr->stats.dump_bytes += sample->stack_size;
		if (unwound) {
			merge.unwind = &unwind;
			merge.tail = &thread->tail;
			merge.links = links_of(ring, sample);
		}
	}
	nr = unwind.nr;
	if (merge.unwind && !walk->whole)
		note_no_rule(hr, &unwind, walk->info);
	made->outcome = hybrid_merge(&hr->unwinder, &merge);
	set_made(made, walk, &merge, &unwind, sample->stack_room);
	hybrid_precise_put_first(&event->precise, hr->current.chain, merge.nr);
	mend_stack(hr, &unwind);
	if (hr->walker.compiler && merge.unwind && !walk->whole)
		load(hr, &unwind, walk->info, nr == unwind.nr);
	if (merge.unwind && !walk->whole)
		tell_interpreter(hr, &unwind);
	if (hr->unwinder.copied && thread &&
	    map_copies(hr, thread->process, event, sample->event))
		return -EIO;
	if (thread && hybrid_name_sample(hr, thread->process, event, sample->event, merge.unwind,
					 hybrid_find_functions(ring, sample), merge.max, made))
		return -EIO;
	return made->is_marked && thread ?
		map_marks(hr, thread->process, event, sample->event) : 0;
}

int hybrid_make_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
		      struct hybrid_event *event, const struct hybrid_sample *sample,
		      struct hybrid_made *made)
{
	struct hybrid_thread *thread;
	struct walk walk;
	int err = 0;

	if (hybrid_lost_sample(&hr->lost, &event->layout.attr, sample->event, sample->pid,
			       sample->tid))
		return -EIO;
	thread = hybrid_thread_find(&hr->ps, sample->pid, sample->tid);
	walk = kernel_walk(hr, ring, sample);
	if (walk.whole && thread && hybrid_known_chain(hr, ring, event, sample, thread, made))
		made->info = walk.info;
	else
		err = make_chain(hr, ring, event, sample, thread, &walk, made);
	/* The next sample may have the same address, and run none. */
	hybrid_forget_functions(ring);
	return err;
}

static int write_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			struct hybrid_event *event, struct hybrid_sample *sample)
{
	struct hybrid_made made;
	void *out;
	int err;

	err = hybrid_make_chain(hr, ring, event, sample, &made);
	if (err)
		return err;
	hybrid_stats_count(&hr->stats, made.outcome, made.failed_in);
	if (made.deeper)
		hybrid_stats_deeper(&hr->stats, sample->stack_room);
	if (made.walked)
		hybrid_stats_walk(&hr->stats, made.info);
	else if (!sample->regs && !sample->stack_size)
		hybrid_stats_no_stack(&hr->stats);
	ring->note_id = 0;
	hybrid_hits_sample(hr, event, sample, &made);
	err = hybrid_hits_map(hr, event, sample->event, sample->pid);
	if (err)
		return err;
	out = hybrid_output_room(&hr->out, HYBRID_MAX_RECORD);
	if (!out)
		return -EIO;
	hr->out.used += hybrid_layout_write(&event->layout, sample, hr->current.chain, made.nr,
					    out);
	if (made.ip)
		hybrid_layout_set_ip(&event->layout, out, made.ip);
	hr->stats.file_bytes += ((struct perf_event_header *)out)->size;
	if (made.is_whole && !made.is_known)
		hybrid_known_chain_learn(hr, event, sample, &made);
	return 0;
}

/* A thread that ran before has touched its stack: its next samples will hardly lack pages. */
void hybrid_find_stack(struct hybrid_record *hr, pid_t pid, pid_t tid, u64 sp)
{
	enum hybrid_new_thread is = hybrid_new_threads_meet(&hr->stacks.threads, pid, tid);

	if (is != HYBRID_THREAD_MET && hybrid_prefault_stack(hr->stacks.prefault, pid, sp) &&
	    is == HYBRID_THREAD_BEGUN)
		hr->stacks.asked = hr->pass.now;
}

void hybrid_find_thread(struct hybrid_record *hr, const struct perf_event_header *header)
{
	struct evsel *evsel = evlist__event2evsel(hr->evlist, (union perf_event *)header);
	struct hybrid_event *event = evsel ? &hr->events[evsel->core.idx] : NULL;
	struct hybrid_sample sample;
	const struct hybrid_regs_map *map;
	const struct hybrid_abi *abi;
	struct hybrid_regs regs;

	if (!event || !event->hybrid || hybrid_layout_parse(&event->layout, header, &sample) ||
	    !sample.regs || !sample.stack_size)
		return;
	abi = abi_of(&sample);
	map = map_of(event, abi);
	if (!map->complete)
		return;
	hybrid_regs_read(map, sample.regs, &regs);
	hybrid_find_stack(hr, sample.pid, sample.tid, regs.value[abi->sp]);
}

/* What its callchain leads through, if it has any, perf finds in the file. */
static int copy_other(struct hybrid_record *hr, const struct perf_event_header *header)
{
	hr->hits.is_unknown = true;
	return hybrid_output_copy(&hr->out, header);
}

int hybrid_deliver_sample(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_event *event, const struct perf_event_header *header,
			  u16 size)
{
	struct hybrid_sample sample;
	int err;

	if (!event || !event->hybrid)
		return copy_other(hr, header);
	hybrid_stats_read(&hr->stats, size);
	if (must_shed(hr, ring, size)) {
		hr->stats.shed++;
		event->shed++;
		return 0;
	}
	if (hybrid_layout_parse(&event->layout, header, &sample)) {
		/* The file's layout is another: it can't be kept as it is. */
		hr->stats.bad++;
		hr->stats.shed++;
		event->shed++;
		return 0;
	}
	err = write_sample(hr, ring, event, &sample);
	if (err == -EAGAIN)
		hybrid_stats_unread(&hr->stats, size);
	return err;
}
