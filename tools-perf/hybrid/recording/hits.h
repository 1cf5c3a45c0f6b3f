/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORDING_HITS_H
#define __PERF_HYBRID_RECORDING_HITS_H

#include "../process/met.h"

struct hybrid_event;
struct hybrid_made;
struct hybrid_record;
struct hybrid_sample;
struct machine;
union perf_event;

/**
 * struct hybrid_hits - what perf finds in a file when it reads it once more at the end
 * @met: files and pages of the kernel that samples were in
 * @vdso_pid: a process that has a vDSO of 64 bits mapped; 0: none
 * @is_unknown: something was written that only perf's own pass over the file finds
 * @nr_samples: samples of the output file
 * @first: time of the first one
 * @last: time of the last one
 */
struct hybrid_hits {
	struct hybrid_met	met;
	pid_t			vdso_pid;
	bool			is_unknown;
	u64			nr_samples;
	u64			first;
	u64			last;
};

/* A record that is no sample was written: a mapping of the vDSO, or of lost records. */
void hybrid_hits_record(struct hybrid_hits *hits, const union perf_event *event);

/**
 * hybrid_hits_sample - a sample was written
 * @hr: recording, whose current chain is the sample's
 * @event: of the sample
 * @sample: as it stood in the ring
 * @made: its chain
 */
void hybrid_hits_sample(struct hybrid_record *hr, const struct hybrid_event *event,
			const struct hybrid_sample *sample, const struct hybrid_made *made);

/**
 * hybrid_hits_mark - mark the dsos that samples were in
 * @hits: of all output files so far
 * @machine: the host
 *
 * Return: false if not all are known.
 */
bool hybrid_hits_mark(struct hybrid_hits *hits, struct machine *machine);

void hybrid_hits_exit(struct hybrid_hits *hits);

#endif /* __PERF_HYBRID_RECORDING_HITS_H */
