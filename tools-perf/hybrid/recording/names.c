// SPDX-License-Identifier: GPL-2.0
/* Names of a runtime's functions in samples, and in the build-id cache. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <linux/perf_event.h>
#include "../../build-id.h"
#include "../../debug.h"
#include "../../event.h"
#include "../../time-utils.h"
#include "../glue/kept-names.h"
#include "../glue/names-cache.h"
#include "../glue/names-map.h"
#include "../records/walk-record.h"
#include "../bpf_skel/python-text.h"
#include "../runtime/joined-namer.h"
#include "../runtime/name-chain.h"
#include "../runtime/runtime.h"
#include "../unwind/known-walk.h"
#include "names.h"
#include "recording.h"

#define FIRST_WAIT	1000000000ULL
#define LONGEST_WAIT	(32 * FIRST_WAIT)

/* NULL if memory is short. */
static struct hybrid_runtime_names *names_of(struct hybrid_record *hr, enum hybrid_runtime runtime)
{
	struct hybrid_runtime_names *of = &hr->names.runtimes[runtime];

	if (of->names)
		return of;
	of->names = hybrid_names__new(runtime);
	if (!of->names)
		return NULL;
	of->error = hybrid_names__path(of->names, of->path);
	return of;
}

/* Before the first chain of a process that has names. */
static int map_names(struct hybrid_record *hr, struct hybrid_process *process,
		     const struct hybrid_runtime_names *of, enum hybrid_runtime runtime,
		     const struct hybrid_event *event, const struct perf_event_header *sample)
{
	struct hybrid_ident ident = {
		.path		= of->path,
		.build_id_size	= HYBRID_NAMES_BUILD_ID,
	};
	void *out;

	if (process->names_in[runtime] == hr->file)
		return 0;
	out = hybrid_output_room(&hr->out, HYBRID_NAMES_EVENT_SIZE);
	if (!out)
		return -EIO;
	process->names_in[runtime] = hr->file;
	hr->names.runtimes[runtime].mapped_in = hr->file;
	hr->out.used += hybrid_names__event(of->names, of->path, &event->layout.attr, sample,
					    process->pid, out);
	memcpy(ident.build_id, hybrid_names__build_id(of->names), HYBRID_NAMES_BUILD_ID);
	hybrid_met_file(&hr->hits.met, &ident, NULL, process->pid);
	return 0;
}

/* The innermost frame's name stands at the sampled address, too, if that is in user space. */
static bool is_at_first(const struct hybrid_made *made, const struct perf_event_header *sample)
{
	return made->nr && (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
	       PERF_RECORD_MISC_USER;
}

struct hybrid_namer *hybrid_find_namer(struct hybrid_record *hr,
				       const struct hybrid_process *process, u32 language)
{
	if (hr->names.is_off)
		return NULL;
	return hybrid_runtime_namer(hr->unwinder.runtimes, process->pid,
				    process->forked ? process->ancestors[0] : 0, process->space,
				    language);
}

/* The space's state if @made is complete by what the walk in the kernel found alone; else 0. */
static u64 lasting_gen(const struct hybrid_process *process, const struct hybrid_made *made)
{
	return made->is_whole && made->outcome == HYBRID_COMPLETE && !made->is_marked ?
	       process->space->gen : 0;
}

bool hybrid_name_known_sample(struct hybrid_record *hr, struct hybrid_process *process,
			      struct hybrid_namer *namer, const struct hybrid_sample *sample,
			      const struct hybrid_ring_functions *functions, unsigned int nr,
			      unsigned int max, struct hybrid_made *made)
{
	struct hybrid_runtime_names *of = &hr->names.runtimes[namer->runtime];
	const u64 *named = hr->current.named;
	struct hybrid_frame first = {
		.ip = named[made->nr_kernel + 1], .ret = named[made->nr_kernel + 1],
	};
	struct hybrid_named_chain chain = {
		.chain		= named,
		.nr		= nr,
		.frames		= &first,
		.nr_frames	= 1,
		.is_whole	= made->is_whole,
		.functions	= functions ? functions->frames : NULL,
		.nr_functions	= functions ? functions->nr : 0,
		.functions_are_whole = functions && functions->functions_are_whole,
		.code_hash	= hr->current.code_hash,
		.gen		= process->space->gen,
		.is_unseen	= true,
		.knows_first	= hybrid_known_walk_first(&hr->unwinder, process->space, first.ip),
		.walked		= hr->current.functions,
		.nr_walked	= hr->current.nr_functions,
		.out		= hr->current.chain,
		.max		= max,
	};

	if (!of->names || process->names_in[namer->runtime] != hr->file ||
	    !hybrid_name_known(namer, of->names, &chain))
		return false;
	made->nr = chain.nr_out;
	if (is_at_first(made, sample->event))
		made->ip = chain.first;
	return true;
}

/*
 * Who names the frames of a sample that has functions of @nr languages. Without functions it is
 * whatever runtime the process has. @joined: out; it has no parts if nobody names them.
 */
static void find_namers(struct hybrid_record *hr, const struct hybrid_process *process,
			const struct hybrid_functions *parts, unsigned int nr,
			struct hybrid_joined_namer *joined)
{
	struct hybrid_runtime_names *of;
	struct hybrid_namer *namer;
	unsigned int i;

	hybrid_joined_namer__init(joined);
	for (i = 0; i < max(nr, 1U); i++) {
		namer = hybrid_find_namer(hr, process, parts[i].language);
		of = namer ? names_of(hr, namer->runtime) : NULL;
		if (of)
			hybrid_joined_namer__add(joined, namer, of->names, &parts[i]);
	}
	/* Java's methods are no functions that BPF reads. */
	namer = nr ? hybrid_find_namer(hr, process, 0) : NULL;
	of = namer && namer->runtime == HYBRID_RUNTIME_JAVA ? names_of(hr, namer->runtime) : NULL;
	if (of)
		hybrid_joined_namer__add(joined, namer, of->names, &(struct hybrid_functions) {});
}

/* Before the first chain of a process that has names. */
static int map_all_names(struct hybrid_record *hr, struct hybrid_process *process,
			 const struct hybrid_joined_namer *joined,
			 const struct hybrid_event *event, const struct perf_event_header *sample)
{
	enum hybrid_runtime runtime;
	unsigned int i;
	int err = 0;

	for (i = 0; i < joined->nr && !err; i++) {
		runtime = joined->parts[i].namer->runtime;
		err = map_names(hr, process, &hr->names.runtimes[runtime], runtime, event, sample);
	}
	return err;
}

static void count_unread(struct hybrid_record *hr, const struct hybrid_joined_namer *joined)
{
	unsigned int i;

	for (i = 0; i < joined->nr; i++) {
		hr->names.nr_unread += joined->parts[i].namer->nr_unread;
		joined->parts[i].namer->nr_unread = 0;
	}
}

int hybrid_name_sample(struct hybrid_record *hr, struct hybrid_process *process,
		       const struct hybrid_event *event, const struct perf_event_header *sample,
		       const struct hybrid_unwind *unwind,
		       const struct hybrid_ring_functions *functions, unsigned int max,
		       struct hybrid_made *made)
{
	struct hybrid_functions parts[HYBRID_WALK_PARTS] = {};
	unsigned int nr = hybrid_ring_functions_split(functions, parts);
	struct hybrid_joined_namer joined;
	struct hybrid_named_chain chain = {
		.chain			= hr->current.chain,
		.nr			= made->nr,
		.frames			= unwind ? unwind->frames : NULL,
		.nr_frames		= unwind ? unwind->nr : 0,
		.is_whole		= unwind && unwind->stop == HYBRID_STOP_OUTERMOST,
		.code_hash		= hr->current.code_hash,
		.gen			= lasting_gen(process, made),
		.walked			= hr->current.functions,
		.nr_walked		= hr->current.nr_functions,
		.out			= hr->current.named,
		.max			= max,
	};

	find_namers(hr, process, parts, nr, &joined);
	if (!joined.nr)
		return 0;
	hybrid_joined_namer__name_chain(&joined, &chain);
	count_unread(hr, &joined);
	if (!chain.is_named)
		return 0;
	if (chain.gen && chain.user < chain.nr)
		hybrid_known_walk_learn(&hr->unwinder, process->space, &chain.chain[chain.user], 1,
					&chain.frames[0].ip);
	memcpy(hr->current.chain, chain.out, chain.nr_out * sizeof(*chain.out));
	made->nr = chain.nr_out;
	made->is_marked |= chain.is_cut_off;
	if (is_at_first(made, sample))
		made->ip = chain.first;
	return map_all_names(hr, process, &joined, event, sample);
}

/* The language of a text: enum hybrid_walk_language + 1. */
static u32 language_of(const struct hybrid_walked *walked)
{
	struct hybrid_walk_text text;

	if (walked->text_size < offsetof(struct hybrid_walk_text, bytes))
		return 0;
	memcpy(&text, walked->text, offsetof(struct hybrid_walk_text, bytes));
	return text.language + 1;
}

void hybrid_take_text(struct hybrid_record *hr, const struct hybrid_walked *walked)
{
	const struct hybrid_process *process = hybrid_process_find(&hr->ps, (u32)walked->ids);
	u32 language = language_of(walked);
	struct hybrid_namer *namer = process && language ?
		hybrid_find_namer(hr, process, language) : NULL;
	struct hybrid_runtime_names *of = namer ? names_of(hr, namer->runtime) : NULL;

	if (of && namer->text)
		namer->text(namer, of->names, walked->text, walked->text_size);
}

/* Are there names that can be written, and were not yet? */
static bool is_new(const struct hybrid_runtime_names *of)
{
	return of->names && *of->path == '/' && hybrid_names__nr(of->names) != of->written;
}

void hybrid_names_write(struct hybrid_record *hr)
{
	struct hybrid_runtime_names *of;
	unsigned int runtime;

	for (runtime = 0; runtime < HYBRID_NR_RUNTIMES; runtime++) {
		of = &hr->names.runtimes[runtime];
		if (!is_new(of))
			continue;
		of->error = hybrid_names__cache(of->names, of->path);
		if (!of->error)
			of->written = hybrid_names__nr(of->names);
	}
}

void hybrid_names_keep(struct hybrid_record *hr)
{
	struct hybrid_runtime_names *of;
	unsigned int runtime;

	hybrid_kept_names__drop();
	for (runtime = 0; runtime < HYBRID_NR_RUNTIMES; runtime++) {
		of = &hr->names.runtimes[runtime];
		if (of->names && of->mapped_in == hr->file)
			of->keep_error = hybrid_kept_names__add(of->names);
	}
}

static bool is_any_new(const struct hybrid_record_names *names)
{
	unsigned int runtime;

	for (runtime = 0; runtime < HYBRID_NR_RUNTIMES; runtime++) {
		if (is_new(&names->runtimes[runtime]))
			return true;
	}
	return false;
}

void hybrid_names_pass(struct hybrid_record *hr)
{
	struct hybrid_record_names *names = &hr->names;
	u64 begun, spent;

	if (!is_any_new(names) || hr->pass.now < names->next)
		return;
	names->wait = names->wait ? min_t(u64, 2 * names->wait, LONGEST_WAIT) : FIRST_WAIT;
	/* The first names are there, and more will be soon. */
	if (names->next) {
		begun = rdclock();
		hybrid_names_write(hr);
		spent = rdclock() - begun;
		names->wait = max_t(u64, names->wait, 100 * spent);
	}
	names->next = hr->pass.now + names->wait;
}

void hybrid_names_print(const struct hybrid_record *hr)
{
	const struct hybrid_runtime_names *of;
	unsigned int runtime, nr;
	char text[128];
	pid_t pid;

	nr = hybrid_runtimes_failed(hr->unwinder.runtimes, &pid);
	if (nr)
		fprintf(stderr, "hybrid: the runtime of %u processes (%d) can't be read\n",
			nr, pid);
	if (hr->names.unread)
		fprintf(stderr, "hybrid: functions of %s are not shown: that takes BPF\n",
			hr->names.unread);
	if (hr->names.nr_unread)
		fprintf(stderr, "hybrid: %" PRIu64 " frames have no name, read too late\n",
			hr->names.nr_unread);
	for (runtime = 0; runtime < HYBRID_NR_RUNTIMES; runtime++) {
		of = &hr->names.runtimes[runtime];
		if (of->keep_error)
			fprintf(stderr, "hybrid: names of %s are missing in the file: %s\n",
				hybrid_names__label(of->names),
				strerror_r(-of->keep_error, text, sizeof(text)));
		if (of->error && (verbose > 0 || !hybrid_kept_names__are_written()))
			fprintf(stderr, "hybrid: names of %s can't be written to %s: %s\n",
				hybrid_names__label(of->names), buildid_dir,
				strerror_r(-of->error, text, sizeof(text)));
	}
}

void hybrid_names_exit(struct hybrid_record_names *names)
{
	unsigned int runtime;

	for (runtime = 0; runtime < HYBRID_NR_RUNTIMES; runtime++)
		hybrid_names__delete(names->runtimes[runtime].names);
}
