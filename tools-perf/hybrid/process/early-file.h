/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EARLY_FILE_H
#define __PERF_HYBRID_EARLY_FILE_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_mapping;
struct hybrid_processes;
struct hybrid_space;
struct perf_record_mmap2;

/* Files that wait at the same time, and paths that are remembered. */
#define HYBRID_EARLY_FILES	16
#define HYBRID_EARLY_PATHS	64

/**
 * struct hybrid_early_file - a file that is read before a sample was in it
 * @space: has its mapping and nothing else
 * @start: where the mapping begins
 * @nr_tries: how often it was tried
 */
struct hybrid_early_file {
	struct hybrid_space	*space;
	u64			 start;
	unsigned int		 nr_tries;
};

/**
 * hybrid_early_file_begin - take the file of a mapping
 * @file: out
 * @ps: tasks
 * @event: the record of the mapping
 *
 * Return: false if memory is short. Else hybrid_early_file_end() is to be called.
 */
bool hybrid_early_file_begin(struct hybrid_early_file *file, struct hybrid_processes *ps,
			     const struct perf_record_mmap2 *event);

/**
 * hybrid_early_file_find - the mapping of the file, once that can be read
 * @file: begun
 *
 * Return: its object is open, and is the one that all samples of the file use; NULL: it is not open
 * yet, or is compared with another file of the same build-id, or can't be opened.
 */
const struct hybrid_mapping *hybrid_early_file_find(const struct hybrid_early_file *file);

void hybrid_early_file_end(struct hybrid_early_file *file);

/**
 * struct hybrid_early_files - files that may be interpreters, until they can be read
 * @file: those that wait
 * @nr: number of @file
 * @paths: hashes of the paths of all files that were taken
 * @nr_paths: number of @paths
 *
 * A process maps a program and the library that is the interpreter at the same time. While perf
 * opens the first file of a file system, or compares files of one build-id, both wait.
 */
struct hybrid_early_files {
	struct hybrid_early_file	file[HYBRID_EARLY_FILES];
	unsigned int			nr;
	u32				paths[HYBRID_EARLY_PATHS];
	unsigned int			nr_paths;
};

/* Called once for each file that can be read; @mapping is valid until it returns. */
typedef void (*hybrid_early_fn)(void *arg, const struct hybrid_mapping *mapping);

/**
 * hybrid_early_files_found - take a file if its name is one of an interpreter
 * @files: files
 * @ps: tasks
 * @event: the record of a mapping of code
 * @ready: called at once if the file can be read, or later by hybrid_early_files_pass()
 * @arg: for @ready
 *
 * A file is taken once, by its path. If HYBRID_EARLY_FILES wait, it may be taken the next time that
 * it is mapped; after HYBRID_EARLY_PATHS files none is.
 */
void hybrid_early_files_found(struct hybrid_early_files *files, struct hybrid_processes *ps,
			      const struct perf_record_mmap2 *event, hybrid_early_fn ready,
			      void *arg);

/* Tries all files that wait; a file that could not be read in 32 tries is left. */
void hybrid_early_files_pass(struct hybrid_early_files *files, hybrid_early_fn ready, void *arg);

/* Leaves all files. */
void hybrid_early_files_exit(struct hybrid_early_files *files);

#endif /* __PERF_HYBRID_EARLY_FILE_H */
