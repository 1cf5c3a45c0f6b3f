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
#include "../runtime/joined-namer.h"
#include "../runtime/name-chain.h"
#include "../runtime/runtime.h"
#include "../unwind/known-walk.h"
#include "names.h"
#include "recording.h"

#define FIRST_WAIT	1000000000ULL
#define LONGEST_WAIT	(32 * FIRST_WAIT)

/* NULL if memory is short. */
static struct hybrid_runtime_names *names_of(struct hybrid_record *hr,
					     enum hybrid_language language)
{
	struct hybrid_runtime_names *of = &hr->names.runtimes[language];

	if (of->names)
		return of;
	of->names = hybrid_names__new(language);
	if (!of->names)
		return NULL;
	of->error = hybrid_names__path(of->names, of->path);
	return of;
}

/* Before the first chain of a process that has names. */
static int map_names(struct hybrid_record *hr, struct hybrid_process *process,
		     enum hybrid_language language, const struct hybrid_event *event,
		     const struct perf_event_header *sample)
{
	struct hybrid_runtime_names *of = &hr->names.runtimes[language];
	struct hybrid_ident ident = {
		.path		= of->path,
		.build_id_size	= HYBRID_NAMES_BUILD_ID,
	};
	void *out;

	if (process->names_in[language] == hr->file)
		return 0;
	out = hybrid_output_room(&hr->out, HYBRID_NAMES_EVENT_SIZE);
	if (!out)
		return -EIO;
	process->names_in[language] = hr->file;
	of->mapped_in = hr->file;
	hr->out.used += hybrid_names__event(of->names, of->path, &event->layout.attr, sample,
					    process->pid, out);
	memcpy(ident.build_id, hybrid_names__build_id(of->names), HYBRID_NAMES_BUILD_ID);
	hybrid_met_file(&hr->hits.met, &ident, NULL, process->pid);
	return 0;
}

/* The innermost frame's name stands at the sampled address, too, if that is in user space. */
static void set_first(struct hybrid_sample *sample, u64 first)
{
	if (sample->nr && sample->cpumode == PERF_RECORD_MISC_USER)
		sample->named_ip = first;
}

struct hybrid_namer *hybrid_find_namer(struct hybrid_record *hr, pid_t pid,
				       enum hybrid_language language)
{
	return hr->names.is_off ? NULL : hybrid_core_namer(hr->core, pid, language);
}

bool hybrid_name_known_sample(struct hybrid_record *hr, struct hybrid_process *process,
			      struct hybrid_namer *namer, struct hybrid_sample *sample)
{
	struct hybrid_runtime_names *of = &hr->names.runtimes[namer->language];
	const struct hybrid_kernel_chain *kernel = &sample->kernel;
	const struct hybrid_functions *functions =
		hybrid_sample_functions__get(&sample->functions, 0);
	struct hybrid_frame first = { .ip = kernel->user[0], .ret = kernel->user[0] };
	struct hybrid_named_chain chain = {
		.chain		= hr->current.named,
		.nr		= kernel->nr_kernel + 1 + kernel->nr_user,
		.frames		= &first,
		.nr_frames	= 1,
		.is_whole	= true,
		.functions	= functions->words,
		.nr_functions	= functions->nr,
		.functions_are_whole = functions->are_whole,
		.code_hash	= sample->code_hash,
		.gen		= process->space->gen,
		.is_unseen	= true,
		.knows_first	= hybrid_known_walk_first(&hr->core->unwinder, process->space,
							  first.ip),
		.walked		= sample->frames,
		.nr_walked	= sample->nr_frames,
		.out		= sample->chain,
		.max		= sample->max,
	};

	if (!of->names || process->names_in[namer->language] != hr->file ||
	    !hybrid_name_known(namer, of->names, &chain))
		return false;
	sample->nr = chain.nr_out;
	set_first(sample, chain.first);
	return true;
}

/*
 * Who names the frames of a sample. Without functions it is whatever runtime the process has.
 * @joined: out; it has no parts if nobody names them.
 */
static void find_namers(struct hybrid_record *hr, pid_t pid,
			const struct hybrid_sample_functions *functions,
			struct hybrid_joined_namer *joined)
{
	const struct hybrid_functions *language;
	struct hybrid_runtime_names *of;
	struct hybrid_namer *namer;
	unsigned int i;

	hybrid_joined_namer__init(joined);
	for (i = 0; i < max(functions->nr, 1U); i++) {
		language = hybrid_sample_functions__get(functions, i);
		namer = hybrid_find_namer(hr, pid, language->language);
		of = namer ? names_of(hr, namer->language) : NULL;
		if (of)
			hybrid_joined_namer__add(joined, namer, of->names, language);
	}
	namer = functions->nr ? hybrid_find_namer(hr, pid, HYBRID_NO_LANGUAGE) : NULL;
	of = namer && namer->is_by_code ? names_of(hr, namer->language) : NULL;
	if (of)
		hybrid_joined_namer__add(joined, namer, of->names, &(struct hybrid_functions) {});
}

/* Before the first chain of a process that has names. */
static int map_all_names(struct hybrid_record *hr, struct hybrid_process *process,
			 const struct hybrid_joined_namer *joined,
			 const struct hybrid_event *event, const struct perf_event_header *sample)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < joined->nr && !err; i++)
		err = map_names(hr, process, joined->parts[i].namer->language, event, sample);
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
		       const struct hybrid_event *event, const struct perf_event_header *at,
		       struct hybrid_sample *sample)
{
	struct hybrid_named_chain chain = { .out = hr->current.named, .max = sample->max };
	struct hybrid_joined_namer joined;

	find_namers(hr, process->pid, &sample->functions, &joined);
	if (!joined.nr)
		return 0;
	hybrid_core_named_chain(hr->core, sample, &chain);
	hybrid_joined_namer__name_chain(&joined, &chain);
	count_unread(hr, &joined);
	if (!chain.is_named)
		return 0;
	if (chain.gen && chain.user < chain.nr)
		hybrid_known_walk_learn(&hr->core->unwinder, process->space,
					&chain.chain[chain.user], 1, &chain.frames[0].ip);
	memcpy(sample->chain, chain.out, chain.nr_out * sizeof(*chain.out));
	sample->nr = chain.nr_out;
	sample->is_marked |= chain.is_cut_off;
	set_first(sample, chain.first);
	return map_all_names(hr, process, &joined, event, at);
}

void hybrid_take_text(struct hybrid_record *hr, const struct hybrid_walked *walked)
{
	struct hybrid_namer *namer = walked->language ?
		hybrid_find_namer(hr, (u32)walked->ids, walked->language) : NULL;
	struct hybrid_runtime_names *of = namer ? names_of(hr, namer->language) : NULL;

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
	unsigned int language;

	for (language = 1; language < HYBRID_NR_LANGUAGES; language++) {
		of = &hr->names.runtimes[language];
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
	unsigned int language;

	hybrid_kept_names__drop();
	for (language = 1; language < HYBRID_NR_LANGUAGES; language++) {
		of = &hr->names.runtimes[language];
		if (of->names && of->mapped_in == hr->file)
			of->keep_error = hybrid_kept_names__add(of->names);
	}
}

static bool is_any_new(const struct hybrid_record_names *names)
{
	unsigned int language;

	for (language = 1; language < HYBRID_NR_LANGUAGES; language++) {
		if (is_new(&names->runtimes[language]))
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
	unsigned int language, nr;
	char text[128];
	pid_t pid;

	nr = hybrid_runtimes_failed(hr->core->unwinder.runtimes, &pid);
	if (nr)
		fprintf(stderr, "hybrid: the runtime of %u processes (%d) can't be read\n",
			nr, pid);
	if (hr->names.unread)
		fprintf(stderr, "hybrid: functions of %s are not shown: that takes BPF\n",
			hr->names.unread);
	if (hr->names.nr_unread)
		fprintf(stderr, "hybrid: %" PRIu64 " frames have no name, read too late\n",
			hr->names.nr_unread);
	for (language = 1; language < HYBRID_NR_LANGUAGES; language++) {
		of = &hr->names.runtimes[language];
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
	unsigned int language;

	for (language = 1; language < HYBRID_NR_LANGUAGES; language++)
		hybrid_names__delete(names->runtimes[language].names);
}
