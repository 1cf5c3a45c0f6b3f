/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORDING_HITS_H
#define __PERF_HYBRID_RECORDING_HITS_H

#include "../process/file-digest.h"
#include "../process/met.h"

struct hybrid_event;
struct hybrid_process;
struct hybrid_record;
struct hybrid_sample;
struct machine;
struct perf_event_header;
union perf_event;

/**
 * struct hybrid_hits - what perf finds in a file when it reads it once more at the end
 * @met: files and pages of the kernel that samples were in
 * @digests: of files; NULL if memory is short
 * @vdso_pid: a process that has a vDSO of 64 bits mapped; 0: none
 * @low: the first file of each process that has a vDSO of 32 bits mapped
 * @is_unknown: something was written that only perf's own pass over the file finds
 * @nr_records: that were written, but for samples
 * @nr_lost: of these, records of lost records
 * @nr_all_samples: of all output files
 * @nr_samples: samples of the output file
 * @first: time of the first one
 * @last: time of the last one
 */
struct hybrid_hits {
	struct hybrid_met	met;
	struct hybrid_digests	*digests;
	pid_t			vdso_pid;
	struct hybrid_met	low;
	bool			is_unknown;
	u64			nr_records;
	u64			nr_lost;
	u64			nr_all_samples;
	u64			nr_samples;
	u64			first;
	u64			last;
};

/* @loader: of files, for their digests; NULL: there are none */
void hybrid_hits_init(struct hybrid_hits *hits, struct hybrid_loader *loader);

/**
 * hybrid_hits_map - map files that records of the kernel do not tell from others
 * @hr: recording
 * @event: of the sample
 * @sample: before which it is written; what it was in is noted
 * @pid: the process
 *
 * A record has a path and a build-id. Processes of two mount namespaces may have different files
 * of one path and build-id, and a file may be replaced. The first file that is met has the number
 * 0; mappings of the others get a record with their number.
 *
 * Return: 0, or -EIO.
 */
int hybrid_hits_map(struct hybrid_record *hr, const struct hybrid_event *event,
		    const struct perf_event_header *sample, pid_t pid);

/**
 * hybrid_hits_identify - give dsos the digests of the files that samples were in
 * @hits: of all output files so far
 * @machine: the host
 */
void hybrid_hits_identify(struct hybrid_hits *hits, struct machine *machine);

/**
 * hybrid_hits_record - a record was written that is not a sample
 * @hits: what is noted
 * @event: the record: of a mapping of the vDSO, of lost records, or any other one
 * @process: that the record is of, whose mappings are known up to this one; NULL: unknown
 */
void hybrid_hits_record(struct hybrid_hits *hits, const union perf_event *event,
			const struct hybrid_process *process);

/* A sample was or will be written: note what its callchain leads through. */
void hybrid_hits_chain(struct hybrid_record *hr, const struct hybrid_sample *sample);

/* A sample was written whose chain is noted: its time, in ns. */
void hybrid_hits_time(struct hybrid_hits *hits, u64 time);

/* The same of a sample of @event that was written; @time: in ns. */
void hybrid_hits_sample(struct hybrid_record *hr, const struct hybrid_event *event, u64 time,
			const struct hybrid_sample *sample);

/**
 * hybrid_hits_mark - mark the dsos that samples were in
 * @hits: of all output files so far
 * @machine: the host
 *
 * Return: false if not all are known.
 */
bool hybrid_hits_mark(struct hybrid_hits *hits, struct machine *machine);

/**
 * hybrid_hits_warn - warn of lost records and samples as perf's pass over the file does
 * @hits: of all output files so far
 * @nr_lost: samples that were lost or left out
 */
void hybrid_hits_warn(const struct hybrid_hits *hits, u64 nr_lost);

void hybrid_hits_exit(struct hybrid_hits *hits);

#endif /* __PERF_HYBRID_RECORDING_HITS_H */
