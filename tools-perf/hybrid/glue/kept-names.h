/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KEPT_NAMES_H
#define __PERF_HYBRID_KEPT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names of runtimes' functions in perf.data itself. Each runtime has an ELF file (names-file.h).
 * The section of HEADER_VERSION has these files after perf's version, where other perfs do not
 * look. A reader keeps each file in memory; it is found by its build-id.
 */
struct build_id;
struct feat_fd;
struct hybrid_names;

#ifdef HAVE_HYBRID_SUPPORT

/**
 * hybrid_kept_names__add - keep names for the file that is being recorded
 * @names: all functions that there are; those of an earlier call are replaced
 *
 * Return: 0, or -errno.
 */
int hybrid_kept_names__add(const struct hybrid_names *names);

/* Forget the names of the output file before. */
void hybrid_kept_names__drop(void);

/* Have the names that are kept been written to a file? */
bool hybrid_kept_names__are_written(void);

/**
 * hybrid_kept_names__write - write all names that are kept
 * @ff: of HEADER_VERSION; what perf writes there is written
 *
 * Also those that hybrid_kept_names__read() has read: perf inject passes them on.
 *
 * Return: 0, or -errno of a write that failed.
 */
int hybrid_kept_names__write(struct feat_fd *ff);

/* Keeps the names that follow what perf has read of HEADER_VERSION. Wrong data is ignored. */
void hybrid_kept_names__read(struct feat_fd *ff);

/**
 * hybrid_kept_names__path - a path of names that are kept
 * @bid: of the names
 * @path: out, valid while perf runs, also for programs that perf runs
 * @size: room
 *
 * Return: false if there are none with that build-id.
 */
bool hybrid_kept_names__path(const struct build_id *bid, char *path, size_t size);

/* Has nobody said where a build-id cache is to be? Then perf makes none. */
bool hybrid_kept_names__no_cache(void);

#else /* HAVE_HYBRID_SUPPORT */

#include <linux/compiler.h>

static inline bool hybrid_kept_names__no_cache(void)
{
	return false;
}

static inline int hybrid_kept_names__write(struct feat_fd *ff __maybe_unused)
{
	return 0;
}

static inline void hybrid_kept_names__read(struct feat_fd *ff __maybe_unused)
{
}

static inline bool hybrid_kept_names__path(const struct build_id *bid __maybe_unused,
					   char *path __maybe_unused, size_t size __maybe_unused)
{
	return false;
}

#endif /* HAVE_HYBRID_SUPPORT */

#endif /* __PERF_HYBRID_KEPT_NAMES_H */
