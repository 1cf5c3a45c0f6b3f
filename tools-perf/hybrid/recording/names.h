/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORDING_NAMES_H
#define __PERF_HYBRID_RECORDING_NAMES_H

#include <limits.h>
#include "../runtime/names.h"

struct hybrid_event;
struct hybrid_process;
struct hybrid_record;
struct hybrid_sample;
struct hybrid_walked;
struct perf_event_header;

/**
 * struct hybrid_runtime_names - the names of a runtime
 * @names: NULL: none yet
 * @path: of the file
 * @written: how many functions are in the file
 * @mapped_in: the last output file that maps them
 * @keep_error: if that file lacks the names: -errno
 * @error: of the last write, 0 or -errno; no other is tried if no folder could be made
 */
struct hybrid_runtime_names {
	struct hybrid_names	*names;
	char			 path[PATH_MAX];
	u32			 written;
	u32			 mapped_in;
	int			 keep_error;
	int			 error;
};

/**
 * struct hybrid_record_names - the names of all runtimes of a recording
 * @runtimes: each one's
 * @next: when they are to be written again, in ns
 * @wait: how long after that once more, in ns
 * @is_off: no frame is to be named
 * @nr_looked: samples that were unwound without BPF
 * @unread: the language of an interpreter that was met, if there is no BPF that reads its
 *	functions; NULL: none was
 * @nr_unread: frames that have no name, as what they ran could not be read any more
 */
struct hybrid_record_names {
	struct hybrid_runtime_names	runtimes[HYBRID_NR_LANGUAGES];
	u64				next;
	u64				wait;
	bool				is_off;
	u64				nr_looked;
	const char			*unread;
	u64				nr_unread;
};

/* As hybrid_core_namer(); NULL with --no-interpreter-frames, too. */
struct hybrid_namer *hybrid_find_namer(struct hybrid_record *hr, pid_t pid,
				       enum hybrid_language language);

/**
 * hybrid_name_known_sample - the functions of a chain by those of samples that had the same
 * @hr: the recording; @named of struct hybrid_current is the chain
 * @process: that was sampled
 * @namer: of @process
 * @sample: walked to the outermost frame; its chain is changed
 *
 * Return: false if it has to be made frame by frame.
 */
bool hybrid_name_known_sample(struct hybrid_record *hr, struct hybrid_process *process,
			      struct hybrid_namer *namer, struct hybrid_sample *sample);

/**
 * hybrid_name_sample - put the functions of a runtime into a chain
 * @hr: the recording
 * @process: that was sampled; nothing is done if it has no runtime
 * @event: of the sample
 * @at: the sample, whose time the record has that maps the names
 * @sample: the last one of hybrid_core_callchain(); its chain is changed
 *
 * Return: 0; -EIO if writing failed.
 */
int hybrid_name_sample(struct hybrid_record *hr, struct hybrid_process *process,
		       const struct hybrid_event *event, const struct perf_event_header *at,
		       struct hybrid_sample *sample);

/* Keep the names of a function that BPF has read. @walked: has a text. */
void hybrid_take_text(struct hybrid_record *hr, const struct hybrid_walked *walked);

/**
 * hybrid_names_pass - write names while the recording goes on
 * @hr: the recording
 *
 * perf may be killed. New names are written 1 s after the first one, then after 2, 4, ... 32 s,
 * and never for more than 1 % of the time.
 */
void hybrid_names_pass(struct hybrid_record *hr);

/* Write all names that were not written yet to the build-id cache. */
void hybrid_names_write(struct hybrid_record *hr);

/* Have perf write the names that the output file needs to that file, when it ends. */
void hybrid_names_keep(struct hybrid_record *hr);

/* One line on stderr for each thing that went wrong. */
void hybrid_names_print(const struct hybrid_record *hr);

void hybrid_names_exit(struct hybrid_record_names *names);

#endif /* __PERF_HYBRID_RECORDING_NAMES_H */
