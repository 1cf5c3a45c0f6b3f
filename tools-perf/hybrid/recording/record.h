/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORD_H
#define __PERF_HYBRID_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#ifdef HAVE_HYBRID_SUPPORT

struct evlist;
struct evsel;
struct hybrid_record;
struct machine;
struct mmap;
struct record_opts;
union perf_event;

/* Bytes that are written at once, at most: two records of 64 KiB. */
#define HYBRID_OUT_SIZE		(2 * 65536)

/**
 * typedef hybrid_write_fn - where records for the file go
 * @arg: the owner's
 * @data: whole records
 * @size: bytes of @data, at most HYBRID_OUT_SIZE
 *
 * Return: 0, or negative.
 */
typedef int (*hybrid_write_fn)(void *arg, void *data, size_t size);

/**
 * hybrid_record__size_rings - dumps, and rings and wake-ups for samples with them
 * @evlist: the events, configured and not yet open
 * @mmap_pages: pages of a ring; changed where the user has named none
 *
 * Where the user names no size, a dump is as large as the rings allow, 8 to 60 KiB.
 *
 * perf's default is made for samples without a dump: eight of 64 KiB fill it.
 * Here a ring has room for 512 samples (32 MiB at most, and 512 MiB for all rings), so
 * that perf may sleep for a while; it is woken for 128, or a quarter of a smaller ring,
 * while the processes that were sampled are still alive. After hybrid_walker__prepare()
 * it is known whether BPF serves all events: then a dump is of 8 KiB, and a ring has room
 * for 1024 (128 MiB for all rings). Who may not lock so much memory has smaller rings.
 */
void hybrid_record__size_rings(struct evlist *evlist, unsigned int *mmap_pages);

/**
 * hybrid_record__new - start to unwind what is recorded
 * @evlist: the events, configured and open; those that evsel__has_hybrid_callchain() have
 *	their attr changed to what the file is to say of them
 * @opts: of the recording
 * @max_stack: frames of a user chain to keep; 0: HYBRID_DEFAULT_MAX_STACK
 * @write: takes the records
 * @arg: for @write
 *
 * Return: the state; NULL where memory is short.
 */
struct hybrid_record *hybrid_record__new(struct evlist *evlist,
					 const struct record_opts *opts,
					 unsigned int max_stack,
					 hybrid_write_fn write, void *arg);

/**
 * hybrid_record__keep_addresses - don't name the functions of runtimes
 * @hr: state
 *
 * Their frames have the addresses that they have on the stack.
 */
void hybrid_record__keep_addresses(struct hybrid_record *hr);

/**
 * hybrid_record__command - prepare for the command that is about to be run
 * @hr: state, NULL does nothing; after hybrid_record__keep_addresses()
 * @name: of the command, as for execvp()
 *
 * If it is an interpreter of a language, or a script of one, BPF has what it needs when this
 * returns: the command is not to begin before. For other commands it costs some system calls.
 */
void hybrid_record__command(struct hybrid_record *hr, const char *name);

/**
 * hybrid_record__track - see a record that perf made up for the start
 * @hr: state, NULL does nothing
 * @event: any record; written by the caller
 */
void hybrid_record__track(struct hybrid_record *hr, const union perf_event *event);

/**
 * hybrid_record__read - unwind and write what the rings hold
 * @hr: state
 * @maps: all rings of the recording, the same at each call
 * @nr: number of @maps
 * @all: nothing more will come: leave nothing in the rings
 *
 * Return: records read, or negative where writing failed.
 */
int hybrid_record__read(struct hybrid_record *hr, struct mmap **maps, int nr, bool all);

/**
 * hybrid_record__timeout - how long perf may sleep before it reads again
 * @hr: state, NULL: until it is woken
 *
 * Return: milliseconds, for poll().
 */
int hybrid_record__timeout(const struct hybrid_record *hr);

/**
 * hybrid_record__lost - account for what the kernel counted as lost
 * @hr: state, NULL does nothing
 * @evsel: the event; one without a hybrid callchain is none of the account's
 * @nr: how many more
 */
void hybrid_record__lost(struct hybrid_record *hr, const struct evsel *evsel, u64 nr);

/**
 * hybrid_record__off_cpu - the callchain of sleeps that are one sample
 * @hr: state; perf record --off-cpu with its chains
 * @number: the chain's, as the program of off_cpu.h counts by it
 * @chain: out: callchain with its context words
 * @room: in @chain, 2 at least
 *
 * The sample counts in the account.
 *
 * Return: number of @chain.
 */
unsigned int hybrid_record__off_cpu(struct hybrid_record *hr, u32 number, u64 *chain,
				    unsigned int room);

/**
 * hybrid_record__shed - samples of an event left out for want of time, or that the BPF
 *	program found no room for
 * @hr: state, NULL gives 0
 * @evsel: the event
 */
u64 hybrid_record__shed(const struct hybrid_record *hr, const struct evsel *evsel);

/**
 * hybrid_record__end_file - the output file ends, and another one may begin
 * @hr: state, NULL does nothing
 *
 * Writes what waits to be written, and the names of functions of runtimes.
 */
void hybrid_record__end_file(struct hybrid_record *hr);

/**
 * hybrid_record__hits - mark what samples were in, without reading the file
 * @hr: state, NULL gives false; hybrid_record__end_file() was called
 * @machine: the host; the dsos that samples were in are hit afterwards, as if all records
 *	of the file had been processed
 * @nr_samples: out: in the file
 * @first: out: time of the first one, in ns
 * @last: out: time of the last one, in ns
 *
 * Return: false if that is not all known: the file has to be read.
 */
bool hybrid_record__hits(struct hybrid_record *hr, struct machine *machine, u64 *nr_samples,
			 u64 *first, u64 *last);

/**
 * hybrid_record__identify - note which files samples were in, by the digest of their content
 * @hr: state, NULL does nothing; hybrid_record__end_file() was called
 * @machine: the host; its dsos that samples were in have an identity and are hit afterwards
 */
void hybrid_record__identify(struct hybrid_record *hr, struct machine *machine);

/**
 * hybrid_record__print - the closing line, and why chains are incomplete
 * @hr: state, NULL does nothing
 * @failures: name the classes that no sample is in and the objects behind the
 *	failures, too
 */
void hybrid_record__print(struct hybrid_record *hr, bool failures);

void hybrid_record__delete(struct hybrid_record *hr);

#else /* HAVE_HYBRID_SUPPORT */

#include <linux/compiler.h>

struct evlist;
struct evsel;
struct hybrid_record;
struct machine;
struct mmap;
struct record_opts;
union perf_event;

#define HYBRID_OUT_SIZE		1

typedef int (*hybrid_write_fn)(void *arg, void *data, size_t size);

static inline void hybrid_record__size_rings(struct evlist *evlist __maybe_unused,
					     unsigned int *mmap_pages __maybe_unused)
{
}

static inline struct hybrid_record *
hybrid_record__new(struct evlist *evlist __maybe_unused,
		   const struct record_opts *opts __maybe_unused,
		   unsigned int max_stack __maybe_unused,
		   hybrid_write_fn write __maybe_unused, void *arg __maybe_unused)
{
	return NULL;
}

static inline void hybrid_record__keep_addresses(struct hybrid_record *hr __maybe_unused)
{
}

static inline void hybrid_record__command(struct hybrid_record *hr __maybe_unused,
					  const char *name __maybe_unused)
{
}

static inline void hybrid_record__track(struct hybrid_record *hr __maybe_unused,
					const union perf_event *event __maybe_unused)
{
}

static inline int hybrid_record__read(struct hybrid_record *hr __maybe_unused,
				      struct mmap **maps __maybe_unused,
				      int nr __maybe_unused, bool all __maybe_unused)
{
	return 0;
}

static inline int hybrid_record__timeout(const struct hybrid_record *hr __maybe_unused)
{
	return -1;
}

static inline void hybrid_record__lost(struct hybrid_record *hr __maybe_unused,
				       const struct evsel *evsel __maybe_unused,
				       u64 nr __maybe_unused)
{
}

static inline unsigned int hybrid_record__off_cpu(struct hybrid_record *hr __maybe_unused,
						  u32 number __maybe_unused,
						  u64 *chain __maybe_unused,
						  unsigned int room __maybe_unused)
{
	return 0;
}

static inline u64 hybrid_record__shed(const struct hybrid_record *hr __maybe_unused,
				      const struct evsel *evsel __maybe_unused)
{
	return 0;
}

static inline void hybrid_record__end_file(struct hybrid_record *hr __maybe_unused)
{
}

static inline bool hybrid_record__hits(struct hybrid_record *hr __maybe_unused,
				       struct machine *machine __maybe_unused,
				       u64 *nr_samples __maybe_unused, u64 *first __maybe_unused,
				       u64 *last __maybe_unused)
{
	return false;
}

static inline void hybrid_record__identify(struct hybrid_record *hr __maybe_unused,
					   struct machine *machine __maybe_unused)
{
}

static inline void hybrid_record__print(struct hybrid_record *hr __maybe_unused,
					bool failures __maybe_unused)
{
}

static inline void hybrid_record__delete(struct hybrid_record *hr __maybe_unused)
{
}

#endif /* HAVE_HYBRID_SUPPORT */

#endif /* __PERF_HYBRID_RECORD_H */
